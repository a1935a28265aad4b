"""Which chunks might answer: what the words find, what the vectors find, and what defines the names asked for."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import ChunkRow, FileRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat
from mgrep_tui.retrieval import paths
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.signals import Candidate
from mgrep_tui.search.semantic_copies import crowding, without_copies

Ids = npt.NDArray[np.int64]
ARM = 100  # chunks from each arm: 150 cost 4 ms more, for .002 of NDCG@10, which is a tie
NAME_ARM = 50  # chunks found by symbol, container and path alone
DEFINITIONS = 30  # of one name
NAMES = 6  # of one question
CENTRES = 20_000  # file means kept: 20 MB at 256 dimensions
_BESIDE = ThreadPoolExecutor(4, "nearest")
BODY = {"body": 1.0, "symbol": 0.0, "container": 0.0, "path": 0.0, "names": 1.0}
NAMING = {"body": 0.0, "symbol": 1.0, "container": 1.0, "path": 0.5, "names": 0.0}


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one question, with their rows, how rare its words are here, and how the candidates' files looked when indexed.

    `holders` says in how many of the `documents` chunks each stem of the question stands; `rarity` is made of it. `sources` names the root
    of each candidate by its number, `stats` has one table for each root: a pool of one root is of root 0.
    """

    candidates: tuple[Candidate, ...] = ()
    rows: tuple[ChunkRow, ...] = ()
    documents: int = 0
    holders: dict[str, int] = field(default_factory=dict)
    stats: tuple[dict[bytes, FileStat], ...] = ()
    sources: tuple[int, ...] = ()

    @property
    def rarity(self) -> dict[str, float]:
        """The weight of each stem (idf)."""
        return {stem: math.log(1.0 + self.documents / (1.0 + count)) for stem, count in self.holders.items()}

    def without(self, chunk_id: int, source: int = 0) -> Pool:
        """The pool without one chunk of one root."""
        return self.only(
            [
                place
                for place, (row, number) in enumerate(zip(self.rows, self.sources, strict=True))
                if (row.chunk_id, number) != (chunk_id, source)
            ]
        )

    def only(self, places: Sequence[int]) -> Pool:
        """The pool with the candidates at these places."""
        return replace(
            self,
            candidates=tuple(self.candidates[place] for place in places),
            rows=tuple(self.rows[place] for place in places),
            sources=tuple(self.sources[place] for place in places),
        )


@dataclass(frozen=True, slots=True)
class Scores:
    """What the arms gave to chunks, by chunk id."""

    words: Mapping[int, float]
    body: Mapping[int, float]
    naming: Mapping[int, float]
    meaning: Mapping[int, float]
    coverage: Mapping[int, float]

    def candidate(
        self, row: ChunkRow, path: str, *, centre: float | None, chunks: int, has_younger_twin: bool, copies: int = 0
    ) -> Candidate:
        """A chunk as the ranking sees it; `path` may begin with the name of its root. `centre` and `chunks` are its file's."""
        key = row.chunk_id
        return Candidate(
            chunk_id=key,
            path=path,
            kind=row.kind,
            symbol=row.symbol,
            container=row.container,
            first_line=row.first_line,
            last_line=row.last_line,
            part=row.part,
            parts=row.parts,
            words=self.words.get(key, 0.0),
            body_words=self.body.get(key, 0.0),
            name_words=self.naming.get(key, 0.0),
            meaning=self.meaning.get(key),
            coverage=self.coverage.get(key, 0.0),
            file_centre=centre,
            file_chunks=chunks,
            is_test=row.is_test,
            has_younger_twin=has_younger_twin,
            copies=copies,
        )


def gather(
    question: Question,
    view: SemanticView,
    catalog: Catalog,
    file_centres: FileCentres,
    allowed: Ids | None,
    cancel: CancelToken,
    *,
    arm: int = ARM,
    vector: npt.NDArray[np.float32] | None = None,
    also: Ids | None = None,
    copies: Mapping[int, int] | None = None,
) -> Pool:
    """Ask every arm. `vector` stands in for the question's own (for "more like this"); the chunks of `also` are candidates anyhow. `copies`
    says by file id how many equal files are not among the allowed; where it is not given and copies crowd the rest out, they are left out.

    Raises `Cancelled` and `IndexDamagedError`.
    """
    if vector is None and view.model is not None and question.text:
        vector = view.model.embed_query(question.text)
    nearest = None
    if view.vectors is not None and vector is not None:
        # Beside the words: both look through memory of their own without holding the interpreter.
        nearest = _BESIDE.submit(view.vectors.search, vector, arm, allowed)
    words: dict[int, float] = {}
    body: dict[int, float] = {}
    naming: dict[int, float] = {}
    meaning: dict[int, float] = {}
    holders: dict[str, int] = {}
    documents = 0
    if view.keywords is not None and question.stems:
        keywords = view.keywords
        words = dict(keywords.search(question.text, arm, allowed))
        body = dict(keywords.search(question.text, arm, allowed, boosts=BODY))
        naming = dict(keywords.search(question.text, arm, allowed, boosts=NAMING))
        documents = len(keywords)
        holders = {stem: keywords.doc_freq("body", stem) for stem in question.stems}
    cancel.check()
    found = list(words)
    if nearest is not None:
        ids, cosines = nearest.result()
        meaning = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
        found += list(meaning)
    cancel.check()
    defining = _definitions(question, catalog, allowed)
    wanted = list(
        dict.fromkeys([*found, *list(naming)[:NAME_ARM], *defining, *([] if also is None else also.tolist())])
    )
    rows = catalog.chunks(wanted)
    if view.vectors is not None and vector is not None:
        meaning |= _cosines(view, vector, [chunk_id for chunk_id in rows if chunk_id not in meaning])
    files = catalog.files_by_id({row.file_id for row in rows.values()})
    if copies is None and (crowd := crowding(rows.values(), files)):
        allowed, left_out = without_copies(catalog, crowd, allowed)
        also = None if also is None else np.intersect1d(also, allowed)
        return gather(
            question, view, catalog, file_centres, allowed, cancel, arm=arm, vector=vector, also=also, copies=left_out
        )
    centres = {} if vector is None else file_centres.cosines(view, catalog, files.values(), vector)
    kept = [rows[chunk_id] for chunk_id in wanted if chunk_id in rows]
    coverage = _coverage(question, view, [row.chunk_id for row in kept])
    twins = {path: _has_younger_twin(catalog, path) for path in {row.path for row in kept}}
    cancel.check()
    scores = Scores(words, body, naming, meaning, coverage)
    candidates = tuple(
        scores.candidate(
            row,
            row.path.decode("utf-8", "replace"),
            centre=centres.get(row.file_id),
            chunks=files[row.file_id].chunk_count if row.file_id in files else 1,
            has_younger_twin=twins[row.path],
            copies=0 if copies is None else copies.get(row.file_id, 0),
        )
        for row in kept
    )
    stats = {file.path: file.stat for file in files.values()}
    return Pool(candidates, tuple(kept), documents, holders, (stats,), (0,) * len(kept))


def _definitions(question: Question, catalog: Catalog, allowed: Ids | None) -> list[int]:
    """The chunks that define the names asked for, found in the symbol table even when no arm found them."""
    wanted: dict[bytes, list[tuple[int, int]]] = {}
    for name in question.names[:NAMES]:
        for symbol in catalog.symbols_named(name, limit=DEFINITIONS):
            wanted.setdefault(symbol.path, []).append((symbol.first_line, symbol.last_line))
    found: list[int] = []
    for path, places in wanted.items():
        rows = catalog.chunks_of(path)
        for first, _ in places:
            found += [row.chunk_id for row in rows if row.first_line <= first <= row.last_line]
    if allowed is None:
        return found
    return [chunk_id for chunk_id in found if _is_in(allowed, chunk_id)]


def _is_in(allowed: Ids, chunk_id: int) -> bool:
    place = int(np.searchsorted(allowed, chunk_id))
    return place < len(allowed) and int(allowed[place]) == chunk_id


def _coverage(question: Question, view: SemanticView, ids: list[int]) -> dict[int, float]:
    """Which share of the question's stems each chunk holds."""
    if view.keywords is None or not question.stems:
        return {}
    held = view.keywords.held(question.stems, ids)
    return {chunk_id: count / len(question.stems) for chunk_id, count in held.items()}


def _has_younger_twin(catalog: Catalog, path: bytes) -> bool:
    twin = paths.without_version(path.decode("utf-8", "surrogateescape"))
    return twin is not None and catalog.file(twin.encode("utf-8", "surrogateescape")) is not None


class FileCentres:
    """The mean vector of each file's chunks, kept as long as the file's chunks stay the same. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[tuple[object, int, int], npt.NDArray[np.float32] | None]] = {}

    def cosines(
        self, view: SemanticView, catalog: Catalog, files: Iterable[FileRow], vector: npt.NDArray[np.float32]
    ) -> dict[int, float]:
        """How near the question is to each file as a whole, by file id; a file without vectors is missing."""
        if view.vectors is None:
            return {}
        found: dict[int, npt.NDArray[np.float32]] = {}
        unknown: list[FileRow] = []
        with self._lock:
            for file in files:
                kept = self._kept.get(file.file_id)
                if kept is not None and kept[0] == _version_of(view, file):
                    if kept[1] is not None:
                        found[file.file_id] = kept[1]
                else:
                    unknown.append(file)
        if unknown:
            found |= self._learn(view, catalog, unknown)
        if not found:
            return {}
        return dict(zip(found, (np.stack(list(found.values())) @ vector).tolist(), strict=True))

    def _learn(self, view: SemanticView, catalog: Catalog, files: list[FileRow]) -> dict[int, npt.NDArray[np.float32]]:
        assert view.vectors is not None
        columns = catalog.all_chunk_columns()
        order = {file.file_id: number for number, file in enumerate(files)}
        mine = np.isin(columns.file_id, np.fromiter(order, np.int64, len(order)))
        ids, owners = columns.chunk_id[mine], columns.file_id[mine]
        known, vectors = view.vectors.get(ids)
        owner_of = owners[np.searchsorted(ids, known)]
        found = {}
        for file in files:
            own = vectors[owner_of == file.file_id]
            total = own.sum(axis=0)
            length = float(np.linalg.norm(total)) if len(own) else 0.0
            centre = (total / length).astype(np.float32) if length > 0 else None
            if centre is not None:
                found[file.file_id] = centre
            if len(own) == file.chunk_count:
                with self._lock:
                    if len(self._kept) >= CENTRES:
                        self._kept.clear()
                    self._kept[file.file_id] = (_version_of(view, file), centre)
        return found


def _version_of(view: SemanticView, file: FileRow) -> tuple[object, int, int]:
    return (view.model.model_id if view.model is not None else "", file.batch, file.chunk_count)


def _cosines(view: SemanticView, vector: npt.NDArray[np.float32], ids: list[int]) -> dict[int, float]:
    """How near the chunks are that other arms found; those without a vector are missing."""
    if view.vectors is None or not ids:
        return {}
    known, vectors = view.vectors.get(np.array(ids, np.int64))
    length = float(np.linalg.norm(vector)) or 1.0
    return dict(zip(known.tolist(), (vectors @ vector / length).tolist(), strict=True))
