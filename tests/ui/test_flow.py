"""When a search starts, which one counts, and what becomes of its hits. Time is the test's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.model import Hit, Mode, Outcome, Progress
from mgrep_tui.ui import flow as flow_module
from mgrep_tui.ui.flow import Ask, Flow
from mgrep_tui.ui.inbox import TAKEN_AT_ONCE, Inbox
from mgrep_tui.ui.results import Results
from tests.support.fake_explorer import FakeExplorer, Held


@dataclass
class Timer:
    at: float
    call: Callable[[], None]
    is_stopped: bool = False

    def stop(self) -> None:
        self.is_stopped = True


@dataclass
class FakeHost:
    """Runs timers when the test lets time pass, posted calls when it says `run`."""

    now: float = 100.0
    timers: list[Timer] = field(default_factory=list)
    posted: list[Callable[[], None]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    shown: Results | None = None

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + seconds, call))
        return self.timers[-1]

    def post(self, call: Callable[[], None]) -> None:
        self.posted.append(call)

    def results_replaced(self, results: Results) -> None:
        self.said.append("new")
        self.shown = results

    def results_grown(self, has_moved: bool) -> None:
        self.said.append("grown")

    def results_old(self) -> None:
        self.said.append("old")

    def state_changed(self) -> None:
        pass

    def run(self) -> None:
        while self.posted:
            self.posted.pop(0)()

    def passes(self, seconds: float) -> None:
        end = self.now + seconds
        while True:
            self.run()
            due = [timer for timer in self.timers if not timer.is_stopped and timer.at <= end]
            if not due:
                break
            first = min(due, key=lambda timer: timer.at)
            self.timers.remove(first)
            self.now = max(self.now, first.at)
            first.call()
        self.now = end
        self.run()


@dataclass
class World:
    host: FakeHost
    explorer: FakeExplorer
    flow: Flow

    @property
    def last(self) -> Held:
        return self.explorer.held[-1]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    host = FakeHost()
    monkeypatch.setattr(flow_module.time, "monotonic", lambda: host.now)
    explorer = FakeExplorer(holds=True)
    return World(host, explorer, Flow(explorer, host, Ask("", Mode.REGEX), 0.1))


def hits(number: int, path: bytes = b"a.py") -> list[Hit]:
    return [Hit(path, line, 0, "text") for line in range(number)]


def test_an_answer_that_comes_while_one_types_on_does_not_swallow_the_next_search(world: World) -> None:
    """P8: the query box said `import`, and the hits of `im` stayed under it for ever."""
    world.flow.typed("im")
    world.host.passes(0.2)
    first = world.last
    world.flow.typed("import")
    first.sink.batch(hits(3))
    first.on_done(Outcome(), None)
    world.host.run()
    assert world.flow.shown_ask == Ask("im", Mode.REGEX)
    assert not world.flow.is_idle
    world.host.passes(0.3)
    assert world.explorer.searched[-1][0] == "import"


def test_twenty_keys_start_few_searches(world: World) -> None:
    """Twenty keys at 30 ms start at most three searches."""
    text = "find_the_first_twenty"[:20]
    for size in range(1, 21):
        world.flow.typed(text[:size])
        world.host.passes(0.03)
    world.host.passes(0.2)
    assert len(world.explorer.searched) <= 3
    assert world.explorer.searched[-1][0] == text


def test_a_paste_does_not_wait(world: World) -> None:
    world.flow.typed("pasted")
    world.flow.hurry()
    assert [text for text, *_ in world.explorer.searched] == ["pasted"]


def test_slow_answers_make_the_pause_longer_but_not_long(world: World) -> None:
    world.flow.typed("a")
    world.host.passes(0.1)
    world.host.passes(5)
    world.last.on_done(Outcome(), None)
    world.host.run()
    world.flow.typed("ab")
    world.host.passes(0.15)
    assert len(world.explorer.searched) == 1
    world.host.passes(0.06)
    assert len(world.explorer.searched) == 2


def test_what_an_older_search_still_sends_is_dropped(world: World) -> None:
    """P8: type `e`, at once `errno_xyz`."""
    world.flow.change(Ask("e", Mode.REGEX))
    old = world.last
    world.flow.change(Ask("errno_xyz", Mode.REGEX))
    assert old.search.is_cancelled
    old.sink.batch(hits(3, b"old.py"))
    old.on_done(Outcome(hits=3), None)
    world.last.sink.batch(hits(1, b"new.py"))
    world.host.passes(0.1)
    assert [hit.path for hit in world.flow.results.hits] == [b"new.py"]
    assert world.flow.outcome is None


def test_old_hits_stay_until_new_ones_are_there(world: World) -> None:
    world.flow.change(Ask("one", Mode.REGEX))
    world.last.sink.batch(hits(2))
    world.last.on_done(Outcome(hits=2), None)
    world.host.run()
    world.flow.change(Ask("two", Mode.REGEX))
    assert len(world.flow.results) == 2
    assert "old" not in world.host.said
    world.host.passes(0.15)
    assert world.host.said[-1] == "old"
    world.last.sink.batch(hits(1, b"b.py"))
    world.host.passes(0.1)
    assert len(world.flow.results) == 1


def test_searching_is_said_only_after_a_while(world: World) -> None:
    world.flow.change(Ask("one", Mode.REGEX))
    world.host.passes(0.19)
    assert not world.flow.is_slow
    world.last.sink.progress(Progress(1, 10))
    world.host.passes(0.02)
    assert world.flow.is_slow
    assert world.flow.progress == Progress(1, 10)


def test_a_half_typed_pattern_keeps_the_hits_of_the_old_query(world: World) -> None:
    """B7: an error under the input only."""
    world.flow.change(Ask("foo", Mode.REGEX))
    world.last.sink.batch(hits(2))
    world.last.on_done(Outcome(hits=2), None)
    world.host.run()
    world.flow.change(Ask("foo(", Mode.REGEX))
    world.last.on_done(None, QueryError("missing ): foo(", 3))
    world.host.run()
    assert len(world.flow.results) == 2
    assert isinstance(world.flow.error, QueryError)
    assert world.host.said[-1] == "old"
    world.flow.change(Ask("foo(b)", Mode.REGEX))
    assert world.flow.error is None


def test_no_hits_are_shown_only_when_the_search_is_over(world: World) -> None:
    world.flow.change(Ask("one", Mode.REGEX))
    world.last.sink.batch(hits(2))
    world.host.run()
    world.flow.change(Ask("none", Mode.REGEX))
    world.host.passes(3)
    assert len(world.flow.results) == 2
    world.last.on_done(Outcome(searched_files=7), None)
    world.host.run()
    assert len(world.flow.results) == 0
    assert world.flow.outcome == Outcome(searched_files=7)


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_query_starts_no_search(world: World, text: str) -> None:
    world.flow.change(Ask("one", Mode.REGEX))
    world.flow.change(Ask(text, Mode.REGEX))
    assert len(world.explorer.searched) == 1
    assert world.explorer.held[0].search.is_cancelled
    assert world.flow.is_idle


def test_a_better_order_keeps_the_epoch(world: World) -> None:
    world.flow.change(Ask("one", Mode.SEMANTIC))
    world.last.sink.batch(hits(2))
    world.host.run()
    world.last.sink.replace(list(reversed(hits(2))))
    world.host.passes(0.1)
    assert world.host.said == ["new", "new"]
    assert [hit.line for hit in world.flow.results.hits] == [1, 0]


def test_refinements_are_undone_one_by_one(world: World) -> None:
    first, second = Ask("one", Mode.REGEX), Ask("one lang:go", Mode.REGEX, SearchOptions(case="yes"))
    world.flow.change(first)
    world.flow.change(second, is_refinement=True)
    world.flow.change(Ask("one lang:go path:x", Mode.REGEX), is_refinement=True)
    assert world.flow.undo() == second
    assert world.flow.undo() == first
    assert world.flow.undo() is None
    assert world.flow.ask == first


def test_an_explorer_that_cannot_search_says_why(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise MgrepError("The index is closed.")

    monkeypatch.setattr(world.explorer, "search", broken)
    world.flow.change(Ask("one", Mode.REGEX))
    assert str(world.flow.error) == "The index is closed."
    assert world.flow.is_idle


def test_hits_one_by_one_wake_the_screen_once() -> None:
    """F10: batches, whatever the search does."""
    wakes: list[int] = []
    inbox = Inbox(lambda: wakes.append(1))
    for each in hits(1_000):
        inbox.batch([each])
    assert len(wakes) == 1
    assert len(inbox.take().hits) == 1_000
    inbox.batch(hits(1))
    assert len(wakes) == 2


def test_very_many_hits_are_taken_in_parts_and_the_end_comes_last() -> None:
    wakes: list[int] = []
    inbox = Inbox(lambda: wakes.append(1))
    inbox.batch(hits(TAKEN_AT_ONCE * 2 + 5))
    inbox.finish(Outcome(hits=9), None)
    sizes, ends = [], []
    for _ in range(3):
        taken = inbox.take()
        sizes.append(len(taken.hits))
        ends.append(taken.is_done)
    assert sizes == [TAKEN_AT_ONCE, TAKEN_AT_ONCE, 5]
    assert ends == [False, False, True]
