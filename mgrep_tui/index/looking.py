"""Looks at files that may have changed, one by one, and says when that is not enough: a new name may or may not be searched."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.corpus.watchable import left_out_below
from mgrep_tui.index.coverage import Coverage
from mgrep_tui.model import FileStat, SkipReason
from mgrep_tui.settings.config import CorpusSettings

MAX_PATHS = 5_000  # more than this at once is a checkout or a build: one listing is cheaper
MAX_NEW = 200  # new names that are held against the rules
MAX_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Seen:
    """`news` are the files that are not as coverage knew them; `is_enough` says that nothing else can be different."""

    news: list[bytes]
    is_enough: bool


class Looker:
    """One thread at a time."""

    def __init__(self, root: Root, settings: CorpusSettings, coverage: Coverage) -> None:
        self._root = root
        self._settings = settings
        self._coverage = coverage
        self._skips: dict[bytes, SkipReason] = {}
        self._ignored: set[bytes] = set()
        self._named: set[tuple[bytes, int]] = set()
        self.linked: set[bytes] = set()

    def forget_rules(self) -> None:
        """The rules, or what git tracks, may be others now."""
        self._ignored.clear()

    def learn(self, listing: Listing) -> None:
        self._skips = {skip.path: skip.reason for skip in listing.skips}
        self.linked = set(listing.linked)
        if len(self._named) > MAX_REMEMBERED:
            self._named.clear()

    def look(self, paths: Collection[bytes]) -> Seen:
        """What became of these files. Costs 3 µs for each, and for new names a git process."""
        if not paths:
            return Seen([], True)
        if len(paths) > MAX_PATHS:
            return Seen([], False)
        known = self._coverage.known()
        stats: list[tuple[bytes, FileStat]] = []
        gone: list[bytes] = []
        new: list[bytes] = []
        is_enough = True
        for path in paths:
            try:
                status = os.lstat(self._root.absolute(path))
            except (FileNotFoundError, NotADirectoryError):
                if path in known:
                    gone.append(path)
                elif path in self._skips:
                    is_enough = False
                continue
            except OSError:
                is_enough = False
                continue
            if not stat.S_ISREG(status.st_mode):
                if path in known or self._skips.get(path) is not SkipReason.SPECIAL or stat.S_ISLNK(status.st_mode):
                    is_enough = False
                continue
            if status.st_nlink > 1 and path not in self.linked and (path, status.st_ino) not in self._named:
                # Its other names, of which there was no word, are not known by it.
                self._named.add((path, status.st_ino))
                is_enough = False
            is_big = status.st_size > self._settings.max_file_bytes
            if path not in known:
                if not (is_big and self._skips.get(path) is SkipReason.TOO_BIG):
                    new.append(path)
                continue
            if is_big:
                is_enough = False
                continue
            found = FileStat.of(status)
            if found != known[path]:
                stats.append((path, found))
        news = self._coverage.observe(stats, gone) if stats or gone else []
        return Seen(news, is_enough and self._are_left_out(new))

    def _are_left_out(self, paths: Iterable[bytes]) -> bool:
        unknown = [path for path in paths if path not in self._ignored]
        if len(unknown) > MAX_NEW:
            return False
        certain = left_out_below(self._root, unknown, self._settings)
        if len(self._ignored) > MAX_REMEMBERED:
            self._ignored.clear()
        self._ignored |= certain
        return len(certain) == len(unknown)
