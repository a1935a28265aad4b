"""How words become the numbers of word pieces: WordPiece, longest match first, with a cache of whole identifiers."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

from mgrep_tui.embedding.words import IDENTIFIER, normalise, split_identifier

BUCKETS = 512
"""Rows after the vocabulary's for what it cannot spell: words of scripts that the training text lacks meet in a bucket by their hash."""

_CACHE_LIMIT = (
    200_000  # identifiers; about 40 MB. A repository of 100,000 chunks has some 300,000, few of them frequent.
)


class Pieces:
    """A vocabulary. `vocabulary` lists the pieces by number, a leading `##` marking those that continue a word. Safe from any thread."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self._first = {piece: number for number, piece in enumerate(vocabulary) if not piece.startswith("##")}
        self._inner = {piece[2:]: number for number, piece in enumerate(vocabulary) if piece.startswith("##")}
        self._size = len(vocabulary)
        self._longest = max((len(piece) for piece in vocabulary), default=1)
        self._cache: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """How many numbers there are, the buckets included."""
        return self._size + BUCKETS

    def count(self, text: str) -> dict[int, int]:
        """How often each piece stands in the text."""
        counts: dict[int, int] = {}
        cache = self._cache
        for identifier, times in Counter(IDENTIFIER.findall(normalise(text))).items():
            numbers = cache.get(identifier)
            if numbers is None:
                numbers = self._numbers(identifier)
            for number in numbers:
                counts[number] = counts.get(number, 0) + times
        return counts

    def _numbers(self, identifier: str) -> tuple[int, ...]:
        numbers = tuple(number for word in split_identifier(identifier) for number in self.spell(word))
        if len(self._cache) >= _CACHE_LIMIT:
            self._cache.clear()
        self._cache[identifier] = numbers
        return numbers

    def spell(self, word: str) -> list[int]:
        """The pieces of one lower-case word; a word with a character that no piece has goes to buckets, two characters at a time."""
        numbers: list[int] = []
        start = 0
        table = self._first
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                number = table.get(word[start:end])
                if number is not None:
                    break
            else:
                return self._buckets(word)
            numbers.append(number)
            start = end
            table = self._inner
        return numbers

    def _buckets(self, word: str) -> list[int]:
        pairs = {word[i : i + 2] for i in range(max(1, len(word) - 1))}
        return sorted({self._size + zlib.crc32(pair.encode("utf-8", "surrogatepass")) % BUCKETS for pair in pairs})
