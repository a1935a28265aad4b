"""Which words of a name are words of the question, or forms of them (`conn` and `connect`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

PREFIX = 3  # letters that two words must share at their beginning to count as forms of one
FORM = 0.8  # what a form is worth beside the word itself


class Asked:
    """The stems of one question with their weights. `total` is the weight of all; a stem that `rarity` does not know weighs 1."""

    def __init__(self, stems: Sequence[str], rarity: Mapping[str, float]) -> None:
        self.stems = tuple(stems)
        self._weights = [rarity.get(stem, 1.0) for stem in self.stems]
        self.total = sum(self._weights) or 1.0
        self._places = {stem: place for place, stem in enumerate(self.stems)}
        self._shares: dict[tuple[str, ...], float] = {}
        self._by_prefix: dict[str, list[int]] = {}
        for place, stem in enumerate(self.stems):
            if len(stem) >= PREFIX:
                self._by_prefix.setdefault(stem[:PREFIX], []).append(place)

    def share(self, own: Collection[str]) -> float:
        """The weight of the asked words that are among `own`, from 0 to 1."""
        if not own:
            return 0.0
        if not isinstance(own, tuple):
            return self._share(own)
        known = self._shares.get(own)  # the same containers and symbols come again and again
        if known is None:
            known = self._shares[own] = self._share(own)
        return known

    def _share(self, own: Collection[str]) -> float:
        got: dict[int, float] = {}
        for word in own:
            exact = self._places.get(word)
            if exact is not None:
                got[exact] = 1.0
            for place in self._by_prefix.get(word[:PREFIX], ()):
                if place != exact and place not in got and is_form(word, self.stems[place]):
                    got[place] = FORM
        return sum(value * self._weights[place] for place, value in got.items()) / self.total

    def precision(self, own: Collection[str]) -> float:
        """Which share of `own` words was asked for."""
        if not own:
            return 0.0
        asked = 0.0
        for word in own:
            if word in self._places:
                asked += 1.0
            elif any(is_form(word, self.stems[place]) for place in self._by_prefix.get(word[:PREFIX], ())):
                asked += FORM
        return asked / len(own)


def is_form(one: str, other: str) -> bool:
    """Whether one word begins with the other, of three letters at least."""
    return len(one) >= PREFIX and len(other) >= PREFIX and (one.startswith(other) or other.startswith(one))
