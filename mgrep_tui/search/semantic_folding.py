"""Which hits say the same: copies and near-copies of a chunk fold into the best ranked one (FAULTS O5)."""

from __future__ import annotations

SAME = 0.9  # share of lines that two near-copies have in common (Jaccard)
LEAST_LINES = 3  # shorter chunks are only folded when equal: two three-line getters differ in the word that matters


class Folding:
    """Sees chunks in the order of their rank and tells which are copies of an earlier one."""

    def __init__(self) -> None:
        self._exact: dict[tuple[str, ...], int] = {}
        self._by_symbol: dict[str, list[tuple[frozenset[str], int]]] = {}

    def twin_of(self, number: int, symbol: str, lines: tuple[str, ...]) -> int | None:
        """The number of the earlier chunk that this one repeats, or None; then it is remembered under `number`.

        Blank lines and indentation do not count. Near-copies must carry the same symbol.
        """
        bare = tuple(stripped for line in lines if (stripped := line.strip()))
        twin = self._exact.get(bare)
        if twin is not None:
            return twin
        distinct = frozenset(bare)
        if len(distinct) > LEAST_LINES:
            for other, earlier in self._by_symbol.get(symbol, ()):
                if len(distinct & other) >= SAME * len(distinct | other):
                    return earlier
            self._by_symbol.setdefault(symbol, []).append((distinct, number))
        self._exact[bare] = number
        return None
