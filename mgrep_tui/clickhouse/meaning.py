"""Semantic mode on an engine: words and vectors come from its tables, what is made of them is the code of the local search.

The ranking, the folding of copies and the best line are `retrieval`'s and `search`'s own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mgrep_tui.clickhouse.allowed import AllowedChunks
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.candidates import LIMITS, Candidates, Found, Gathered
from mgrep_tui.clickhouse.connection import Connection, rows
from mgrep_tui.clickhouse.heads import Heads, Narrowed
from mgrep_tui.clickhouse.here import HereChunks
from mgrep_tui.clickhouse.overlay import Overlay
from mgrep_tui.clickhouse.texts import FIRST, ChunkTexts
from mgrep_tui.clickhouse.wording import keys_of
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.protocol import Embedder
from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Outcome, Sink
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.ranking import rank
from mgrep_tui.search.filters import Filters
from mgrep_tui.search.query import Query
from mgrep_tui.search.semantic import GONE, LIKE_RATIO, LIKE_WORDS, WIDE_ARM
from mgrep_tui.search.semantic_candidates import ARM
from mgrep_tui.search.semantic_showing import Deep, Showing, Source, hit_of, holds

IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")


class MeaningSearch:
    """Semantic searches on an engine; any number of threads."""

    def __init__(
        self,
        connection: Connection,
        model: Embedder | None,
        deep: Deep | None = None,
        makes: HereChunks | None = None,
    ) -> None:
        """`model` is that of the questions; without one only words are searched. `makes` cuts what differs on this disk."""
        self._connection = connection
        self._model = model
        self._deep = deep
        self._candidates = Candidates(connection, model, makes)

    def close(self) -> None:
        self._candidates.close()

    def search(
        self,
        query: Query,
        heads: Heads,
        sink: Sink,
        cancel: CancelToken,
        *,
        overlay: Overlay | None = None,
        ratio: float = 0.5,
        tier: str = "instant",
        limit: int = 100,
    ) -> Outcome:
        """Answer a query: hits to the sink, best first, as `SemanticEngine.search` does. `overlay` is what the disk says.

        Raises `EngineError` and `Cancelled`.
        """
        started = time.monotonic()
        narrowed = heads.narrowed(query)
        hidden = self._candidates.hidden(heads, overlay, cancel)
        allowed = AllowedChunks(self._connection.database, narrowed, hidden)
        here, notes = self._candidates.here(narrowed, overlay, cancel)
        if not query.plain.strip():
            return self._list(query, narrowed, allowed, here, sink, cancel, limit, started)
        question = questions.read(query.plain)
        deep = self._deep if tier == "deep" and ratio > 0 else None
        arm = WIDE_ARM if query.filters.needs_text else max(ARM, limit)
        gathered = self._candidates.gather(question, narrowed, allowed, arm, cancel, here=here)
        outcome = self._show(question, gathered, narrowed, sink, cancel, ratio, limit, started, deep)
        return replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome

    def like(
        self, chunk: int, query: Query, heads: Heads, sink: Sink, cancel: CancelToken, *, limit: int = 100
    ) -> Outcome:
        """Chunks that resemble this one, which is not among them; the query's filters hold. Raises as `search`."""
        started = time.monotonic()
        narrowed = heads.narrowed(query)
        allowed = AllowedChunks(self._connection.database, narrowed)
        found = self._candidates.chunks([chunk], narrowed, cancel)
        if not found:
            return GONE
        one = found[0]
        where = one.where
        if where is None:
            return GONE
        text = ChunkTexts(self._connection, LIMITS, [one.row], {chunk: where}, cancel).read(one.row)
        names = list(dict.fromkeys(IDENTIFIER.findall(text.text if text is not None else "")))[:200]
        counts = self._candidates.words.holders(keys_of("names", [name.lower() for name in names]), cancel)
        counted = sorted((counts.get(keys_of("names", [name.lower()])[0], 0), name) for name in names)
        telling = [name for count, name in counted if count > 1][:LIKE_WORDS]
        asked = " ".join([one.row.symbol.replace(", ", " "), *telling]).strip()
        question = replace(questions.read(asked), names=(), qualifiers=())
        vector = None
        if table := self._candidates.table(cancel):
            _, vectors = self._candidates.near.vectors(table, [chunk], cancel)
            vector = vectors[0] if len(vectors) else None
        gathered = self._candidates.gather(question, narrowed, allowed, max(ARM, limit), cancel, vector=vector)
        pool = gathered.pool
        for number in range(len(gathered.states)):
            pool = pool.without(chunk, number)
        return self._show(
            question, replace(gathered, pool=pool), narrowed, sink, cancel, LIKE_RATIO, limit, started, None
        )

    # --- to the sink

    def _show(
        self,
        question: Question,
        gathered: Gathered,
        narrowed: Narrowed,
        sink: Sink,
        cancel: CancelToken,
        ratio: float,
        limit: int,
        started: float,
        deep: Deep | None,
    ) -> Outcome:
        pool = gathered.pool
        ranking = rank(question, pool.candidates, pool.rarity, gathered.mentions, ratio=ratio)
        order = [pool.rows[place] for place in ranking.order.tolist()]
        ahead = self._candidates.submit if limit > FIRST else None
        texts = ChunkTexts(self._connection, LIMITS, order, gathered.places, cancel, gathered.texts, ahead)
        has_meaning = any(candidate.meaning is not None for candidate in pool.candidates)
        view = SemanticView(coverage=1.0 if has_meaning else 0.0, keywords_ready=True)
        sources = [self._source(narrowed, state, texts, view) for state in gathered.states]
        outcome = Showing(sources, sink, cancel, ratio, limit, started, deep).show(pool, ranking)
        if outcome.engine == "words" and has_meaning and ratio > 0:
            outcome = replace(outcome, engine="words + meaning")
        return replace(outcome, vector_coverage=view.coverage, is_verified=True)

    def _source(self, narrowed: Narrowed, state: int, texts: ChunkTexts, view: SemanticView) -> Source:
        place = narrowed.place(state)
        filters = place.query.filters if place is not None else Filters()
        prefix = place.prefix if place is not None else b""
        return Source(Root(Path("/")), 0, filters, view, prefix, lambda: texts)

    def _list(
        self,
        query: Query,
        narrowed: Narrowed,
        allowed: AllowedChunks,
        here: Sequence[Found],
        sink: Sink,
        cancel: CancelToken,
        limit: int,
        started: float,
    ) -> Outcome:
        """What the filters let through, by path and line; nothing when there are none."""
        if not query.filters:
            return Outcome()
        bound = Bound()
        database = self._connection.database
        statement = (
            f"SELECT chunk FROM {database}.chunks WHERE {allowed.sql(bound)}"
            f" ORDER BY path, first_line, chunk LIMIT {limit + 1:d}"
        )
        ids = [
            chunk for (chunk,) in rows(self._connection.batches(statement, bound.values, limits=LIMITS, cancel=cancel))
        ]
        listed = [*self._candidates.chunks(list(dict.fromkeys(ids)), narrowed, cancel), *here]
        listed.sort(key=lambda one: (one.row.path, one.row.first_line))
        found = listed[:limit]
        texts = ChunkTexts(
            self._connection,
            LIMITS,
            [one.row for one in found],
            {one.row.chunk_id: one.where for one in found if one.where is not None},
            cancel,
            {one.row.chunk_id: one.here.text for one in found if one.here is not None},
        )
        hits: list[Hit] = []
        for one in found:
            cancel.check()
            place = narrowed.place(one.states[0])
            text = texts.read(one.row)
            if place is None or text is None:
                continue
            if not place.query.filters.needs_text or holds(place.query.filters, one.row, text):
                hits.append(hit_of(one.row, text, place.query.filters, prefix=place.prefix))
        if hits:
            sink.batch(hits)
        elapsed_ms = (time.monotonic() - started) * 1000.0
        return Outcome(
            hits=len(hits),
            files=len({hit.path for hit in hits}),
            engine="index",
            is_capped=len(ids) > limit or len(listed) > limit,
            is_verified=True,
            elapsed_ms=elapsed_ms,
            first_hit_ms=elapsed_ms if hits else None,
        )
