"""Unpacking an archive that nobody vouches for, with the standard library: what does not stay inside is refused, what explodes is stopped.

Archives of forges hold one folder, and in it files, folders and links. Taken are regular files and links whose target stays inside;
the first folder's name is left out. Refused, and with it the whole archive: a path that is absolute, climbs (`..`), holds NUL or a drive
letter, or lies below a link; two paths that differ in capitals only, where the disk does not tell them apart; devices, pipes, hard links.
Limits hold for the bytes written, the number of entries and, past `FREE_BYTES`, the ratio of what comes out to what went in.

Nothing is written through a link: each file is made anew (`O_EXCL | O_NOFOLLOW`) in folders that this module made. Permissions are ours.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.limits import LimitError, Limits, check_size

# Source code packs to a quarter or a tenth of its size, never to a hundredth; an archive of a few megabytes may do as it likes.
MAX_RATIO = 100
FREE_BYTES = 20_000_000
PIECE_BYTES = 1 << 18
MAX_READ_BYTES = 1 << 20
CHECK_BYTES = 32_000_000
MAX_PATH_BYTES = 4_000
MAX_DEPTH = 200
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class ArchiveError(MgrepError):
    """An archive holds what no honest one does, or is damaged."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What was made of an archive. `commit` is what it says that it was made of; empty when it says nothing."""

    files: int
    size_bytes: int
    commit: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    kind: str  # file, folder, link
    size_bytes: int
    target: str = ""
    content: IO[bytes] | None = None
    is_executable: bool = False


def unpack(archive: Path, folder: Path, limits: Limits, cancel: CancelToken) -> Unpacked:
    """Unpack `archive` (tar, compressed or not, or zip) into the empty `folder`. Raises `ArchiveError`, `LimitError`, `Cancelled`.

    Whatever is raised, the folder may hold part of it and is to be removed by the caller.
    """
    packed_bytes = archive.stat().st_size
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                comment = zipped.comment.decode("ascii", "replace").strip()
                return _write(_of_zip(zipped, limits), folder, packed_bytes, limits, cancel, comment)
        with _plain(archive) as stream, tarfile.open(fileobj=stream, mode="r:") as packed:
            done = _write(
                _of_tar(packed), folder, packed_bytes, limits, cancel, str(packed.pax_headers.get("comment", ""))
            )
            stream.check_end()
            return done
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        NotImplementedError,
        zlib.error,
    ) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise ArchiveError(f"The archive cannot be unpacked: {error.strerror}.") from error
        raise ArchiveError("The archive is damaged, or is none.") from error


class _Careful(io.RawIOBase):
    """A tar as a stream that never gives much at once: the headers of an archive may claim any length, and are read in one piece."""

    def __init__(self, stream: gzip.GzipFile | io.BufferedReader) -> None:
        self._stream = stream
        self._last = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_READ_BYTES:
            raise ArchiveError("The archive holds a header of an impossible length.")
        self._last = self._stream.read(size)
        return self._last

    def check_end(self) -> None:
        """Raise what is wrong with the end: `tarfile` takes a damaged header for it, and looks at no check sum behind it."""
        if len(self._last) != tarfile.BLOCKSIZE or self._last.count(0) != tarfile.BLOCKSIZE:
            raise ArchiveError("The archive is damaged, or is cut off.")
        if len(self._stream.read(MAX_READ_BYTES)) == MAX_READ_BYTES:
            raise ArchiveError("The archive goes on behind its end.")

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()
        super().close()


def _plain(archive: Path) -> _Careful:
    """The tar within; forges pack with gzip, if at all."""
    with archive.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return _Careful(gzip.open(archive, "rb") if is_packed else archive.open("rb"))


def _of_tar(packed: tarfile.TarFile) -> Iterator[_Entry]:
    for member in packed:
        if member.isdir():
            yield _Entry(member.name, "folder", 0)
        elif member.issym():
            yield _Entry(member.name, "link", 0, member.linkname)
        elif member.isreg():
            yield _Entry(
                member.name,
                "file",
                member.size,
                content=packed.extractfile(member),
                is_executable=bool(member.mode & 0o100),
            )
        else:
            raise ArchiveError(f"The archive holds something that is no file: {member.name!r}.")


def _of_zip(zipped: zipfile.ZipFile, limits: Limits) -> Iterator[_Entry]:
    if len(zipped.infolist()) > limits.files:
        raise _too_many(limits)
    for member in zipped.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError("The archive is packed in a way that no forge uses.")
        mode = member.external_attr >> 16
        if member.is_dir():
            yield _Entry(member.orig_filename, "folder", 0)
        elif stat.S_ISLNK(mode):
            if member.file_size > MAX_PATH_BYTES:
                raise ArchiveError("The archive holds a link that leads nowhere.")
            yield _Entry(member.orig_filename, "link", 0, os.fsdecode(zipped.read(member)))
        elif mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            raise ArchiveError(f"The archive holds something that is no file: {member.filename!r}.")
        else:
            with zipped.open(member) as content:
                yield _Entry(
                    member.orig_filename, "file", member.file_size, content=content, is_executable=bool(mode & 0o100)
                )


def _write(
    entries: Iterator[_Entry], folder: Path, packed_bytes: int, limits: Limits, cancel: CancelToken, comment: str
) -> Unpacked:
    place = _Place(folder)
    files = written = checked = 0
    for count, entry in enumerate(entries):
        cancel.check()
        if count >= limits.files:
            raise _too_many(limits)
        parts = parts_of(entry.path)[1:]
        if not parts:
            continue
        if entry.kind == "folder":
            place.make_folder(parts)
        elif entry.kind == "link":
            place.make_link(parts, entry.target)
        else:
            assert entry.content is not None
            with place.make_file(parts, is_executable=entry.is_executable) as out:
                while piece := entry.content.read(PIECE_BYTES):
                    cancel.check()
                    written += len(piece)
                    if written > FREE_BYTES and written > MAX_RATIO * packed_bytes:
                        raise LimitError("The archive unpacks to a hundred times its size: it is not made to be read.")
                    if written - checked > CHECK_BYTES or written > limits.disk_bytes:
                        checked = written
                        check_size(folder, limits, written)
                    out.write(piece)
            files += 1
    check_size(folder, limits, written)
    if not files:
        raise ArchiveError("The archive holds no file.")
    return Unpacked(files, written, comment if _COMMIT.fullmatch(comment) else "")


def parts_of(path: str) -> list[str]:
    """The names in a path of an archive. Raises `ArchiveError` when it would lead out, or anywhere else than it says. Pure."""
    raw = path.encode("utf-8", "surrogateescape")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if (
        path.startswith(("/", "\\"))
        or "\0" in path
        or "\\" in path
        or re.match(r"[A-Za-z]:", path)
        or ".." in parts
        or len(raw) > MAX_PATH_BYTES
        or len(parts) > MAX_DEPTH
        or any(len(part.encode("utf-8", "surrogateescape")) > 255 for part in parts)
    ):
        raise ArchiveError(f"The archive holds a path that leads out of it: {path[:100]!r}.")
    if any(part.lower().rstrip(". ") in (".git", "git~1") for part in parts):
        raise ArchiveError("The archive holds a git folder, which no forge puts there.")
    return parts


class _Place:
    """The folder that is filled. It knows what it made, and puts nothing through a link."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folders: set[tuple[str, ...]] = {()}
        self._others: set[tuple[str, ...]] = set()
        self._folded: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._folds = _folds_case(folder)

    def make_folder(self, parts: list[str]) -> None:
        for length in range(1, len(parts) + 1):
            own = tuple(parts[:length])
            if own in self._folders:
                continue
            self._claim(own)
            try:
                os.mkdir(self._folder.joinpath(*own))
            except OSError as error:
                raise ArchiveError(f"The archive cannot be unpacked: {error.strerror}.") from error
            self._folders.add(own)

    def make_file(self, parts: list[str], *, is_executable: bool) -> IO[bytes]:
        self.make_folder(parts[:-1])
        own = tuple(parts)
        self._claim(own)
        self._others.add(own)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        return os.fdopen(os.open(self._folder.joinpath(*own), flags, 0o755 if is_executable else 0o644), "wb")

    def make_link(self, parts: list[str], target: str) -> None:
        """A link that stays inside; one whose target would not is refused."""
        steps = [*parts[:-1]]
        if target.startswith(("/", "\\")) or "\0" in target or not target:
            raise ArchiveError(f"The archive holds a link that leads out of it: {'/'.join(parts)[:100]!r}.")
        is_down = False
        for step in target.split("/"):
            if step == "..":
                # After a name `..` would climb from wherever that name, if it is a link, leads to.
                if not steps or is_down:
                    raise ArchiveError(f"The archive holds a link that leads out of it: {'/'.join(parts)[:100]!r}.")
                steps.pop()
            elif step not in ("", "."):
                steps.append(step)
                is_down = True
        self.make_folder(parts[:-1])
        own = tuple(parts)
        self._claim(own)
        self._others.add(own)
        try:
            os.symlink(target, self._folder.joinpath(*own))
        except (OSError, NotImplementedError):
            return  # a disk or a system without links: nothing is searched through them anyway

    def _claim(self, own: tuple[str, ...]) -> None:
        """Refuse what was made already, what lies below a file or link, and what the disk would take for another."""
        if own in self._others or own in self._folders:
            raise ArchiveError(f"The archive holds a path twice: {'/'.join(own)[:100]!r}.")
        if any(own[:length] in self._others for length in range(1, len(own))):
            raise ArchiveError(f"The archive puts something below a file or link: {'/'.join(own)[:100]!r}.")
        if self._folds:
            folded = tuple(part.casefold() for part in own)
            if self._folded.setdefault(folded, own) != own:
                raise ArchiveError(f"Two paths of the archive differ in capitals only: {'/'.join(own)[:100]!r}.")


def _folds_case(folder: Path) -> bool:
    """Whether the disk takes `a` for `A`."""
    probe = folder / ".Case"
    probe.touch()
    try:
        return (folder / ".cASE").exists()
    finally:
        probe.unlink()


def _too_many(limits: Limits) -> LimitError:
    return LimitError(
        f"The archive holds more than {limits.files:,} files.", "Raise repositories.max_files in the configuration."
    )
