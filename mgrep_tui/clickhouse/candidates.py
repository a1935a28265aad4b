"""Which chunks of an engine might answer a question, with all that the ranking wants to know of each.

Two rounds of statements, each at once: first every arm gives candidates, then what is known of each is asked for. What differs on this disk
takes part as if the engine had it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mgrep_tui.clickhouse.allowed import AllowedChunks
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.heads import Heads, Narrowed
from mgrep_tui.clickhouse.here import MOST_FILES, HereChunk, HereChunks
from mgrep_tui.clickhouse.keys import CHUNK_BITS, document_of_chunk
from mgrep_tui.clickhouse.near_search import NearSearch
from mgrep_tui.clickhouse.overlay import Overlay
from mgrep_tui.clickhouse.texts import Where
from mgrep_tui.clickhouse.word_search import WordHits, WordSearch
from mgrep_tui.clickhouse.wording import keys_of
from mgrep_tui.embedding.protocol import Embedder
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import paths
from mgrep_tui.retrieval.question import Question
from mgrep_tui.search.filters import FileFacts
from mgrep_tui.search.semantic_candidates import DEFINITIONS, NAME_ARM, NAMES, Pool, Scores
from mgrep_tui.search.semantic_text import ChunkText
from mgrep_tui.search.semantic_union import as_folder

T = TypeVar("T")
LIMITS = Limits(time_s=10.0, memory_bytes=4_000_000_000)
CHUNK_COLUMNS = (
    "chunk, content, path, language, file_language, flags, kind, symbol, container, first_line, last_line, part, parts,"
    " text_hash, first_block, last_block"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk as the engine has it, and the searched repositories that have its file."""

    row: ChunkRow
    where: Where | None
    file_language: str
    states: tuple[int, ...] = ()
    here: HereChunk | None = None  # it is on this disk, and the engine has something else


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a document: how near it is as a whole, and how many chunks it has."""

    centre: float | None
    chunks: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates with what is needed to show them. `states` are the repositories in the order of the pool's sources."""

    pool: Pool = field(default_factory=Pool)
    places: dict[int, Where] = field(default_factory=dict)
    texts: dict[int, ChunkText] = field(default_factory=dict)
    states: tuple[int, ...] = ()
    mentions: Callable[[str], int] = lambda name: 0


class Candidates:
    """The candidates of questions; any thread may ask."""

    def __init__(self, connection: Connection, model: Embedder | None, makes: HereChunks | None) -> None:
        self._connection = connection
        self._model = model
        self._makes = makes
        self.words = WordSearch(connection, LIMITS)
        self.near = NearSearch(connection, LIMITS)
        self._pool = ThreadPoolExecutor(6, "engine-arm")

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def table(self, cancel: CancelToken) -> str:
        """The table of the model's vectors; empty where there are none."""
        return self.near.table_of(self._model.model_id, cancel) if self._model is not None else ""

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        return self._pool.submit(call)

    def hidden(self, heads: Heads, overlay: Overlay | None, cancel: CancelToken) -> list[int]:
        """The documents of files that differ on the disk."""
        if overlay is None or not overlay.hidden:
            return []
        bound = Bound()
        statement = (
            f"SELECT document FROM {self._connection.database}.files WHERE state IN {bound.numbers(list(heads.by_state))}"
            f" AND hex(path) IN {bound.texts([path.hex().upper() for path in sorted(overlay.hidden)])}"
        )
        return [
            document
            for (document,) in rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel))
        ]

    def here(
        self, narrowed: Narrowed, overlay: Overlay | None, cancel: CancelToken
    ) -> tuple[list[Found], tuple[str, ...]]:
        """The chunks of changed files that the filters let through, and what is to be said about the others."""
        state = next(iter(narrowed.states), None)
        place = narrowed.place(state) if state is not None else None
        if overlay is None or not overlay.changed or state is None or place is None or self._makes is None:
            return [], ()
        found = [
            Found(one.row, None, one.file_language, (state,), one)
            for one in self._makes.of(overlay, cancel)
            if one.is_accepted(place.query.filters)
        ]
        left = len(overlay.changed) - MOST_FILES
        note = f"{left:,} more files differ here; they are found by regular expression only."
        return found, (note,) if left > 0 else ()

    def gather(
        self,
        question: Question,
        narrowed: Narrowed,
        allowed: AllowedChunks,
        arm: int,
        cancel: CancelToken,
        *,
        vector: npt.NDArray[np.float32] | None = None,
        here: Sequence[Found] = (),
    ) -> Gathered:
        model = self._model
        table = self.table(cancel)
        if vector is None and model is not None and question.text:
            vector = model.embed_query(question.text)
        if not table:
            vector = None
        # Whoever waits for another of these was submitted after it.
        by_names = self._submit(lambda: self._definitions(question, allowed, cancel))
        by_meaning = self._submit(lambda: self._near(table, vector, arm, allowed, cancel))
        word_hits = self.words.search(
            question.text,
            arm,
            allowed,
            cancel,
            beside=lambda: [*by_meaning.result(), *by_names.result()],
            has_local=bool(here),
        )
        near, defining = by_meaning.result(), by_names.result()
        wanted = list(dict.fromkeys([*word_hits.words, *near, *list(word_hits.naming)[: 2 * NAME_ARM], *defining]))
        cancel.check()
        exact = None
        if vector is not None:
            asked = vector
            exact = self._submit(lambda: self.near.cosines(table, asked, wanted, cancel))
        every = {found.row.chunk_id: found for found in self.chunks(wanted, narrowed, cancel)}
        cosines = exact.result() if exact is not None else {}
        if here:
            word_hits, own = _with_here(word_hits, here, vector)
            cosines |= own
            every |= {found.row.chunk_id: found for found in here}
            near = [*near, *own]
            names = {name.casefold() for name in question.names[:NAMES]}
            defining += [found.row.chunk_id for found in here if found.here is not None and found.here.defines(names)]
        words = _first(word_hits.words, every, arm)
        nearest = dict(
            sorted(((chunk, cosines[chunk]) for chunk in near if chunk in cosines), key=lambda one: -one[1])[:arm]
        )
        naming = _first(word_hits.naming, every, arm)
        order = list(dict.fromkeys([*words, *nearest, *list(naming)[:NAME_ARM], *defining]))
        kept = [every[chunk] for chunk in order if chunk in every]
        return self._described(question, kept, word_hits, words, naming, cosines, vector, narrowed, cancel)

    def _near(
        self,
        table: str,
        vector: npt.NDArray[np.float32] | None,
        arm: int,
        allowed: AllowedChunks,
        cancel: CancelToken,
    ) -> list[int]:
        if vector is None or not float(np.linalg.norm(vector)) > 0:
            return []
        return self.near.search(table, vector, arm, allowed, cancel)

    def _described(
        self,
        question: Question,
        kept: list[Found],
        word_hits: WordHits,
        words: dict[int, float],
        naming: dict[int, float],
        cosines: dict[int, float],
        vector: npt.NDArray[np.float32] | None,
        narrowed: Narrowed,
        cancel: CancelToken,
    ) -> Gathered:
        """The second round: what the ranking wants to know of every candidate."""
        stems_count = max(1, len(question.stems))
        coverage = {chunk: min(1.0, covered / stems_count) for chunk, covered in word_hits.covered.items()}
        documents = self._submit(
            lambda: self._documents({found.row.file_id for found in kept if found.here is None}, vector, cancel)
        )
        twins = self._submit(lambda: self._with_younger_twin(kept, narrowed, cancel))
        stems = {paths.facts(found.row.path.decode("utf-8", "replace")).stem.lower() for found in kept}
        counts = self.words.holders(keys_of("names", sorted(stems)), cancel)
        mentions = {stem: counts.get(keys_of("names", [stem])[0], 0) for stem in stems}
        known, young = documents.result(), twins.result()
        for found in kept:
            if found.here is not None:
                one, key = found.here, found.row.chunk_id
                coverage[key] = one.coverage(keys_of("body", question.stems))
                near = None if vector is None or one.centre is None else float(one.centre @ vector)
                known[found.row.file_id] = _Known(near, one.chunks)
        states = tuple(dict.fromkeys(found.states[0] for found in kept))
        numbers = {state: number for number, state in enumerate(states)}
        scores = Scores(words, word_hits.body, naming, cosines, coverage)
        candidates = []
        for found in kept:
            row = found.row
            about = known.get(row.file_id, _Known(None, 1))
            path = row.path.decode("utf-8", "replace")
            if not narrowed.heads.is_single:
                path = as_folder(narrowed.heads.label_of(found.states[0])) + "/" + path
            candidates.append(
                scores.candidate(
                    row, path, centre=about.centre, chunks=about.chunks, has_younger_twin=row.file_id in young
                )
            )
        pool = Pool(
            tuple(candidates),
            tuple(found.row for found in kept),
            word_hits.chunks,
            word_hits.holders,
            tuple({} for _ in states),
            tuple(numbers[found.states[0]] for found in kept),
        )
        places = {found.row.chunk_id: found.where for found in kept if found.where is not None}
        texts = {found.row.chunk_id: found.here.text for found in kept if found.here is not None}
        return Gathered(pool, places, texts, states, lambda name: mentions.get(name.lower(), 0))

    def _definitions(self, question: Question, allowed: AllowedChunks, cancel: CancelToken) -> list[int]:
        """The chunks that define the names asked for."""
        found: list[int] = []
        for name in question.names[:NAMES]:
            bound = Bound()
            narrow = "" if allowed.is_everything else f" AND {allowed.sql(bound)}"
            statement = (
                f"SELECT DISTINCT chunk, name != {bound.text(name)} AS is_other FROM {self._connection.database}.symbols"
                f" WHERE folded = {bound.text(name.casefold())}{narrow} ORDER BY is_other, chunk LIMIT {DEFINITIONS:d}"
            )
            found += [
                chunk
                for chunk, _ in rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel))
            ]
        return found

    def chunks(self, wanted: Sequence[int], narrowed: Narrowed, cancel: CancelToken) -> list[Found]:
        """These chunks, as far as a searched commit has their file, in the order asked for."""
        if not wanted:
            return []
        bound = Bound()
        database = self._connection.database
        statement = f"SELECT {CHUNK_COLUMNS} FROM {database}.chunks WHERE chunk IN {bound.numbers(sorted(wanted))} LIMIT 1 BY chunk"
        documents = sorted({document_of_chunk(chunk) for chunk in wanted})
        files = self._submit(lambda: self._states_of(documents, narrowed, cancel))
        found: dict[int, Found] = {}
        for row in rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel)):
            one = _found(row)
            found[one.row.chunk_id] = one
        states = files.result()
        order = {state: number for number, state in enumerate(narrowed.heads.by_state)}
        kept = []
        for chunk in wanted:
            known = found.get(chunk)
            if known is None:
                continue
            own = sorted(states.get(known.row.file_id, ()), key=lambda state: order.get(state, len(order)))
            own = [state for state in own if _is_accepted(narrowed, state, known)]
            if own:
                kept.append(replace(known, states=tuple(own)))
        return kept

    def _states_of(self, documents: list[int], narrowed: Narrowed, cancel: CancelToken) -> dict[int, set[int]]:
        """Which searched commits have these documents."""
        bound = Bound()
        database = self._connection.database
        numbers = bound.numbers(documents)
        statement = (
            f"SELECT document, state FROM {database}.files WHERE content IN"
            f" (SELECT content FROM {database}.documents WHERE document IN {numbers})"
            f" AND document IN {numbers} AND state IN {bound.numbers(narrowed.states)}"
        )
        found: dict[int, set[int]] = {}
        for document, state in rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel)):
            found.setdefault(document, set()).add(state)
        return found

    def _documents(
        self, documents: set[int], vector: npt.NDArray[np.float32] | None, cancel: CancelToken
    ) -> dict[int, _Known]:
        if not documents:
            return {}
        bound = Bound()
        statement = (
            f"SELECT document, chunks, centre FROM {self._connection.database}.documents"
            f" WHERE document IN {bound.numbers(sorted(documents))} LIMIT 1 BY document"
        )
        found: dict[int, _Known] = {}
        for batch in self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel):
            centres = batch.column(2).to_pylist()
            for document, chunks, centre in zip(
                batch.column(0).to_pylist(), batch.column(1).to_pylist(), centres, strict=True
            ):
                near = None
                if vector is not None and len(centre) == len(vector):
                    near = float(np.array(centre, np.float32) @ vector)
                found[document] = _Known(near, chunks)
        return found

    def _with_younger_twin(self, kept: list[Found], narrowed: Narrowed, cancel: CancelToken) -> set[int]:
        """The documents whose path without its version folder is a file of the same commit too."""
        twins: dict[tuple[int, bytes], list[int]] = {}
        for found in kept:
            twin = paths.without_version(found.row.path.decode("utf-8", "surrogateescape"))
            if twin is not None:
                key = found.states[0], twin.encode("utf-8", "surrogateescape")
                twins.setdefault(key, []).append(found.row.file_id)
        if not twins:
            return set()
        bound = Bound()
        statement = (
            f"SELECT DISTINCT state, path FROM {self._connection.database}.files"
            f" WHERE state IN {bound.numbers(sorted({state for state, _ in twins}))}"
            f" AND hex(path) IN {bound.texts([path.hex().upper() for _, path in twins])}"
        )
        there = rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel))
        return {document for state, path in there for document in twins.get((state, path), ())}


def _with_here(
    hits: WordHits, here: Sequence[Found], vector: npt.NDArray[np.float32] | None
) -> tuple[WordHits, dict[int, float]]:
    """The hits with the chunks of this disk among them, best first, and how near those are."""
    words, body, naming = dict(hits.words), dict(hits.body), dict(hits.naming)
    cosines: dict[int, float] = {}
    for found in here:
        one, key = found.here, found.row.chunk_id
        assert one is not None
        for scores, value in zip((words, body, naming), one.scores(hits.weights), strict=True):
            if value > 0:
                scores[key] = value
        if vector is not None and one.vector is not None:
            cosines[key] = float(one.vector @ vector) / (float(np.linalg.norm(vector)) or 1.0)

    def ordered(scores: dict[int, float]) -> dict[int, float]:
        return dict(sorted(scores.items(), key=lambda item: -item[1]))

    return replace(hits, words=ordered(words), body=body, naming=ordered(naming)), cosines


def _first(scores: dict[int, float], there: dict[int, Found], count: int) -> dict[int, float]:
    """The best of those that are there."""
    kept = [(chunk, score) for chunk, score in scores.items() if chunk in there]
    return dict(kept[:count])


def _is_accepted(narrowed: Narrowed, state: int, found: Found) -> bool:
    """What the filters say of the file; of names the engine has spoken, of texts the showing does."""
    place = narrowed.place(state)
    if place is None:
        return False
    row = found.row
    facts = FileFacts(
        row.path, found.file_language, is_test=row.is_test, is_generated=row.is_generated, is_vendored=row.is_vendored
    )
    return not place.query.filters or place.query.filters.accepts_file(facts)


def _found(row: tuple[Any, ...]) -> Found:
    """A row of `CHUNK_COLUMNS`."""
    chunk, content, path, language, file_language, flags, kind, symbol, container, *rest = row
    first, last, part, parts, text_hash, first_block, last_block = rest
    own = ChunkRow(
        chunk, chunk >> CHUNK_BITS, path, _text(language), _text(kind), _text(symbol), _text(container),
        first, last, part, parts, text_hash, flags,
    )  # fmt: skip
    return Found(own, Where(content, first_block, last_block), _text(file_language))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
