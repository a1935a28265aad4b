"""The hits of several roots as one list: one ranking while it is fresh, and no shuffling afterwards."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from mgrep_tui.explorer.labels import labels_of, title_of
from mgrep_tui.explorer.merging import Merged
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.explorer.united_health import united_health
from mgrep_tui.model import Health, Hit, IndexState, Progress


class Clock:
    def __init__(self) -> None:
        self.now = 1.0

    def __call__(self) -> float:
        return self.now


def hit(path: str, score: float, line: int = 0) -> Hit:
    return Hit(path.encode(), line, 0, "text", score=score)


def paths(sink: Collected) -> list[str]:
    return [found.path.decode() for found in sink.hits]


def merged(clock: Clock, **given: bool) -> tuple[Merged, Collected]:
    sink = Collected()
    return Merged(sink, ["a", "b", "c"], clock=clock, **given), sink


def test_what_comes_early_is_ranked_together() -> None:
    clock = Clock()
    one, sink = merged(clock)
    one.of(0).batch([hit("x", 4.0), hit("y", 1.0)])
    one.of(1).batch([hit("x", 8.0), hit("y", 2.0)])
    assert paths(sink) == ["b/x", "a/x", "b/y", "a/y"]


def test_what_comes_late_is_appended_and_moves_nothing() -> None:
    clock = Clock()
    one, sink = merged(clock)
    one.of(0).batch([hit("x", 1.0)])
    clock.now += 1
    one.of(1).batch([hit("x", 9.0)])
    assert paths(sink) == ["a/x", "b/x"]


def test_a_root_that_orders_itself_anew_moves_only_its_own_files() -> None:
    clock = Clock()
    one, sink = merged(clock)
    one.of(0).batch([hit("x", 5.0), hit("y", 3.0)])
    one.of(1).batch([hit("x", 4.0), hit("y", 2.0)])
    assert paths(sink) == ["a/x", "b/x", "a/y", "b/y"]
    clock.now += 1
    one.of(0).replace([hit("new", 9.0), hit("y", 3.0), hit("x", 1.0)])
    assert paths(sink) == ["a/new", "b/x", "a/y", "b/y", "a/x"]
    one.of(0).replace([])
    assert paths(sink) == ["b/x", "b/y"]


def test_the_hits_of_a_file_stay_together_and_count_as_its_best() -> None:
    one, sink = merged(Clock())
    one.of(0).batch([hit("x", 1.0, 0), hit("x", 6.0, 1)])
    one.of(1).batch([hit("x", 5.0, 0), hit("x", 5.0, 1)])
    assert [(found.path, found.line) for found in sink.hits] == [(b"a/x", 0), (b"a/x", 1), (b"b/x", 0), (b"b/x", 1)]


def test_by_path_the_roots_stand_one_after_the_other() -> None:
    clock = Clock()
    one, sink = merged(clock, is_by_path=True)
    one.of(1).batch([hit("x", 9.0)])
    clock.now += 1
    one.of(0).batch([hit("z", 1.0), hit("y", 1.0)])
    assert paths(sink) == ["a/y", "a/z", "b/x"]


def test_whatever_the_order_of_arrival_nothing_is_lost_and_nothing_twice() -> None:
    chance = random.Random(8)
    for _ in range(50):
        clock = Clock()
        one, sink = merged(clock)
        batches = [(n, [hit(f"{k}{m}", chance.random() * 8) for m in range(3)]) for n in range(3) for k in range(4)]
        chance.shuffle(batches)
        for number, hits in batches:
            clock.now += chance.choice([0.0, 0.02, 0.1])
            before = paths(sink)
            is_settled = bool(before) and not one._takes_orders()
            one.of(number).batch(hits)
            if is_settled:
                assert paths(sink)[: len(before)] == before
        assert sorted(paths(sink)) == sorted(f"{'abc'[n]}/{k}{m}" for n in range(3) for k in range(4) for m in range(3))
        assert one.counts() == (36, 36)


def test_after_the_end_nobody_sends_any_more() -> None:
    one, sink = merged(Clock())
    one.close()
    one.of(0).batch([hit("x", 1.0)])
    one.of(0).replace([hit("x", 1.0)])
    assert sink.hits == []


def test_progress_is_that_of_all() -> None:
    class Told(Collected):
        last = Progress(0, 0)

        def progress(self, progress: Progress) -> None:
            self.last = progress

    clock, sink = Clock(), Told()
    one = Merged(sink, ["a", "b"], clock=clock)
    one.of(0).progress(Progress(1, 10))
    clock.now += 1
    one.of(1).progress(Progress(5, 20))
    assert sink.last == Progress(6, 30)


def test_labels_are_short_and_distinct() -> None:
    def labels(*given: str) -> tuple[str, ...]:
        return labels_of([(Path(path), ()) for path in given])

    assert labels("/w/flask", "/w/click") == ("flask", "click")
    assert labels("/a/src", "/b/src", "/w/click") == ("a-src", "b-src", "click")
    assert labels("/x/a/src", "/y/a/src") == ("x-a-src", "y-a-src")
    assert labels("/a/Src", "/b/src") == ("a-Src", "b-src")
    assert labels("/", "/w") == ("root", "w")
    assert all("/" not in label for label in labels("/a/b", "/c/b"))


def test_names_of_a_forge_come_before_folders() -> None:
    roots = [(Path("/c/1/flask"), ("flask", "pallets/flask")), (Path("/w/flask"), ())]
    assert labels_of(roots) == ("pallets-flask", "w-flask")
    same = [(Path("/c/1/x"), ("x", "o/x")), (Path("/c/2/x"), ("x", "o/x"))]
    assert labels_of(same) == ("o-x", "o-x-2")


def test_the_title_names_a_few() -> None:
    assert title_of(["a", "b"]) == "a + b"
    assert title_of(["a", "b", "c", "d", "e"]) == "a + b + 3 more"


def test_health_is_added_and_a_broken_root_does_not_break_the_others() -> None:
    ready = Health(
        IndexState.READY, root="/a", files_total=3, chunks=4, vectors=4, watcher="watching", languages=(("c", 3),)
    )
    broken = Health(IndexState.BROKEN, root="/b", last_error="no disk", watcher="watching")
    found = united_health(["a", "b"], [ready, broken])
    assert (found.state, found.files_total, found.chunks) == (IndexState.READY, 3, 4)
    assert found.last_error == "b: no disk"
    assert found.watcher == "watching"
    whole = united_health(["a", "b"], [replace(ready, regex_ready=True, keywords_ready=True), broken])
    assert (whole.regex_ready, whole.keywords_ready) == (True, True)
    assert dict(found.metrics)["a"].startswith("ready · 3 files")
    busy = united_health(["a", "b"], [ready, Health(IndexState.INDEXING, "building", files_total=7)])
    assert (busy.state, busy.phase, busy.files_total) == (IndexState.INDEXING, "b: building", 10)
    assert united_health(["a"], [broken]).state is IndexState.BROKEN
    assert (found.roots_missing, busy.roots_missing) == (("b",), ())
    # A root inside another one is in the other's counts.
    assert united_health(["a", "a/src"], [ready, ready], [False, True]).files_total == ready.files_total
    assert united_health(["a", "b"], [ready, Health(IndexState.OPENING)]).roots_open == 1


def test_the_root_that_is_not_watched_is_named() -> None:
    watched = Health(IndexState.READY, root="/a", watcher="watching")
    off = Health(IndexState.READY, root="/b", watcher="off: too many folders")
    assert united_health(["a", "b"], [watched, off]).watcher == "b: off: too many folders"
    assert united_health(["a", "b"], [off, off]).watcher == "off: too many folders"
    assert united_health(["a", "b"], [watched, watched]).is_watching


def test_the_root_that_is_still_being_opened_is_named() -> None:
    ready = Health(IndexState.READY, root="/a", files_total=3)
    assert united_health(["a", "b"], [ready, Health(IndexState.OPENING)]).phase == "b: opening the index"
    both = [Health(IndexState.OPENING), Health(IndexState.OPENING, "bringing o/n: connecting")]
    assert united_health(["a", "b"], both).phase == "a: opening the index, and 1 more"
    assert united_health(["a"], [ready]).phase == ""
