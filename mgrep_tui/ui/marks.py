"""The hits that a person has marked, in the order of marking. They outlive searches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mgrep_tui.model import Hit
from mgrep_tui.ui.results import HitKey, key_of


class Marks(Mapping[HitKey, Hit]):
    def __init__(self) -> None:
        self._hits: dict[HitKey, Hit] = {}

    def __getitem__(self, key: HitKey) -> Hit:
        return self._hits[key]

    def __iter__(self) -> Iterator[HitKey]:
        return iter(self._hits)

    def __len__(self) -> int:
        return len(self._hits)

    def toggle(self, hit: Hit) -> None:
        key = key_of(hit)
        if key in self._hits:
            del self._hits[key]
        else:
            self._hits[key] = hit

    def toggle_all(self, hits: Iterable[Hit]) -> None:
        """Mark all of them; when they all are marked, none."""
        keyed = {key_of(hit): hit for hit in hits}
        if all(key in self._hits for key in keyed):
            for key in keyed:
                del self._hits[key]
        else:
            self._hits.update(keyed)

    def clear(self) -> None:
        self._hits.clear()
