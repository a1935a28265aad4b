"""What was computed once is not computed again: chunks and vectors kept by content, and what a damaged or missing cache costs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.chunking import chunk_file
from mgrep_tui.corpus.root import open_root
from mgrep_tui.index import ingest
from mgrep_tui.index.cuts import NAME, Cuts, pack, unpack
from mgrep_tui.index.ingest import Plan, Task
from mgrep_tui.index.rows import NewFile
from mgrep_tui.settings.config import ChunkingSettings
from tests.support.git_trees import Tree

TEXT = "import os\n\n\ndef first(x):\n    return x\r\n\n\nclass Second:\n    def third(self):\n        return 'ä'\n"


def cut_of(text: str) -> tuple[object, ...]:
    made = chunk_file(b"a.py", text.encode(), "python", ChunkingSettings())
    return made.chunks, made.symbols, made.grammar, made.fallback


@pytest.mark.parametrize("text", [TEXT, "", "\n", "x = '" + "y" * 30_000 + "'\n", "é\u2028b\n\x0c\n"])
def test_a_cut_comes_back_as_it_was(text: str) -> None:
    cut = cut_of(text)
    assert unpack(pack(cut, text), lambda: text) == cut  # type: ignore[arg-type]


def test_a_damaged_value_is_no_value() -> None:
    value = pack(cut_of(TEXT), TEXT)  # type: ignore[arg-type]
    for place in range(0, len(value), 7):
        damaged = bytearray(value)
        damaged[place] ^= 1
        assert unpack(bytes(damaged), lambda: TEXT) is None


def test_another_path_language_content_or_version_is_another_key(tmp_path: Path) -> None:
    one, other = Cuts(tmp_path / NAME, "1"), Cuts(tmp_path / NAME, "2")
    keys = {
        one.key(b"a", "c", b"h"), one.key(b"b", "c", b"h"), one.key(b"a", "d", b"h"), one.key(b"a", "c", b"i"), other.key(b"a", "c", b"h"),
    }  # fmt: skip
    assert len(keys) == 5


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    day = [0.0]
    cuts = Cuts(tmp_path / NAME, "1", limit_bytes=60_000, clock=lambda: day[0] * 86_400)
    random = np.random.default_rng(1)
    for number in range(300):
        day[0] = float(number)
        text = random.bytes(300).hex()
        cuts.put(cuts.key(b"%d" % number, "", b""), ((), (), text, ""), "")
        cuts.flush()
    cuts.close()
    kept = sqlite3.connect(tmp_path / NAME).execute("SELECT used FROM cuts ORDER BY used").fetchall()
    assert 0 < len(kept) < 300
    assert kept[-1] == (299,) and kept[0][0] > 0


@pytest.mark.parametrize("how", ["no database", "a folder", "another version"])
def test_a_cache_that_cannot_be_used_costs_only_work(tmp_path: Path, how: str) -> None:
    """M5, M10"""
    path = tmp_path / NAME
    if how == "no database":
        path.write_bytes(b"something else" * 1000)
    elif how == "a folder":
        path.mkdir()
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    cuts = Cuts(path, "1")
    key = cuts.key(b"a.py", "python", b"h")
    assert cuts.get(key, lambda: TEXT) is None
    cuts.put(key, cut_of(TEXT), TEXT)  # type: ignore[arg-type]
    cuts.flush()
    assert cuts.get(key, lambda: TEXT) == (None if how == "a folder" else cut_of(TEXT))
    cuts.close()


class Child:
    """The child's code, in this process, on a tree."""

    def __init__(self, path: Path, shared: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ingest, "_limit_memory", lambda: None)
        ingest.begin(Plan(open_root(path), ChunkingSettings(), 1 << 30, shared=shared, versions="1"))
        assert ingest._child is not None
        self.parsed: list[bytes] = []
        self.embedded: list[str] = []
        child = ingest._child
        cut, model = child.chunk_file, child.model
        assert model is not None
        embed = model.embed_documents

        def chunk(path: bytes, *rest: object) -> object:
            self.parsed.append(path)
            return cut(path, *rest)

        def embed_documents(texts: list[str]) -> object:
            self.embedded += texts
            return embed(texts)

        monkeypatch.setattr(child, "chunk_file", chunk)
        monkeypatch.setattr(model, "embed_documents", embed_documents)

    def take(self, *names: bytes) -> list[NewFile]:
        return ingest.take(tuple(Task(name) for name in names), frozenset())


@pytest.fixture(autouse=True)
def _no_child_is_left() -> Iterator[None]:
    yield
    ingest._child = None


def test_another_work_tree_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folders with the same files, as work trees and branches have them: the second one only reads."""
    for name in ("one", "two"):
        tree = Tree(tmp_path / name)
        tree.write("a.py", TEXT)
        tree.write("b.md", "# Title\n\ntext\n")
    with monkeypatch.context() as patch:
        first = Child(tmp_path / "one", tmp_path / "shared", patch)
        made = first.take(b"a.py", b"b.md")
        assert first.parsed == [b"a.py", b"b.md"] and first.embedded
    second = Child(tmp_path / "two", tmp_path / "shared", monkeypatch)
    again = second.take(b"a.py", b"b.md")
    assert not second.parsed and not second.embedded
    for one, two in zip(made, again, strict=True):
        assert (one.chunks, one.symbols, one.grammar, one.fresh) == (two.chunks, two.symbols, two.grammar, two.fresh)
        assert one.vectors is not None and two.vectors is not None
        np.testing.assert_allclose(one.vectors, two.vectors, atol=2e-3)
    Tree(tmp_path / "two").write("a.py", TEXT + "\n\ndef fourth():\n    pass\n")
    second.take(b"a.py")
    assert second.parsed == [b"a.py"]
    assert len(second.embedded) < len(made[0].chunks) + 1  # what the file had before is known


def test_without_a_shared_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Tree(tmp_path / "one").write("a.py", TEXT)
    child = Child(tmp_path / "one", None, monkeypatch)
    assert child.take(b"a.py")[0].chunks == child.take(b"a.py")[0].chunks
    assert child.parsed == [b"a.py", b"a.py"]
