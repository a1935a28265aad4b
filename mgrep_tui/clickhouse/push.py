"""Publishing a commit: what the engine does not know yet is cut, embedded and written; the commit itself is written last.

Everything is keyed by content, so a second push of the same commit writes nothing, another branch writes what differs, and a push that was
killed goes on where it stood: its last batch is removed and written again, nothing of it was to be seen meanwhile.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.announcing import introduce, is_published, maker_of, static_model, text_of, vectors_of
from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.keys import document_of, next_document, state_of
from mgrep_tui.clickhouse.leftovers import remove_leftovers
from mgrep_tui.clickhouse.making import Made, Making, facts_of, flags_of
from mgrep_tui.clickhouse.merging import merged_once
from mgrep_tui.clickhouse.rows import HASH, Batch, Document, Writer
from mgrep_tui.clickhouse.tree import Publication, TreeFile, commit_of_contents, publication_of, read_files
from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.facts import facts_of_path
from mgrep_tui.settings.config import Settings

BATCH_CHUNKS = 40_000
BATCH_BYTES = 64_000_000
ASK_FILES = 2_000
"""Files whose numbers are looked up at once."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did. `is_known` says that the engine had this very commit."""

    repository: str
    branch: str
    commit: str
    files: int
    new_documents: int
    new_chunks: int
    new_vectors: int
    chunks: int
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How far a push is, for whoever shows it. `total` is of files. With `is_published` only the merges are left to be waited for."""

    repository: str
    files: int
    total: int
    chunks: int
    is_published: bool = False


Report = Callable[[Step], None]


def push(
    connection: Connection,
    root: Root,
    settings: Settings,
    cancel: CancelToken,
    *,
    name: str = "",
    chooses_branch: bool = False,
    queries: Path | None = None,
    report: Report = lambda step: None,
) -> Pushed:
    """Publish the commit of a root. Raises `MgrepError` and `Cancelled`; whatever happens, what was published before stays.

    With `chooses_branch` its branch is searched from now on where none is named.
    """
    schema.prepare(connection)
    publication = publication_of(root, settings, cancel, name=name)
    if publication.commit and is_published(connection, publication):
        if chooses_branch:
            introduce(connection, publication, chooses_branch=True)
        return _known(connection, publication, publication.commit)
    model, dimension = static_model()
    vectors = vectors_of(connection, model, dimension) if model else ""
    remove_leftovers(connection)
    run = _Push(connection, publication, settings, cancel, queries, report, model, vectors, dimension, chooses_branch)
    with merged_once(connection, cancel):
        done = run.publish()
        report(Step(done.repository, done.files, done.files, done.new_chunks, is_published=True))
    return done


class _Push:
    """One push while it runs."""

    def __init__(
        self,
        connection: Connection,
        publication: Publication,
        settings: Settings,
        cancel: CancelToken,
        queries: Path | None,
        report: Report,
        model: str,
        vectors: str,
        dimension: int,
        chooses_branch: bool,
    ) -> None:
        self._chooses_branch = chooses_branch
        self._connection = connection
        self._publication = publication
        self._settings = settings
        self._cancel = cancel
        self._queries = queries
        self._report = report
        self._model = model
        self._number = secrets.randbits(63)
        self._maker = maker_of(settings, queries)
        self._writer = Writer(connection, self._number, model, vectors, dimension, self._maker)
        self._batch = Batch()
        self._with_blocks: set[bytes] = set()  # contents that this push has written or is about to
        self._rows: dict[
            bytes, tuple[bytes, int, str, int, int, bool]
        ] = {}  # path → content, document, language, flags, size, is text
        self._new_documents = 0

    def publish(self) -> Pushed:
        publication = self._publication
        total = len(publication.files) + len(publication.objects)
        with Making(publication.root, self._settings, self._queries) as making:
            source = read_files(publication, self._settings.corpus.max_file_bytes, self._cancel)
            for some in _portions(source, ASK_FILES):
                self._cancel.check()
                for made in making.made(self._unknown(some), self._cancel):
                    self._add(made)
                self._report(
                    Step(publication.repository, len(self._rows), total, self._writer.chunks + self._batch.chunks)
                )
        self._flush()
        self._writer.finish()
        commit = publication.commit or commit_of_contents({path: row[0] for path, row in self._rows.items()})
        if not publication.commit and is_published(self._connection, replace(publication, commit=commit)):
            return _known(self._connection, publication, commit)
        chunks = self._announce(commit)
        return Pushed(
            publication.repository,
            publication.branch,
            commit,
            len(self._rows),
            self._new_documents,
            self._writer.chunks,
            self._writer.vectors,
            chunks,
        )

    def _unknown(self, files: Sequence[TreeFile]) -> Iterator[tuple[TreeFile, int, bool]]:
        """The files that the engine has no document of, with the number for it, and whether its text must be written too."""
        numbers = self._numbers(files)
        contents = self._known_contents({file.content for file in files if numbers[file.path][1]})
        for file in files:
            number, is_new = numbers[file.path]
            language, flags = facts_of(file)
            self._rows[file.path] = (file.content, number, language, flags, file.size_bytes, file.seen is not None)
            if is_new and file.seen is not None:
                needs_text = file.content not in contents and file.content not in self._with_blocks
                self._with_blocks.add(file.content)
                self._new_documents += 1
                yield file, number, needs_text

    def _numbers(self, files: Sequence[TreeFile]) -> dict[bytes, tuple[int, bool]]:
        """By path: the document's number, and whether the engine lacks it. A number that another document has is passed over."""
        wanted = {file.path: document_of(file.path, file.content, self._maker) for file in files}
        found: dict[bytes, tuple[int, bool]] = {}
        left = {file.path: file for file in files}
        while left:
            known = {
                number: (bytes(path), bytes(content), bytes(maker).decode())
                for number, path, content, maker in rows(
                    self._connection.batches(
                        f"SELECT document, path, content, maker FROM {self._connection.database}.documents"
                        " WHERE document IN {numbers:Array(UInt64)}",
                        {"numbers": sorted({wanted[path] for path in left})},
                        limits=WORK,
                        cancel=self._cancel,
                    )
                )
            }
            taken = {number: path for path, (number, _) in found.items()}
            for path, file in list(left.items()):
                number = wanted[path]
                there = known.get(number)
                if there is None and taken.get(number, path) == path:
                    found[path] = (number, True)
                elif there == (path, file.content, self._maker):
                    found[path] = (number, False)
                else:
                    wanted[path] = next_document(number)
                    continue
                taken[number] = path
                del left[path]
        return found

    def _known_contents(self, contents: set[bytes]) -> set[bytes]:
        """Those whose text is complete at the engine: some document of them is."""
        if not contents:
            return set()
        found = rows(
            self._connection.batches(
                f"SELECT DISTINCT content FROM {self._connection.database}.blocks"
                " WHERE content IN (SELECT toFixedString(unhex(arrayJoin({contents:Array(String)})), 16)) AND is_last = 1",
                {"contents": [content.hex() for content in contents]},
                limits=WORK,
                cancel=self._cancel,
            )
        )
        return {bytes(content) for (content,) in found}

    def _add(self, made: Made) -> None:
        self._batch.add(Document(made.number, made.file, made.text, has_blocks=not made.needs_text))
        if self._batch.chunks >= BATCH_CHUNKS or self._batch.text_bytes >= BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._writer.write(self._batch)
        self._batch = Batch()

    def _announce(self, commit: str) -> int:
        """Write the files of the commit, and then the commit: from now on it is seen. Gives the number of its chunks."""
        publication, connection = self._publication, self._connection
        state = state_of(publication.repository, commit)
        paths = sorted(self._rows)
        for start in range(0, len(paths), 50_000):
            some = paths[start : start + 50_000]
            found = [self._rows[path] for path in some]
            # What regex mode knows of a file: what its name says.
            named = [facts_of_path(path) for path in some]
            connection.insert(
                f"{connection.database}.files",
                pa.table(
                    {
                        "content": pa.array([row[0] for row in found], HASH),
                        "state": pa.array([state] * len(some), pa.uint64()),
                        "path": pa.array(some, pa.binary()),
                        "document": pa.array([row[1] for row in found], pa.uint64()),
                        "language": pa.array([row[2].encode() for row in found], pa.binary()),
                        "flags": pa.array([row[3] for row in found], pa.uint8()),
                        "named": pa.array([fact.language.encode() for fact in named], pa.binary()),
                        "named_flags": pa.array([flags_of(fact) for fact in named], pa.uint8()),
                        "size": pa.array([row[4] for row in found], pa.uint64()),
                        "is_text": pa.array([int(row[5]) for row in found], pa.uint8()),
                    }
                ),
            )
        self._check_complete(state)
        totals = rows(
            connection.batches(
                f"SELECT sum(chunks), sum(text_bytes) FROM {connection.database}.documents FINAL WHERE document IN"
                f" (SELECT document FROM {connection.database}.files WHERE state = {{state:UInt64}})",
                {"state": state},
                limits=WORK,
            )
        )
        chunks, text_bytes = (int(value or 0) for value in totals[0])
        now = schema.now_us()
        connection.insert(
            f"{connection.database}.commits",
            pa.table(
                {
                    "repository": text_of(publication.repository),
                    "branch": text_of(publication.branch),
                    "commit": text_of(commit),
                    "state": pa.array([state], pa.uint64()),
                    "committed_s": pa.array([publication.committed_s], pa.uint64()),
                    "at": pa.array([now], pa.uint64()),
                    "files": pa.array([len(paths)], pa.uint32()),
                    "chunks": pa.array([chunks], pa.uint64()),
                    "text_bytes": pa.array([text_bytes], pa.uint64()),
                    "model": text_of(self._model),
                }
            ),
        )
        introduce(connection, publication, chooses_branch=self._chooses_branch)
        connection.run(
            f"DELETE FROM {schema.delete_target('batches', connection)} WHERE push = {{push:UInt64}}",
            {"push": self._number},
        )
        return chunks

    def _check_complete(self, state: int) -> None:
        """Somebody who forgets old commits meanwhile may have taken a document that was there when we looked."""
        connection = self._connection
        missing = rows(
            connection.batches(
                f"SELECT count() FROM {connection.database}.files WHERE state = {{state:UInt64}} AND is_text = 1"
                f" AND document NOT IN (SELECT document FROM {connection.database}.documents)",
                {"state": state},
                limits=WORK,
            )
        )
        if missing[0][0]:
            raise EngineError("Something was removed from the engine while this was published.", "Push once more.")


def _known(connection: Connection, publication: Publication, commit: str) -> Pushed:
    """The commit is there: it becomes its branch's newest again, which it may not have been."""
    state = state_of(publication.repository, commit)
    connection.run(
        f"INSERT INTO {connection.database}.commits SELECT * REPLACE ({{at:UInt64}} AS at)"
        f" FROM {connection.database}.commits FINAL WHERE state = {{state:UInt64}} AND branch = unhex({{branch:String}})",
        {"at": schema.now_us(), "state": state, "branch": publication.branch.encode("utf-8", "surrogateescape").hex()},
    )
    found = rows(
        connection.batches(
            f"SELECT files, chunks FROM {connection.database}.commits FINAL WHERE state = {{state:UInt64}} LIMIT 1",
            {"state": state},
            limits=WORK,
        )
    )
    files, chunks = found[0] if found else (0, 0)
    return Pushed(publication.repository, publication.branch, commit, files, 0, 0, 0, chunks, is_known=True)


def _portions(source: Iterable[TreeFile], size: int) -> Iterator[list[TreeFile]]:
    some: list[TreeFile] = []
    held = 0
    for file in source:
        some.append(file)
        held += file.size_bytes
        if len(some) >= size or held >= BATCH_BYTES:
            yield some
            some, held = [], 0
    if some:
        yield some
