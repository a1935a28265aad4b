"""Base and overlay as one: which segment speaks for a path, and which paths are scanned."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.ngram.plan import plan
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import Snapshot, make_snapshot
from tests.support import ngram_world as worlds

BASE = {b"a": b"needle old\n", b"b": b"needle old\n", b"c": b"nothing\n", b"d/e": b"needle deep\n"}


@pytest.fixture
def segments(tmp_path: Path) -> list[Segment]:
    """The base, and two overlays: the first changes b, the second changes b again and brings f."""
    made = []
    for name, files in (
        ("base", BASE),
        ("one", {b"b": b"needle new\n", b"c": b"needle came\n"}),
        ("two", {b"b": b"plain\n", b"f": b"needle\n"}),
    ):
        worlds.index(tmp_path / "tree", files, tmp_path / name)
        made.append(Segment.open(tmp_path / name))
    return made


def found(snapshot: Snapshot, pattern: str) -> list[bytes]:
    return [candidate.path for candidate in snapshot.candidates(plan(pattern))]


def test_an_empty_snapshot_covers_nothing() -> None:
    assert list(Snapshot().candidates(plan("needle"))) == []
    assert not Snapshot().covers


def test_the_newest_segment_speaks_for_a_path(segments: list[Segment]) -> None:
    snapshot = make_snapshot(segments, covers=True)
    assert found(snapshot, "needle") == [b"a", b"c", b"d/e", b"f"]
    assert found(snapshot, "needle new") == []
    assert found(snapshot, "plain") == [b"b"]
    assert found(snapshot, ".") == [b"a", b"b", b"c", b"d/e", b"f"]
    assert found(make_snapshot(segments[:2]), "needle") == [b"a", b"b", b"c", b"d/e"]


def test_gone_files_are_nowhere(segments: list[Segment]) -> None:
    snapshot = make_snapshot(segments, gone=[b"a", b"b", b"f", b"unknown"])
    assert found(snapshot, "needle") == [b"c", b"d/e"]
    assert found(snapshot, "plain") == []


def test_extra_paths_are_always_scanned_whole_and_once(segments: list[Segment]) -> None:
    snapshot = make_snapshot(segments, extra=[b"zz", b"a", b"b", b"a"])
    candidates = {candidate.path: candidate for candidate in snapshot.candidates(plan("needle deep"))}
    assert list(candidates) == [b"a", b"b", b"d/e", b"zz"]
    assert all(candidates[path].blocks is None and candidates[path].stat is None for path in (b"a", b"b", b"zz"))
    assert candidates[b"d/e"].blocks is not None
    again = snapshot.candidates(plan("needle deep"))
    assert len(again) == 4
    assert again.indexed_count == 1
    assert len(list(again)) == len(list(again)) == 4


def test_the_dead_marks_are_frozen(segments: list[Segment]) -> None:
    snapshot = make_snapshot(segments, extra=[b"a"])
    with pytest.raises(ValueError, match="read-only"):
        snapshot.dead[0][0] = False
