"""Which words of a name are words of the question, or forms of them (`conn` and `connect`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

PREFIX = 3  # letters that two words must share at their beginning to count as forms of one
FORM = 0.8  # what a form is worth beside the word itself

Floats = npt.NDArray[np.float64]


class Asked:
    """The stems of one question with their weights; a stem that `rarity` does not know weighs 1.

    Names are tuples of stems. Hundreds are asked about at once, most of them again and again, so they are looked at as one table.
    """

    def __init__(self, stems: Sequence[str], rarity: Mapping[str, float]) -> None:
        self.stems = tuple(stems)
        self._weights = np.array([rarity.get(stem, 1.0) for stem in self.stems], np.float64)
        self._total = float(self._weights.sum()) or 1.0
        self._beginnings: dict[str, list[int]] = {}
        for place, stem in enumerate(self.stems):
            self._beginnings.setdefault(stem[:PREFIX], []).append(place)

    def met(self, names: Sequence[tuple[str, ...]]) -> tuple[Floats, Floats]:
        """For each name what it has of each asked word, 1 for the word itself and `FORM` for a form of it, shape (names, stems); and
        which share of the name's own words was asked for."""
        distinct = {name: number for number, name in enumerate(dict.fromkeys(names))}
        rows: dict[str, int] = {}
        table: list[list[float]] = [[0.0] * len(self.stems)]
        beginnings = self._beginnings
        flat: list[int] = []
        lengths: list[int] = []
        for name in distinct:
            lengths.append(max(1, len(name)))
            if not name:
                flat.append(0)
            for word in name:
                if word[:PREFIX] not in beginnings:
                    flat.append(0)
                    continue
                row = rows.get(word)
                if row is None:
                    row = rows[word] = len(table)
                    table.append(self._forms(word))
                flat.append(row)
        if not distinct or not self.stems:
            return np.zeros((len(names), len(self.stems))), np.zeros(len(names))
        each = np.array(table)[flat]
        sizes = np.array(lengths)
        starts = np.cumsum(sizes) - sizes
        found = np.maximum.reduceat(each, starts)
        precision = np.add.reduceat(each.max(axis=1), starts) / sizes
        places = [distinct[name] for name in names]
        return found[places], precision[places]

    def share(self, met: Floats) -> Floats:
        """The weight of the asked words that are met, from 0 to 1, by row."""
        share: Floats = met @ self._weights / self._total
        return share

    def _forms(self, word: str) -> list[float]:
        row = [0.0] * len(self.stems)
        for place in self._beginnings[word[:PREFIX]]:
            stem = self.stems[place]
            row[place] = 1.0 if stem == word else FORM if is_form(word, stem) else 0.0
        return row


def is_form(one: str, other: str) -> bool:
    """Whether one word begins with the other, of three letters at least."""
    return len(one) >= PREFIX and len(other) >= PREFIX and (one.startswith(other) or other.startswith(one))
