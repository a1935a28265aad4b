"""Which chunks of an engine might answer a question, with all that the ranking wants to know of each.

Rounds of statements, each at once: first every arm gives candidates, then what is known of each is asked for. What differs on this disk
takes part as if the engine had it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from mgrep_tui.clickhouse.allowed import AllowedChunks
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.documents import Documents, Known
from mgrep_tui.clickhouse.heads import Heads, Narrowed
from mgrep_tui.clickhouse.here import MOST_FILES, HereChunk, HereChunks
from mgrep_tui.clickhouse.keys import document_of_chunk
from mgrep_tui.clickhouse.near_search import NearSearch
from mgrep_tui.clickhouse.overlay import Overlay
from mgrep_tui.clickhouse.packing import unpacked
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
LOOKUP = replace(LIMITS, threads=1)
"""For what goes by numbers: several such statements run at once, and more threads for one cost more than they bring."""


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk as the engine has it, and the searched repositories that have its file."""

    row: ChunkRow
    where: Where | None
    file_language: str
    states: tuple[int, ...] = ()
    here: HereChunk | None = None  # it is on this disk, and the engine has something else


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
        self._documents = Documents(connection, LOOKUP)
        self._pool = ThreadPoolExecutor(6, "engine-arm")

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def table(self, cancel: CancelToken) -> str:
        """The table of the model's vectors; empty where there are none."""
        return self.near.table_of(self._model.model_id, cancel) if self._model is not None else ""

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run something beside what its caller does."""
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
        by_names = self.submit(lambda: self._definitions(question, allowed, cancel))
        # A question of words that no model knows is near to nothing.
        asked = vector if vector is not None and float(np.linalg.norm(vector)) > 0 else None
        by_meaning = self.submit(lambda: {} if asked is None else self.near.search(table, asked, arm, allowed, cancel))
        word_hits = self.words.search(question.text, arm, allowed, cancel, has_local=bool(here))
        cosines, defining = by_meaning.result(), by_names.result()
        near = list(cosines)
        wanted = list(dict.fromkeys([*word_hits.words, *near, *list(word_hits.naming)[: 2 * NAME_ARM], *defining]))
        cancel.check()
        # All that goes by the numbers of chunks and documents, at once.
        known = self.submit(
            lambda: self._documents.known({document_of_chunk(chunk) for chunk in wanted}, vector, cancel)
        )
        unscored = [chunk for chunk in wanted if chunk not in word_hits.covered]
        covered = self.submit(lambda: self.words.covered(question.stems, unscored, cancel))
        unmeasured = [chunk for chunk in wanted if chunk not in cosines]
        far = self.submit(lambda: {} if asked is None else self.near.cosines(table, asked, unmeasured, cancel))
        every = {found.row.chunk_id: found for found in self.chunks(wanted, narrowed, cancel)}
        cosines |= far.result()
        word_hits = replace(word_hits, covered=word_hits.covered | covered.result())
        if here:
            word_hits, own = _with_here(word_hits, here, vector)
            cosines |= own
            every |= {found.row.chunk_id: found for found in here}
            near = [*near, *own]
            names = {name.casefold() for name in question.names[:NAMES]}
            defining += [found.row.chunk_id for found in here if found.here is not None and found.here.defines(names)]
        words = _first(word_hits.words, every, arm)
        nearest = sorted((chunk for chunk in near if chunk in every), key=lambda chunk: -cosines[chunk])[:arm]
        naming = _first(word_hits.naming, every, arm)
        order = list(dict.fromkeys([*words, *nearest, *list(naming)[:NAME_ARM], *defining]))
        kept = [every[chunk] for chunk in order if chunk in every]
        scores = Scores(words, word_hits.body, naming, cosines, {})
        return self._described(question, kept, word_hits, scores, known.result(), vector, narrowed, cancel)

    def _described(
        self,
        question: Question,
        kept: list[Found],
        word_hits: WordHits,
        scores: Scores,
        known: dict[int, Known],
        vector: npt.NDArray[np.float32] | None,
        narrowed: Narrowed,
        cancel: CancelToken,
    ) -> Gathered:
        """The candidates with all that the ranking wants to know of each."""
        stems_count = max(1, len(question.stems))
        coverage = {chunk: min(1.0, covered / stems_count) for chunk, covered in word_hits.covered.items()}
        files = [(found.states[0], found.row.file_id, found.row.path) for found in kept]
        twins = self.submit(lambda: self._documents.with_younger_twin(files, cancel))
        stems = {paths.facts(found.row.path.decode("utf-8", "replace")).stem.lower() for found in kept}
        counts = self.words.holders(keys_of("names", sorted(stems)), cancel)
        mentions = {stem: counts.get(keys_of("names", [stem])[0], 0) for stem in stems}
        young = twins.result()
        for found in kept:
            if found.here is not None:
                one, key = found.here, found.row.chunk_id
                coverage[key] = one.coverage(keys_of("body", question.stems))
                near = None if vector is None or one.centre is None else float(one.centre @ vector)
                known[found.row.file_id] = Known(near, one.chunks)
        states = tuple(dict.fromkeys(found.states[0] for found in kept))
        numbers = {state: number for number, state in enumerate(states)}
        scores = replace(scores, coverage=coverage)
        candidates = []
        for found in kept:
            row = found.row
            about = known.get(row.file_id, Known(None, 1))
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
        statement = (
            f"SELECT chunk, packed FROM {database}.chunks WHERE chunk IN {bound.numbers(sorted(wanted))} ORDER BY chunk"
        )
        found: dict[int, Found] = {}
        for chunk, packed in rows(self._connection.batches(statement, bound.values, limits=LOOKUP, cancel=cancel)):
            found[chunk] = Found(*unpacked(chunk, packed))
        contents = {one.where.content for one in found.values() if one.where is not None}
        states = self._documents.states(contents, narrowed, cancel)
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
