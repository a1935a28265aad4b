"""A repository is wanted: what is in the cache opens at once and is refreshed later, what is not is brought; failing leaves nothing.

With git, a shallow clone; without, the forge's archive. Everything is done in the caller's thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mgrep_tui.corpus.git import head
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories import git_transfer
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.repositories.credentials import secret_for
from mgrep_tui.repositories.git_process import Git, has_git
from mgrep_tui.repositories.limits import MEMORY_SHARE, Limits, available_memory, check_size
from mgrep_tui.repositories.store import ARCHIVE, GIT, Kept, Store
from mgrep_tui.settings.config import RepositorySettings

if TYPE_CHECKING:
    from mgrep_tui.repositories.unpack import Unpacked

Report = Callable[[str], None]

AT_ONCE = 3  # repositories on their way
TURN_S = 0.1


@dataclass(frozen=True, slots=True)
class Refreshed:
    """How a refresh went: what is there now, whether it changed, and a sentence when something kept it from being done.

    `is_moved` says that the tree is another folder of the same name: whoever watches it watches the old one.
    """

    kept: Kept
    is_changed: bool = False
    note: str = ""
    is_moved: bool = False


class Arrivals:
    """Brings repositories into a store. Any thread, each repository in one at a time."""

    def __init__(self, store: Store, settings: RepositorySettings, environ: Mapping[str, str]) -> None:
        self._store = store
        self._settings = settings
        self._environ = environ
        self._turns = threading.Semaphore(AT_ONCE)

    def _limits(self) -> Limits:
        memory = self._settings.max_memory_mb * 1_000_000
        if not memory:
            memory = int((available_memory() or 0) * MEMORY_SHARE)
        return Limits(self._settings.max_mb * 1_000_000, self._settings.max_files, memory)

    def bring(self, address: Address, cancel: CancelToken, report: Report) -> Kept:
        """What the address names, from the cache if it is there, whole. Raises `MgrepError` in a person's words, and `Cancelled`."""
        kept = self._store.get(address)
        if kept is not None:
            self._finish(kept, address, cancel)
            return self._store.renewed(kept, commit=_commit_of(kept))
        limits = self._limits()
        check_size(self._store.base, limits, 0)
        with self._turn(cancel, report), self._store.writing(), self._store.coming(address) as coming:
            tree = coming / self._store.tree_of(address).name
            if has_git(self._environ):
                commit = self._clone(address, tree, coming, limits, cancel, report)
                return self._store.settle(coming, address, commit, GIT)
            unpacked = self._download(address, tree, coming, limits, cancel, report)
            return self._store.settle(coming, address, unpacked.commit, ARCHIVE)

    def is_fresh(self, kept: Kept, address: Address) -> bool:
        """Whether nothing can have changed at the other side: a commit never does, and what was looked at a moment ago hardly has."""
        return address.is_commit or time.time() - kept.record.fetched_at < self._settings.refresh_s

    def refresh(self, kept: Kept, address: Address, cancel: CancelToken, report: Report) -> Refreshed:
        """Bring what is new. Never raises `MgrepError`: what was there stays, and the note says why. Raises `Cancelled`."""
        try:
            with self._turn(cancel, report), self._store.writing(), self._store.locked(address) as is_mine:
                if not is_mine:
                    return Refreshed(kept)
                if kept.record.way == GIT:
                    if not has_git(self._environ):
                        return Refreshed(kept, note=f"{kept.name} is as of {_age(kept)}: git is not installed.")
                    try:
                        return self._refresh_with_git(kept, address, cancel, report)
                    except (git_transfer.UnclearError, git_transfer.OtherHashError) as error:
                        return self._mended(kept, address, cancel, report, error)
                return self._replace(kept, address, cancel, report)
        except MgrepError as error:
            return Refreshed(kept, note=f"{kept.name} is as of {_age(kept)}. {error}")

    def _refresh_with_git(self, kept: Kept, address: Address, cancel: CancelToken, report: Report) -> Refreshed:
        limits = self._limits()
        git = self._git(kept.tree, address, cancel, limits, kept.folder, report)
        _forget_locks(kept.tree / ".git")
        commit = git_transfer.fetch(git, address)
        is_changed = commit != kept.record.commit
        if is_changed:
            report("checking out")
            git_transfer.check_out(git, kept.tree, commit)
        kept = self._store.renewed(kept, commit=commit, is_fetched=True)
        git_transfer.tidy(git, kept.tree)
        return Refreshed(kept, is_changed)

    def _mended(
        self, kept: Kept, address: Address, cancel: CancelToken, report: Report, error: MgrepError
    ) -> Refreshed:
        """A clone that may be damaged is brought anew. Raises `error`, which told of it, when that fails too."""
        try:
            return self._replace(kept, address, cancel, report)
        except MgrepError as again:
            raise error from again

    def _replace(self, kept: Kept, address: Address, cancel: CancelToken, report: Report) -> Refreshed:
        """All is brought anew and changes places with the old tree."""
        with self._store.coming(address) as coming:
            tree = coming / kept.tree.name
            if kept.record.way == GIT:
                commit = self._clone(address, tree, coming, self._limits(), cancel, report)
            else:
                commit = self._download(address, tree, coming, self._limits(), cancel, report).commit
                if commit and commit == kept.record.commit:
                    return Refreshed(self._store.renewed(kept, is_fetched=True))
            old = coming / "old"
            try:
                kept.tree.rename(old)
                tree.rename(kept.tree)
            except OSError as error:
                if old.exists() and not kept.tree.exists():
                    old.rename(kept.tree)
                raise MgrepError(f"The new tree could not be put in place: {error.strerror}.") from error
        return Refreshed(
            self._store.renewed(kept, commit=commit, is_fetched=True),
            is_changed=commit != kept.record.commit or not commit,
            is_moved=True,
        )

    def _clone(
        self, address: Address, tree: Path, coming: Path, limits: Limits, cancel: CancelToken, report: Report
    ) -> str:
        report("connecting")
        return git_transfer.clone(self._git(tree, address, cancel, limits, coming, report), tree, address)

    def _download(
        self, address: Address, tree: Path, coming: Path, limits: Limits, cancel: CancelToken, report: Report
    ) -> Unpacked:
        from mgrep_tui.repositories.archive import download  # late: brings HTTP and TLS along

        return download(address, secret_for(address, self._environ), tree, coming / "archive", limits, cancel, report)

    @contextlib.contextmanager
    def _turn(self, cancel: CancelToken, report: Report) -> Iterator[None]:
        """A few at a time: a workspace may name many. Raises `Cancelled`."""
        while not self._turns.acquire(timeout=TURN_S):
            report("waiting for its turn")
            cancel.check()
        try:
            yield
        finally:
            self._turns.release()

    def _finish(self, kept: Kept, address: Address, cancel: CancelToken) -> None:
        """End a checkout that was broken off; the objects are here. When that fails, what there is opens, and a refresh brings it anew."""
        commit = git_transfer.unfinished(kept.tree) if kept.record.way == GIT else ""
        if not commit or not has_git(self._environ):
            return
        with (
            contextlib.suppress(MgrepError),
            self._store.writing(),
            self._store.locked(address, timeout_s=10.0) as is_mine,
        ):
            if is_mine and git_transfer.unfinished(kept.tree):
                git_transfer.check_out(Git(kept.tree, address, self._environ, cancel), kept.tree, commit)

    def _git(
        self, tree: Path, address: Address, cancel: CancelToken, limits: Limits, measured: Path, report: Report
    ) -> Git:
        secret = secret_for(address, self._environ)
        return Git(tree, address, self._environ, cancel, secret=secret, limits=limits, measured=measured, report=report)


def _commit_of(kept: Kept) -> str:
    """Where the tree stands: a refresh that was broken off may have come as far as that. Empty where git does not tell."""
    root = open_root(kept.tree)
    return head(root).commit if root.git_top == root.path else ""


def _forget_locks(git_dir: Path) -> None:
    """Locks of a git that was killed in the middle. Ours is the only one that works here, and it is not running now."""
    for lock in ("shallow.lock", "index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"):
        (git_dir / lock).unlink(missing_ok=True)


def _age(kept: Kept) -> str:
    """When it was fetched, as a person says it."""
    seconds = max(0.0, time.time() - kept.record.fetched_at)
    if seconds < 90:
        return "a minute ago"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes ago"
    if seconds < 48 * 3600:
        return f"{round(seconds / 3600)} hours ago"
    return f"{round(seconds / 86400)} days ago"
