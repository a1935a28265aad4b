"""The one thread of the index: in order, later, and without waking for nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mgrep_tui.jobs.loop import Loop


@pytest.fixture
def errors() -> list[BaseException]:
    return []


@pytest.fixture
def loop(errors: list[BaseException]) -> Iterator[Loop]:
    made = Loop("test", errors.append)
    made.start()
    yield made
    assert made.stop(10.0)


def test_calls_come_in_order(loop: Loop) -> None:
    seen: list[int] = []
    done = threading.Event()
    for number in range(100):
        loop.post(lambda number=number: seen.append(number))
    loop.post(done.set)
    assert done.wait(10)
    assert seen == list(range(100))


def test_an_error_is_told_and_the_loop_goes_on(loop: Loop, errors: list[BaseException]) -> None:
    done = threading.Event()
    loop.post(lambda: 1 / 0)
    loop.post(done.set)
    assert done.wait(10)
    assert isinstance(errors[0], ZeroDivisionError)


def test_timers_replace_each_other_and_can_be_dropped(loop: Loop) -> None:
    seen: list[str] = []
    done = threading.Event()

    def arrange() -> None:
        loop.at("a", 600.0, lambda: seen.append("late"))
        loop.at("a", 0.0, lambda: seen.append("soon"))
        loop.at("a", 600.0, lambda: seen.append("later"))  # the sooner one stays
        loop.at("b", 0.0, lambda: seen.append("dropped"))
        loop.drop("b")
        loop.at("c", 0.02, done.set)

    loop.post(arrange)
    assert done.wait(10)
    assert seen == ["soon"]


def test_a_busy_timer_does_not_shut_the_inbox(loop: Loop) -> None:
    done = threading.Event()

    def again() -> None:
        loop.at("busy", 0.0, again)

    loop.post(again)
    loop.post(done.set)
    assert done.wait(10)
    loop.post(lambda: loop.drop("busy"))
