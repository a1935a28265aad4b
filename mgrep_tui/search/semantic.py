"""Searching by meaning and by words: candidates from every arm, ranked, read again from disk, shown; then, if wanted, refined once.

The instant tier answers within milliseconds. The deep tier, when it is there, rescores the best fifty and the list is replaced once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat, Hit, Outcome, Sink
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.ranking import rank
from mgrep_tui.search.query import Query
from mgrep_tui.search.semantic_candidates import ARM, FileCentres, Pool, gather
from mgrep_tui.search.semantic_filters import AllowedChunks, GitState
from mgrep_tui.search.semantic_quotes import FilesWith, QuotedChunks
from mgrep_tui.search.semantic_showing import Deep, Showing, Source, hit_of, holds
from mgrep_tui.search.semantic_text import ChunkReader, ChunkText
from mgrep_tui.search.semantic_union import all_mentions
from mgrep_tui.settings.config import Settings

__all__ = ["GONE", "LIKE_RATIO", "NOT_THERE", "Deep", "SemanticEngine", "has_words"]

WIDE_ARM = 2_000  # candidates when a quoted text must be found in them and stands in too many files to look beforehand
LISTED = 100  # chunks looked at together where filters alone are asked for
LIKE_WORDS = 12  # rare words of a chunk that "more like this" asks for
LIKE_RATIO = 0.7  # of meaning in "more like this": its words are many and common
NOTHING_ASKED = Outcome(engine="index", notes=("There is no word in this to look for.",))
NOT_THERE = "The index for searching by meaning is not there yet."
GONE = Outcome(is_partial=True, notes=("That place has changed; search again.",))


class SemanticEngine:
    """Searches one root. Any thread may search, several at once."""

    def __init__(
        self,
        root: Root,
        settings: Settings,
        deep: Deep | None = None,
        git_state: GitState | None = None,
        files_with: FilesWith | None = None,
    ) -> None:
        """`files_with` names the files that can hold quoted texts (see `semantic_quotes`)."""
        self._root = root
        self._limit_bytes = settings.chunking.max_file_bytes
        self._deep = deep
        self._allowed = AllowedChunks(git_state)
        self._quoted = QuotedChunks(root, self._limit_bytes, files_with)
        self._centres = FileCentres()

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

        A query of filters alone, or with nothing beside them that has a letter or a digit, lists what they let through, by path. Raises
        `Cancelled` and `IndexDamagedError`.
        """
        started = time.monotonic()
        catalog = view.catalog
        if catalog is None:
            return Outcome(is_partial=True, notes=(view.notice or NOT_THERE,))
        if not has_words(query):
            if query.plain.strip() and not query.filters:
                return NOTHING_ASKED
            allowed, _ = self._quoted.ids(
                catalog, query.filters, self._allowed.ids(catalog, query.filters, cancel), cancel
            )
            return self._list(query, catalog, allowed, view, sink, cancel, limit, started)
        question = questions.read(query.plain)
        deep = self._deep if tier == "deep" and ratio > 0 else None
        showing = Showing([self.source(query, view)], sink, cancel, ratio, limit, started, deep)
        pool = self.pool(question, query, view, cancel, limit=limit)
        return showing.show(pool, rank(question, pool.candidates, pool.rarity, all_mentions([view]), ratio=ratio))

    def pool(
        self,
        question: Question,
        query: Query,
        view: SemanticView,
        cancel: CancelToken,
        *,
        limit: int,
        vector: npt.NDArray[np.float32] | None = None,
    ) -> Pool:
        """The candidates of a question, which `query` filters; `vector` stands in for the question's own. Raises as `search`."""
        if view.catalog is None:
            return Pool(stats=({},))
        allowed = self._allowed.ids(view.catalog, query.filters, cancel)
        allowed, is_judged = self._quoted.ids(view.catalog, query.filters, allowed, cancel)
        arm = WIDE_ARM if query.filters.needs_text and not is_judged else max(ARM, limit)
        # What holds the quoted text is meant, whether or not an arm finds it by the other words.
        also = allowed[:arm] if is_judged and allowed is not None else None
        return gather(question, view, view.catalog, self._centres, allowed, cancel, arm=arm, vector=vector, also=also)

    def source(self, query: Query, view: SemanticView, prefix: bytes = b"") -> Source:
        """This root, for showing what `pool` found."""
        return Source(self._root, self._limit_bytes, query.filters, view, prefix)

    def like(
        self, chunk_id: int, query: Query, view: SemanticView, sink: Sink, cancel: CancelToken, *, limit: int = 100
    ) -> Outcome:
        """Chunks that resemble this one, which is not among them; the query's filters hold. Raises as `search`."""
        started = time.monotonic()
        model = self.model_chunk(chunk_id, view)
        if model is None:
            return GONE
        question, vector = model
        showing = Showing([self.source(query, view)], sink, cancel, LIKE_RATIO, limit, started, None)
        pool = self.pool(question, query, view, cancel, limit=limit, vector=vector).without(chunk_id)
        ranking = rank(question, pool.candidates, pool.rarity, all_mentions([view]), ratio=LIKE_RATIO)
        return showing.show(pool, ranking)

    def model_chunk(self, chunk_id: int, view: SemanticView) -> tuple[Question, npt.NDArray[np.float32] | None] | None:
        """What to ask for when looking for more like this chunk: its rare words and its vector. None when it is gone."""
        catalog = view.catalog
        row = catalog.chunks([chunk_id]).get(chunk_id) if catalog is not None else None
        if catalog is None or row is None:
            return None
        return self._question_of(row, catalog, view), _vector_of(view, chunk_id)

    def _question_of(self, row: ChunkRow, catalog: Catalog, view: SemanticView) -> Question:
        with Reader(self._root) as reader:
            text = ChunkReader(reader, _stats_of(catalog, [row]), self._limit_bytes).read(row)
        # Its own name is no name to define: what defines it is the chunk itself.
        return replace(questions.read(_telling_words(row, text, view)), names=(), qualifiers=())

    def _list(
        self,
        query: Query,
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
        ids = _in_order(catalog, allowed)
        place = 0
        with Reader(self._root) as reader:
            while place < len(ids) and len(hits) < limit:  # what they demand of a text may leave few of many
                some = ids[place : place + max(limit, LISTED)]
                place += len(some)
                rows = sorted(catalog.chunks(some).values(), key=lambda row: (row.path, row.first_line))
                chunks = ChunkReader(reader, _stats_of(catalog, rows), self._limit_bytes)
                for row in rows:
                    cancel.check()
                    text = chunks.read(row)
                    if text is not None and (not query.filters.needs_text or holds(query.filters, row, text)):
                        hits.append(hit_of(row, text, query.filters))
        is_capped = place < len(ids) or len(hits) > limit
        hits = hits[:limit]
        if hits:
            sink.batch(hits)
        elapsed_ms = (time.monotonic() - started) * 1000.0
        return Outcome(
            hits=len(hits),
            files=len({hit.path for hit in hits}),
            engine="index",
            is_capped=is_capped,
            vector_coverage=view.coverage,
            elapsed_ms=elapsed_ms,
            first_hit_ms=elapsed_ms if hits else None,
        )


def has_words(query: Query) -> bool:
    """Whether there is anything in it that can be compared with a text."""
    return any(char.isalnum() for char in query.plain)


def _stats_of(catalog: Catalog, rows: Sequence[ChunkRow]) -> dict[bytes, FileStat]:
    return {file.path: file.stat for file in catalog.files_by_id({row.file_id for row in rows}).values()}


def _vector_of(view: SemanticView, chunk_id: int) -> npt.NDArray[np.float32] | None:
    if view.vectors is None:
        return None
    _, vectors = view.vectors.get(np.array([chunk_id], np.int64))
    return vectors[0] if len(vectors) else None


def _in_order(catalog: Catalog, allowed: npt.NDArray[np.int64]) -> list[int]:
    """The ids of the allowed chunks, by file in the order in which files came into the catalog: by path, when all came at once."""
    columns = catalog.all_chunk_columns()
    places = np.flatnonzero(np.isin(columns.chunk_id, allowed))
    order = np.lexsort((columns.chunk_id[places], columns.file_id[places]))
    ids: list[int] = columns.chunk_id[places[order]].tolist()
    return ids


def _telling_words(row: ChunkRow, text: ChunkText | None, view: SemanticView) -> str:
    """The symbol and the rarest words of a chunk, as a question."""
    body = text.text if text is not None else ""
    names = list(dict.fromkeys(re.findall(r"[^\W\d]\w{2,}", body)))[:200]
    if view.keywords is not None:
        mentions = all_mentions([view])
        counted = sorted((mentions(name), name) for name in names)
        names = [name for count, name in counted if count > 1]
    return " ".join([row.symbol.replace(", ", " "), *names[:LIKE_WORDS]]).strip()
