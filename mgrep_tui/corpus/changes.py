"""What differs between the files that are known and those on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mgrep_tui.corpus.settled import SETTLE_NS, is_settled
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.model import FileStat

__all__ = ["SETTLE_NS", "Changes", "compare", "is_settled"]


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths in the order of the listing (`deleted` in the order of what was known). `changed` means by stat: bytes may be equal."""

    added: tuple[bytes, ...] = ()
    changed: tuple[bytes, ...] = ()
    deleted: tuple[bytes, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)

    @property
    def paths(self) -> tuple[bytes, ...]:
        return self.added + self.changed + self.deleted


def compare(known: Mapping[bytes, FileStat], listing: Listing) -> Changes:
    """What has to be done to `known` to become `listing`. Pure; any thread.

    A file that was written within the file system's clock tick of its stat can change again without the stat changing: whoever stores a
    stat remembers when it was taken, and does not trust one that was not `settled`.
    """
    added: list[bytes] = []
    changed: list[bytes] = []
    get = known.get
    for entry in listing.entries:
        stat = get(entry.path)
        if stat is None:
            added.append(entry.path)
        elif stat is not entry.stat and stat != entry.stat:
            changed.append(entry.path)
    if len(known) == len(listing.entries) - len(added):
        return Changes(tuple(added), tuple(changed))
    present = {entry.path for entry in listing.entries}
    return Changes(tuple(added), tuple(changed), tuple(path for path in known if path not in present))
