"""Searching a small tree by meaning and words, on real parts: ranking, filters, freshness, folding, the deep tier."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from retrieval_world import ListSink, World

from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import Cancelled, ModelError
from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse

FILES = {
    "src/upload/client.py": (
        "class Uploader:\n"
        '    """Sends files."""\n\n'
        "    def retry(self, job):\n"
        '        """Try again after a network failure, waiting longer each time."""\n'
        "        for attempt in range(self.max_retries):\n"
        "            self.clock.sleep(self.backoff(attempt))\n\n"
        "    def backoff(self, attempt):\n"
        "        return min(2 ** attempt, 30)\n"
    ),
    "src/queue/worker.go": "package queue\n\n// Requeue puts a job back with a delay.\nfunc Requeue(job *Job) {\n\ttime.Sleep(delay)\n}\n",
    "src/auth/session.py": (
        "def open_session(user):\n"
        '    """Log a user in and remember the session cookie."""\n'
        "    cookie = sign(user.name)\n"
        "    return Session(cookie)\n\n\n"
        "class Session:\n    def __init__(self, cookie):\n        self.cookie = cookie\n"
    ),
    "tests/test_upload.py": "def test_retry():\n    uploader = Uploader()\n    assert uploader.retry(job) is None  # network failure\n",
    "docs/guide.md": "# Uploading\n\nHow to retry an upload after a network failure.\n\n# Sessions\n\nCookies.\n",
    "src/한글.py": "def 인사말(이름):\n    return f'안녕하세요 {이름}'\n",
}


class FakeDeep:
    """A deep model that loves one word."""

    def __init__(self, word: str = "", failure: str = "") -> None:
        self.available = True
        self.word = word
        self.failure = failure
        self.notice = ""
        self.asks = ""
        self.asked: list[str] = []

    def rescore(self, query: str, texts: Sequence[str], *, cancel: CancelToken, limit_s: float) -> np.ndarray:
        if self.failure:
            raise ModelError(self.failure)
        self.asked += texts
        return np.array([0.9 if self.word in text else 0.1 for text in texts], np.float32)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> World:
    base = tmp_path_factory.mktemp("semantic")
    write(base / "tree", FILES)
    return World(base / "tree", base / "index", load_static())


def paths(world: World, text: str, **given: object) -> list[str]:
    return [os.fsdecode(hit.path) for hit in world.search(text, **given)[0]]  # type: ignore[arg-type]


def test_a_question_in_plain_words_finds_the_place(shared: World) -> None:
    hits, outcome, _ = shared.search("try again after a network failure with growing delay")
    best = hits[0]
    assert os.fsdecode(best.path) == "src/upload/client.py"
    assert best.symbol.endswith("retry") or "Uploader" in best.symbol
    assert best.first_line <= best.line <= best.last_line
    assert outcome.engine == "words + meaning"
    assert outcome.vector_coverage == 1.0
    assert outcome.hits == len(hits)


def test_words_are_lit_in_the_best_line(shared: World) -> None:
    hit = shared.search("network failure retry")[0][0]
    lit = {hit.text[span.start : span.end].lower() for span in hit.spans}
    assert lit & {"network", "failure", "retry", "retries"}
    assert hit.text[hit.column :].lower().startswith(tuple(lit))


def test_a_name_finds_its_definition_first(shared: World) -> None:
    hit = shared.search("Session")[0][0]
    assert (os.fsdecode(hit.path), "Session" in hit.symbol) == ("src/auth/session.py", True)
    assert any(signal.name == "definition" for signal in hit.signals)


def test_an_implementation_comes_before_tests_and_documents(shared: World) -> None:
    found = paths(shared, "retry upload after network failure")
    assert found.index("src/upload/client.py") < found.index("tests/test_upload.py")
    assert found.index("src/upload/client.py") < found.index("docs/guide.md")
    assert paths(shared, "tests of retry")[0] == "tests/test_upload.py"


def test_any_script_can_be_searched(shared: World) -> None:
    assert paths(shared, "인사말")[0] == "src/한글.py"
    assert paths(shared, "안녕하세요")[0] == "src/한글.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry lang:go", {"src/queue/worker.go"}),
        ("retry path:src/auth/**", {"src/auth/session.py"}),
        ("retry is:test", {"tests/test_upload.py"}),
        ("retry sym:requeue", {"src/queue/worker.go"}),
        ('upload "network failure" lang:python -is:test', {"src/upload/client.py"}),
        ("retry kind:section", {"docs/guide.md"}),
    ],
)
def test_filters_hold_for_every_hit(shared: World, text: str, expected: set[str]) -> None:
    assert set(paths(shared, text)) == expected


def test_filters_alone_list_what_they_let_through(shared: World) -> None:
    hits, outcome, _ = shared.search("path:src/auth/**")
    assert {os.fsdecode(hit.path) for hit in hits} == {"src/auth/session.py"}
    assert [hit.first_line for hit in hits] == sorted(hit.first_line for hit in hits)
    assert outcome.hits == len(hits)


def test_an_empty_query_finds_nothing(shared: World) -> None:
    assert shared.search("")[0] == []
    assert shared.search("   ")[0] == []


def test_scores_fall_and_the_limit_holds(shared: World) -> None:
    hits, outcome, _ = shared.search("session cookie", limit=3)
    assert len(hits) == 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert outcome.is_capped


def test_the_ratio_turns_vectors_off(shared: World) -> None:
    hits, outcome, _ = shared.search("session cookie", ratio=0.0)
    assert outcome.engine == "words"
    assert all(signal.name not in ("meaning", "file meaning", "file centre") for hit in hits for signal in hit.signals)


def test_more_like_this_leaves_out_the_chunk_itself(shared: World) -> None:
    hit = shared.search("requeue job delay lang:go")[0][0]
    sink = ListSink()
    assert hit.chunk_id is not None
    shared.engine.like(hit.chunk_id, parse("", Mode.SEMANTIC), shared.view(), sink, CancelToken(), limit=5)
    assert sink.hits
    assert hit.chunk_id not in [other.chunk_id for other in sink.hits]
    gone = shared.engine.like(10**9, parse("", Mode.SEMANTIC), shared.view(), sink, CancelToken())
    assert gone.notes


def test_without_an_index_the_answer_says_so(shared: World) -> None:
    sink = ListSink()
    outcome = shared.engine.search(parse("x", Mode.SEMANTIC), SemanticView(notice="Being built."), sink, CancelToken())
    assert (outcome.is_partial, outcome.notes, sink.hits) == (True, ("Being built.",), [])


def test_a_cancelled_search_stops(shared: World) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        shared.engine.search(parse("session", Mode.SEMANTIC), shared.view(), ListSink(), token)


def test_words_answer_while_there_are_no_vectors(tmp_path: Path) -> None:
    write(tmp_path / "tree", FILES)
    world = World(tmp_path / "tree", tmp_path / "index", None)
    hits, outcome, _ = world.search("session cookie")
    assert os.fsdecode(hits[0].path) == "src/auth/session.py"
    assert (outcome.engine, outcome.vector_coverage) == ("words", 0.0)


def test_a_chunk_that_is_gone_is_no_hit_and_one_that_moved_with_its_text_is_checked(tmp_path: Path) -> None:
    """FAULTS L3, L15: deleted or changed between indexing and searching."""
    write(tmp_path / "tree", FILES)
    world = World(tmp_path / "tree", tmp_path / "index", load_static())
    (tmp_path / "tree/src/auth/session.py").unlink()
    client = tmp_path / "tree/src/upload/client.py"
    client.write_text("# one line more\n" + client.read_text())
    assert not {"src/auth/session.py", "src/upload/client.py"} & set(paths(world, "session cookie retry backoff"))
    client.write_text(FILES["src/upload/client.py"])
    assert "src/upload/client.py" in paths(world, "retry backoff")


def test_copies_fold_into_the_best_one(tmp_path: Path) -> None:
    """FAULTS O5: the same file at many paths is one hit with the number of its copies, never many equal top hits."""
    body = (
        "def parse_header(line):\n    key, value = line.split(':', 1)\n    return key.strip().lower(), value.strip()\n"
    )
    write(
        tmp_path / "tree",
        {f"copy{n}/header.py": body for n in range(40)} | {"other.py": "def parse_body(line):\n    return line\n"},
    )
    world = World(tmp_path / "tree", tmp_path / "index", load_static())
    hits, _, sink = world.search("parse header", limit=10)
    assert sum("header.py" in os.fsdecode(hit.path) for hit in hits) == 1
    assert hits[0].copies == 39
    assert sink.hits == hits
    assert "other.py" in [os.fsdecode(hit.path) for hit in hits]


def test_the_deep_tier_replaces_the_list_once(tmp_path: Path) -> None:
    write(tmp_path / "tree", FILES)
    deep = FakeDeep("Requeue")
    world = World(tmp_path / "tree", tmp_path / "index", load_static(), deep)
    quick, _, _ = world.search("job delay session")
    hits, outcome, sink = world.search("job delay session", tier="deep")
    assert sink.replaced == 1
    assert outcome.engine == "words + meaning + deep"
    assert {hit.chunk_id for hit in hits} == {hit.chunk_id for hit in quick}
    assert any(signal.name == "deep" for signal in hits[0].signals)
    assert all("\n" in text for text in deep.asked)


def test_that_code_leaves_the_machine_is_said_first(tmp_path: Path) -> None:
    write(tmp_path / "tree", FILES)
    deep = FakeDeep("Requeue")
    deep.notice = "Code is sent to example.org (semantic.endpoint)."
    world = World(tmp_path / "tree", tmp_path / "index", load_static(), deep)
    assert world.search("job delay session", tier="deep")[1].notes[0] == deep.notice
    deep.failure = "It is down."
    assert deep.notice in world.search("job delay session", tier="deep")[1].notes


def test_a_small_limit_still_lets_the_deep_tier_see_fifty(tmp_path: Path) -> None:
    write(tmp_path / "tree", {f"m{n}.py": f"def handler_{n}(event):\n    return event.field_{n}\n" for n in range(30)})
    deep = FakeDeep("handler_29")
    world = World(tmp_path / "tree", tmp_path / "index", load_static(), deep)
    hits, outcome, _ = world.search("event handler", tier="deep", limit=3)
    assert len(deep.asked) == 30
    assert (len(hits), outcome.hits) == (3, 3)


def test_a_deep_tier_that_fails_costs_only_its_refinement(tmp_path: Path) -> None:
    write(tmp_path / "tree", FILES)
    world = World(tmp_path / "tree", tmp_path / "index", load_static(), FakeDeep(failure="The model died."))
    hits, outcome, sink = world.search("session cookie", tier="deep")
    assert os.fsdecode(hits[0].path) == "src/auth/session.py"
    assert sink.replaced == 0
    assert any("died" in note for note in outcome.notes)


@pytest.mark.parametrize("text", ["?", "!!!", '""', "()", "🙂", "->"])
def test_what_has_no_word_finds_nothing_and_says_so(shared: World, text: str) -> None:
    hits, outcome, _ = shared.search(text)
    assert hits == []
    assert outcome.notes == ("There is no word in this to look for.",)


def test_what_has_no_word_beside_filters_lists_what_they_let_through(shared: World) -> None:
    assert paths(shared, "? path:docs/**") == paths(shared, "path:docs/**") != []
