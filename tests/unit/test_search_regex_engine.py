"""How a regex search runs: batches, order, cap, cancelling, the check of the disk, and patterns that RE2 cannot run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import Cancelled, IndexDamagedError, QueryError
from mgrep_tui.index.results import CheckResult
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, Mode, Symbol
from mgrep_tui.ngram.snapshot import Snapshot, make_snapshot
from mgrep_tui.search import backtracking, regex, running, streaming, work
from mgrep_tui.search.filters import ChunkFacts, FileFacts
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.search.running import NAMED_LINES
from mgrep_tui.search.work import Lines
from mgrep_tui.settings.config import Settings
from tests.support.regex_ways import WAYS, Collected, ask, index_tree, snapshot_of, write_tree


def tree_of(folder: Path, files: dict[str, str]) -> Root:
    return write_tree(folder / "tree", dict(files))


def indexed(root: Root, folder: Path, **parts: object) -> Snapshot:
    return make_snapshot([index_tree(root, folder / "index")], covers=True, **parts)  # type: ignore[arg-type]


# --- symbols


def test_first_hits_say_in_which_symbol_they_are_after_they_were_shown(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "class A:\n    def f(self):\n        needle()\nneedle\n", "b.py": "needle\n"})
    asked: list[bytes] = []

    def symbols_of(path: bytes) -> list[Symbol]:
        asked.append(path)
        return [Symbol("A", "class", "", 0, 2), Symbol("f", "method", "A", 1, 2)] if path == b"a.py" else []

    answer = ask(root, "needle", indexed(root, tmp_path), symbols_of=symbols_of)
    sink = answer.sink
    assert sink.batches == [3]
    assert sink.replaced == 1
    told = {(hit.path, hit.line): (hit.container, hit.symbol, hit.kind) for hit in answer.hits}
    assert told == {
        (b"a.py", 2): ("A", "f", "method"),
        (b"a.py", 3): ("", "", ""),
        (b"b.py", 0): ("", "", ""),
    }
    assert sorted(asked) == [b"a.py", b"b.py"]


def test_answer_without_known_symbols_is_not_sent_twice(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "needle\n"})
    answer = ask(root, "needle", indexed(root, tmp_path), symbols_of=lambda path: [Symbol("far", "function", "", 7, 9)])
    assert answer.sink.replaced == 0


def test_only_the_first_lines_are_named(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "needle\n" * (NAMED_LINES + 10), "b.py": "needle\n"})
    asked: list[bytes] = []

    def symbols_of(path: bytes) -> list[Symbol]:
        asked.append(path)
        return [Symbol("f", "function", "", 0, 9_999)]

    answer = ask(root, "needle", indexed(root, tmp_path), symbols_of=symbols_of)
    assert asked == [b"a.py"]
    assert [bool(hit.symbol) for hit in answer.hits] == [True] * NAMED_LINES + [False] * 11


# --- freshness


def test_edit_after_the_index_was_built_is_read(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "x\nneedle one\n", "b": "needle two\n"})
    snapshot = indexed(root, tmp_path)
    (root.path / "a").write_text("y\n" * 5 + "needle one\nneedle more\n")
    assert ask(root, "needle", snapshot).lines == [("a", 6), ("a", 7), ("b", 1)]


def test_same_size_and_time_is_still_noticed_by_the_change_time(tmp_path: Path) -> None:
    import os

    root = tree_of(tmp_path, {"a": "needle 1\nsecond\n"})
    snapshot = indexed(root, tmp_path)
    before = (root.path / "a").stat()
    (root.path / "a").write_text("second 1\nneedle\n")
    os.utime(root.path / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ask(root, "needle", snapshot).lines == [("a", 2)]


def test_file_that_is_gone_is_no_candidate(tmp_path: Path) -> None:
    """L15"""
    root = tree_of(tmp_path, {f"f{number}": "needle\n" for number in range(20)})
    snapshot = indexed(root, tmp_path)
    for number in range(0, 20, 2):
        (root.path / f"f{number}").unlink()
    answer = ask(root, "needle", snapshot)
    assert len(answer.hits) == 10
    assert answer.outcome.hits == 10


def test_file_that_became_a_link_out_of_the_root_is_not_read(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle\n", "d/b": "needle\n"})
    snapshot = indexed(root, tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b").write_text("needle outside\n")
    (root.path / "d/b").unlink()
    (root.path / "d").rmdir()
    (root.path / "d").symlink_to(outside)
    assert ask(root, "needle", snapshot).lines == [("a", 1)]


def test_check_brings_late_hits_and_takes_back_stale_ones(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle\n", "b": "needle\n", "c": "none\n"})
    snapshot = indexed(root, tmp_path)

    def check(cancel: CancelToken) -> CheckResult:
        (root.path / "b").unlink()
        (root.path / "c").write_text("now a needle\n")
        (root.path / "new").write_text("needle\n")
        return CheckResult(changed=(b"c", b"new"), deleted=frozenset([b"b"]))

    answer = ask(root, "needle", snapshot, check=check)
    assert answer.lines == [("a", 1), ("c", 1), ("new", 1)]
    assert answer.outcome.is_verified
    assert answer.outcome.hits == 3
    assert answer.outcome.files == 3


def test_check_that_finds_nothing_new_sends_nothing(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle\n"})
    snapshot = indexed(root, tmp_path)
    answer = ask(root, "needle", snapshot, check=lambda cancel: CheckResult(changed=(b"a",)))
    assert len(answer.sink.batches) == 1
    assert answer.sink.replaced == 0
    assert answer.outcome.is_verified


def test_late_hits_in_new_files_do_not_move_the_others(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"m": "use(needle)\n"})
    snapshot = indexed(root, tmp_path)

    def check(cancel: CancelToken) -> CheckResult:
        (root.path / "a.py").write_text("def needle():\n")
        return CheckResult(changed=(b"a.py",))

    answer = ask(root, "needle", snapshot, check=check)
    assert [hit.path for hit in answer.hits] == [b"m", b"a.py"]


def test_snapshot_too_old_to_compare_is_not_called_verified(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle\n"})
    answer = ask(root, "needle", indexed(root, tmp_path), check=lambda cancel: CheckResult(is_complete=False))
    assert not answer.outcome.is_verified
    assert answer.outcome.notes


def test_exhaustive_answer_is_checked_first_and_by_path(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"b": "needle\n", "d": "needle\n", "z": "needle\n"})
    snapshot = indexed(root, tmp_path)

    def check(cancel: CancelToken) -> CheckResult:
        (root.path / "d").write_text("gone\n")
        (root.path / "c").write_text("needle\n")
        return CheckResult(changed=(b"c", b"d"), deleted=frozenset([b"z"]))

    answer = ask(root, "needle", snapshot, check=check, is_exhaustive=True)
    assert [hit.path for hit in answer.hits] == [b"b", b"c"]
    assert answer.sink.replaced == 0
    assert answer.outcome.is_verified
    assert answer.outcome.files == 2


def test_files_that_the_index_does_not_cover_are_scanned(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle\n", "b": "needle\n"})
    snapshot = replace(indexed(root, tmp_path), covers=False)
    (root.path / "c").write_text("needle\n")
    answer = ask(root, "needle", snapshot)
    assert answer.lines == [("a", 1), ("b", 1), ("c", 1)]
    assert answer.outcome.engine == "index + scan"


def test_first_hits_of_a_tree_without_an_index_come_before_the_tree_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree_of(tmp_path, {"a": "needle\n", "b": "needle\n"})
    entries = list_files(root, Settings().corpus).entries
    sink = Collected()

    def stream(*_arguments: object) -> Iterator[list[Entry]]:
        yield entries[:1]
        assert sink.batches == [1], "the first file was looked into before the second was asked for"
        yield entries[1:]

    monkeypatch.setattr(regex, "stream_files", stream)
    monkeypatch.setattr(running, "FIRST_AHEAD_FILES", 1)
    monkeypatch.setattr(running, "AHEAD_FILES", 1)
    monkeypatch.setattr(running, "EARLY_S", 0)
    monkeypatch.setattr(work, "FIRST_FILES", 1)
    outcome = RegexEngine(root, Settings()).search(parse("needle", Mode.REGEX), None, None, sink, CancelToken())
    assert [hit.path for hit in sink.hits] == [b"a", b"b"]
    assert outcome.candidate_files == 2


@pytest.mark.parametrize(("way", "engine"), [("indexed", "index"), ("dirty", "scan"), ("off", "scan")])
def test_engine_is_named(tmp_path: Path, way: str, engine: str) -> None:
    root = tree_of(tmp_path, {"a": "needle\n"})
    assert ask(root, "needle", snapshot_of(root, tmp_path / "index", way)).outcome.engine == engine


# --- order


def test_definition_before_word_before_part(tmp_path: Path) -> None:
    root = tree_of(
        tmp_path,
        {
            "a_part.py": "xretryx = 1\n",
            "b_edge.py": "retry_later()\n",
            "c_word.py": "call(retry)\n",
            "d_def.py": "import x\nx.retry()\ndef retry(job):\n    retry(job)\n",
            "tests/test_def.py": "def retry():\n",
            "vendor/x/def.py": "def retry():\n",
        },
    )
    answer = ask(root, "retry", indexed(root, tmp_path))
    assert [hit.path for hit in answer.hits if hit.line == 0 or hit.path == b"d_def.py"][:1] == [b"d_def.py"]
    order = list(dict.fromkeys(hit.path for hit in answer.hits))
    assert order == [b"d_def.py", b"tests/test_def.py", b"vendor/x/def.py", b"c_word.py", b"b_edge.py", b"a_part.py"]
    assert [hit.line for hit in answer.hits if hit.path == b"d_def.py"] == [2, 1, 3]
    assert {signal.name for signal in answer.hits[0].signals} == {"word", "definition"}


def test_order_by_path(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"b.py": "def x(): pass\n", "a.py": "y x\nx\n", "c.py": "x\n"})
    answer = ask(root, "x", indexed(root, tmp_path), sort="path")
    assert [(hit.path, hit.line) for hit in answer.hits] == [(b"a.py", 0), (b"a.py", 1), (b"b.py", 0), (b"c.py", 0)]


def test_order_is_the_same_every_time(tmp_path: Path) -> None:
    root = tree_of(
        tmp_path, {f"d{number % 7}/f{number}.c": "int x;\nx = 1;\n" * (number % 3 + 1) for number in range(300)}
    )
    snapshot = indexed(root, tmp_path)
    first, second = ask(root, "x", snapshot), ask(root, "x", snapshot)
    assert sorted(first.places) == sorted(second.places)
    assert len(first.hits) == 2 * sum(number % 3 + 1 for number in range(300))


def test_hits_of_a_file_come_together(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {f"f{number}": "needle\n" * 40 for number in range(100)})
    answer = ask(root, "needle", indexed(root, tmp_path))
    seen = [hit.path for hit in answer.hits]
    assert len(seen) == 4000
    assert len(list(dict.fromkeys(seen))) == sum(
        1 for place, path in enumerate(seen) if place == 0 or seen[place - 1] != path
    )


# --- filters


def test_filters_hold(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "x\n", "b.go": "x\n", "tests/test_c.py": "x\n", "src/api/d.py": "x\n"})
    snapshot = indexed(root, tmp_path)

    def paths(text: str) -> set[bytes]:
        return {hit.path for hit in ask(root, text, snapshot).hits}

    assert paths("x lang:go") == {b"b.go"}
    assert paths("x lang:py -is:test") == {b"a.py", b"src/api/d.py"}
    assert paths("x lang:go or is:test") == {b"b.go", b"tests/test_c.py"}
    assert paths("x path:src/**") == {b"src/api/d.py"}
    assert paths("x is:dirty") == set()


def test_facts_of_git_are_asked_for(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "x\n", "b.py": "x\n"})
    snapshot = indexed(root, tmp_path)
    answer = ask(
        root, "x is:dirty", snapshot, facts_of=lambda path: FileFacts(path, "python", is_dirty=path == b"b.py")
    )
    assert answer.lines == [("b.py", 1)]


def test_filters_without_a_pattern_list_the_files(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "one\ntwo\n", "b.go": "x\n", "c.py": ""})
    answer = ask(root, "lang:py", indexed(root, tmp_path))
    assert answer.lines == [("a.py", 1), ("c.py", 1)]
    assert [(hit.text, hit.spans) for hit in answer.hits] == [("one", ()), ("", ())]


def test_symbol_filters_ask_the_chunks(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a.py": "x\ndef f():\n    x\n\ndef g():\n    x\n"})
    snapshot = indexed(root, tmp_path)

    def lines_of(path: bytes, facts: FileFacts) -> list[Lines]:
        return [
            Lines(1, 2, ChunkFacts(facts, "function", "f")),
            Lines(4, 5, ChunkFacts(facts, "function", "g")),
        ]

    assert ask(root, "x sym:g", snapshot, lines_of=lines_of).lines == [("a.py", 6)]
    assert ask(root, "x kind:function", snapshot, lines_of=lines_of).lines == [("a.py", 3), ("a.py", 6)]
    assert ask(root, "sym:g", snapshot, lines_of=lines_of).lines == [("a.py", 5)]


# --- limits


def test_cancel_ends_the_search(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {f"f{number}": "needle\n" for number in range(50)})
    snapshot = indexed(root, tmp_path)
    cancel = CancelToken()

    class Stopping(Collected):
        def batch(self, hits: object) -> None:
            cancel.cancel()

    engine = RegexEngine(root, Settings())
    with pytest.raises(Cancelled):
        engine.search(parse("needle", Mode.REGEX), snapshot, None, Stopping(), cancel)


def test_time_limit_gives_what_there_is(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {f"f{number:03}": "needle\n" for number in range(50)})
    settings = replace(Settings(), regex=replace(Settings().regex, time_limit_s=0.0))
    answer = ask(root, "needle", indexed(root, tmp_path), settings=settings)
    assert answer.outcome.is_partial
    assert answer.outcome.notes
    assert len(answer.hits) >= 1
    assert not answer.outcome.is_verified


def test_limit_of_hits(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {f"f{number:03}": "needle\nneedle\n" for number in range(50)})
    answer = ask(root, "needle", indexed(root, tmp_path), limit=7)
    assert len(answer.hits) == 7
    assert answer.outcome.is_capped


def test_huge_file_stops_at_the_cap(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"big.log": "needle and more\n" * 300_000})
    settings = replace(Settings(), regex=replace(Settings().regex, max_hits=100))
    answer = ask(root, "needle", None, settings=settings)
    assert len(answer.hits) == 100
    assert answer.outcome.is_capped
    assert [hit.line for hit in answer.hits] == list(range(100))


def test_lines_of_a_file_read_in_pieces_are_numbered_on(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"big.log": "some line of text\n" * 200_000 + "needle\n"})
    assert ask(root, "needle", None).lines == [("big.log", 200_001)]
    assert ask(root, r"needle\z", None).lines == [("big.log", 200_001)]
    assert ask(root, r"\Asome", None).lines == [("big.log", 1)]


# --- patterns beyond RE2


@pytest.fixture(params=WAYS)
def snapshot_way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"foo(?=bar)", [("a", 1, 1)]),
        (r"foo(?!bar)", [("a", 2, 1), ("a", 3, 3)]),
        (r"(?<=x.)foo", [("a", 3, 3)]),
        (r"(?<!x.)foo", [("a", 1, 1), ("a", 2, 1)]),
        (r"(\w)\1", [("a", 1, 2), ("a", 2, 2), ("a", 3, 4), ("b", 1, 1)]),
        (r"(?P<c>é)(?P=c)", [("b", 1, 1)]),
        (r"fo++", [("a", 1, 1), ("a", 2, 1), ("a", 3, 3)]),
        (r"(?>fo+)b", [("a", 1, 1), ("a", 2, 1)]),
        (r"(?x) foo  # three letters", [("a", 1, 1), ("a", 2, 1), ("a", 3, 3)]),
        (r"(?=)", []),
    ],
)
def test_patterns_that_need_backtracking(
    tmp_path: Path, snapshot_way: str, pattern: str, expected: list[tuple[str, int, int]]
) -> None:
    root = tree_of(tmp_path, {"a": "foobar\nfoobaz\nx foo\n", "b": "éé\n", "c": "nothing\n"})
    answer = ask(root, pattern, snapshot_of(root, tmp_path / "index", snapshot_way))
    assert answer.places == expected
    assert answer.outcome.engine == "backtracking"


def test_pattern_that_backtracks_for_ever_ends_with_a_notice(tmp_path: Path) -> None:
    """C1"""
    root = tree_of(tmp_path, {"a": "a" * 40 + "!\n", "b": "aab\n"})
    began = time.monotonic()
    answer = ask(root, r"(?=a)(a|aa)+$|b", None)
    assert time.monotonic() - began < 20  # 2 s of work; the rest is for a busy machine
    assert answer.outcome.is_partial
    assert answer.outcome.notes


def test_cancel_stops_a_pattern_that_backtracks_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C1"""
    monkeypatch.setattr(backtracking, "CALL_S", 1000.0)
    monkeypatch.setattr(backtracking, "LINE_S", 1000.0)
    root = tree_of(tmp_path, {"a": "a" * 60 + "!\n"})
    settings = replace(Settings(), regex=replace(Settings().regex, backtracking_limit_s=1000.0))
    cancel = CancelToken()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            ask(root, r"(?=a)(a|aa)+$", None, cancel=cancel, settings=settings)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    cancel.wait(0.3)
    cancel.cancel()
    thread.join(30)
    assert not thread.is_alive()
    assert [type(failure) for failure in failures] == [Cancelled]


def test_wrong_pattern_beyond_re2(tmp_path: Path) -> None:
    """B7"""
    root = tree_of(tmp_path, {"a": "a\n"})
    with pytest.raises(QueryError, match="not understood"):
        ask(root, r"(?<=a*b)\2", None)
    with pytest.raises(QueryError, match="not closed"):
        ask(root, r"(?=foo", None)


# --- printed lines


class PrintedSink(Collected):
    """A sink that takes printed lines."""

    prefix = b"in/"

    def __init__(self) -> None:
        super().__init__()
        self.text = b""
        self.count = 0

    def lines(self, text: bytes, count: int) -> None:
        self.text += text
        self.count += count


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize(
    "pattern", ["x", "(?i)X", r"\bx\b", "x.$", "é", r"\w+é", "[^a]x", "abc.*x", "x lang:c", "x\\ny", r"x\b|end\z"]
)
def test_printed_lines_are_the_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: bool, pattern: str
) -> None:
    monkeypatch.setattr(streaming, "MANY_FILES", 0 if processes else 1000)
    monkeypatch.setattr(streaming, "FILES_A_TASK", 2)
    files = {
        "a.c": "x\nno\nabc x x\n  xy\nthe end",
        "b.c": "éx é\r\nX\r\nx\r\n",
        "c.h": "X x\ny\n",
        "d.txt": b"\xff x\n\x00 x\n".decode("latin-1"),
        "e.txt": "nothing\n",
    }
    root = tree_of(tmp_path, files)
    (root.path / "f.c").write_bytes(b"\xef\xbb\xbfx bom\n\xffx latin\n")
    snapshot = indexed(root, tmp_path)
    sink = PrintedSink()
    outcome = RegexEngine(root, Settings()).search(
        parse(pattern, Mode.REGEX), snapshot, None, sink, CancelToken(), is_exhaustive=True
    )
    hits = ask(root, pattern, snapshot, is_exhaustive=True).hits
    printed = [line.split(b":", 3) for line in sink.text.split(b"\n")[:-1]]
    assert [(path, int(line), int(column)) for path, line, column, _ in printed] == [
        (b"in/" + hit.path, hit.line + 1, hit.column + 1) for hit in hits
    ]
    assert [text.decode("utf-8", "replace") for *_, text in printed] == [hit.text for hit in hits]
    assert outcome.hits == sink.count == len(hits)
    assert outcome.files == len({hit.path for hit in hits})


def test_damaged_index_is_answered_by_reading_everything(tmp_path: Path) -> None:
    root = tree_of(tmp_path, {"a": "needle one\n", "b": "needle two\n"})

    class Damaged(Snapshot):
        def candidates(self, plan: object) -> object:  # type: ignore[override]
            raise IndexDamagedError("The n-gram index is damaged.")

    answer = ask(root, "needle", Damaged(covers=True))
    assert answer.lines == [("a", 1), ("b", 1)]
    assert answer.outcome.engine == "scan"
    assert answer.outcome.notes
