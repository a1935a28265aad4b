"""The words of a chunk as the engine stores them, and what they are worth: BM25 exactly as the local keyword index computes it.

Fields and their words are those of `retrieval.keywords`; a field's length is kept in one byte as there (Lucene's and tantivy's table), so
that the same chunk gets the same score from both.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mgrep_tui.clickhouse.keys import word_of
from mgrep_tui.index.rows import NewChunk
from mgrep_tui.retrieval import words
from mgrep_tui.text.sanitize import display_path

FIELDS = ("body", "symbol", "container", "path", "names")
FIELD_NUMBER = {name: number for number, name in enumerate(FIELDS)}
K1 = 1.2
B = 0.75
MOST_TIMES = 255
MOST_KEPT = 1_000_000  # words, and runs of characters, that are remembered from batch to batch
# In ASCII no word and no name goes beyond such a run, so that the analyzers are asked once for each.
_RUN = re.compile(r"[A-Za-z0-9_$]+")
# A letter that both analyzers give back as it is, by itself: what stands between two runs that are analyzed in one call.
_MARK = "\u4e00"
_AT_ONCE = 20_000
PORTION_CHARS = 8_000_000
PORTION_CHUNKS = 50_000
"""Counted at once: no more than three million words, which with those that are kept fit into the bits for them."""
_TIMES_BITS, _WORD_BITS = 20, 24  # the rest, 19 without the sign, counts chunks and fields


def _lengths() -> list[int]:
    """The 256 lengths that a byte stands for: exact up to 40, then with three bits of precision."""
    found = []
    for code in range(256):
        rest = code - 24
        if rest < 8:
            found.append(code)
            continue
        shift = (rest >> 3) - 1
        found.append(24 + ((rest & 7 | 8) << shift))
    return found


LENGTHS = np.array(_lengths(), np.float64)


def length_code(count: int) -> int:
    """The byte for a field of so many words."""
    return int(np.searchsorted(LENGTHS, count, side="right")) - 1


@lru_cache(maxsize=100_000)
def _key(field: int, text: str) -> int:
    return word_of(field, text)


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of some chunks, ordered by chunk and field: `chunk` counts from 0, `lengths` are of the field, as bytes.

    `sizes` says how many words each field of each chunk has, repeated ones too.
    """

    words: npt.NDArray[np.uint64]
    chunks: npt.NDArray[np.int64]
    times: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.uint8]
    sizes: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FreshWords:
    """Words that were met for the first time, as columns."""

    keys: list[int]
    fields: list[int]
    texts: list[str]


class _Vocabulary:
    """Every word of every field that was met, numbered from 0."""

    def __init__(self) -> None:
        self._numbers: list[dict[str, int]] = [{} for _ in FIELDS]
        self.keys = array("Q")
        self._fresh = FreshWords([], [], [])

    def numbers(self, field: int, texts: Iterable[str]) -> Iterator[int]:
        known = self._numbers[field]
        for text in texts:
            number = known.get(text)
            if number is None:
                number = known[text] = len(self.keys)
                key = word_of(field, text)
                self.keys.append(key)
                fresh = self._fresh
                fresh.keys.append(key)
                fresh.fields.append(field)
                fresh.texts.append(text)
            yield number

    def take_fresh(self) -> FreshWords:
        fresh, self._fresh = self._fresh, FreshWords([], [], [])
        return fresh


class _Runs(dict[str, int]):
    """The runs of one kind of text, numbered from 0, and the words that each gives to the fields which that text belongs to."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__()
        self.fields = tuple(FIELD_NUMBER[name] for name in fields)
        self.analyzers: tuple[Callable[[str], list[str]], ...] = tuple(
            words.names if name == "names" else words.stems for name in fields
        )
        self._new: list[str] = []
        self._words = [array("I") for _ in fields]
        self._ends = [array("I", [0]) for _ in fields]

    def __missing__(self, run: str) -> int:
        number = self[run] = len(self)
        self._new.append(run)
        return number

    def learn(self, vocabulary: _Vocabulary) -> None:
        """Analyze the runs that were met since the last time, many in a call."""
        for start in range(0, len(self._new), _AT_ONCE):
            marked = f" {_MARK} ".join([*self._new[start : start + _AT_ONCE], ""])
            for field, analyze, numbers, ends in zip(self.fields, self.analyzers, self._words, self._ends, strict=True):
                found: list[str] = []
                for word in analyze(marked):
                    if word != _MARK:
                        found.append(word)
                        continue
                    numbers.extend(vocabulary.numbers(field, found))
                    found.clear()
                    ends.append(len(numbers))
        self._new.clear()

    def words_of(self, place: int, runs: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The words of these runs in the field at `place` of `fields`, one run after the other, and how many each has."""
        numbers = np.frombuffer(self._words[place], np.uint32)
        ends = np.frombuffer(self._ends[place], np.uint32).astype(np.int64)
        starts = ends[runs]
        counts = ends[runs + 1] - starts
        before = np.cumsum(counts) - counts
        return numbers[np.arange(counts.sum()) + np.repeat(starts - before, counts)].astype(np.int64), counts


class Wording:
    """Turns chunks into postings, and collects the words that it has not met before. Not for two threads at once."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._vocabulary = _Vocabulary()
        self._kinds = (
            _Runs(("body", "names")),
            _Runs(("symbol", "names")),
            _Runs(("container", "names")),
            _Runs(("path",)),
        )

    def postings(self, chunks: Sequence[tuple[bytes, NewChunk]]) -> Postings:
        """The postings of chunks, each with the path of its file."""
        found: list[Postings] = []
        start = 0
        for end in _portions(chunks):
            found.append(self._of_portion(chunks[start:end], start))
            start = end
        return Postings(
            np.concatenate([one.words for one in found]),
            np.concatenate([one.chunks for one in found]),
            np.concatenate([one.times for one in found]),
            np.concatenate([one.lengths for one in found]),
            np.concatenate([one.sizes for one in found]),
        )

    def _of_portion(self, chunks: Sequence[tuple[bytes, NewChunk]], first: int) -> Postings:
        """The innermost loop of a push: what it counts, it adds up as columns. `first` is the number of the first chunk."""
        if len(self._vocabulary.keys) > MOST_KEPT or any(len(kind) > MOST_KEPT for kind in self._kinds):
            self._forget()
        found = [array("I") for _ in self._kinds]
        ends = [array("I") for _ in self._kinds]
        whole: list[npt.NDArray[np.int64]] = []
        for number, (path, chunk) in enumerate(chunks):
            texts = (chunk.text, chunk.symbol, chunk.container, display_path(path))
            for kind, runs, own_ends, text in zip(self._kinds, found, ends, texts, strict=True):
                if text.isascii():
                    runs.extend(map(kind.__getitem__, _RUN.findall(text)))
                else:
                    whole += self._whole(number, kind, text)
                own_ends.append(len(runs))
        parts = whole
        for kind, runs, own_ends in zip(self._kinds, found, ends, strict=True):
            kind.learn(self._vocabulary)
            parts += _counted(kind, np.frombuffer(runs, np.uint32), np.frombuffer(own_ends, np.uint32))
        assert len(self._vocabulary.keys) < 1 << _WORD_BITS
        return self._summed(parts, len(chunks), first)

    def _whole(self, number: int, kind: _Runs, text: str) -> Iterator[npt.NDArray[np.int64]]:
        """The words of a text that is not ASCII, where words go beyond the runs."""
        for field, analyze in zip(kind.fields, kind.analyzers, strict=True):
            numbers = np.array([*self._vocabulary.numbers(field, analyze(text))], np.int64)
            yield _packed(np.full(len(numbers), number), field, numbers, np.ones(len(numbers), np.int64))

    def _summed(self, parts: list[npt.NDArray[np.int64]], count: int, first: int) -> Postings:
        every = np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64)
        heads = every >> _TIMES_BITS
        starts = np.flatnonzero(np.diff(heads, prepend=-1))
        times = np.add.reduceat(every & ((1 << _TIMES_BITS) - 1), starts) if len(starts) else np.empty(0, np.int64)
        heads = heads[starts]
        slots = heads >> _WORD_BITS
        sizes = np.bincount(slots, times, count * len(FIELDS)).astype(np.int64)
        lengths = (np.searchsorted(LENGTHS, sizes, side="right") - 1).astype(np.uint8)
        return Postings(
            np.frombuffer(self._vocabulary.keys, np.uint64)[heads & ((1 << _WORD_BITS) - 1)],
            slots // len(FIELDS) + first,
            np.minimum(times, MOST_TIMES).astype(np.uint8),
            lengths[slots],
            sizes.reshape(count, len(FIELDS)),
        )

    def take_fresh(self) -> FreshWords:
        """The words that were met for the first time since the last call."""
        return self._vocabulary.take_fresh()


def _portions(chunks: Sequence[tuple[bytes, NewChunk]]) -> Iterator[int]:
    """Where portions end; at least one."""
    start = size = 0
    for number, (_, chunk) in enumerate(chunks):
        size += len(chunk.text)
        if size >= PORTION_CHARS or number + 1 - start >= PORTION_CHUNKS:
            yield number + 1
            start, size = number + 1, 0
    if start < len(chunks) or not chunks:
        yield len(chunks)


def _counted(
    kind: _Runs, runs: npt.NDArray[np.uint32], ends: npt.NDArray[np.uint32]
) -> Iterator[npt.NDArray[np.int64]]:
    """The words of each chunk's runs; `ends` says where the runs of each end."""
    owners = np.repeat(np.arange(len(ends)), np.diff(np.concatenate(([0], ends))).astype(np.int64))
    distinct, times = np.unique(owners << 32 | runs, return_counts=True)
    owners, runs_of = distinct >> 32, distinct & 0xFFFFFFFF
    for place, field in enumerate(kind.fields):
        numbers, counts = kind.words_of(place, runs_of)
        yield _packed(np.repeat(owners, counts), field, numbers, np.repeat(times, counts))


def _packed(
    chunks: npt.NDArray[np.int64], field: int, numbers: npt.NDArray[np.int64], times: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Chunk, field, word and times in one number each, so that one sort brings together what belongs together."""
    slots = chunks * len(FIELDS) + field
    most = np.minimum(times, (1 << _TIMES_BITS) - 1)
    return slots << (_WORD_BITS + _TIMES_BITS) | numbers << _TIMES_BITS | most


def rarity(count: int, holders: int) -> float:
    """How much a word is worth that `holders` of `count` chunks hold."""
    return math.log(1.0 + (count - holders + 0.5) / (holders + 0.5))


def keys_of(field: str, texts: Iterable[str]) -> list[int]:
    """The numbers of words in a field."""
    number = FIELD_NUMBER[field]
    return [_key(number, text) for text in texts]
