"""Turns among several roots: a few at a time, in order, and none for ever."""

from __future__ import annotations

from mgrep_tui.jobs.turns import Turns


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Owner:
    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.woken = 0

    def take(self) -> bool:
        return self.turns.take(self, self.wake)

    def wake(self) -> None:
        self.woken += 1


def owners(turns: Turns, count: int) -> list[Owner]:
    return [Owner(turns) for _ in range(count)]


def test_so_many_at_a_time_and_the_others_in_their_order() -> None:
    turns = Turns(2)
    a, b, c, d = owners(turns, 4)
    assert [each.take() for each in (a, b, c, d)] == [True, True, False, False]
    assert turns.is_wanted()
    turns.give(a)
    assert (c.woken, d.woken, c.take(), d.take()) == (1, 0, True, False)
    turns.give(b)
    assert (d.woken, d.take(), turns.is_wanted()) == (1, True, False)


def test_asking_again_changes_nothing() -> None:
    turns = Turns(1)
    a, b, c = owners(turns, 3)
    assert a.take() and a.take()
    assert not b.take() and not c.take() and not b.take()
    turns.give(a)
    turns.give(a)
    assert (b.woken, c.woken) == (1, 0)
    assert turns.has(b) and not turns.has(a)


def test_who_goes_away_is_not_waited_for() -> None:
    turns = Turns(1)
    a, b, c = owners(turns, 3)
    assert a.take() and not b.take() and not c.take()
    turns.give(b)
    turns.give(a)
    assert (b.woken, c.woken) == (0, 1)


def test_a_turn_is_over_only_when_it_was_long_and_somebody_waits() -> None:
    clock = Clock()
    turns = Turns(1, slice_s=10.0, clock=clock)
    a, b = owners(turns, 2)
    assert a.take()
    clock.now = 60.0
    assert not turns.is_over(a)
    b.take()
    assert turns.is_over(a)
    turns.give(a)
    assert not a.take()
    assert b.woken == 1 and not turns.is_over(b)
    clock.now = 69.0
    assert not turns.is_over(b)
    clock.now = 70.0
    assert turns.is_over(b)
