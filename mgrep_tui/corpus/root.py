"""The folder under which everything is searched, and where its git repository is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.errors import UnreadableError

# `.git` files and `commondir` hold one path; more than this is not what git wrote.
_MAX_POINTER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Root:
    """A resolved folder. `git_top` is the top of the work tree that holds it, `git_dir` that work tree's own git folder.

    For a linked work tree `git_dir` is `…/.git/worktrees/<name>` and `common_dir` the repository's `.git`; else both are the same.
    `is_bare` says that the folder itself is a repository without a work tree.
    """

    path: Path
    git_dir: Path | None = None
    git_top: Path | None = None
    common_dir: Path | None = None
    is_bare: bool = False

    @property
    def is_git(self) -> bool:
        return self.git_dir is not None

    @property
    def prefix(self) -> bytes:
        """The root as seen from `git_top`: empty, or with a slash at its end."""
        if self.git_top is None or self.git_top == self.path:
            return b""
        return os.fsencode(self.path.relative_to(self.git_top).as_posix()) + b"/"

    def absolute(self, path: bytes) -> bytes:
        """The file system's name of a path relative to the root."""
        return os.path.join(os.fsencode(self.path), path)


def open_root(path: str | os.PathLike[str]) -> Root:
    """The root at `path`, symbolic links resolved. Raises UnreadableError when it is no folder or may not be listed."""
    try:
        resolved = Path(path).expanduser().resolve(strict=True)
        with os.scandir(resolved):
            pass
    except NotADirectoryError as error:
        raise UnreadableError(f"{os.fspath(path)} is not a folder.", "Name the folder to search in.") from error
    except FileNotFoundError as error:
        raise UnreadableError(f"{os.fspath(path)} does not exist.", "Name the folder to search in.") from error
    except (OSError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it cannot be resolved"
        raise UnreadableError(f"{os.fspath(path)} cannot be read: {reason}.") from error
    top = work_tree_of(resolved)
    git_dir = None if top is None else _git_dir_at(top)
    if git_dir is not None:
        return Root(resolved, git_dir, top, _common_dir(git_dir))
    return Root(resolved, is_bare=_is_repository(resolved))


def check_readable(root: Root) -> None:
    """Raise `UnreadableError` at once when the folder is gone or closed: "no matches" would be a word about files nobody can look at."""
    if not os.access(root.path, os.R_OK | os.X_OK):
        raise UnreadableError(f"The folder '{root.path}' is gone or cannot be read any more.")


def work_tree_of(folder: Path) -> Path | None:
    """The top of the work tree that holds `folder`: the nearest folder around it with a git folder in it."""
    return next((one for one in (folder, *folder.parents) if _git_dir_at(one) is not None), None)


def nested_root(folder: Path) -> Root | None:
    """The root of a repository that lies inside another work tree, or None when `folder` is none."""
    git_dir = _git_dir_at(folder)
    return None if git_dir is None else Root(folder, git_dir, folder, _common_dir(git_dir))


def owner_of(root: Root, path: bytes) -> tuple[Root, bytes]:
    """The root of the repository that holds `path` (the nearest one around it: a submodule, a nested one, or `root`'s own), and the path
    relative to that root."""
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(root.absolute(os.path.join(folder, b".git"))):
            nested = nested_root(root.path / os.fsdecode(folder))
            if nested is not None:
                return nested, path[len(folder) + 1 :]
        folder = os.path.dirname(folder)
    return root, path


def _git_dir_at(folder: Path) -> Path | None:
    marker = folder / ".git"
    if marker.is_dir():
        return marker if _is_repository(marker) else None
    target = _pointer(marker, b"gitdir: ")
    if target is None:
        return None
    git_dir = (folder / target).resolve()
    return git_dir if (git_dir / "HEAD").is_file() else None


def _is_repository(folder: Path) -> bool:
    """Whether `folder` looks like a git folder, by the three names that git itself asks for."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _common_dir(git_dir: Path) -> Path:
    target = _pointer(git_dir / "commondir")
    return git_dir if target is None else (git_dir / target).resolve()


def _pointer(file: Path, prefix: bytes = b"") -> Path | None:
    """The path that a one-line file such as a work tree's `.git` names."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            content = stream.read(_MAX_POINTER_BYTES)
    except OSError:
        return None
    if not content.startswith(prefix):
        return None
    target = content[len(prefix) :].rstrip(b"\r\n")
    return Path(os.fsdecode(target)) if target and b"\0" not in target else None
