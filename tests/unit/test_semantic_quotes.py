"""Quoted texts and patterns of a question are looked for before anything is ranked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from retrieval_world import ListSink, World

from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search import semantic, semantic_quotes
from mgrep_tui.search.filters import HasText
from mgrep_tui.search.query import parse
from mgrep_tui.search.semantic import SemanticEngine
from mgrep_tui.search.semantic_quotes import demanded

PLAIN = "def parse_config_{n}(text):\n    # parse the config text, line by line\n    return text.splitlines()\n"
RARE = "def other():\n    marker = 'zq7x'\n    value = 1\n    return marker\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(30):
        (tree / f"config_{number:02}.py").write_text(PLAIN.format(n=number))
    (tree / "zebra.py").write_text(RARE)
    return World(tree, tmp_path / "index")


def found(world: World, text: str, files_with: semantic_quotes.FilesWith | None) -> list[bytes]:
    engine = SemanticEngine(world.root, world.settings, files_with=files_with)
    sink = ListSink()
    engine.search(parse(text, Mode.SEMANTIC), world.view(), sink, CancelToken(), limit=5)
    return [hit.path for hit in sink.hits]


def test_what_every_chunk_must_hold() -> None:
    def texts(query: str) -> list[str]:
        return [text.value for text in demanded(parse(query, Mode.SEMANTIC).filters.condition)]

    assert texts('x "one" /two/ lang:python') == ["one", "two"]
    assert texts('x "one"') == ["one"]
    assert texts('x "one" or "two"') == []
    assert texts('x -"one"') == []


def test_a_pattern_in_one_chunk_is_found_wherever_it_would_rank(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "ARM", 5)
    monkeypatch.setattr(semantic, "WIDE_ARM", 10)
    assert found(world, r"parse config /zq\dx/", None) == []  # among the best ten it is not
    asked: list[str] = []

    def files_with(texts: Sequence[HasText]) -> Collection[bytes]:
        asked.extend(text.value for text in texts)
        return {b"zebra.py", b"config_01.py"}  # one more than hold it, as an index does

    assert found(world, r"parse config /zq\dx/", files_with) == [b"zebra.py"]
    assert asked == [r"zq\dx"]


def test_a_pattern_alone_lists_the_chunks_that_hold_it(world: World) -> None:
    assert found(world, r"/zq\dx/", lambda texts: {b"zebra.py", b"config_01.py"}) == [b"zebra.py"]


def test_a_text_in_many_files_is_judged_as_it_is_shown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic_quotes, "READ_FILES", 3)
    everything = {f"config_{number:02}.py".encode() for number in range(1, 30)}
    hits = found(world, 'parse config "splitlines"', lambda texts: everything)
    assert len(hits) == 5
    assert b"config_00.py" not in hits  # ruled out by the index


def test_an_index_that_cannot_tell_changes_nothing(world: World) -> None:
    assert found(world, r"marker /zq\dx/", lambda texts: None) == found(world, r"marker /zq\dx/", None) == [b"zebra.py"]


@pytest.mark.parametrize("text", [r"/zq\dx/", '"zq7x"', r"other value /zq\dx/", "value ZQ7X or /zq.x/"])
def test_a_hit_lands_on_the_line_that_was_demanded(world: World, text: str) -> None:
    engine = SemanticEngine(world.root, world.settings)
    sink = ListSink()
    engine.search(parse(text, Mode.SEMANTIC), world.view(), sink, CancelToken(), limit=5)
    hit = next(hit for hit in sink.hits if hit.path == b"zebra.py")
    assert (hit.line, hit.column) == (1, 14)
    assert any(hit.text[span.start : span.end].startswith("zq7x") for span in hit.spans)


def test_a_text_that_is_denied_draws_nobody(world: World) -> None:
    engine = SemanticEngine(world.root, world.settings)
    sink = ListSink()
    engine.search(parse('lang:python -"zq7x"', Mode.SEMANTIC), world.view(), sink, CancelToken(), limit=5)
    assert {hit.line for hit in sink.hits} == {0}
