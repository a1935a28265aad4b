"""Words that mean the other direction: who asks how something is read is not helped by what writes it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from mgrep_tui.retrieval import words

PAIRS = (
    ("read reader parse parser", "write writer render renderer"),
    ("encode encoder serialize serializer marshal", "decode decoder deserialize deserializer unmarshal"),
    ("client", "server"),
    ("request", "response"),
    ("import importer", "export exporter"),
    ("input", "output"),
    ("compress", "decompress"),
    ("upload", "download"),
    ("send sender", "receive receiver"),
    ("push", "pull"),
    ("lock", "unlock"),
    ("publish publisher", "subscribe subscriber"),
    ("producer", "consumer"),
    ("sync", "async"),
    ("load", "save"),
)


@cache
def _sides() -> dict[str, frozenset[tuple[int, int]]]:
    """The sides, as (pair, 0 or 1), on which each stem stands."""
    sides: dict[str, set[tuple[int, int]]] = {}
    for number, pair in enumerate(PAIRS):
        for side, group in enumerate(pair):
            for stem in words.stems(group):
                sides.setdefault(stem, set()).add((number, side))
    return {stem: frozenset(some) for stem, some in sides.items()}


def sides_of(stems: Collection[str]) -> frozenset[tuple[int, int]]:
    """The sides that these stems take; a pair of which both are named is none."""
    table = _sides()
    taken = {side for stem in stems for side in table.get(stem, ())}
    return frozenset((pair, side) for pair, side in taken if (pair, 1 - side) not in taken)


def opposes(asked: frozenset[tuple[int, int]], own: Collection[str]) -> bool:
    """Whether `own` (stems of a path) stands on the other side of what was asked (`sides_of` the question)."""
    return bool(asked) and any((pair, 1 - side) in asked for pair, side in sides_of(own))
