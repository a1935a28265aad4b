"""The values that every room speaks: frozen, and made of the standard library only.

Paths are `bytes`, relative to the root, with `/` between the parts, exactly as the disk has them. Lines and columns are 0-based in
here and become 1-based at the edges (screen, command line, editor). Text is as decoded, never sanitised: what reaches a terminal goes
through `text.sanitize` first.
"""

from __future__ import annotations

import enum
import itertools
import operator
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, overload


class Mode(enum.StrEnum):
    """How the words of a query are read."""

    SEMANTIC = "semantic"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters in a hit's `text`."""

    start: int
    end: int


class FileStat(NamedTuple):
    """What tells that a file has changed without reading it. Two equal values of a settled file mean equal bytes.

    A tuple, as is `Entry`: they are made by the ten thousand, and a frozen class costs four times as much.
    """

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Entry(NamedTuple):
    """A regular file of the corpus."""

    path: bytes
    stat: FileStat


class SkipReason(enum.StrEnum):
    """Why a file that the rules admit is not searched."""

    BINARY = "binary"
    TOO_BIG = "too big"
    UNREADABLE = "unreadable"
    SPECIAL = "not a regular file"
    OUTSIDE = "links out of the root"


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder left out, and why; `detail` is a short phrase such as `120 MB, limit 64 MB`."""

    path: bytes
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named definition: `container` is its dotted path of enclosing names (`Outer.Inner`), `kind` as in `Chunk.kind`."""

    name: str
    kind: str
    container: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """The indexed unit of meaning. `first_line` and `last_line` are 0-based and inclusive.

    `kind` is one of function, method, class, interface, struct, enum, trait, impl, module, type, constant, outline, code, section, object,
    table, cell, statement, rule, lines. `part` counts from 1 to `parts` where a unit was split, else both are 1.
    """

    language: str
    kind: str
    symbol: str
    container: str
    first_line: int
    last_line: int
    text: str
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a hit's score: `words`, `meaning`, `deep`, `definition`, `path`, `coherence`, `test`, …"""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. In regex mode a line with its spans; in semantic mode a chunk, `line` being its best line.

    `text` is the line's decoded text without its end; of a very long line only a window, which starts `text_offset` characters into the
    line. `column` counts characters from the line's start.
    """

    path: bytes
    line: int
    column: int
    text: str
    spans: tuple[Span, ...] = ()
    first_line: int = 0
    last_line: int = 0
    score: float = 0.0
    symbol: str = ""
    container: str = ""
    kind: str = ""
    language: str = ""
    signals: tuple[Signal, ...] = ()
    text_offset: int = 0
    chunk_id: int | None = None
    part: int = 1
    parts: int = 1
    copies: int = 0  # near-duplicates folded into this hit

    @property
    def full_name(self) -> str:
        """The symbol with what it stands in, `Outer.inner`; what there is of the two."""
        return ".".join(part for part in (self.container, self.symbol) if part)


class FileHits(Protocol):
    """The hits of one file, in the order in which they are shown."""

    @property
    def path(self) -> bytes: ...

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def score(self) -> float:
        """What the file counts among others."""

    def hit(self, number: int) -> Hit:
        """Make one of them."""

    def part(self, start: int, stop: int) -> FileHits:
        """Some of them."""


class Hits(Sequence[Hit]):
    """The hits of some files, in order, each made when it is asked for: a search finds more than anybody looks at. Any thread."""

    __slots__ = ("_files", "_starts")

    def __init__(self, files: Sequence[FileHits]) -> None:
        self._files = files
        self._starts = [0, *itertools.accumulate([file.size for file in files])]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> Hits: ...

    def __getitem__(self, index: int | slice) -> Hit | Hits:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError("hits are taken one after the other")
            return self._part(start, max(start, stop))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        at = bisect_right(self._starts, index) - 1
        return self._files[at].hit(index - self._starts[at])

    def _part(self, start: int, stop: int) -> Hits:
        if start == 0 and stop == len(self):
            return self
        files = []
        for at in range(max(0, bisect_right(self._starts, start) - 1), len(self._files)):
            first = self._starts[at]
            if first >= stop:
                break
            files.append(self._files[at].part(max(0, start - first), min(self._files[at].size, stop - first)))
        return Hits(files)

    def __iter__(self) -> Iterator[Hit]:
        for file in self._files:
            for number in range(file.size):
                yield file.hit(number)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def groups(self) -> Sequence[FileHits]:
        """The hits of each file, in order."""
        return self._files

    def files(self) -> Iterator[tuple[bytes, int]]:
        """The path and the number of hits of each file, in order."""
        for file in self._files:
            yield file.path, file.size

    @staticmethod
    def joined(parts: Sequence[Sequence[Hit]]) -> Sequence[Hit]:
        """All of these, one after the other; none is made for it, if all parts are of this class."""
        if len(parts) == 1:
            return parts[0]
        lazy = [part for part in parts if isinstance(part, Hits)]
        if len(lazy) == len(parts):
            return Hits([file for part in lazy for file in part._files])
        return [hit for part in parts for hit in part]


def files_of(hits: Sequence[Hit]) -> Iterator[tuple[bytes, int]]:
    """The path of each file and how many of its hits come next to each other, in order."""
    if isinstance(hits, Hits):
        yield from hits.files()
        return
    for path, own in itertools.groupby(hits, operator.attrgetter("path")):
        yield path, sum(1 for _ in own)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running search is; all counts are of files."""

    searched: int
    total: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search did, said honestly: the screen and the command line print from this.

    `engine` is `index`, `scan`, `index + scan`, `words`, `words + meaning`, `words + meaning + deep` or `backtracking`. `hits` counts lines
    in regex mode and chunks in semantic mode; when `is_capped` it is a lower bound. `is_verified` says that the disk was checked after the
    search began. `notes` are whole sentences for the status line.
    """

    hits: int = 0
    files: int = 0
    searched_files: int = 0
    candidate_files: int = 0
    scanned_files: int = 0
    engine: str = ""
    is_capped: bool = False
    is_partial: bool = False
    is_verified: bool = False
    vector_coverage: float | None = None
    elapsed_ms: float = 0.0
    first_hit_ms: float | None = None
    notes: tuple[str, ...] = ()


class Sink(Protocol):
    """Where a search puts what it finds; called from the search's thread only, in the order of display."""

    def batch(self, hits: Sequence[Hit]) -> None:
        """More hits, best first. In regex mode a file's hits come together."""

    def replace(self, hits: Sequence[Hit]) -> None:
        """All hits anew, in a better order (the deep tier has answered, or late hits joined)."""

    def progress(self, progress: Progress) -> None:
        """At most every 100 ms."""


class IndexState(enum.StrEnum):
    """What the index is doing."""

    OPENING = "opening"
    INDEXING = "indexing"
    READY = "ready"
    READ_ONLY = "read-only"
    PAUSED = "paused"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Health:
    """The content of the health panel and of `mgrep-tui status`. Counts are of files unless named otherwise."""

    state: IndexState = IndexState.OPENING
    phase: str = ""  # what is being done now, as a phrase: "building the n-gram index"
    root: str = ""
    files_seen: int = 0
    files_total: int = 0
    files_indexed: int = 0  # by n-grams
    files_chunked: int = 0
    files_pending: int = 0
    skipped: tuple[tuple[str, int], ...] = ()  # reason, count
    chunks: int = 0
    vectors: int = 0
    deep_vectors: int = 0
    rate_per_s: float = 0.0  # files a second in the current phase
    eta_s: float | None = None
    regex_ready: bool = False  # the n-gram index covers the tree but for the dirty files
    keywords_ready: bool = False
    watcher: str = "off"  # watching, polling, off, and why
    checked_at: float | None = (
        None  # time.time() of the last sweep of the disk, or of the last push where it `is_shared`
    )
    is_shared: bool = False  # it is an engine's: nothing of it is made here
    branch: str = ""
    commit: str = ""
    dirty: int = 0
    generation: int = 0
    roots_open: int = 0  # of several, how many can be searched by now
    roots_missing: tuple[str, ...] = ()  # of several, those that cannot be opened
    text_bytes: int = 0
    chunked_bytes: int = 0  # of them in chunks
    index_bytes: tuple[tuple[str, int], ...] = ()  # part, bytes on disk
    models: tuple[tuple[str, str], ...] = ()  # tier, model and its state as a phrase
    last_error: str = ""
    events: tuple[str, ...] = ()  # the last few, newest first
    metrics: tuple[tuple[str, str], ...] = ()  # chunking metrics, label and value
    languages: tuple[tuple[str, int], ...] = field(default=())

    @property
    def is_watching(self) -> bool:
        """Whether every change is heard of: `watcher` says nothing more."""
        return self.watcher == "watching"
