"""All pairs, split by package into those that are learnt from and those that questions are asked of."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.embedding.training.pairs import Pair
from mgrep_tui.embedding.words import split_identifier

HELD_OUT_SHARE = 0.04  # of the packages


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pairs in a fixed order; those of one package stand together."""

    learnt: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


def is_held_out(package: str) -> bool:
    return hashlib.blake2b(package.encode(), digest_size=1).digest()[0] < 256 * HELD_OUT_SHARE


def load_corpus(work: Path) -> Corpus:
    """Every pair once; a text that several packages share belongs to the first in order of names."""
    sides: dict[bool, list[Pair]] = {False: [], True: []}
    seen: set[tuple[str, str]] = set()
    for file in sorted((work / "pairs").rglob("*.jsonl")):
        for line in file.read_text().splitlines():
            pair = Pair(**json.loads(line))
            key = (pair.prose, pair.code)
            if key not in seen:
                seen.add(key)
                sides[is_held_out(pair.package)].append(pair)
    return Corpus(tuple(sides[False]), tuple(sides[True]))


def header_of(pair: Pair) -> str:
    """The words that `embedding.text.embedding_text` puts before a chunk."""
    return " ".join(word for part in (pair.path, pair.container, pair.symbol) for word in split_identifier(part))


def looser_pairs(pairs: Sequence[Pair], each: int) -> list[tuple[int, int]]:
    """(prose of, code of) numbers of pairs: what a class or a file says of itself, with up to `each` of its documented members."""
    members: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        members[pair.package, pair.path, pair.container.rpartition(".")[2]].append(number)
        if pair.container:
            members[pair.package, pair.path, ""].append(number)
    found = []
    for number, pair in enumerate(pairs):
        is_file = pair.language == "python" and not pair.symbol
        inside = members.get((pair.package, pair.path, pair.symbol), []) if pair.symbol or is_file else []
        inside = [member for member in inside if member != number]
        step = max(1, len(inside) // each)
        found += [(number, member) for member in inside[::step][:each]]
    return found
