"""Searching by meaning and by words: candidates from every arm, ranked, read again from disk, shown; then, if wanted, refined once.

The instant tier answers within milliseconds. The deep tier, when it is there, rescores the best fifty and the list is replaced once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.text import embedding_text
from mgrep_tui.errors import ModelError
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Chunk, Hit, Outcome, Signal, Sink
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.ranking import Ranking, rank
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.query import Query
from mgrep_tui.search.semantic_candidates import ARM, Pool, gather
from mgrep_tui.search.semantic_filters import AllowedChunks, GitState
from mgrep_tui.search.semantic_folding import Folding
from mgrep_tui.search.semantic_text import ChunkReader, ChunkText, best_line, word_pattern
from mgrep_tui.settings.config import Settings

FIRST_BATCH = 20  # hits that are shown before the rest is read: about a screen
DEEP_CHUNKS = 50  # rescored by the deep tier: its recall there is .93 to .99
DEEP_LIMIT_S = 60.0  # a first load on a busy machine; whoever does not want to wait cancels
WIDE_ARM = 2_000  # candidates when a quoted text must be found in them: a third of a second
LIKE_WORDS = 12  # rare words of a chunk that "more like this" asks for


class Deep(Protocol):
    """What the engine needs of the deep tier."""

    @property
    def available(self) -> bool: ...

    def rescore(
        self, query: str, texts: Sequence[str], *, cancel: CancelToken, limit_s: float
    ) -> npt.NDArray[np.float32]:
        """Cosines of the query and each text. Raises `ModelError` when they do not come in time, and `Cancelled`."""
        ...


@dataclass(frozen=True, slots=True)
class _Shown:
    """A hit together with what the deep tier reads of it."""

    hit: Hit
    place: int
    text: str


class SemanticEngine:
    """Searches one root. Any thread may search, several at once."""

    def __init__(
        self, root: Root, settings: Settings, deep: Deep | None = None, git_state: GitState | None = None
    ) -> None:
        self._root = root
        self._limit_bytes = settings.chunking.max_file_bytes
        self._deep = deep
        self._allowed = AllowedChunks(git_state)

    def search(
        self,
        query: Query,
        view: SemanticView,
        sink: Sink,
        cancel: CancelToken,
        *,
        ratio: float = 0.5,
        tier: str = "instant",
        limit: int = 100,
    ) -> Outcome:
        """Answer a query: hits to the sink, best first. `ratio` is the share of meaning (0 to 1), `tier` is instant or deep.

        A query of filters alone lists what they let through, by path. Raises `Cancelled` and `IndexDamagedError`.
        """
        started = time.monotonic()
        catalog = view.catalog
        if catalog is None:
            return Outcome(
                is_partial=True, notes=(view.notice or "The index for searching by meaning is not there yet.",)
            )
        allowed = self._allowed.ids(catalog, query.filters, cancel)
        if not query.plain.strip():
            return self._list(query.filters, catalog, allowed, view, sink, cancel, limit, started)
        question = questions.read(query.plain)
        arm = WIDE_ARM if query.filters.needs_text else max(ARM, limit)
        pool = gather(question, view, catalog, allowed, cancel, arm=arm)
        ranking = rank(question, pool.candidates, pool.rarity, _mentions(view), ratio=ratio)
        return self._show(
            question, query.filters, pool, ranking, view, catalog, sink, cancel, ratio, tier, limit, started
        )

    def like(
        self, chunk_id: int, query: Query, view: SemanticView, sink: Sink, cancel: CancelToken, *, limit: int = 100
    ) -> Outcome:
        """Chunks that resemble this one, which is not among them; the query's filters hold. Raises as `search`."""
        started = time.monotonic()
        catalog = view.catalog
        row = catalog.chunks([chunk_id]).get(chunk_id) if catalog is not None else None
        if catalog is None or row is None:
            return Outcome(is_partial=True, notes=("That place has changed; search again.",))
        with Reader(self._root) as reader:
            text = ChunkReader(reader, catalog, self._limit_bytes).read(row)
        question = questions.read(_telling_words(row, text, view))
        vector = None
        if view.vectors is not None:
            _, vectors = view.vectors.get(np.array([chunk_id], np.int64))
            vector = vectors[0] if len(vectors) else None
        allowed = self._allowed.ids(catalog, query.filters, cancel)
        pool = gather(question, view, catalog, allowed, cancel, arm=max(ARM, limit), vector=vector)
        keep = [place for place, candidate in enumerate(pool.candidates) if candidate.chunk_id != chunk_id]
        pool = Pool(tuple(pool.candidates[p] for p in keep), tuple(pool.rows[p] for p in keep), pool.rarity)
        ranking = rank(replace(question, names=()), pool.candidates, pool.rarity, _mentions(view), ratio=0.7)
        return self._show(
            question, query.filters, pool, ranking, view, catalog, sink, cancel, 0.7, "instant", limit, started
        )

    def _show(
        self,
        question: Question,
        filters: Filters,
        pool: Pool,
        ranking: Ranking,
        view: SemanticView,
        catalog: Catalog,
        sink: Sink,
        cancel: CancelToken,
        ratio: float,
        tier: str,
        limit: int,
        started: float,
    ) -> Outcome:
        shown: list[_Shown] = []
        copies: dict[int, int] = {}
        folding = Folding()
        pattern = word_pattern(question.stems, question.names)
        sent = 0
        first_hit_ms: float | None = None
        with Reader(self._root) as reader:
            chunks = ChunkReader(reader, catalog, self._limit_bytes)
            for place in ranking.order.tolist():
                cancel.check()
                row = pool.rows[place]
                text = chunks.read(row)
                if text is None or (filters.needs_text and not _holds(filters, row, text)):
                    continue
                twin = folding.twin_of(len(shown), row.symbol, text.lines)
                if twin is not None:
                    copies[twin] = copies.get(twin, 0) + 1
                    continue
                if len(shown) == limit:
                    break
                hit = _hit(row, text, pattern, ranking.shown_score(place), ranking.signals_of(place))
                shown.append(_Shown(hit, place, text.text))
                if len(shown) == FIRST_BATCH:
                    sink.batch([_with_copies(one.hit, copies.get(i, 0)) for i, one in enumerate(shown)])
                    sent = len(shown)
                    first_hit_ms = _ms(started)
        hits = [_with_copies(one.hit, copies.get(i, 0)) for i, one in enumerate(shown)]
        if len(hits) > sent:
            sink.batch(hits[sent:])
            first_hit_ms = _ms(started) if first_hit_ms is None else first_hit_ms
        if hits[:sent] and any(copies.get(i) for i in range(sent)):
            sink.replace(hits)
        outcome = Outcome(
            hits=len(hits),
            files=len({hit.path for hit in hits}),
            candidate_files=len({row.file_id for row in pool.rows}),
            engine=_engine(view, ratio),
            is_capped=len(hits) == limit,
            is_partial=not view.keywords_ready,
            vector_coverage=view.coverage,
            elapsed_ms=_ms(started),
            first_hit_ms=first_hit_ms,
            notes=(view.notice,) if view.notice else (),
        )
        if tier != "deep" or self._deep is None or not self._deep.available or ratio == 0.0 or not shown:
            return outcome
        return self._refine(question, pool, ranking, shown, hits, sink, cancel, ratio, outcome, started, view)

    def _refine(
        self,
        question: Question,
        pool: Pool,
        ranking: Ranking,
        shown: list[_Shown],
        hits: list[Hit],
        sink: Sink,
        cancel: CancelToken,
        ratio: float,
        outcome: Outcome,
        started: float,
        view: SemanticView,
    ) -> Outcome:
        """Rescore the best hits with the deep model and replace the list once; without its answer the list stays."""
        assert self._deep is not None
        best = shown[:DEEP_CHUNKS]
        texts = [embedding_text(pool.rows[one.place].path, _chunk(pool.rows[one.place], one.text)) for one in best]
        try:
            cosines = self._deep.rescore(question.text, texts, cancel=cancel, limit_s=DEEP_LIMIT_S)
        except ModelError as error:
            return replace(outcome, notes=(*outcome.notes, f"{error.message} This is the quick order."))
        cancel.check()
        candidates = [
            replace(pool.candidates[one.place], deep=float(cosine)) for one, cosine in zip(best, cosines, strict=True)
        ]
        again = rank(question, candidates, pool.rarity, _mentions(view), ratio=ratio)
        order = again.order.tolist()
        refined = [
            replace(hits[place], score=again.shown_score(place), signals=again.signals_of(place)) for place in order
        ]
        sink.replace([*refined, *hits[len(best) :]])
        return replace(outcome, engine="words + meaning + deep", elapsed_ms=_ms(started))

    def _list(
        self,
        filters: Filters,
        catalog: Catalog,
        allowed: npt.NDArray[np.int64] | None,
        view: SemanticView,
        sink: Sink,
        cancel: CancelToken,
        limit: int,
        started: float,
    ) -> Outcome:
        """What the filters let through, by path and line; nothing when there are none."""
        if allowed is None:
            return Outcome(vector_coverage=view.coverage)
        hits: list[Hit] = []
        rows = sorted(
            catalog.chunks(_first_ids(catalog, allowed, limit)).values(), key=lambda row: (row.path, row.first_line)
        )
        with Reader(self._root) as reader:
            chunks = ChunkReader(reader, catalog, self._limit_bytes)
            for row in rows:
                cancel.check()
                text = chunks.read(row)
                if text is not None and (not filters.needs_text or _holds(filters, row, text)):
                    hits.append(_hit(row, text, None, 0.0, ()))
        if hits:
            sink.batch(hits)
        return Outcome(
            hits=len(hits),
            files=len({hit.path for hit in hits}),
            engine="index",
            is_capped=len(allowed) > limit,
            vector_coverage=view.coverage,
            elapsed_ms=_ms(started),
            first_hit_ms=_ms(started) if hits else None,
        )


def _first_ids(catalog: Catalog, allowed: npt.NDArray[np.int64], limit: int) -> list[int]:
    """The ids of the first chunks by path: files were given their ids in the order of paths, as far as they were there from the start."""
    columns = catalog.all_chunk_columns()
    places = np.flatnonzero(np.isin(columns.chunk_id, allowed))
    order = np.lexsort((columns.chunk_id[places], columns.file_id[places]))
    ids: list[int] = columns.chunk_id[places[order[:limit]]].tolist()
    return ids


def _holds(filters: Filters, row: ChunkRow, text: ChunkText) -> bool:
    file = FileFacts(
        row.path, row.language, is_test=row.is_test, is_generated=row.is_generated, is_vendored=row.is_vendored
    )
    return filters.accepts_chunk(ChunkFacts(file, row.kind, row.symbol, row.container, text.text))


def _hit(
    row: ChunkRow, text: ChunkText, pattern: re.Pattern[str] | None, score: float, signals: tuple[Signal, ...]
) -> Hit:
    best = best_line(text, pattern, row.symbol.partition(", ")[0])
    return Hit(
        path=row.path,
        line=row.first_line + best.line,
        column=best.column,
        text=best.text,
        spans=best.spans,
        first_line=row.first_line,
        last_line=row.last_line,
        score=score,
        symbol=row.symbol,
        container=row.container,
        kind=row.kind,
        language=row.language,
        signals=signals,
        text_offset=best.text_offset,
        chunk_id=row.chunk_id,
        part=row.part,
        parts=row.parts,
    )


def _with_copies(hit: Hit, copies: int) -> Hit:
    return replace(hit, copies=copies) if copies else hit


def _chunk(row: ChunkRow, text: str) -> Chunk:
    return Chunk(
        row.language, row.kind, row.symbol, row.container, row.first_line, row.last_line, text, row.part, row.parts
    )


def _telling_words(row: ChunkRow, text: ChunkText | None, view: SemanticView) -> str:
    """The symbol and the rarest words of a chunk, as a question."""
    body = text.text if text is not None else ""
    names = dict.fromkeys(re.findall(r"[^\W\d]\w{2,}", body))
    if view.keywords is not None:
        keywords = view.keywords
        ranked = sorted((keywords.doc_freq("names", name.lower()), name) for name in list(names)[:200])
        names = dict.fromkeys(name for count, name in ranked if count > 1)
    return " ".join([row.symbol.replace(", ", " "), *list(names)[:LIKE_WORDS]]).strip()


def _mentions(view: SemanticView):  # type: ignore[no-untyped-def]
    keywords = view.keywords
    return (lambda name: keywords.doc_freq("names", name.lower())) if keywords is not None else (lambda name: 0)


def _engine(view: SemanticView, ratio: float) -> str:
    has_meaning = view.vectors is not None and view.model is not None and view.coverage > 0 and ratio > 0
    return "words + meaning" if has_meaning else "words"


def _ms(started: float) -> float:
    return (time.monotonic() - started) * 1000.0
