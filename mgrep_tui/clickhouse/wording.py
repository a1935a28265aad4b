"""The words of a chunk as the engine stores them, and what they are worth: BM25 exactly as the local keyword index computes it.

Fields and their words are those of `retrieval.keywords`; a field's length is kept in one byte as there (Lucene's and tantivy's table), so
that the same chunk gets the same score from both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
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
MOST_RUNS = 200_000  # runs of letters and digits of a field whose words are remembered
# In ASCII no word goes beyond such a run, so that the analyzers are asked once for each: a third of the time.
_WORD_RUN = re.compile(r"[A-Za-z0-9]+")
_NAME_RUN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


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


class _Words(dict[str, tuple[int, ...]]):
    """The words of one field by number: of a run of characters, which is remembered, and of whole texts. New ones are noted in `fresh`."""

    def __init__(self, field: int, run: re.Pattern[str], analyze: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._field = field
        self._run = run
        self._analyze = analyze
        self._keys: dict[str, int] = {}
        self.fresh: list[tuple[int, int, str]] = []

    def _key(self, text: str) -> int:
        key = self._keys.get(text)
        if key is None:
            key = self._keys[text] = word_of(self._field, text)
            self.fresh.append((key, self._field, text))
        return key

    def __missing__(self, run: str) -> tuple[int, ...]:
        if len(self) >= MOST_RUNS:
            self.clear()
        keys = self[run] = tuple(map(self._key, self._analyze(run)))
        return keys

    def counted(self, text: str) -> tuple[dict[int, int], int]:
        """How often each word stands in a text, and how many there are together."""
        if not text.isascii():
            found = self._analyze(text)
            return Counter(map(self._key, found)), len(found)
        counts: dict[int, int] = {}
        total = 0
        for run, times in Counter(self._run.findall(text)).items():
            for key in self[run]:
                counts[key] = counts.get(key, 0) + times
                total += times
        return counts, total

    def take_fresh(self) -> list[tuple[int, int, str]]:
        fresh, self.fresh = self.fresh, []
        if len(self._keys) > MOST_KEYS:
            self._keys.clear()
        return fresh


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
        self._fields = [
            _Words(number, _WORD_RUN, words.stems) if name != "names" else _Words(number, _NAME_RUN, words.names)
            for number, name in enumerate(FIELDS)
        ]
        self._of_path: tuple[bytes, tuple[dict[int, int], int]] = b"", ({}, 0)

    def add(self, postings: Postings, path: bytes, chunk: NewChunk) -> None:
        """Add the words of a chunk, field after field. The innermost loop of a push: written for few calls."""
        body, symbol, container, of_path, names = self._fields
        if self._of_path[0] != path:
            self._of_path = path, of_path.counted(display_path(path))
        fields = (
            body.counted(chunk.text),
            symbol.counted(chunk.symbol),
            container.counted(chunk.container),
            self._of_path[1],
            names.counted(f"{chunk.text}\n{chunk.symbol} {chunk.container}"),
        )
        for counts, total in fields:
            postings.words.extend(counts)
            postings.times.extend(counts.values())
            postings.lengths.append(_code(total))
            postings.counts.append(len(counts))
        postings.sizes.append(tuple(total for _, total in fields))

    def take_fresh(self) -> list[tuple[int, int, str]]:
        """The words that were met for the first time since the last call: number, field and text."""
        return [one for field in self._fields for one in field.take_fresh()]


def rarity(count: int, holders: int) -> float:
    """How much a word is worth that `holders` of `count` chunks hold."""
    return math.log(1.0 + (count - holders + 0.5) / (holders + 0.5))


def keys_of(field: str, texts: Iterable[str]) -> list[int]:
    """The numbers of words in a field."""
    number = FIELD_NUMBER[field]
    return [_key(number, text) for text in texts]
