"""The second process of regex mode: its answers are those of the first, and a search survives whatever becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.courtesy import Courtesy
from mgrep_tui.model import Hit, Mode
from mgrep_tui.ngram.snapshot import Candidate, Snapshot
from mgrep_tui.search import second, work
from mgrep_tui.search.looking import Looker
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.search.second import SECOND
from mgrep_tui.settings.config import Settings
from tests.support.regex_ways import Collected, ask, snapshot_of, write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no second process")

FILES = 400


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The second process runs, and takes its share of even a few files."""
    monkeypatch.setattr(work, "SECOND_FROM", 8)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    SECOND.start()
    assert SECOND.pid is not None
    yield
    SECOND.stop()
    assert SECOND.pid is None


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files it took, each time it took some."""
    given: list[int] = []
    give = second.Lease.give

    def noted(self: second.Lease, candidates: second.Given) -> bool:
        taken = give(self, candidates)
        if taken:
            given.append(len(candidates))
        return taken

    monkeypatch.setattr(second.Lease, "give", noted)
    return given


def tree_of(folder: Path) -> Root:
    texts = {
        f"d{number % 7}/f{number:03}.py": "x\n" * (number % 5)
        + f"def needle_{number}(a):\n    return 'é needle' if a else needle\n"
        + ("needle at the end" if number % 3 else "# none\r\n")
        for number in range(FILES)
    }
    return write_tree(folder / "tree", dict(texts))


def told(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.path, hit.line))


@pytest.mark.parametrize(
    "pattern", ["needle", r"needle_\d+\(", r"\bneedle\b.*$", "(?i)NEEDLE", "é", r"^\S+ needle_[1-3]"]
)
@pytest.mark.parametrize("way", ["indexed", "dirty", "off"])
def test_answer_is_that_of_one_process(
    pattern: str, way: str, tmp_path: Path, running: None, shares: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree_of(tmp_path)
    snapshot = snapshot_of(root, tmp_path / "index", way)
    both = ask(root, pattern, snapshot)
    assert shares
    with monkeypatch.context() as patch:
        patch.setattr(work, "SECOND_FROM", 1 << 60)
        one = ask(root, pattern, snapshot)
    assert told(both.hits) == told(one.hits)
    assert both.outcome.hits == one.outcome.hits
    assert both.outcome.searched_files == one.outcome.searched_files


def test_while_somebody_types_it_works_alone(
    tmp_path: Path, running: None, shares: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree_of(tmp_path)
    expected = ask(root, "needle", None)
    assert SECOND._pipe is not None
    while SECOND.unanswered:  # it is still being started
        assert SECOND._pipe.poll(20)
        if lease := SECOND.take((b"", "", {}, 0, 0, True)):
            lease.close()
    looked: list[int] = []
    look = Looker.look

    def noted(self: Looker, candidates: Sequence[Candidate]) -> object:
        looked.append(len(candidates))
        return look(self, candidates)

    monkeypatch.setattr(Looker, "look", noted)
    monkeypatch.setattr(work, "COURTESY", Courtesy())
    monkeypatch.setattr(work.COURTESY, "_until", float("inf"))
    shares.clear()
    answer = ask(root, "needle", None)
    assert told(answer.hits) == told(expected.hits)
    assert looked == [work.FIRST_FILES]
    assert sum(looked) + sum(shares) == FILES


def search(root: Root, snapshot: Snapshot | None, text: str, sink: Collected, token: CancelToken | None = None) -> None:
    query = parse(text, Mode.REGEX)
    RegexEngine(root, Settings()).search(query, snapshot, None, sink, token or CancelToken())


@pytest.mark.parametrize("signals", [(signal.SIGKILL,), (signal.SIGSTOP, signal.SIGKILL), (signal.SIGSTOP,)])
def test_a_search_goes_on_when_it_dies_or_hangs(
    signals: tuple[signal.Signals, ...],
    tmp_path: Path,
    running: None,
    shares: list[int],
) -> None:
    root = tree_of(tmp_path)
    snapshot = snapshot_of(root, tmp_path / "index", "indexed")
    assert SECOND.pid is not None
    for number in signals:
        os.kill(SECOND.pid, number)
    sink = Collected()
    search(root, snapshot, "needle_", sink)
    assert len({hit.path for hit in sink.hits}) == FILES
    shares.clear()
    again = ask(root, "needle_", snapshot)
    assert len({hit.path for hit in again.hits}) == FILES, "and the next search does without"
    assert not shares


def test_searches_that_are_given_up_leave_no_answers_behind(tmp_path: Path, running: None, shares: list[int]) -> None:
    root = tree_of(tmp_path)
    snapshot = snapshot_of(root, tmp_path / "index", "indexed")

    class Cancelling(Collected):
        def __init__(self, token: CancelToken) -> None:
            super().__init__()
            self.token = token

        def batch(self, hits: Sequence[Hit]) -> None:
            self.token.cancel()

    for _ in range(20):
        token = CancelToken()
        with pytest.raises(Cancelled):
            search(root, snapshot, "x", Cancelling(token), token)
    answer = ask(root, "needle_1", snapshot)
    assert len(answer.hits) == len([number for number in range(FILES) if str(number).startswith("1")])
    assert SECOND.unanswered <= second.TASKS_AHEAD


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import os; os.cpu_count = lambda: 2\n"
        "from mgrep_tui.search.second import SECOND\n"
        "SECOND.start(); print(SECOND.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(done.stdout)
    end = time.monotonic() + 20
    while _is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return Path("/proc").is_dir() is False
