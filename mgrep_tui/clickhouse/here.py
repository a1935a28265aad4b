"""The chunks of files that differ on this disk: cut and embedded when a question is asked, kept as long as the file stays the same.

They are few, so they are held in memory with all that the ranking wants to know, and scored by the formula that the engine's chunks are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mgrep_tui.clickhouse.making import Making
from mgrep_tui.clickhouse.overlay import Overlay
from mgrep_tui.clickhouse.tree import TreeFile
from mgrep_tui.clickhouse.wording import K1, LENGTHS, B, Wording
from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.read import Reader
from mgrep_tui.errors import UnreadableError
from mgrep_tui.index.ingest import content_hash
from mgrep_tui.index.rows import ChunkRow, NewChunk, NewFile, NewSymbol
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.semantic_text import LINE_CHARS, ChunkText
from mgrep_tui.settings.config import Settings

if TYPE_CHECKING:
    from mgrep_tui.clickhouse.word_search import Weight

MOST_FILES = 500
"""More changed files than this are found by regular expression alone, and the outcome says so."""


@dataclass(frozen=True, slots=True)
class HereChunk:
    """A chunk of a file as it is on the disk. `words` has times and length code by word; its negative ids hold for one look."""

    row: ChunkRow
    text: ChunkText
    file_language: str
    words: Mapping[int, tuple[int, int]]
    vector: npt.NDArray[np.float32] | None
    centre: npt.NDArray[np.float32] | None
    chunks: int
    inner: tuple[NewSymbol, ...]

    def is_accepted(self, filters: Filters) -> bool:
        """Whether the filters let it through: by its own name, or by one defined in it."""
        if not filters:
            return True
        row = self.row
        facts = FileFacts(
            row.path,
            self.file_language,
            is_dirty=True,
            is_test=row.is_test,
            is_generated=row.is_generated,
            is_vendored=row.is_vendored,
        )
        if not filters.accepts_file(facts):
            return False
        if not filters.needs_chunk:
            return True
        if filters.accepts_chunk(ChunkFacts(facts, row.kind, row.symbol, row.container)):
            return True
        return not filters.denies_names and any(
            filters.accepts_chunk(ChunkFacts(facts, symbol.kind, symbol.name, symbol.container))
            for symbol in self.inner
        )

    def defines(self, names: set[str]) -> bool:
        """Whether one of these names, case folded, is defined in it."""
        return self.row.symbol.casefold() in names or any(symbol.name.casefold() in names for symbol in self.inner)

    def coverage(self, stems: Sequence[int]) -> float:
        """Which share of these words stands in it."""
        return sum(stem in self.words for stem in stems) / len(stems) if stems else 0.0

    def scores(self, weights: Mapping[int, Weight]) -> tuple[float, float, float]:
        """What the words of a question give to it: all together, those of its body, those of its names."""
        found = np.zeros(3)
        for word, weight in weights.items():
            held = self.words.get(word)
            if held is None:
                continue
            times, length = held
            norm = K1 * (1.0 - B) + weight.slope * LENGTHS[length]
            part = 1.0 if weight.is_flat else (K1 + 1.0) * times / (times + norm)
            found += part * np.array((weight.words, weight.body, weight.naming))
        return float(found[0]), float(found[1]), float(found[2])


class HereChunks:
    """Makes and keeps the chunks of changed files. Any thread may ask; one at a time makes."""

    def __init__(self, settings: Settings, queries: Path | None) -> None:
        self._settings = settings
        self._queries = queries
        self._lock = threading.Lock()
        self._files: dict[bytes, _Kept] = {}

    def symbols(self, overlay: Overlay, cancel: CancelToken) -> dict[bytes, tuple[NewSymbol, ...]]:
        """What is defined in the changed files; those beyond `MOST_FILES` are missing. Raises `Cancelled`."""
        with self._lock:
            self._make(overlay, overlay.changed[:MOST_FILES], cancel)
            return {path: kept.symbols for path, kept in self._files.items()}

    def of(self, overlay: Overlay, cancel: CancelToken) -> list[HereChunk]:
        """The chunks of all changed files. Raises `Cancelled`."""
        with self._lock:
            wanted = overlay.changed[:MOST_FILES]
            self._make(overlay, wanted, cancel)
            found: list[HereChunk] = []
            for number, path in enumerate(wanted):
                for cut in self._files.get(path, NOTHING).cuts:
                    found.append(cut(-len(found) - 1, -number - 1))
            return found

    def _make(self, overlay: Overlay, wanted: Sequence[bytes], cancel: CancelToken) -> None:
        self._files = {path: kept for path, kept in self._files.items() if path in set(wanted)}
        new: list[tuple[TreeFile, int, bool]] = []
        with Reader(overlay.root) as reader:
            for path in wanted:
                try:
                    raw = reader.read(path, self._settings.corpus.max_file_bytes)
                except UnreadableError:
                    self._files.pop(path, None)
                    continue
                digest = content_hash(raw.data)
                if self._files.get(path, NOTHING).content == digest:
                    continue
                seen = searchable(raw.data)
                if seen is None:
                    self._files[path] = _Kept(digest)
                else:
                    new.append((TreeFile(path, digest, len(raw.data), seen), 0, True))
        if not new:
            return
        with Making(overlay.root, self._settings, self._queries) as making:
            for made in making.made(new, cancel):
                cuts = _cuts_of(made.file, made.text)
                self._files[made.file.path] = _Kept(made.file.content_hash, cuts, made.file.symbols)


_Cut = Callable[[int, int], HereChunk]
"""A chunk that lacks only its ids: of the chunk, and of the file."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was made of a file with this content."""

    content: bytes
    cuts: tuple[_Cut, ...] = ()
    symbols: tuple[NewSymbol, ...] = ()


NOTHING = _Kept(b"")


def _cuts_of(file: NewFile, text: bytes) -> tuple[_Cut, ...]:
    lines = text.decode("utf-8", "replace").split("\n")
    vectors: dict[int, npt.NDArray[np.float32]] = {}
    centre = None
    if file.vectors is not None and len(file.vectors):
        own = file.vectors.astype(np.float32)
        own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-9)
        vectors = dict(zip(file.fresh, own, strict=True))
        total = own.sum(axis=0)
        centre = total / max(float(np.linalg.norm(total)), 1e-9)
    postings = Wording().postings([(file.path, chunk) for chunk in file.chunks])
    held = zip(postings.words.tolist(), postings.times.tolist(), postings.lengths.tolist(), strict=True)
    words: list[dict[int, tuple[int, int]]] = [{} for _ in file.chunks]
    for number, (word, times, length) in zip(postings.chunks.tolist(), held, strict=True):
        words[number][word] = (times, length)
    return tuple(
        _cut(file, chunk, lines, words[number], vectors.get(number), centre) for number, chunk in enumerate(file.chunks)
    )


def _cut(
    file: NewFile,
    chunk: NewChunk,
    lines: Sequence[str],
    words: dict[int, tuple[int, int]],
    vector: npt.NDArray[np.float32] | None,
    centre: npt.NDArray[np.float32] | None,
) -> _Cut:
    own = ChunkText(tuple(line.rstrip("\r")[:LINE_CHARS] for line in lines[chunk.first_line : chunk.last_line + 1]))
    inner = tuple(
        symbol
        for symbol in file.symbols
        if chunk.first_line <= symbol.first_line <= chunk.last_line and symbol.name != chunk.symbol
    )

    def made(chunk_id: int, file_id: int) -> HereChunk:
        row = ChunkRow(
            chunk_id, file_id, file.path, chunk.language, chunk.kind, chunk.symbol, chunk.container,
            chunk.first_line, chunk.last_line, chunk.part, chunk.parts, chunk.text_hash, file.flags,
        )  # fmt: skip
        return HereChunk(row, own, file.language, words, vector, centre, len(file.chunks), inner)

    return made
