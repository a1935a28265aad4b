"""A small index made in this process, of real parts: what the tests and the benchmark of retrieval search."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mgrep_tui.chunking import chunk_file
from mgrep_tui.corpus.read import Reader, searchable
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.embedding.protocol import Embedder
from mgrep_tui.embedding.text import embedding_text, text_hash
from mgrep_tui.errors import UnreadableError
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.ledger import Ledger
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import TEST, NewChunk, NewFile, NewSymbol
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Outcome, Progress
from mgrep_tui.retrieval.keywords import KeywordIndex, KeywordRow
from mgrep_tui.retrieval.vectors import VectorStore
from mgrep_tui.search.query import parse
from mgrep_tui.search.semantic import Deep, SemanticEngine
from mgrep_tui.settings.config import Settings
from mgrep_tui.text.languages import language_of
from mgrep_tui.text.origin import is_test_path


class ListSink:
    """Keeps what a search sends."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self.batches = 0
        self.replaced = 0

    def batch(self, hits: Sequence[Hit]) -> None:
        self.hits += hits
        self.batches += 1

    def replace(self, hits: Sequence[Hit]) -> None:
        self.hits = list(hits)
        self.replaced += 1

    def progress(self, progress: Progress) -> None:
        pass


class World:
    """The tree at `root`, indexed into `folder`; without a model there are no vectors."""

    def __init__(self, root: Path, folder: Path, model: Embedder | None = None, deep: Deep | None = None) -> None:
        self.settings = Settings()
        self.root = open_root(root)
        folder.mkdir(parents=True, exist_ok=True)
        self.ledger = Ledger(folder / "catalog.sqlite3", "test")
        self.keywords = KeywordIndex(folder / "keywords")
        self.model = model
        self.vectors = VectorStore(model.dimension, model.model_id) if model is not None else None
        self._index()
        self.catalog = Catalog(folder / "catalog.sqlite3")
        self.engine = SemanticEngine(self.root, self.settings, deep)

    def view(self) -> SemanticView:
        return SemanticView(
            catalog=self.catalog,
            vectors=self.vectors,
            keywords=self.keywords,
            model=self.model,
            coverage=1.0 if self.vectors is not None else 0.0,
            keywords_ready=True,
        )

    def search(
        self, text: str, *, tier: str = "instant", ratio: float = 0.5, limit: int = 20
    ) -> tuple[list[Hit], Outcome, ListSink]:
        sink = ListSink()
        outcome = self.engine.search(
            parse(text, Mode.SEMANTIC), self.view(), sink, CancelToken(), ratio=ratio, tier=tier, limit=limit
        )
        return sink.hits, outcome, sink

    def _index(self) -> None:
        files = []
        with Reader(self.root) as reader:
            for entry in list_files(self.root, self.settings.corpus, CancelToken()).entries:
                new = self._new_file(reader, entry.path)
                if new is not None:
                    files.append(new)
        written = self.ledger.write(files)
        self.keywords.replace(
            KeywordRow(
                one.chunk_id, one.chunk.text, one.chunk.symbol, one.chunk.container, one.path.decode("utf-8", "replace")
            )
            for one in written.added
        )
        self.keywords.commit(str(written.batch))
        if self.model is not None and self.vectors is not None and written.added:
            texts = [embedding_text(one.path, _chunk_of(one.chunk)) for one in written.added]
            self.vectors.add(np.array([one.chunk_id for one in written.added]), self.model.embed_documents(texts))

    def _new_file(self, reader: Reader, path: bytes) -> NewFile | None:
        try:
            raw = reader.read(path, self.settings.chunking.max_file_bytes)
        except UnreadableError:
            return None
        canonical = searchable(raw.data)
        if canonical is None:
            return None
        language = language_of(path, canonical.data[:1000])
        cut = chunk_file(path, canonical.data, language, self.settings.chunking)
        return NewFile(
            path=path,
            stat=raw.stat,
            content_hash=hashlib.blake2b(raw.data, digest_size=16).digest(),
            language=language,
            flags=TEST if is_test_path(path) else 0,
            grammar=cut.grammar,
            chunks=tuple(
                NewChunk(
                    c.language, c.kind, c.symbol, c.container, c.first_line, c.last_line, c.part, c.parts,
                    text_hash(embedding_text(path, c)), c.text,
                )
                for c in cut.chunks
            ),
            symbols=tuple(NewSymbol(s.name, s.kind, s.container, s.first_line, s.last_line) for s in cut.symbols),
            fresh=tuple(range(len(cut.chunks))),
        )  # fmt: skip


def _chunk_of(chunk: NewChunk):  # type: ignore[no-untyped-def]
    from mgrep_tui.model import Chunk

    return Chunk(
        chunk.language, chunk.kind, chunk.symbol, chunk.container, chunk.first_line, chunk.last_line, chunk.text, chunk.part,
        chunk.parts,
    )  # fmt: skip
