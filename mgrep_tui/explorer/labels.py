"""What several roots are called beside each other: short, distinct names without a slash, each of which begins the paths of its hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path


def labels_of(roots: Sequence[tuple[Path, Sequence[str]]]) -> tuple[str, ...]:
    """A label for each root, given as its folder and the names that it has anyway (`flask`, `pallets/flask`); none when it has none. Pure.

    The first name, else the folder's; where two would be equal the owner or the parent folder comes before it, and then a number behind it.
    """
    ways = [_ways(path, names) for path, names in roots]
    chosen = [0] * len(ways)
    while True:
        labels = [way[min(place, len(way) - 1)] for way, place in zip(ways, chosen, strict=True)]
        counts = Counter(label.lower() for label in labels)
        again = [
            number
            for number, label in enumerate(labels)
            if counts[label.lower()] > 1 and chosen[number] < len(ways[number]) - 1
        ]
        if not again:
            return _numbered(labels)
        for number in again:
            chosen[number] += 1


def _ways(path: Path, names: Sequence[str]) -> list[str]:
    """Ever longer labels of one root."""
    if names:
        return list(dict.fromkeys(name.strip("/").replace("/", "-") for name in names))
    parts = [part for part in path.parts if part != path.anchor]
    if not parts:
        return ["root"]
    return ["-".join(parts[-length:]) for length in range(1, min(len(parts), 5) + 1)]


def _numbered(labels: Sequence[str]) -> tuple[str, ...]:
    taken: set[str] = set()
    found = []
    for label in labels:
        number, name = 1, label
        while name.lower() in taken:
            number += 1
            name = f"{label}-{number}"
        taken.add(name.lower())
        found.append(name)
    return tuple(found)


def title_of(labels: Sequence[str]) -> str:
    """The roots in a word or two, for the title line."""
    shown = labels if len(labels) <= 3 else labels[:2]
    rest = len(labels) - len(shown)
    return " + ".join(shown) + (f" + {rest} more" if rest else "")
