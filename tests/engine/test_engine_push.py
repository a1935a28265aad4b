"""Publishing: what differs is written, what is there is not, what was half written is written again, and old things can be forgotten."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from mgrep_tui.clickhouse import merging, schema
from mgrep_tui.clickhouse import push as pushing
from mgrep_tui.clickhouse import rows as writing
from mgrep_tui.clickhouse.connection import rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.leftovers import remove_leftovers
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.packing import unpacked
from mgrep_tui.clickhouse.retention import forget_repository, keep
from mgrep_tui.clickhouse.rows import Writer
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from tests.support.engines import commit, distinct_rows, git, pushed, tree

PROJECT = {
    "app/main.py": "def start_server(port):\n    return listen(port)\n",
    "app/text.py": 'def shout(text):\n    """Make a text loud."""\n    return text.upper()\n',
    "README.md": "# A project\n\nIt shouts.\n",
    "notes/\N{SNOWMAN} it's; DROP TABLE x.txt": "hostile name\n",
}


def counts(engine: EmbeddedConnection) -> dict[str, int]:
    names = ("files", "documents", "chunks", "blocks", "postings", "symbols", "commits", "batches")
    return {name: distinct_rows(engine, name) for name in names}


def vectors(engine: EmbeddedConnection) -> int:
    (name,) = rows(engine.batches("SELECT name FROM mgrep.models FINAL"))[0]
    return int(rows(engine.batches(f"SELECT count() FROM mgrep.{name.decode()} FINAL"))[0][0])


def test_a_commit_is_published_once(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    made = commit(folder)
    first = pushed(engine, folder)
    assert (first.repository, first.branch, first.commit, first.files) == ("project", "main", made, 4)
    assert first.new_chunks == first.chunks == first.new_vectors == vectors(engine) >= 4
    before = counts(engine)
    again = pushed(engine, folder)
    assert again.is_known and again.new_chunks == 0 and again.chunks == first.chunks
    assert counts(engine) == before
    assert before["batches"] == 0


def test_only_what_changed_is_written(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    pushed(engine, folder)
    before = counts(engine)
    tree(folder, {"app/text.py": "def whisper(text):\n    return text.lower()\n"})
    (folder / "README.md").unlink()
    commit(folder)
    second = pushed(engine, folder)
    assert (second.files, second.new_documents) == (3, 1)
    after = counts(engine)
    assert after["documents"] == before["documents"] + 1
    assert after["files"] == before["files"] + 3
    assert [one.files for one in published(engine) if one.is_searched] == [3]


def test_branches_and_copies_share_their_content(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    pushed(engine, folder)
    before = counts(engine)
    git(folder, "switch", "-q", "-c", "other")
    commit(folder, "nothing new")
    done = pushed(engine, folder)
    assert (done.branch, done.new_documents) == ("other", 0)
    # Another repository with the same files under the same paths, as a fork is.
    fork = tree(tmp_path / "fork", PROJECT)
    commit(fork)
    assert pushed(engine, fork).new_documents == 0
    after = counts(engine)
    assert {name: after[name] for name in ("documents", "chunks", "blocks", "postings")} == {
        name: before[name] for name in ("documents", "chunks", "blocks", "postings")
    }
    assert sorted((one.repository, one.branch, one.is_searched) for one in published(engine)) == [
        ("fork", "main", True),
        ("project", "main", True),
        ("project", "other", False),
    ]


def test_the_commit_is_published_and_not_what_is_changed_here(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    tree(folder, {"app/text.py": "changed = 'not committed'\n", "new.py": "untracked = 1\n"})
    (folder / "README.md").unlink()
    done = pushed(engine, folder)
    assert done.files == 4
    text = b"".join(text for (text,) in rows(engine.batches("SELECT text FROM mgrep.blocks")))
    assert b"Make a text loud" in text and b"It shouts" in text
    assert b"not committed" not in text and b"untracked" not in text


def test_a_folder_without_git_is_published_by_its_content(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "plain", PROJECT)
    first = pushed(engine, folder)
    assert first.branch == "" and len(first.commit) == 40
    assert pushed(engine, folder).is_known
    tree(folder, {"more.txt": "more\n"})
    assert pushed(engine, folder).commit != first.commit


def test_names_and_contents_may_hold_anything(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    names = [b"it's.txt", b"a\\b.txt", b"caf\xe9.py", b"new\nline.md", b"'; DROP TABLE files; --", b"{p0:String}"]
    for name in names:
        with open(bytes(folder) + b"/" + name, "wb") as file:
            file.write(b"def f():\n    return '\\'' + \"\xff\\0\"\n" + name + b"\n")
    (folder / "odd.txt").write_bytes(b"text with a NUL \0 in it\n" * 40)
    (folder / "mark.txt").write_bytes("\ufeffwide\n".encode("utf-16"))
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 64)
    done = pushed(engine, folder, name="'; DROP TABLE commits; --")
    assert done.files == len(names) + 4
    found = {bytes(path) for (path,) in rows(engine.batches("SELECT path FROM mgrep.files"))}
    assert set(names) <= found
    assert [one.repository for one in published(engine)] == ["'; DROP TABLE commits; --"]
    assert pushed(engine, folder, name="'; DROP TABLE commits; --").is_known


def test_a_push_that_was_killed_is_finished_by_the_next(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    monkeypatch.setattr(pushing, "BATCH_CHUNKS", 1)
    monkeypatch.setattr(writing, "GRAPH_VALUES", 1)
    insert = Writer._insert
    written: list[str] = []

    def dying(self: Writer, table: str, content: pa.Table) -> None:
        insert(self, table, content)
        written.append(table)
        if written.count("symbols") == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Writer, "_insert", dying)
    with pytest.raises(KeyboardInterrupt):
        pushed(engine, folder)
    monkeypatch.setattr(Writer, "_insert", insert)
    assert published(engine) == []
    half = counts(engine)
    assert half["batches"] > 0 and half["chunks"] > 0
    done = pushed(engine, folder)
    assert done.files == 4 and 0 < done.new_documents < 4
    whole = counts(engine)
    # The same as at one go.
    engine.run("DROP DATABASE mgrep SYNC")
    pushed(engine, folder)
    assert counts(engine) == whole


def parts(engine: EmbeddedConnection) -> dict[str, int]:
    return {
        bytes(table).decode(): count
        for table, count in rows(
            engine.batches("SELECT table, count() FROM system.parts WHERE active AND database = 'mgrep' GROUP BY table")
        )
    }


def test_what_many_batches_wrote_is_one_part_and_one_graph(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "BATCH_CHUNKS", 1)
    folder = tree(
        tmp_path / "project",
        {f"m{number}.py": f"def function_{number}():\n    return {number}\n" for number in range(40)},
    )
    commit(folder)
    assert pushed(engine, folder).new_documents == 40
    found = parts(engine)
    assert {found[name] for name in ("blocks", "chunks", "postings", "symbols", "documents", "files")} == {1}
    (graphs,) = [count for name, count in found.items() if name.startswith("vectors_")]
    assert graphs == 1
    # Little beside much is not reason enough to write all of it again, and does not become many parts either.
    monkeypatch.setattr(merging, "MOST_PARTS", 2)
    for number in range(4):
        (folder / "m3.py").write_text(f"def function_3():\n    return {number} + 33\n")
        commit(folder)
        pushed(engine, folder)
        assert parts(engine)["documents"] <= 3 if number else parts(engine)["documents"] == 2
    assert counts(engine)["documents"] == vectors(engine) == 44


def test_a_documents_vectors_are_there_before_it_is(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "BATCH_CHUNKS", 1)
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    written: list[str] = []
    insert = Writer._insert

    def noting(self: Writer, table: str, content: pa.Table) -> None:
        written.append("vectors" if table.startswith("vectors_") else table)
        insert(self, table, content)

    monkeypatch.setattr(Writer, "_insert", noting)
    pushed(engine, folder)
    order = [name for name in written if name in ("vectors", "documents", "chunks")]
    assert order == ["chunks"] * 4 + ["vectors", "documents"]


def test_a_push_that_is_cut_off_lets_the_engine_merge_again(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    monkeypatch.setattr(Writer, "finish", lambda self: (_ for _ in ()).throw(EngineError("The disk is full.")))
    with pytest.raises(EngineError):
        pushed(engine, folder)
    monkeypatch.undo()
    # While merges are held this would wait for ever.
    engine.run("DELETE FROM mgrep.chunks WHERE 1")
    assert pushed(engine, folder).files == 4


OLDER_CHUNKS = (
    "chunk UInt64, content FixedString(16), path String, language LowCardinality(String),"
    " file_language LowCardinality(String), flags UInt8, kind LowCardinality(String), symbol String, container String,"
    " first_line UInt32, last_line UInt32, part UInt16, parts UInt16, text_hash FixedString(16), lengths Array(UInt32),"
    " first_block UInt32, last_block UInt32"
)


def test_chunks_of_an_older_schema_are_read_as_those_of_today(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    odd = os.path.join(os.fsencode(folder), b"odd \xff\n name.py")
    with open(odd, "wb") as file:
        file.write("class Größe:\n    def mißt(self):\n        return 1\n".encode())
    commit(folder)
    pushed(engine, folder)
    today = {
        chunk: unpacked(chunk, value) for chunk, value in rows(engine.batches("SELECT chunk, packed FROM mgrep.chunks"))
    }
    assert len(today) >= 5
    lengths = dict(rows(engine.batches("SELECT chunk, lengths FROM mgrep.chunks")))
    # The table as it was, with the same in it.
    engine.run("DROP TABLE mgrep.chunks SYNC")
    engine.run(f"CREATE TABLE mgrep.chunks ({OLDER_CHUNKS}) ENGINE = ReplacingMergeTree ORDER BY chunk")
    found = list(today.values())
    engine.insert(
        "mgrep.chunks",
        pa.table(
            {
                "chunk": pa.array(list(today), pa.uint64()),
                "content": pa.array([where.content for _, where, _ in found], writing.HASH),
                "path": pa.array([row.path for row, _, _ in found], pa.binary()),
                "language": pa.array([row.language.encode() for row, _, _ in found], pa.binary()),
                "file_language": pa.array([language.encode() for _, _, language in found], pa.binary()),
                "flags": pa.array([row.flags for row, _, _ in found], pa.uint8()),
                "kind": pa.array([row.kind.encode() for row, _, _ in found], pa.binary()),
                "symbol": pa.array([row.symbol.encode() for row, _, _ in found], pa.binary()),
                "container": pa.array([row.container.encode() for row, _, _ in found], pa.binary()),
                "first_line": pa.array([row.first_line for row, _, _ in found], pa.uint32()),
                "last_line": pa.array([row.last_line for row, _, _ in found], pa.uint32()),
                "part": pa.array([row.part for row, _, _ in found], pa.uint16()),
                "parts": pa.array([row.parts for row, _, _ in found], pa.uint16()),
                "text_hash": pa.array([row.text_hash for row, _, _ in found], writing.HASH),
                "lengths": pa.array([lengths[chunk] for chunk in today], pa.list_(pa.uint32())),
                "first_block": pa.array([where.first_block for _, where, _ in found], pa.uint32()),
                "last_block": pa.array([where.last_block for _, where, _ in found], pa.uint32()),
            }
        ),
    )
    schema._remember(engine, 2)
    with pytest.raises(EngineError, match="older version"):
        schema.check(engine)
    # The next push brings the tables up to date, and writes beside what is there.
    (folder / "more.py").write_text("def whisper(text):\n    return text.lower()\n")
    commit(folder)
    pushed(engine, folder)
    now = dict(rows(engine.batches("SELECT chunk, packed FROM mgrep.chunks")))
    assert {chunk: unpacked(chunk, now[chunk]) for chunk in today} == today
    assert len(now) == len(today) + 1
    sink = Collected()
    MeaningSearch(engine, None).search(
        parse("whisper a text loud", Mode.SEMANTIC), heads_of(published(engine)), sink, CancelToken()
    )
    assert {hit.path.rpartition(b"/")[2] for hit in sink.hits[:2]} == {b"more.py", b"text.py"}


def test_leftovers_of_somebody_who_still_writes_are_let_alone(engine: EmbeddedConnection, tmp_path: Path) -> None:
    engine.insert(
        "mgrep.batches",
        pa.table(
            {
                "batch": pa.array([1], pa.uint64()),
                "push": pa.array([1], pa.uint64()),
                "documents": pa.array([[7]], pa.list_(pa.uint64())),
                "is_done": pa.array([0], pa.uint8()),
                "at": pa.array([schema.now_us()], pa.uint64()),
            }
        ),
    )
    assert remove_leftovers(engine, stale_us=60_000_000) == 0
    assert counts(engine)["batches"] == 1
    assert remove_leftovers(engine) == 1
    assert counts(engine)["batches"] == 0


def test_two_documents_with_one_number_get_two(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    monkeypatch.setattr(pushing, "document_of", lambda path, content, maker: 5)
    done = pushed(engine, folder)
    assert done.new_documents == 4
    assert rows(engine.batches("SELECT document FROM mgrep.documents ORDER BY document")) == [(5,), (6,), (7,), (8,)]
    tree(folder, {"fifth.txt": "one more\n"})
    assert pushed(engine, folder).new_documents == 1


def test_older_commits_are_forgotten_and_what_only_they_had(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", PROJECT)
    commit(folder)
    pushed(engine, folder)
    for number in range(3):
        tree(folder, {"app/text.py": f"def version_{number}():\n    return {number}\n"})
        commit(folder)
        pushed(engine, folder)
    assert len(published(engine)) == 4
    gone = keep(engine, 1)
    assert (gone.commits, gone.documents) == (3, 3)
    left = counts(engine)
    assert (left["commits"], left["files"], left["documents"]) == (1, 4, 4)
    text = b"".join(text for (text,) in rows(engine.batches("SELECT text FROM mgrep.blocks")))
    assert b"version_2" in text and b"version_1" not in text and b"Make a text loud" not in text
    assert vectors(engine) == left["chunks"]
    assert keep(engine, 1).commits == 0
    # What was forgotten can be published again.
    git(folder, "checkout", "-q", "HEAD~1")
    assert pushed(engine, folder).new_documents == 1


def test_a_repository_is_forgotten_whole(engine: EmbeddedConnection, tmp_path: Path) -> None:
    one = tree(tmp_path / "one", PROJECT)
    other = tree(tmp_path / "other", {"app/main.py": PROJECT["app/main.py"], "own.py": "own = 1\n"})
    pushed(engine, one)
    pushed(engine, other)
    forget_repository(engine, "one")
    assert [found.repository for found in published(engine)] == ["other"]
    assert counts(engine)["documents"] == 2
    with pytest.raises(MgrepError, match="no repository of that name"):
        forget_repository(engine, "one")
    with pytest.raises(MgrepError, match="At least one"):
        keep(engine, 0)


def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_is_left_alone(engine: EmbeddedConnection) -> None:
    migrations = {schema.VERSION: ("ALTER TABLE {database}.files{on_cluster} ADD COLUMN IF NOT EXISTS more UInt8",)}
    schema.prepare(engine, migrations, schema.VERSION + 1)
    assert schema.version_of(engine) == schema.VERSION + 1
    rows(engine.batches("SELECT more FROM mgrep.files"))
    schema.prepare(engine, migrations, schema.VERSION + 1)
    with pytest.raises(EngineError, match="newer version"):
        schema.check(engine)
    with pytest.raises(EngineError, match="newer version"):
        schema.prepare(engine)
    with pytest.raises(EngineError, match="older version"):
        schema.check(engine, schema.VERSION + 2)


def test_an_empty_engine_says_what_to_do(started_engine: EmbeddedConnection) -> None:
    started_engine.run("DROP DATABASE IF EXISTS mgrep SYNC")
    started_engine.run("CREATE DATABASE mgrep")
    with pytest.raises(EngineError, match="mgrep-tui push"):
        schema.check(started_engine)


def test_statements_for_a_cluster_are_understood_by_the_engine(started_engine: EmbeddedConnection) -> None:
    """There is no cluster here to run them on; the engine's own parser reads them."""
    for table in (*schema.TABLES, schema.vectors_table("vectors_0", 256)):
        statements = schema.create_statements(table, "code", "big")
        assert len(statements) == (1 if table.name in schema.SMALL else 2)
        for statement in statements:
            assert "ON CLUSTER big" in statement and "'" not in table.name
            assert rows(started_engine.batches("SELECT formatQuery({statement:String})", {"statement": statement}))
