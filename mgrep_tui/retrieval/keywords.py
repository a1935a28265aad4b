"""Which chunks hold these words: a tantivy index.

Fields: `body` (the text), `symbol`, `container` and `path`, split into stemmed words, and `names` (whole identifiers of text, symbol and
container). One document more holds the payload of the last commit, so that text and payload are published together or not at all.

One writer (the index worker); any thread may search, and a commit never blocks a search: a search keeps the state that it began with.
tantivy panics on some damage; every call into it is guarded and says `IndexDamagedError`, after which the folder is to be built anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from tantivy import Document, Index, IndexWriter, Occur, Query, Schema, SchemaBuilder, Searcher

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.retrieval import words

FORMAT = "1"
BOOSTS = {"body": 1.0, "symbol": 3.0, "container": 3.0, "path": 1.0, "names": 1.0}
STEMMED = ("body", "symbol", "container", "path")
WRITER_BYTES = 96_000_000  # of memory before a segment is written; about 40 MB of text
FEW = 3  # fewer hits than this: misspelt words are looked up
FUZZY_LENGTH = 4  # shorter words have too many neighbours
FUZZY_BOOST = 0.5
COUNTS = 100_000  # words whose number of chunks is kept, some 10 MB
OVERFETCH = 4  # × k, and × 4 again, before every allowed chunk is asked for

Ids = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeywordRow:
    """One chunk as the words see it. `path` is displayable text; ids are below 2^63."""

    chunk_id: int
    body: str
    symbol: str
    container: str
    path: str


class KeywordIndex:
    """The keyword index in one folder. `replace`, `remove`, `commit` and `close` belong to one thread, the rest to any."""

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        """Open, and create when writable. Raise `IndexDamagedError` when the folder holds something else or something broken."""
        if writable:
            folder.mkdir(parents=True, exist_ok=True)
        elif not (folder / "meta.json").is_file():
            raise IndexDamagedError("There is no keyword index yet.")
        self._index = _guarded(lambda: _open(folder))
        self._schema = self._index.schema
        self._writer: IndexWriter | None = None
        self._pending: set[int] = set()
        self._lock = threading.Lock()
        self._see()

    @property
    def payload(self) -> str:
        """What the last commit was called; empty when there is none."""
        return self._payload

    def __len__(self) -> int:
        """How many chunks the last commit holds."""
        return self._size

    def replace(self, rows: Iterable[KeywordRow]) -> None:
        """Add these chunks, in place of those with the same ids; to be seen after `commit`."""
        writer = self._open_writer()
        is_fresh = self._searcher.num_docs == 0
        for row in rows:
            if row.chunk_id in self._pending or (not is_fresh and self._searcher.doc_freq("id", row.chunk_id)):
                writer.delete_documents_by_term("id", row.chunk_id)
            self._pending.add(row.chunk_id)
            document = Document()
            document.add_integer("id", row.chunk_id)
            document.add_text("body", words.spaced(row.body))
            document.add_text("names", words.composed(f"{row.body}\n{row.symbol} {row.container}"))
            if row.symbol:
                document.add_text("symbol", words.spaced(row.symbol))
            if row.container:
                document.add_text("container", words.spaced(row.container))
            document.add_text("path", words.spaced(row.path))
            _guarded(lambda document=document: writer.add_document(document))  # type: ignore[misc]

    def remove(self, ids: Iterable[int]) -> None:
        """Forget these chunks; unknown ids are fine."""
        writer = self._open_writer()
        for chunk_id in ids:
            writer.delete_documents_by_term("id", int(chunk_id))

    def commit(self, payload: str) -> None:
        """Publish everything since the last commit, under this name. About 0.1 s: batch."""
        writer = self._open_writer()
        writer.delete_documents_by_term("state", "state")
        document = Document()
        document.add_text("state", "state")
        document.add_text("payload", f"{FORMAT}\n{payload}")
        writer.add_document(document)
        _guarded(writer.commit)
        self._pending.clear()
        self.reload()

    def reload(self) -> None:
        """See what has been committed, by whichever process."""
        _guarded(self._index.reload)
        self._see()

    def _see(self) -> None:
        """Search what is committed. A count of the old state cannot come among the new ones: they get their dictionary after it."""
        self._searcher = _guarded(self._index.searcher)
        self._counts: dict[tuple[str, str], int] = {}
        made_by, self._payload = self._stored_state()
        if made_by not in ("", FORMAT):
            raise IndexDamagedError("The keyword index was made by another version.")
        self._size = max(0, self._searcher.num_docs - (1 if made_by else 0))

    def close(self) -> None:
        """Drop what was not committed and let the folder go. The index can still be searched."""
        writer, self._writer = self._writer, None
        if writer is not None:
            _guarded(writer.rollback)
            _guarded(writer.wait_merging_threads)
        self._pending.clear()

    def doc_freq(self, field: str, word: str) -> int:
        """In how many chunks the stem (or, in `names`, the identifier) stands. Kept: the names of files are asked for with every key."""
        counts, searcher = self._counts, self._searcher  # in this order: see `_see`
        count = counts.get((field, word))
        if count is None:
            count = _guarded(lambda: searcher.doc_freq(field, word))
            if len(counts) < COUNTS:
                counts[field, word] = count
        return count

    def search(
        self,
        query: str,
        k: int,
        allowed: Ids | None = None,
        *,
        required: Sequence[str] = (),
        boosts: dict[str, float] | None = None,
    ) -> list[tuple[int, float]]:
        """The `k` best chunks for a question as (chunk id, BM25 score), best first.

        `allowed` (sorted ids) restricts before the top-k. Chunks must hold every word of `required`. Misspelt words are looked up when
        fewer than `FEW` chunks are found, or when a word is nowhere in the index.
        """
        stems = words.question_stems(query)
        names = list(dict.fromkeys(words.names(query)))
        if not stems or k <= 0:
            return []
        searcher = self._searcher
        weights = BOOSTS if boosts is None else boosts
        must = [
            Query.boolean_query([(Occur.Should, one) for one in self._word_queries(stem, weights)])
            for text in required
            for stem in words.stems(text)
        ]
        should = [one for stem in stems for one in self._word_queries(stem, weights)]
        if weights["names"]:
            should += [self._boosted("names", name, weights["names"]) for name in names if name not in words.STOP_WORDS]
        unknown = [stem for stem in stems if len(stem) >= FUZZY_LENGTH and not self._is_known(stem)]
        found = self._run(searcher, should + self._fuzzy(unknown, weights), must, k, allowed)
        if len(found) < FEW and len(unknown) < len(stems):
            longer = [stem for stem in stems if len(stem) >= FUZZY_LENGTH]
            found = self._run(searcher, should + self._fuzzy(longer, weights), must, k, allowed)
        return found

    def held(self, stems: Sequence[str], ids: Sequence[int]) -> dict[int, int]:
        """How many of the stems each of these chunks holds in its text, without those that hold none. About 0.5 ms for 250."""
        if not stems or not ids:
            return {}
        searcher = self._searcher
        among = Query.const_score_query(Query.term_set_query(self._schema, "id", list(ids)), 0.0)
        each = [
            (
                Occur.Should,
                Query.const_score_query(Query.term_query(self._schema, "body", stem, index_option="basic"), 1.0),
            )
            for stem in stems
        ]
        query = Query.boolean_query([(Occur.Must, Query.boolean_query(each)), (Occur.Must, among)])
        return {chunk_id: round(score) for chunk_id, score in _fetch(searcher, query, len(ids))}

    def _run(
        self, searcher: Searcher, should: Sequence[Query], must: Sequence[Query], k: int, allowed: Ids | None
    ) -> list[tuple[int, float]]:
        # Terms side by side, none in a query of its own: only then does tantivy skip what cannot be among the best.
        query = Query.boolean_query([(Occur.Should, one) for one in should])
        if must:
            query = Query.boolean_query([(Occur.Must, query), *((Occur.Must, one) for one in must)])
        if allowed is None:
            return _fetch(searcher, query, k)
        if not len(allowed):
            return []
        limit = k * OVERFETCH
        while limit < searcher.num_docs and limit <= k * OVERFETCH**2:
            found = _fetch(searcher, query, limit)
            kept = _only(found, allowed)
            if len(kept) >= k or len(found) < limit:
                return kept[:k]
            limit *= OVERFETCH
        return _only(_fetch(searcher, query, searcher.num_docs), allowed)[:k]

    def _word_queries(self, stem: str, weights: dict[str, float]) -> list[Query]:
        return [self._boosted(field, stem, weights[field]) for field in STEMMED if weights[field]]

    def _boosted(self, field: str, word: str, boost: float) -> Query:
        return Query.boost_query(Query.term_query(self._schema, field, word, index_option="freq"), boost)

    def _is_known(self, stem: str) -> bool:
        return any(self.doc_freq(field, stem) for field in STEMMED)

    def _fuzzy(self, stems: Sequence[str], weights: dict[str, float]) -> list[Query]:
        return [
            Query.boost_query(
                Query.fuzzy_term_query(self._schema, field, stem, distance=1 if len(stem) < 8 else 2), FUZZY_BOOST
            )
            for stem in stems
            for field in ("body", "symbol", "path")
            if weights[field]
        ]

    def _open_writer(self) -> IndexWriter:
        with self._lock:
            if self._writer is None:
                self._writer = _guarded(lambda: self._index.writer(heap_size=WRITER_BYTES, num_threads=1))
            return self._writer

    def _stored_state(self) -> tuple[str, str]:
        searcher = self._searcher
        query = Query.term_query(self._schema, "state", "state", index_option="basic")
        found = _guarded(lambda: searcher.search(query, 1, count=False).hits)
        if not found:
            return "", ""
        text = str(_guarded(lambda: searcher.doc(found[0][1]).get_first("payload")))
        made_by, _, payload = text.partition("\n")
        return made_by, payload


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_integer_field(
        "id", indexed=True, fast=True
    )  # of an unsigned field, tantivy 0.27 deletes nothing and says nothing
    for field in STEMMED:
        builder.add_text_field(field, tokenizer_name="words", index_option="freq")
    builder.add_text_field("names", tokenizer_name="names", index_option="freq")
    builder.add_text_field("state", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("payload", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _open(folder: Path) -> Index:
    index = Index(_schema(), path=str(folder), reuse=True)
    index.config_reader("manual")
    index.register_tokenizer("words", words.word_analyzer())
    index.register_tokenizer("names", words.name_analyzer())
    index.reload()
    return index


def _fetch(searcher: Searcher, query: Query, limit: int) -> list[tuple[int, float]]:
    def run() -> list[tuple[int, float]]:
        hits = searcher.search(query, max(1, limit), count=False).hits
        ids = searcher.fast_field_values("id", [address for _, address in hits])
        return [
            (int(chunk_id), float(score))
            for chunk_id, (score, _) in zip(ids, hits, strict=True)
            if chunk_id is not None
        ]

    return _guarded(run)


def _only(found: list[tuple[int, float]], allowed: Ids) -> list[tuple[int, float]]:
    if not found:
        return found
    ids = np.fromiter((chunk_id for chunk_id, _ in found), np.int64, len(found))
    places = np.searchsorted(allowed, ids)
    places[places == len(allowed)] = 0
    keep = allowed[places] == ids
    return [item for item, is_kept in zip(found, keep, strict=True) if is_kept]


def _guarded(call: Callable[[], T]) -> T:
    """Run a call into tantivy; its errors and panics become `IndexDamagedError`, a full or read-only disk `OSError` as it is."""
    try:
        return call()
    except OSError:
        raise
    except Exception as error:
        raise IndexDamagedError(f"The keyword index does not answer: {error}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamagedError("The keyword index is damaged.") from error
