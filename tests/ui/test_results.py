"""Hits grouped by file: rows, places and the cursor's moves agree, whatever comes in which order."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.model import Hit, Hits, Mode
from mgrep_tui.ui.inbox import Inbox
from mgrep_tui.ui.results import Results, RowKind, key_of


def hit(path: str, line: int = 0, column: int = 0) -> Hit:
    return Hit(path.encode(), line, column, "text")


batches = st.lists(
    st.lists(st.builds(hit, st.sampled_from("abcde"), st.integers(0, 50), st.integers(0, 3)), max_size=12), max_size=6
)


@given(batches, st.sampled_from(Mode))
def test_rows_hold_each_hit_once_under_its_file(parts: list[list[Hit]], mode: Mode) -> None:
    results = Results(mode)
    for part in parts:
        results.extend(part)
    seen: list[int] = []
    heading = None
    for index in range(results.row_count):
        kind, number = results.row(index)
        if kind is RowKind.FILE:
            heading = results.groups[number].path
        elif kind is RowKind.HIT:
            seen.append(number)
            assert results.hits[number].path == heading
            assert results.row_of(number) == index
            assert results.heading_of(number) < index
            assert results.row(results.heading_of(number)) == (
                RowKind.FILE,
                results.groups.index(results.group_of(number)),
            )
        else:
            assert mode is Mode.SEMANTIC
            assert number == seen[-1]
    assert sorted(seen) == list(range(len(results.hits)))
    assert [results.place_of(number) for number in seen] == list(range(len(seen)))


@given(batches)
def test_batches_in_one_go_or_one_by_one_are_the_same(parts: list[list[Hit]]) -> None:
    at_once, one_by_one = Results(), Results()
    flat = [each for part in parts for each in part]
    at_once.extend(flat)
    for each in flat:
        one_by_one.extend([each])
    assert [at_once.row(index) for index in range(at_once.row_count)] == [
        one_by_one.row(index) for index in range(one_by_one.row_count)
    ]


@given(batches, st.integers(-100, 100))
def test_moves_stay_within_the_list(parts: list[list[Hit]], by: int) -> None:
    results = Results()
    for part in parts:
        results.extend(part)
    for number in range(len(results)):
        assert 0 <= results.place_of(results.moved(number, by)) < len(results)
        assert 0 <= results.file_moved(number, by) < len(results)


def test_late_hits_of_a_file_join_it() -> None:
    results = Results(Mode.REGEX)
    assert results.extend([hit("a", 1), hit("b", 1)]) is False
    assert results.extend([hit("a", 9)]) is True
    assert [results.row(index) for index in range(5)] == [
        (RowKind.FILE, 0),
        (RowKind.HIT, 0),
        (RowKind.HIT, 2),
        (RowKind.FILE, 1),
        (RowKind.HIT, 1),
    ]


def test_a_hit_is_found_again_by_its_place_or_its_line() -> None:
    results = Results()
    results.extend([hit("a", 1, 5), hit("a", 1, 9), hit("b", 2)])
    assert results.find((b"a", 1, 9)) == 1
    assert results.find((b"a", 1, 7)) == 0
    assert results.find((b"a", 4, 0)) is None
    assert results.find((b"c", 1, 0)) is None
    assert key_of(results.hits[2]) == (b"b", 2, 0)


def test_moving_back_over_files_goes_to_the_first_hit_of_the_file_first() -> None:
    results = Results()
    results.extend([hit("a", 1), hit("a", 2), hit("b", 1), hit("b", 2)])
    assert results.file_moved(3, -1) == 2
    assert results.file_moved(2, -1) == 0
    assert results.file_moved(0, 1) == 2


def test_hits_that_nobody_looks_at_are_not_made() -> None:
    """20,000 lines that match are 20,000 rows, and a screen full of hits."""
    made: list[tuple[bytes, int]] = []

    @dataclass(frozen=True)
    class File:
        path: bytes
        size: int
        first: int = 0

        def hit(self, number: int) -> Hit:
            made.append((self.path, self.first + number))
            return Hit(self.path, self.first + number, 0, "text")

        def part(self, start: int, stop: int) -> File:
            return File(self.path, stop - start, self.first + start)

    inbox = Inbox(lambda: None)
    inbox.batch(Hits([File(b"%05d" % number, 3) for number in range(3_000)]))
    inbox.batch(Hits([File(b"last", 1_000)]))
    results = Results(Mode.REGEX)
    for expected in (8_192, 1_808, 0):
        taken = inbox.take()
        assert len(taken.hits) == expected
        results.extend(taken.hits)
    assert len(results) == 10_000
    assert results.row_count == 10_000 + 3_001
    assert not made
    assert results.hits[9_999] == Hit(b"last", 999, 0, "text")
    assert results.hits[8_192] == Hit(b"02730", 2, 0, "text")
    assert results.hits[8_192] is results.hits[8_192]
    assert len(made) == 2
    assert len(results.hits_of(b"02730")) == 3
