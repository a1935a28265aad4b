"""From a ranking to hits on the screen: chunks read again in the order of their rank, copies folded, sent in batches, refined once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.text import embedding_text
from mgrep_tui.errors import ModelError
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Chunk, FileStat, Hit, Outcome, Signal, Sink
from mgrep_tui.retrieval.ranking import Ranking, refine
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.semantic_candidates import Pool
from mgrep_tui.search.semantic_folding import Folding
from mgrep_tui.search.semantic_text import ChunkReader, ChunkText, QuestionWords, best_line

FIRST_BATCH = 20  # hits that are shown before the rest is read: about a screen
DEEP_CHUNKS = 50  # rescored by the deep tier: its recall there is .93 to .99
DEEP_LIMIT_S = 60.0  # a first load on a busy machine; whoever does not want to wait cancels


class Deep(Protocol):
    """What is needed of the deep tier."""

    @property
    def available(self) -> bool: ...

    @property
    def asks(self) -> str:
        """What somebody has to agree to before it may be used, else empty."""
        ...

    @property
    def notice(self) -> str:
        """A plain warning when code leaves the machine, else empty."""
        ...

    def rescore(
        self, query: str, texts: Sequence[str], *, cancel: CancelToken, limit_s: float
    ) -> npt.NDArray[np.float32]:
        """Cosines of the query and each text. Raises `ModelError` when they do not come in time, and `Cancelled`."""
        ...


class Texts(Protocol):
    """Where the lines of chunks come from."""

    def read(self, row: ChunkRow) -> ChunkText | None:
        """The chunk's lines, or None when it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """A root that candidates come from, as far as showing its chunks needs it. `prefix` stands before the paths of its hits.

    `texts` stands in for the files of the root, where there are none.
    """

    root: Root
    limit_bytes: int
    filters: Filters
    view: SemanticView
    prefix: bytes = b""
    texts: Callable[[], Texts] | None = None

    def open_texts(self, stats: Mapping[bytes, FileStat], stack: ExitStack) -> Texts:
        """The texts of this root's chunks, until `stack` is left."""
        if self.texts is not None:
            return self.texts()
        return ChunkReader(stack.enter_context(Reader(self.root)), stats, self.limit_bytes)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A hit, its place among the candidates, and the text that the deep tier reads."""

    hit: Hit
    place: int
    text: str


class Showing:
    """One search's way to the sink."""

    def __init__(
        self,
        sources: Sequence[Source],
        sink: Sink,
        cancel: CancelToken,
        ratio: float,
        limit: int,
        started: float,
        deep: Deep | None,
    ) -> None:
        self._sources = sources
        self._sink = sink
        self._cancel = cancel
        self._ratio = ratio
        self._limit = limit
        self._started = started
        self._deep = deep if deep is not None and deep.available else None
        self._asks = deep.asks if deep is not None else ""
        self._copies: Counter[int] = Counter()
        self._first_hit_ms: float | None = None

    def show(self, pool: Pool, ranking: Ranking) -> Outcome:
        """Send the hits and say what was done. Raises `Cancelled`."""
        shown = self._read(pool, ranking, max(self._limit, DEEP_CHUNKS if self._deep is not None else 0))
        hits = self._with_copies(shown)
        outcome = Outcome(
            hits=min(len(hits), self._limit),
            files=len({hit.path for hit in hits[: self._limit]}),
            candidate_files=len({(source, row.file_id) for source, row in zip(pool.sources, pool.rows, strict=True)}),
            engine=self._engine(),
            is_capped=len(hits) >= self._limit,
            is_partial=not all(source.view.keywords_ready for source in self._sources),
            vector_coverage=coverage_of([source.view for source in self._sources]),
            elapsed_ms=self._elapsed_ms(),
            first_hit_ms=self._first_hit_ms,
            notes=tuple(dict.fromkeys(said for said in self._said() if said)),
        )
        return (
            outcome
            if self._deep is None or not shown
            else self._refine(self._deep, ranking, pool, shown, hits, outcome)
        )

    def _said(self) -> list[str]:
        return [self._asks, *(source.view.notice for source in self._sources)]

    def _read(self, pool: Pool, ranking: Ranking, most: int) -> list[_Shown]:
        shown: list[_Shown] = []
        sent = 0
        folding = Folding()
        words = QuestionWords(ranking.question.stems, ranking.question.names)
        with ExitStack() as stack:
            chunks = [source.open_texts(stats, stack) for source, stats in zip(self._sources, pool.stats, strict=True)]
            for place in ranking.order.tolist():
                self._cancel.check()
                row = pool.rows[place]
                source = self._sources[pool.sources[place]]
                text = chunks[pool.sources[place]].read(row)
                if text is None or (source.filters.needs_text and not holds(source.filters, row, text)):
                    continue
                twin = folding.twin_of(len(shown), row.symbol, text.lines)
                if twin is not None:
                    self._copies[twin] += 1 + pool.candidates[place].copies
                    continue
                if len(shown) == most:
                    break
                score, signals = ranking.shown_score(place), ranking.signals_of(place)
                hit = hit_of(row, text, source.filters, words, score, signals, source.prefix)
                self._copies[len(shown)] += pool.candidates[place].copies
                shown.append(_Shown(hit, place, text.text))
                if len(shown) == min(FIRST_BATCH, self._limit):
                    sent = self._send(self._with_copies(shown))
        hits = self._with_copies(shown)[: self._limit]
        if len(hits) > sent:
            self._send(hits[sent:])
        if any(self._copies[number] for number in range(sent)) and self._deep is None:
            self._sink.replace(hits)
        return shown

    def _send(self, hits: Sequence[Hit]) -> int:
        self._sink.batch(hits)
        if self._first_hit_ms is None:
            self._first_hit_ms = self._elapsed_ms()
        return len(hits)

    def _with_copies(self, shown: Sequence[_Shown]) -> list[Hit]:
        return [
            replace(one.hit, copies=self._copies[number]) if self._copies[number] else one.hit
            for number, one in enumerate(shown)
        ]

    def _refine(
        self, deep: Deep, ranking: Ranking, pool: Pool, shown: list[_Shown], hits: list[Hit], outcome: Outcome
    ) -> Outcome:
        """Rescore the best hits with the deep model and replace the list once; without its answer the list stays."""
        if deep.notice:
            outcome = replace(outcome, notes=(deep.notice, *outcome.notes))
        best = shown[:DEEP_CHUNKS]
        texts = [embedding_text(pool.rows[one.place].path, chunk_of(pool.rows[one.place], one.text)) for one in best]
        try:
            cosines = deep.rescore(ranking.question.text, texts, cancel=self._cancel, limit_s=DEEP_LIMIT_S)
        except ModelError as error:
            return replace(outcome, notes=(*outcome.notes, f"{error.message} This is the quick order."))
        self._cancel.check()
        again = refine(ranking, [one.place for one in best], [float(c) for c in cosines], ratio=self._ratio)
        refined = [
            replace(hits[place], score=again.shown_score(place), signals=again.signals_of(place))
            for place in again.order.tolist()
        ]
        final = [*refined, *hits[len(best) :]][: self._limit]
        self._sink.replace(final)
        files = len({hit.path for hit in final})
        return replace(outcome, files=files, engine="words + meaning + deep", elapsed_ms=self._elapsed_ms())

    def _engine(self) -> str:
        views = [source.view for source in self._sources]
        has_meaning = self._ratio > 0 and any(
            view.vectors is not None and view.model is not None and view.coverage > 0 for view in views
        )
        return "words + meaning" if has_meaning else "words"

    def _elapsed_ms(self) -> float:
        return (time.monotonic() - self._started) * 1000.0


def coverage_of(views: Sequence[SemanticView]) -> float:
    """The share of the chunks of all roots that have vectors; that of the only root as it says."""
    if len(views) == 1:
        return views[0].coverage
    sizes = [len(view.keywords) if view.keywords is not None else 0 for view in views]
    total = sum(sizes)
    return sum(view.coverage * size for view, size in zip(views, sizes, strict=True)) / total if total else 0.0


def holds(filters: Filters, row: ChunkRow, text: ChunkText) -> bool:
    """Whether a chunk's text satisfies the filters that ask for texts."""
    file = FileFacts(
        row.path, row.language, is_test=row.is_test, is_generated=row.is_generated, is_vendored=row.is_vendored
    )
    return filters.accepts_chunk(ChunkFacts(file, row.kind, row.symbol, row.container, text.text))


def hit_of(
    row: ChunkRow,
    text: ChunkText,
    filters: Filters,
    words: QuestionWords | None = None,
    score: float = 0.0,
    signals: tuple[Signal, ...] = (),
    prefix: bytes = b"",
) -> Hit:
    """A chunk as a hit on its best line: one with what the filters demand, else with the words; `prefix` stands before its path."""
    demanded = [one.lines(text.text) for one in filters.asked_texts]
    best = best_line(text, words, row.symbol.partition(", ")[0], demanded)
    return Hit(
        path=prefix + row.path,
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


def chunk_of(row: ChunkRow, text: str) -> Chunk:
    """The chunk of a row, with its text."""
    return Chunk(
        row.language, row.kind, row.symbol, row.container, row.first_line, row.last_line, text, row.part, row.parts
    )
