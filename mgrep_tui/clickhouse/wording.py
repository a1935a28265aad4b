"""The words of a chunk as the engine stores them, and what they are worth: BM25 exactly as the local keyword index computes it.

Fields and their words are those of `retrieval.keywords`; a field's length is kept in one byte as there (Lucene's and tantivy's table), so
that the same chunk gets the same score from both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from mgrep_tui.clickhouse.keys import word_of
from mgrep_tui.index.rows import NewChunk
from mgrep_tui.retrieval import words
from mgrep_tui.text.sanitize import display_path

FIELDS = ("body", "symbol", "container", "path", "names")
FIELD_NUMBER = {name: number for number, name in enumerate(FIELDS)}
K1 = 1.2
B = 0.75
MOST_TIMES = 255
MOST_KEYS = 1_000_000  # words of a field that are remembered


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


_CODES = [length_code(count) for count in range(4_096)]


def _code(count: int) -> int:
    return _CODES[count] if count < len(_CODES) else length_code(count)


@lru_cache(maxsize=100_000)
def _key(field: int, text: str) -> int:
    return word_of(field, text)


class _Keys(dict[str, int]):
    """The numbers of a field's words; a word that was not met before is noted."""

    def __init__(self, field: int) -> None:
        super().__init__()
        self._field = field
        self.fresh: list[tuple[int, int, str]] = []

    def __missing__(self, text: str) -> int:
        key = self[text] = word_of(self._field, text)
        self.fresh.append((key, self._field, text))
        return key


class Postings:
    """The words of many chunks, as columns."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.times: list[int] = []
        self.lengths: list[int] = []  # of the field, one for every `counts`
        self.counts: list[int] = []  # words of each field of each chunk
        self.sizes: list[tuple[int, ...]] = []  # how many words each field of each chunk has


class Wording:
    """Turns chunks into postings, and collects the words that it has not met before. Not for two threads at once."""

    def __init__(self) -> None:
        self._keys = [_Keys(field) for field in range(len(FIELDS))]

    def add(self, postings: Postings, path: bytes, chunk: NewChunk) -> None:
        """Add the words of a chunk, field after field. The innermost loop of a push: written for few calls."""
        fields = (
            words.stems(chunk.text),
            words.stems(chunk.symbol) if chunk.symbol else (),
            words.stems(chunk.container) if chunk.container else (),
            words.stems(display_path(path)),
            words.names(f"{chunk.text}\n{chunk.symbol} {chunk.container}"),
        )
        for keys, texts in zip(self._keys, fields, strict=True):
            counted = Counter(texts)
            postings.words.extend(map(keys.__getitem__, counted))
            postings.times.extend(counted.values())
            postings.lengths.append(_code(len(texts)))
            postings.counts.append(len(counted))
        postings.sizes.append(tuple(map(len, fields)))

    def take_fresh(self) -> list[tuple[int, int, str]]:
        """The words that were met for the first time since the last call: number, field and text."""
        fresh = [one for keys in self._keys for one in keys.fresh]
        for keys in self._keys:
            keys.fresh = []
            if len(keys) > MOST_KEYS:
                keys.clear()
        return fresh


def rarity(count: int, holders: int) -> float:
    """How much a word is worth that `holders` of `count` chunks hold."""
    return math.log(1.0 + (count - holders + 0.5) / (holders + 0.5))


def keys_of(field: str, texts: Iterable[str]) -> list[int]:
    """The numbers of words in a field."""
    number = FIELD_NUMBER[field]
    return [_key(number, text) for text in texts]
