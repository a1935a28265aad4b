"""Which words of a name are words of the question, or forms of them (`conn` and `connect`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

PREFIX = 3  # letters that two words must share at their beginning to count as forms of one
FORM = 0.8  # what a form is worth beside the word itself

Met: TypeAlias = Mapping[int, float]
_NOTHING: Met = {}


class Asked:
    """The stems of one question with their weights. `total` is the weight of all; a stem that `rarity` does not know weighs 1.

    Names are tuples of stems. The same ones come again and again, so what each has to do with the question is kept.
    """

    def __init__(self, stems: Sequence[str], rarity: Mapping[str, float]) -> None:
        self.stems = tuple(stems)
        self._weights = [rarity.get(stem, 1.0) for stem in self.stems]
        self.total = sum(self._weights) or 1.0
        self._words: dict[str, Met] = {
            stem: {
                other: 1.0 if one == stem else FORM
                for other, one in enumerate(self.stems)
                if one == stem or is_form(stem, one)
            }
            for stem in self.stems
        }
        self._beginnings: dict[str, list[int]] = {}
        for place, stem in enumerate(self.stems):
            if len(stem) >= PREFIX:
                self._beginnings.setdefault(stem[:PREFIX], []).append(place)
        self._names: dict[tuple[str, ...], tuple[Met, float, float]] = {(): (_NOTHING, 0.0, 0.0)}

    def met(self, own: tuple[str, ...]) -> Met:
        """The places of the asked words that are among `own`: 1 for the word itself, `FORM` for a form of it."""
        return self._known(own)[0]

    def share(self, own: tuple[str, ...]) -> float:
        """The weight of the asked words that are among `own`, from 0 to 1."""
        return self._known(own)[1]

    def precision(self, own: tuple[str, ...]) -> float:
        """Which share of `own` words was asked for."""
        return self._known(own)[2]

    def share_of_all(self, every: Iterable[Met]) -> float:
        """As `share`, of several names together."""
        together: dict[int, float] = {}
        for met in every:
            for place, value in met.items():
                if value > together.get(place, 0.0):
                    together[place] = value
        return self._weight(together)

    def _known(self, own: tuple[str, ...]) -> tuple[Met, float, float]:
        known = self._names.get(own)
        if known is None:
            met: dict[int, float] = {}
            asked = 0.0
            for word in own:
                found = self._words.get(word)
                if found is None:
                    found = self._words[word] = self._forms(word)
                if found:
                    asked += max(found.values())
                    for place, value in found.items():
                        if value > met.get(place, 0.0):
                            met[place] = value
            known = (met, self._weight(met), asked / len(own)) if met else (_NOTHING, 0.0, 0.0)
            self._names[own] = known
        return known

    def _forms(self, word: str) -> Met:
        places = self._beginnings.get(word[:PREFIX])
        if places is None:
            return _NOTHING
        return {place: FORM for place in places if is_form(word, self.stems[place])} or _NOTHING

    def _weight(self, met: Met) -> float:
        return sum(value * self._weights[place] for place, value in met.items()) / self.total if met else 0.0


def is_form(one: str, other: str) -> bool:
    """Whether one word begins with the other, of three letters at least."""
    return len(one) >= PREFIX and len(other) >= PREFIX and (one.startswith(other) or other.startswith(one))
