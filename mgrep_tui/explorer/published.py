"""What a remote has of a work tree, as far as this clone knows: the newest commit there, and where lines stood in it.

The remote is never asked. Blocks for some milliseconds of git, or a few seconds where that is slow; any thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mgrep_tui.corpus.decode import searchable, split_lines
from mgrep_tui.corpus.git import Head, run
from mgrep_tui.corpus.gitdiff import LARGE_FILE_POINTER, committed, matching_lines
from mgrep_tui.corpus.read import read_file
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.explorer.forges import is_forge, ssh_names, with_host

TIMEOUT_S = 5.0
MAX_REMOTES = 8
MAX_BYTES = 8_000_000
MAX_CONFIG_BYTES = 1_000_000


def published(owner: Root, now: Head) -> tuple[str, str]:
    """The address of a remote and the newest commit below HEAD that it has.

    Of several remotes the first that has HEAD itself: `origin`, the branch's own, then by name. Raises `MgrepError`.
    """
    remotes = _remotes(owner, now.branch)
    if not remotes:
        raise MgrepError("The repository has no remote.")
    usable = [(name, url) for name, url in remotes if is_forge(url)]
    if not usable:
        raise MgrepError("The remote is not an address of a forge.")
    older: tuple[str, str] | None = None
    for name, url in usable:
        commit = _newest_there(owner, now.commit, name)
        if commit == now.commit:
            return url, commit
        if commit and older is None:
            older = url, commit
    if older is None:
        raise MgrepError("No commit of this branch is published yet.", "Push it first.")
    return older


def lines_then(owner: Root, commit: str, path: bytes, first_line: int, last_line: int) -> tuple[int, int]:
    """Where 0-based, inclusive lines of a file as it is now stood in a commit. Raises `MgrepError` when they were not in it."""
    if not _holds(owner, commit, owner.prefix + path):
        raise MgrepError("This file is in no published commit yet.", "Commit and push it first.")
    before = committed(owner, path, commit)
    if before is None or before.startswith(LARGE_FILE_POINTER):
        return first_line, last_line
    try:
        data = read_file(owner, path, MAX_BYTES).data
    except UnreadableError:
        return first_line, last_line
    old, new = searchable(before), searchable(data)
    if old is None or new is None or old.data == new.data:
        return first_line, last_line
    then = matching_lines(split_lines(old.data), split_lines(new.data))
    found = [then[number] for number in range(first_line, last_line + 1) if number in then]
    if not found:
        raise MgrepError("These lines are in no published commit yet.", "Commit and push them first.")
    return found[0], found[-1]


def _remotes(owner: Root, branch: str) -> list[tuple[str, str]]:
    """Names and addresses, the likeliest first, as `url.*.insteadOf` and ssh's names have them."""
    names = _lines(owner, ("remote",))
    own = _lines(owner, ("config", "--get", f"branch.{branch}.remote")) if branch else []
    names = [name for name in dict.fromkeys(("origin", *own, *names)) if name in names][:MAX_REMOTES]
    known = ssh_names(_ssh_config()) if names else {}
    found = []
    for name in names:
        urls = _lines(owner, ("ls-remote", "--get-url", "--", name))
        if urls and urls[0] != name:
            found.append((name, with_host(urls[0], known)))
    return found


def _newest_there(owner: Root, commit: str, remote: str) -> str:
    """The newest commit from here on down that is known to be on a remote; empty when there is none. Where nothing is known, this one."""
    if not _lines(owner, ("for-each-ref", "--count=1", f"refs/remotes/{remote}/")):
        return commit
    try:
        ours = run(
            owner.path,
            ("rev-list", "--boundary", commit, "--not", f"--remotes={remote}"),
            timeout_s=TIMEOUT_S,
            max_bytes=MAX_BYTES,
        )
    except UnreadableError:
        return commit
    lines = ours.decode("ascii", "replace").split()
    return next((line[1:] for line in lines if line.startswith("-")), "") if lines else commit


def _holds(owner: Root, commit: str, path: bytes) -> bool:
    """Whether a commit has a file, by its folders: their contents need not be here. True where git does not tell."""
    try:
        return bool(run(owner.path, ("ls-tree", "--full-tree", commit, "--", os.fsdecode(path)), timeout_s=TIMEOUT_S))
    except UnreadableError:
        return True


def _lines(owner: Root, arguments: Sequence[str]) -> list[str]:
    try:
        return os.fsdecode(run(owner.path, arguments, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)).splitlines()
    except UnreadableError:
        return []


def _ssh_config() -> str:
    try:
        with Path("~/.ssh/config").expanduser().open("rb") as file:
            return os.fsdecode(file.read(MAX_CONFIG_BYTES))
    except (OSError, RuntimeError):
        return ""
