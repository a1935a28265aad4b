"""How a tree on this disk differs from the commit that an engine has of it: the disk is the truth about what is here.

The base is the published commit nearest to what is checked out: that very commit, else the newest of its branch, else the newest that is
searched. Git compares the two commits and tells what is dirty; without git, or where the base is unknown here, contents are compared by
their hash.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.heads import Published
from mgrep_tui.clickhouse.tree import repository_name
from mgrep_tui.corpus.git import head, run
from mgrep_tui.corpus.gitstate import work_tree_state
from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import UnreadableError
from mgrep_tui.index.ingest import content_hash
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat
from mgrep_tui.settings.config import Settings

BELIEVED_S = 0.5
"""How long a look at the disk holds: keys come faster than that, a person's saves do not."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the disk says instead of the engine, below one root: files that differ from the published commit, and those that are gone."""

    root: Root
    changed: tuple[bytes, ...] = ()
    gone: frozenset[bytes] = frozenset()

    @property
    def hidden(self) -> frozenset[bytes]:
        """Paths of which the engine's word does not count."""
        return self.gone.union(self.changed)


def base_of(root: Root, every: Sequence[Published], remote: str, name: str = "") -> Published | None:
    """The published commit that a tree is compared with; None when its repository was never published."""
    repository = name or (repository_name(root, remote) if root.is_git else root.path.name)
    own = [one for one in every if one.repository == repository]
    where = head(root)
    for fits in (
        lambda one: bool(where.commit) and one.commit == where.commit,
        lambda one: bool(where.branch) and one.branch == where.branch,
        lambda one: one.is_searched,
        lambda one: True,
    ):
        found = [one for one in own if fits(one)]
        if found:
            return max(found, key=lambda one: one.at_us)
    return None


class DiskWatch:
    """Looks at a tree when asked, and not more often than `BELIEVED_S`. Any thread may ask."""

    def __init__(self, connection: Connection, root: Root, base: Published, settings: Settings) -> None:
        self._connection = connection
        self._root = root
        self._base = base
        self._settings = settings
        self._lock = threading.Lock()
        self._last: tuple[float, Overlay] | None = None
        self._contents: dict[bytes, bytes] | None = None
        self._hashes: dict[bytes, tuple[FileStat, bytes]] = {}

    def look(self, cancel: CancelToken) -> Overlay:
        """The overlay as of now. Raises `MgrepError` and `Cancelled`."""
        with self._lock:
            if self._last is not None and time.monotonic() - self._last[0] < BELIEVED_S:
                return self._last[1]
            overlay = self._compare(cancel)
            self._last = time.monotonic(), overlay
            return overlay

    def is_changed(self, path: bytes) -> bool:
        """Whether the last look found that file different; from memory."""
        last = self._last
        return last is not None and path in last[1].changed

    def _compare(self, cancel: CancelToken) -> Overlay:
        root, base = self._root, self._base
        entries = {entry.path: entry.stat for entry in list_files(root, self._settings.corpus, cancel).entries}
        published = self._published(cancel)
        if root.is_git and self._knows(base.commit):
            suspects = {path for path in self._between_commits(cancel) if path in entries or path in published}
            suspects |= work_tree_state(root, cancel).dirty
            suspects |= entries.keys() - published.keys()
        else:
            suspects = set(entries)
        changed = []
        with Reader(root) as reader:
            for path in sorted(suspects & entries.keys()):
                cancel.check()
                if self._differs(reader, path, entries[path], published.get(path)):
                    changed.append(path)
        gone = frozenset(path for path in published if path not in entries and self._is_gone(path))
        return Overlay(root, tuple(changed), gone)

    def _published(self, cancel: CancelToken) -> dict[bytes, bytes]:
        """Path → content hash of the base commit. It never changes."""
        if self._contents is None:
            self._contents = {
                bytes(path): bytes(content)
                for path, content in rows(
                    self._connection.batches(
                        f"SELECT path, content FROM {self._connection.database}.files WHERE state = {{state:UInt64}}",
                        {"state": self._base.state},
                        limits=WORK,
                        cancel=cancel,
                    )
                )
            }
        return self._contents

    def _differs(self, reader: Reader, path: bytes, stat: FileStat, published: bytes | None) -> bool:
        known = self._hashes.get(path)
        if known is None or known[0] != stat:
            try:
                raw = reader.read(path, self._settings.corpus.max_file_bytes)
            except UnreadableError:
                return published is not None
            known = self._hashes[path] = raw.stat, content_hash(raw.data)
        return known[1] != published

    def _is_gone(self, path: bytes) -> bool:
        """A file that is here but not listed (it is ignored, or hidden) is not gone: the commit has it, and it is searched as published."""
        return not os.path.lexists(self._root.absolute(path))

    def _knows(self, commit: str) -> bool:
        try:
            run(self._root.path, ("cat-file", "-e", f"{commit}^{{commit}}"))
        except UnreadableError:
            return False
        return bool(commit)

    def _between_commits(self, cancel: CancelToken) -> set[bytes]:
        """What differs between the base and HEAD, below the root."""
        commit = head(self._root).commit
        if commit == self._base.commit:
            return set()
        output = run(
            self._root.path, ("diff-tree", "-r", "-z", "--name-only", "--no-renames", self._base.commit, commit), cancel
        )
        prefix = self._root.prefix
        return {path[len(prefix) :] for path in output.split(b"\0") if path and path.startswith(prefix)}
