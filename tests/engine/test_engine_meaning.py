"""Semantic mode on an engine: the same best answers as the local index gives, filters before any limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.word_search import MOST_MISSPELT
from mgrep_tui.clickhouse.wording import LENGTHS, length_code
from mgrep_tui.corpus.root import open_root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import Cancelled
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode, Outcome
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from tests.support.engines import pushed, searched, tree

NAMES = ("parse", "render", "connect", "retry", "encode", "resize", "upload", "cancel", "shuffle", "verify")
THINGS = ("request", "image", "socket", "token", "matrix", "invoice", "session", "header", "folder", "signal")
QUESTIONS = (
    "retry a socket",
    "how is an image resized",
    "verify_token",
    "cancel the upload of a folder",
    "parse request headers",
    "ImageRenderer",
    "shuffle the rows of a matrix",
    "where are invoices encoded",
    "lang:python connect",
    "-is:test render an image",
    "path:net/** session",
    "kind:class matrix",
    "sym:cancel upload",
    '"raise ValueError" token',
    "encrypt",
    "conect a soket",
)


def project(folder: Path) -> Path:
    """A hundred little functions with words in common, some classes, a test and a text."""
    files: dict[str, str | bytes] = {}
    for name in NAMES:
        lines = []
        for thing in THINGS:
            lines += [
                f"def {name}_{thing}({thing}, limit=3):",
                f'    """{name.capitalize()} the {thing} of a {THINGS[(len(name) * len(thing)) % 10]}."""',
                f"    if not {thing}:",
                f"        raise ValueError('no {thing} to {name}')",
                f"    return {NAMES[(len(thing) + len(name)) % 10]}({thing}, limit)",
                "",
                "",
            ]
        files[f"{'net' if name in ('connect', 'retry', 'upload') else 'work'}/{name}.py"] = "\n".join(lines)
    for thing in THINGS[:4]:
        title = thing.capitalize()
        files[f"types/{thing}.py"] = (
            f"class {title}Renderer:\n    def draw(self, {thing}):\n        return {thing}.pixels\n"
        )
    files["tests/test_render.py"] = "def test_render_image():\n    assert render_image(image)\n"
    files["docs/guide.md"] = (
        "# Uploading\n\nA folder is uploaded file by file.\n\n# Cancelling\n\nAny upload can be cancelled.\n"
    )
    return tree(folder, files)


def keys(hits: Collected, count: int) -> list[tuple[bytes, int, int]]:
    return [(hit.path, hit.first_line, hit.last_line) for hit in hits.hits[:count]]


def ask(engine: EmbeddedConnection, text: str, limit: int = 100) -> tuple[Collected, Outcome]:
    hits = Collected()
    every = published(engine)
    heads = heads_of(every, every[0].state) if len(every) == 1 else searched(engine)
    meaning = MeaningSearch(engine, load_static())
    try:
        outcome = meaning.search(parse(text, Mode.SEMANTIC), heads, hits, CancelToken(), limit=limit)
    finally:
        meaning.close()
    return hits, outcome


def test_the_best_answers_are_those_of_the_local_index(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path / "project")
    pushed(engine, folder)
    folders = user_folders({"MGREP_TUI_HOME": str(tmp_path / "home")})
    local = LocalExplorer(open_root(folder), Settings(), folders, {}, watch=False)
    try:
        local.start()
        local.wait(CancelToken(), needs_vectors=True)
        shares = []
        for text in QUESTIONS:
            wanted = Collected()
            local.answer(text, Mode.SEMANTIC, SearchOptions(), wanted, CancelToken())
            hits, outcome = ask(engine, text)
            assert outcome.engine == "words + meaning" or not hits.hits
            ours, theirs = set(keys(hits, 10)), set(keys(wanted, 10))
            shares.append(len(ours & theirs) / len(theirs) if theirs else float(not ours))
        assert sum(shares) / len(shares) >= 0.95, shares
    finally:
        local.close()


def test_filters_hold_before_any_limit(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, project(tmp_path / "project"))
    for text, allowed in (
        ("lang:markdown cancel", lambda hit: hit.path.endswith(b".md")),
        ("path:types/** matrix", lambda hit: hit.path.startswith(b"types/")),
        ("is:test render", lambda hit: hit.path.startswith(b"tests/")),
        ("-path:work/** token", lambda hit: not hit.path.startswith(b"work/")),
        ("sym:verify_token anything", lambda hit: "verify_token" in hit.symbol),
        ("kind:class anything", lambda hit: hit.kind == "class"),
    ):
        hits, _ = ask(engine, text, limit=5)
        assert hits.hits and all(allowed(hit) for hit in hits.hits), text


def test_filters_alone_list_what_they_let_through(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, project(tmp_path / "project"))
    hits, outcome = ask(engine, "path:types/**")
    assert [hit.path for hit in hits.hits] == sorted(b"types/%s.py" % thing.encode() for thing in THINGS[:4])
    assert outcome.engine == "index"
    assert ask(engine, "path:types/**", limit=2)[1].is_capped


def test_several_repositories_are_one_list(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, project(tmp_path / "project"), name="acme/one")
    pushed(
        engine,
        tree(tmp_path / "two", {"zip.py": "def unzip_archive(path):\n    return extract(path)\n"}),
        name="acme/two",
    )
    hits, _ = ask(engine, "unzip an archive")
    assert hits.hits[0].path == b"acme/two/zip.py"
    hits, _ = ask(engine, "repo:one cancel upload")
    assert {hit.path[:9] for hit in hits.hits} == {b"acme/one/"}


def test_more_like_this(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, project(tmp_path / "project"))
    hits, _ = ask(engine, "verify_token")
    meaning = MeaningSearch(engine, load_static())
    again = Collected()
    chunk = hits.hits[0].chunk_id
    assert chunk is not None
    every = published(engine)
    heads = heads_of(every, every[0].state)
    meaning.like(chunk, parse("", Mode.SEMANTIC), heads, again, CancelToken())
    assert again.hits and all(hit.chunk_id != chunk for hit in again.hits)
    assert meaning.like(12345, parse("", Mode.SEMANTIC), heads, Collected(), CancelToken()).is_partial
    meaning.close()


def test_words_answer_where_there_is_no_model(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, project(tmp_path / "project"))
    hits = Collected()
    meaning = MeaningSearch(engine, None)
    outcome = meaning.search(parse("verify token", Mode.SEMANTIC), searched(engine), hits, CancelToken())
    meaning.close()
    assert outcome.engine == "words" and any("verify_token" in hit.symbol for hit in hits.hits[:3])


def test_what_is_no_longer_published_is_not_found(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(
        tmp_path / "project", {"old.py": "def tessellate():\n    return 1\n", "kept.py": "def keep():\n    pass\n"}
    )
    pushed(engine, folder)
    (folder / "old.py").unlink()
    pushed(engine, folder)
    hits, _ = ask(engine, "tessellate")
    assert all(hit.path != b"project/old.py" and hit.path != b"old.py" for hit in hits.hits)


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE mgrep.chunks; --", "\\", '"\'" x', "{p0:String}", "a\0b", "\u202e", "x" * 5_000]
)
def test_hostile_questions_are_questions(engine: EmbeddedConnection, tmp_path: Path, text: str) -> None:
    pushed(engine, tree(tmp_path / "project", {"a.py": "def drop_table(name):\n    return name\n"}))
    ask(engine, text)
    assert ask(engine, "drop_table")[0].hits


def test_many_words_that_nobody_knows_are_no_typing_mistakes(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(engine, project(tmp_path / "project"))
    statements: list[str] = []
    batches = EmbeddedConnection.batches

    def noting(self: EmbeddedConnection, sql: str, *others: Any, **named: Any) -> Iterator[pa.RecordBatch]:
        statements.append(sql)
        return batches(self, sql, *others, **named)

    monkeypatch.setattr(EmbeddedConnection, "batches", noting)
    ask(engine, " ".join(f"zq{chr(97 + number)}xwv" for number in range(26)))
    assert 0 < sum("damerauLevenshtein" in sql for sql in statements) <= 2 * MOST_MISSPELT


def test_a_cancelled_question_ends(engine: EmbeddedConnection, tmp_path: Path) -> None:
    pushed(engine, tree(tmp_path / "project", {"a.py": "def f():\n    pass\n"}))
    token = CancelToken()
    token.cancel()
    meaning = MeaningSearch(engine, load_static())
    with pytest.raises(Cancelled):
        meaning.search(parse("anything", Mode.SEMANTIC), searched(engine), Collected(), token)
    meaning.close()


def test_lengths_are_kept_as_the_local_index_keeps_them() -> None:
    """Exact up to 39, then in steps that double: the table of Lucene's and tantivy's one-byte lengths."""
    assert LENGTHS[:41].tolist() == [float(value) for value in range(41)]
    assert LENGTHS[40:49].tolist() == [40.0, 42.0, 44.0, 46.0, 48.0, 50.0, 52.0, 54.0, 56.0]
    assert [length_code(count) for count in (0, 1, 39, 40, 41, 42, 43, 2**40)] == [0, 1, 39, 40, 40, 41, 41, 255]
