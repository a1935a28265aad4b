"""Which files under the root are searched: what git lists where there is git, a walk of our own elsewhere, less what the rules leave out.

In a git work tree these are the tracked and the untracked files that git does not ignore (a tracked file is searched even if a rule
matches it). Submodules and nested repositories are searched too, each by its own rules, and each file once. `.ignore` and `.mgrepignore`
come on top everywhere; when one of them takes something back that git ignores (`!build/`), the tree is walked with all rules in one
order. Names that start with a dot are left out, tracked or not, unless `hidden` is set; `.git` always is. A link is never a file of its
own: what it points to inside the root is searched where it lies, and `follow_links` admits it there even if a rule leaves it out.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from mgrep_tui.corpus import sources
from mgrep_tui.corpus.folders import Folders, Memory
from mgrep_tui.corpus.root import Root, nested_root, owner_of
from mgrep_tui.corpus.rules import Layers
from mgrep_tui.corpus.sources import GitNames, Names
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, FileStat, Skip, SkipReason
from mgrep_tui.settings.config import CorpusSettings

# Files between two looks at the cancel token: about 10 ms.
_FILES_A_LOOK = 4096
# Of a stream: few at first, so that they are there at once, then more, since each step has its price.
_FIRST_STEP, _STEP_GROWTH = 256, 4
_BY_PATH = attrgetter("path")
_WITHOUT_GIT = "Ignore rules are read without git; ignored files that git tracks are not searched."


@dataclass(frozen=True, slots=True)
class Listing:
    """The corpus at one moment: `entries` sorted by path, each path once. `notes` are sentences about how it was found.

    `taken_ns` is the time (`time.time_ns()`) just before the first look, for `is_settled`. `memory` makes the next listing quicker.
    `linked` are files that have further names (hard links), which may lie anywhere; `absent` are what git lists and is not there.
    """

    entries: list[Entry]
    skips: list[Skip]
    is_git: bool
    notes: tuple[str, ...] = ()
    taken_ns: int = field(default=0, compare=False)
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)
    linked: tuple[bytes, ...] = ()
    absent: tuple[bytes, ...] = ()


def list_files(
    root: Root,
    settings: CorpusSettings,
    cancel: CancelToken | None = None,
    *,
    previous: Listing | None = None,
    report: Callable[[int], None] | None = None,
) -> Listing:
    """The files that are searched. Any thread. Raises Cancelled.

    `previous` is an earlier listing of the same root: entries whose stat is the same are taken from it, which saves a third of the time.
    `report` is told the number of files found so far, now and then. A file that appears or goes while this runs may be in or not.
    """
    if root.is_bare:
        return Listing([], [], False, ("This is a bare git repository: it has no files checked out.",))
    lister = _Lister(root, settings, cancel, previous, report)
    for _ in lister.steps():
        pass
    lister.entries.sort(key=_BY_PATH)
    return Listing(
        lister.entries,
        list(lister.skips.values()),
        lister.is_git,
        tuple(dict.fromkeys(lister.notes)),
        lister.folders.memory.taken_ns,
        lister.folders.memory,
        tuple(lister.linked),
        tuple(lister.absent),
    )


def stream_files(root: Root, settings: CorpusSettings, cancel: CancelToken | None = None) -> Iterator[list[Entry]]:
    """The same files as they are found, in no order, the first after some milliseconds: for who cannot wait for the end of a listing.

    Any thread. Raises Cancelled.
    """
    if root.is_bare:
        return
    lister = _Lister(root, settings, cancel, None, None)
    seen = 0
    for _ in lister.steps():
        if len(lister.entries) > seen:
            yield lister.entries[seen:]
            seen = len(lister.entries)


class _Lister:
    """One listing in the making. `mount` is a nested repository's path relative to the root, with a slash at its end, or empty."""

    def __init__(
        self,
        root: Root,
        settings: CorpusSettings,
        cancel: CancelToken | None,
        previous: Listing | None,
        report: Callable[[int], None] | None,
    ) -> None:
        self._root = root
        self._settings = settings
        self._cancel = cancel
        self._known = {} if previous is None else {entry.path: entry for entry in previous.entries}
        self._report = report
        self._base = os.path.join(os.fsencode(root.path), b"")
        self._links: list[bytes] = []
        self.linked: list[bytes] = []
        self.absent: list[bytes] = []
        self.entries: list[Entry] = []
        self.skips: dict[bytes, Skip] = {}
        self.notes: list[str] = []
        self.is_git = root.is_git
        own = tuple(os.fsencode(name) for name in reversed(settings.ignore_files))
        above = sources.base_layers(root, settings).sets[: len(own)] if root.prefix and own else ((),) * len(own)
        memory = Memory() if previous is None else previous.memory
        self.folders = Folders(root, own, Layers(above), memory, time.time_ns())

    def steps(self) -> Iterator[None]:
        """Do it all; stops whenever there is more in `entries`."""
        yield from self._add_repository(self._root, b"")
        self._follow_links()
        yield

    def _add_repository(self, repository: Root, mount: bytes) -> Iterator[None]:
        """Add the files of the root's own repository, or of one nested in it, or of a folder outside git."""
        try:
            if repository.is_git and not sources.is_left_out_by_git(repository, self._cancel):
                yield from self._add_by_git(repository, mount)
                return
        except UnreadableError as error:
            self.notes.append(f"{error.message} {_WITHOUT_GIT}")
        if not mount:
            self.is_git = False
        walked = sources.walked(repository, self._settings, self._cancel, self._report)
        yield from self._add_names(walked, mount, is_walked=True)

    def _add_by_git(self, repository: Root, mount: bytes) -> Iterator[None]:
        listed = GitNames(repository, self._settings)
        try:
            tracked = listed.tracked(self._cancel)
            begun = len(self.entries)
            yield from self._add_names(tracked, mount)
            untracked = listed.untracked(self._cancel)
        except BaseException:
            listed.stop()
            raise
        yield from self._add_names(untracked, mount)
        if self.folders.has_negations and self._settings.use_gitignore:
            # An own rule may take back what git ignores, which git did not list.
            seen = {entry.path for entry in self.entries[begun:]} | set(self._links)
            walked = sources.walked(repository, self._settings, self._cancel)
            walked.paths = [path for path in walked.paths if mount + path not in seen]
            walked.folders = []
            yield from self._add_names(walked, mount, is_walked=True)

    def _add_names(self, names: Names, mount: bytes, *, is_walked: bool = False) -> Iterator[None]:
        for skip in names.skips:
            self._skip(Skip(mount + skip.path, skip.reason, skip.detail))
        paths: Sequence[bytes] = names.paths if not mount else [mount + path for path in names.paths]
        start, size = 0, _FIRST_STEP
        while start < len(paths):
            part = paths[start : start + size]
            start, size = start + size, min(_FILES_A_LOOK, size * _STEP_GROWTH)
            if mount or not is_walked:
                part = self.folders.admitted(part, self._cancel)
            yield from self._add_files(part)
            yield
        self.folders.look_into(mount + folder for folder in names.ruled)
        for folder in names.folders:
            yield from self._add_folder(mount + folder)

    def _add_folder(self, folder: bytes) -> Iterator[None]:
        """A folder that git names without looking into it: a submodule, or a repository inside the work tree."""
        if not self.folders.enters(folder):
            return
        nested = nested_root(self._root.path / os.fsdecode(folder))
        if nested is not None:
            yield from self._add_repository(nested, folder + b"/")
            return
        names = sources.walked(self._root, self._settings, self._cancel, start=folder + b"/", with_parents=False)
        yield from self._add_names(names, b"")

    def _add_files(self, paths: Sequence[bytes]) -> Iterator[None]:
        base, limit = self._base, self._settings.max_file_bytes
        lstat, known, append = os.lstat, self._known.get, self.entries.append
        is_regular = stat.S_ISREG
        folders: list[bytes] = []
        for number, path in enumerate(paths):
            if number % _FILES_A_LOOK == 0:
                self._look_up()
            try:
                status = lstat(base + path)
            except (FileNotFoundError, NotADirectoryError):
                self.absent.append(path)  # git lists it, and it was deleted from the work tree
                continue
            except OSError as error:
                # Nearly always the folder that may not be entered.
                at = os.path.dirname(path) if isinstance(error, PermissionError) else path
                self._skip(Skip(at or path, SkipReason.UNREADABLE, error.strerror or ""))
                continue
            if not is_regular(status.st_mode):
                if stat.S_ISLNK(status.st_mode):
                    self._links.append(path)
                elif stat.S_ISDIR(status.st_mode):
                    folders.append(path)
                else:
                    self._skip(Skip(path, SkipReason.SPECIAL))
                continue
            if status.st_size > limit:
                detail = f"{_in_words(status.st_size)}, limit {_in_words(limit)}"
                self._skip(Skip(path, SkipReason.TOO_BIG, detail))
                continue
            if status.st_nlink > 1:
                self.linked.append(path)
            entry = known(path)
            if (
                entry is not None
                and (old := entry.stat).mtime_ns == status.st_mtime_ns
                and old.size_bytes == status.st_size
                and old.ctime_ns == status.st_ctime_ns
                and old.inode == status.st_ino
            ):
                append(entry)
            else:
                append(Entry(path, FileStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)))
        for folder in folders:
            owner, inner = owner_of(self._root, folder)
            if not owner.is_git or sources.is_submodule(owner, inner, self._cancel):
                yield from self._add_folder(folder)

    def _follow_links(self) -> None:
        """Say which links lead out of the root; admit what the others point to, when that is wished."""
        links, self._links = self._links, []
        seen: set[bytes] | None = None
        for path in links:
            self._look_up()
            target = os.path.realpath(self._base + path)
            if not (target + b"/").startswith(self._base):
                if os.path.exists(target):
                    self._skip(Skip(path, SkipReason.OUTSIDE))
                continue
            inside = target[len(self._base) :]
            if not self._settings.follow_links or not inside or b".git" in inside.split(b"/"):
                continue
            if seen is None:
                seen = {entry.path for entry in self.entries}
            begun = len(self.entries)
            if os.path.isdir(target):
                names = sources.walked(
                    self._root, self._settings, self._cancel, start=inside + b"/", with_parents=False
                )
                wanted = [name for name in names.paths if name not in seen]
            else:
                wanted = [] if inside in seen else [inside]
            for _ in self._add_files(wanted):
                pass
            seen.update(entry.path for entry in self.entries[begun:])
        self._links = []

    def _skip(self, skip: Skip) -> None:
        self.skips.setdefault(skip.path, skip)

    def _look_up(self) -> None:
        if self._cancel is not None:
            self._cancel.check()
        if self._report is not None:
            self._report(len(self.entries))


def _in_words(size_bytes: int) -> str:
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1e3:,.1f} kB"
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes >= 10_000_000 else f"{size_bytes / 1e6:,.1f} MB"
