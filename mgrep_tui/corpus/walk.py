"""Which files under the root are searched: what git lists where there is git, a walk of our own elsewhere, less what the rules leave out.

In a git work tree these are the tracked and the untracked files that git does not ignore (a tracked file is searched even if a rule
matches it). Submodules and nested repositories are searched too, each by its own rules. `.ignore` and `.mgrepignore` come on top
everywhere; when one of them takes something back that git ignores (`!build/`), the tree is walked with all rules in one order. Names
that start with a dot are left out, tracked or not, unless `hidden` is set. Links are never searched as files of their own: what they
point to inside the root is searched where it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mgrep_tui.corpus import sources
from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, FileStat, Skip, SkipReason
from mgrep_tui.settings.config import CorpusSettings

# Files between two looks at the cancel token: about 10 ms.
_FILES_A_LOOK = 4096


@dataclass(frozen=True, slots=True)
class Listing:
    """The corpus at one moment: `entries` sorted by path, each path once. `notes` are sentences about how it was found."""

    entries: list[Entry]
    skips: list[Skip]
    is_git: bool
    notes: tuple[str, ...] = ()


def list_files(
    root: Root,
    settings: CorpusSettings,
    cancel: CancelToken | None = None,
    *,
    previous: Listing | None = None,
    report: Callable[[int], None] | None = None,
) -> Listing:
    """The files that are searched. Any thread. Raises Cancelled, and UnreadableError when the root itself cannot be read.

    `previous` is an earlier listing of the same root: entries whose stat is the same are taken from it, which saves a third of the time.
    `report` is told the number of files found so far, now and then.
    """
    found = sources.find(root, settings, cancel, report)
    known = {} if previous is None else {entry.path: entry for entry in previous.entries}
    state = _Pass(root, settings, known, found.skips)
    state.add(found.paths, cancel)
    state.follow(found.links, cancel)
    state.entries.sort(key=_path_of)
    return Listing(state.entries, state.skips, found.is_git, found.notes)


def _path_of(entry: Entry) -> bytes:
    return entry.path


class _Pass:
    """One round of looking at every candidate's stat."""

    def __init__(self, root: Root, settings: CorpusSettings, known: dict[bytes, Entry], skips: list[Skip]) -> None:
        self.root = root
        self.settings = settings
        self.known = known
        self.skips = skips
        self.entries: list[Entry] = []
        self.seen: set[bytes] = set()

    def add(self, paths: Iterable[bytes], cancel: CancelToken | None) -> None:
        base = os.path.join(os.fsencode(self.root.path), b"")
        limit = self.settings.max_file_bytes
        lstat, known = os.lstat, self.known.get
        append = self.entries.append
        for number, path in enumerate(paths):
            if number % _FILES_A_LOOK == 0 and cancel is not None:
                cancel.check()
            try:
                status = lstat(base + path)
            except (FileNotFoundError, NotADirectoryError):
                continue  # listed by git, deleted from the work tree
            except OSError as error:
                self.skips.append(Skip(path, SkipReason.UNREADABLE, error.strerror or ""))
                continue
            if not stat.S_ISREG(status.st_mode):
                self._not_regular(path, status)
                continue
            if status.st_size > limit:
                self.skips.append(
                    Skip(path, SkipReason.TOO_BIG, f"{_megabytes(status.st_size)}, limit {_megabytes(limit)}")
                )
                continue
            entry = known(path)
            if entry is not None and _is_same(entry.stat, status):
                append(entry)
            else:
                append(Entry(path, FileStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)))

    def _not_regular(self, path: bytes, status: os.stat_result) -> None:
        if stat.S_ISLNK(status.st_mode):
            self._link(path)
        elif not stat.S_ISDIR(status.st_mode):
            self.skips.append(Skip(path, SkipReason.SPECIAL))

    def follow(self, links: Iterable[bytes], cancel: CancelToken | None) -> None:
        for path in links:
            if cancel is not None:
                cancel.check()
            self._link(path)

    def _link(self, path: bytes) -> None:
        target = os.path.realpath(self.root.absolute(path))
        base = os.fsencode(self.root.path)
        if target != base and not target.startswith(os.path.join(base, b"")):
            self.skips.append(Skip(path, SkipReason.OUTSIDE))


def _is_same(known: FileStat, status: os.stat_result) -> bool:
    return (
        known.mtime_ns == status.st_mtime_ns
        and known.size_bytes == status.st_size
        and known.ctime_ns == status.st_ctime_ns
        and known.inode == status.st_ino
    )


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes >= 1e7 else f"{size_bytes / 1e6:,.1f} MB"
