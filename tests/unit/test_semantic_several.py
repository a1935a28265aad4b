"""One question to several roots: what makes their scores comparable, and what happens when one is slow or fails."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import ListSink, World

from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import Cancelled, IndexDamagedError
from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat, Mode, Outcome
from mgrep_tui.retrieval.signals import Candidate
from mgrep_tui.search.query import parse
from mgrep_tui.search.semantic import SemanticEngine
from mgrep_tui.search.semantic_candidates import Pool
from mgrep_tui.search.semantic_several import Part, search_several
from mgrep_tui.search.semantic_union import united

UPLOAD = {
    "src/upload.py": 'def retry_upload(job):\n    """Try a failed upload again, waiting longer each time."""\n    return job.send()\n',
    "src/clock.py": "def wait(seconds):\n    return seconds\n",
}
NOISE = {
    f"pages/page{number}.py": f"def page{number}():\n    return 'retry the upload page {number}'\n"
    for number in range(12)
}


def world(base: Path, name: str, files: Mapping[str, str]) -> World:
    for path, text in files.items():
        file = base / name / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return World(base / name / "tree", base / name / "index", load_static())


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    base = tmp_path_factory.mktemp("several")
    return {"service": world(base, "service", UPLOAD), "site": world(base, "site", NOISE)}


def parts(worlds: Mapping[str, World], text: str, engines: Mapping[str, Any] | None = None) -> list[Part]:
    query = parse(text, Mode.SEMANTIC)
    return [
        Part(name, (engines or {}).get(name, one.engine), query, one.view())  # type: ignore[arg-type]
        for name, one in worlds.items()
    ]


def search(given: Sequence[Part], **more: Any) -> tuple[list[str], Outcome, ListSink]:
    sink = ListSink()
    outcome = search_several(given, sink, more.pop("cancel", CancelToken()), **more)
    return [hit.path.decode() for hit in sink.hits], outcome, sink


def test_the_best_of_all_comes_first_whatever_the_order_of_the_roots(worlds: dict[str, World]) -> None:
    for order in (worlds, dict(reversed(worlds.items()))):
        found, outcome, sink = search(parts(order, "try a failed upload again"))
        assert found[0] == "service/src/upload.py"
        assert any(path.startswith("site/") for path in found)
        assert (outcome.engine, outcome.vector_coverage, outcome.is_partial) == ("words + meaning", 1.0, False)
        assert sink.replaced <= 1


def candidate(path: str, words: float) -> Candidate:
    return Candidate(1, path, "function", "f", "", 0, 1, words=words, body_words=words, name_words=words)


def pool(words: float, documents: int, holders: dict[str, int]) -> Pool:
    row: Any = object()
    return Pool(
        (candidate("tests/a.py", words),), (row,), documents, holders, ({b"tests/a.py": FileStat(1, 1, 1, 1)},), (0,)
    )


def test_word_scores_are_scaled_to_what_is_rare_in_all(worlds: dict[str, World]) -> None:
    """A word on every page of one root counts little there; among all it is rare, and the scores of that root rise."""
    common, rare = pool(1.0, 10, {"upload": 10}), pool(1.0, 1_000, {"upload": 1})
    merged = united([common, rare], ["site", "service"])
    assert merged.documents == 1_010
    assert merged.holders == {"upload": 11}
    assert merged.candidates[0].words > 1.0 > merged.candidates[1].words
    assert merged.sources == (0, 1)
    assert len(merged.stats) == 2


def test_a_single_root_is_ranked_as_it_always_was() -> None:
    one = pool(1.0, 10, {"upload": 10})
    assert united([one], ["site"]) is one


def test_a_root_called_tests_is_no_folder_of_tests() -> None:
    from mgrep_tui.retrieval.paths import facts

    for label in ("tests", "v2", "linux", "examples", "docs"):
        merged = united(
            [pool(1, 1, {}), Pool((candidate("src/a.py", 1.0),), (object(),), 1, {}, ({},), (0,))], ["x", label]
        )  # type: ignore[arg-type]
        found = facts(merged.candidates[1].path)
        assert (found.roles, found.platforms, found.version) == (frozenset(), frozenset(), None)
    assert "flask" in facts(united([pool(1, 1, {}), pool(1, 1, {})], ["x", "flask"]).candidates[1].path).folder_words


def test_a_root_whose_index_is_not_open_yet_is_named(worlds: dict[str, World]) -> None:
    """Git hung in one of three folders: its hits were missing and nothing said so."""
    whole = parts(worlds, "try a failed upload again")
    given = [whole[0], replace(whole[1], view=SemanticView())]
    found, outcome, _ = search(given)
    assert found[0] == "service/src/upload.py"
    assert outcome.is_partial
    assert outcome.notes == ("site: The index for searching by meaning is not there yet.",)
    assert search([replace(given[1], view=SemanticView(notice="No model."))])[1].notes == ("site: No model.",)


class Slow:
    """An engine that answers when it is told to."""

    def __init__(self, engine: SemanticEngine, error: Exception | None = None) -> None:
        self._engine = engine
        self.go = threading.Event()
        self.error = error

    def pool(self, *given: Any, **more: Any) -> Pool:
        self.go.wait(30)
        if self.error is not None:
            raise self.error
        return self._engine.pool(*given, **more)

    def source(self, *given: Any) -> Any:
        return self._engine.source(*given)


def test_a_slow_root_joins_later_and_the_list_is_replaced_once(worlds: dict[str, World]) -> None:
    slow = Slow(worlds["service"].engine)

    class Opening(ListSink):
        def batch(self, hits: Any) -> None:
            super().batch(hits)
            slow.go.set()

    sink = Opening()
    outcome = search_several(
        parts(worlds, "try a failed upload again", {"service": slow}), sink, CancelToken(), patience_s=0.0, late_s=30.0
    )
    assert sink.replaced == 1
    assert sink.hits[0].path == b"service/src/upload.py"
    assert not outcome.is_partial
    assert len({hit.path for hit in sink.hits}) == outcome.files


def test_a_root_that_does_not_answer_is_named(worlds: dict[str, World]) -> None:
    slow = Slow(worlds["service"].engine)
    found, outcome, _ = search(parts(worlds, "retry upload", {"service": slow}), patience_s=0.0, late_s=0.3)
    slow.go.set()
    assert found and all(path.startswith("site/") for path in found)
    assert (outcome.is_partial, outcome.notes) == (True, ("service did not answer in time.",))


def test_a_root_that_fails_is_named(worlds: dict[str, World]) -> None:
    bad = Slow(worlds["service"].engine, IndexDamagedError("The catalog is damaged."))
    bad.go.set()
    found, outcome, _ = search(parts(worlds, "retry upload", {"service": bad}))
    assert found and all(path.startswith("site/") for path in found)
    assert outcome.notes == ("service: The catalog is damaged.",)


def test_it_ends_when_nobody_wants_it(worlds: dict[str, World]) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        search(parts(worlds, "retry upload", {"site": Slow(worlds["site"].engine)}), cancel=cancel)


def test_of_very_many_candidates_those_are_ranked_that_can_win() -> None:
    from mgrep_tui.retrieval.question import read
    from mgrep_tui.search.semantic_union import trimmed

    row: Any = object()
    candidates = tuple(
        Candidate(
            n, f"f{n}.py", "function", "the_name" if n == 77 else "f", "", 0, 1, words=n / 1000, meaning=1 - n / 1000
        )
        for n in range(1000)
    )
    whole = Pool(candidates, (row,) * 1000, 1000, {}, ({},), (0,) * 1000)
    found = trimmed(whole, read("the_name"), most=20)
    kept = {candidate.chunk_id for candidate in found.candidates}
    assert {999, 0, 77} <= kept
    assert 20 <= len(kept) <= 130
    assert len(found.rows) == len(found.sources) == len(kept)
    assert trimmed(whole, read("the_name"), most=1000) is whole
