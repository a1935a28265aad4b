"""Where the trees of repositories lie in the cache, what is known of each, and how they are removed.

    <cache>/repositories/<name>-<hash of the address>/   one repository at one ref
        <name>/         its tree, with `.git` where git brought it
        origin.json     address, ref, commit, how and when it was brought
        lock            held by whoever changes it
    <cache>/repositories/.coming-<process>-<number>/     one that is on its way; nobody looks into it

A repository is there when its folder is: it gets its name by one rename when it is complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import filelock

from mgrep_tui.errors import MgrepError
from mgrep_tui.repositories.addresses import Address, AddressError, parse_address
from mgrep_tui.repositories.limits import disk_hint, size_of
from mgrep_tui.settings.paths import Folders

RECORD = "origin.json"
COMING = ".coming-"
GIT, ARCHIVE = "git", "archive"
MAX_RECORD_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept beside a tree. `way` is git or archive, the times are those of `time.time()`: brought or refreshed, and opened last."""

    address: str
    url: str
    commit: str = ""
    way: str = GIT
    fetched_at: float = 0.0
    opened_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A repository in the cache. `folder` holds everything of it, `tree` what is searched."""

    name: str
    folder: Path
    tree: Path
    record: Record

    @property
    def size_bytes(self) -> int:
        """What it takes on the disk, counted now."""
        return size_of(self.folder)


class Store:
    """The repositories of one user. Any thread."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self.base = folders.cache / "repositories"

    def folder_of(self, address: Address) -> Path:
        digest = hashlib.blake2b(address.key.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return self.base / f"{_slug(address.names[0])}-{digest}"

    def tree_of(self, address: Address) -> Path:
        """Where the tree of an address is, or will be."""
        return self.folder_of(address) / _slug(address.name)

    def get(self, address: Address) -> Kept | None:
        return self._read(self.folder_of(address))

    def all(self) -> list[Kept]:
        """Every repository, by name."""
        try:
            folders = sorted(path for path in self.base.iterdir() if not path.name.startswith("."))
        except OSError:
            return []
        found = [kept for folder in folders if (kept := self._read(folder)) is not None]
        return sorted(found, key=lambda kept: (kept.name.lower(), kept.folder.name))

    def find(self, name: str) -> list[Kept]:
        """Those that a person means: by address, name, or name with owner, as a whole; capitals do not count."""
        try:
            address = parse_address(name)
        except AddressError:
            address = None
        if address is not None and (kept := self.get(address)) is not None:
            return [kept]
        wanted = name.strip("/").lower()
        return [kept for kept in self.all() if wanted in {known.lower() for known in names_of(kept)}]

    def of_tree(self, tree: Path) -> Kept | None:
        """The repository whose tree this folder is; None for any other folder."""
        folder = tree.parent
        return self._read(folder) if folder.parent == self.base else None

    def _read(self, folder: Path) -> Kept | None:
        try:
            with (folder / RECORD).open("rb") as file:
                found = json.loads(file.read(MAX_RECORD_BYTES))
            record = Record(
                str(found["address"]), str(found["url"]), str(found["commit"]), str(found["way"]),
                float(found["fetched_at"]), float(found["opened_at"]),
            )  # fmt: skip
            address = parse_address(record.address)
        except (OSError, ValueError, TypeError, KeyError, RecursionError, AddressError):
            return None
        if address is None:
            return None
        tree = folder / _slug(address.name)
        return Kept(address.names[0], folder, tree, record) if tree.is_dir() else None

    # --- changes

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Around what writes into the store: a disk that is full, read-only or of another is a `MgrepError`."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise MgrepError(f"Nothing can be kept in {self.base}: {reason}.", disk_hint(error.errno)) from error

    @contextlib.contextmanager
    def coming(self, address: Address) -> Iterator[Path]:
        """A new folder for a tree that is on its way; it is gone afterwards, unless `settle` gave it its name."""
        self._sweep()
        with self.writing():
            self.base.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{COMING}{os.getpid()}-", dir=self.base))
        try:
            (folder / _slug(address.name)).mkdir()
            yield folder
        finally:
            remove_tree(folder)

    def settle(self, coming: Path, address: Address, commit: str, way: str) -> Kept:
        """Give a complete tree its name. One that is there already, since another process was quicker, stays."""
        now = time.time()
        record = Record(str(address), address.url, commit, way, now, now)
        _write_record(coming, record)
        folder = self.folder_of(address)
        with self.locked(address, timeout_s=10.0) as is_mine:
            if is_mine and self._read(folder) is None:
                leftovers = folder.exists()
                if leftovers:
                    remove_tree(folder)
                with contextlib.suppress(OSError):
                    coming.rename(folder)
        kept = self._read(folder)
        if kept is None:
            raise MgrepError(f"The repository could not be put into {self.base}.", "Is the disk full?")
        return kept

    def renewed(self, kept: Kept, *, commit: str = "", is_fetched: bool = False) -> Kept:
        """Note that a repository was opened, and with `is_fetched` that it was refreshed just now."""
        now = time.time()
        record = replace(
            kept.record,
            opened_at=now,
            commit=commit or kept.record.commit,
            fetched_at=now if is_fetched else kept.record.fetched_at,
        )
        with contextlib.suppress(OSError):
            _write_record(kept.folder, record)
        return replace(kept, record=record)

    @contextlib.contextmanager
    def locked(self, address: Address, *, timeout_s: float = 0.0) -> Iterator[bool]:
        """Whether this process is the one that may change the repository; the lock is let go at the end.

        Raises `MgrepError` when nobody can change anything here.
        """
        with self.writing():
            self.base.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self.base / f".{self.folder_of(address).name}.lock")
            try:
                lock.acquire(timeout=timeout_s)
                is_mine = True
            except filelock.Timeout:
                is_mine = False
        if not is_mine:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def remove(self, kept: Kept) -> int:
        """Remove a repository and what was remembered of it, but for its index; the bytes that are free now. Raises `MgrepError`."""
        freed = size_of(kept.folder)
        # First out of sight by one rename, so that a removal that is broken off leaves nothing half.
        going = self.base / f"{COMING}{os.getpid()}-{kept.folder.name}"
        try:
            kept.folder.rename(going)
        except OSError as error:
            raise MgrepError(f"{kept.name} cannot be removed: {error.strerror}.") from error
        remove_tree(going)
        self._folders.session_of(kept.tree).unlink(missing_ok=True)
        (self.base / f".{kept.folder.name}.lock").unlink(missing_ok=True)
        return freed

    def _sweep(self) -> None:
        """Remove what processes left on the way that are no more."""
        try:
            names = [path for path in self.base.iterdir() if path.name.startswith(COMING)]
        except OSError:
            return
        for path in names:
            owner = re.match(rf"{re.escape(COMING)}(\d+)-", path.name)
            if owner is not None and int(owner.group(1)) != os.getpid() and not _is_running(int(owner.group(1))):
                remove_tree(path)


def names_of(kept: Kept) -> tuple[str, ...]:
    """What a repository may be called: its short name first, then with owner and host, its address, and its folder."""
    address = parse_address(kept.record.address)
    own = address.names if address is not None else (kept.name,)
    return (*own, kept.record.address, kept.folder.name)


def remove_tree(folder: Path) -> None:
    """Remove a folder as far as that is possible; folders that were made read-only are no obstacle."""

    def again(function: object, path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=again)


def _write_record(folder: Path, record: Record) -> None:
    handle, name = tempfile.mkstemp(dir=folder, prefix=RECORD, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(record), file)
    os.replace(name, folder / RECORD)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _slug(name: str) -> str:
    """A name as a folder may have it: no path, no dot in front, never empty."""
    return re.sub(r"[^A-Za-z0-9._+~-]", "-", name)[:60].lstrip(".-") or "repository"
