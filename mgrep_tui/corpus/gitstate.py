"""Which files of the work tree differ from the last commit.

`git status` may run a filter program on a file whose stat it does not trust, so every filter that the configuration names is emptied, by
its exact name. A file behind such a filter (large file storage) may then be called changed until git has looked at it the next time.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from mgrep_tui.corpus import git
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken

TIMEOUT_S = 5.0
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")


@dataclass(frozen=True, slots=True)
class GitState:
    """Paths relative to the root. `dirty` is what differs from HEAD, staged or not, untracked files included; `untracked` those alone."""

    dirty: frozenset[bytes] = frozenset()
    untracked: frozenset[bytes] = frozenset()


def work_tree_state(root: Root, cancel: CancelToken | None = None, timeout_s: float = TIMEOUT_S) -> GitState:
    """The state of the root's own repository (nested ones and submodules apart); empty outside git and when git does not answer in time.

    About 0.3 s for 80,000 files. Any thread. Raises Cancelled.
    """
    if not root.is_git:
        return GitState()
    try:
        only_below = ("--", ".") if root.prefix else ()
        output = git.run(
            root.path,
            (*_STATUS, *only_below),
            cancel,
            timeout_s=timeout_s,
            config=_without_filters(root, cancel, timeout_s),
        )
    except UnreadableError:
        return GitState()
    prefix = root.prefix
    dirty = set()
    untracked = set()
    for record in output.split(b"\0"):
        state, path = record[:2], record[3:]
        if not path.startswith(prefix) or path.endswith(b"/"):
            continue
        path = path[len(prefix) :]
        if path:
            dirty.add(path)
            if state == b"??":
                untracked.add(path)
    return GitState(frozenset(dirty), frozenset(untracked))


def _without_filters(root: Root, cancel: CancelToken | None, timeout_s: float) -> list[tuple[str, str]]:
    """Settings that empty every filter driver which any configuration names. Raises UnreadableError and Cancelled."""
    names = b""
    with contextlib.suppress(git.NothingFoundError):
        names = git.run(
            root.path, ("config", "-z", "--name-only", "--get-regexp", r"^filter\."), cancel, timeout_s=timeout_s
        )
    emptied = []
    for name in sorted(set(names.split(b"\0")) - {b""}):
        driver, _, variable = name.decode("utf-8", "surrogateescape").rpartition(".")
        if variable in ("clean", "smudge", "process", "required"):
            emptied.append((f"{driver}.{variable}", "false" if variable == "required" else ""))
    return emptied
