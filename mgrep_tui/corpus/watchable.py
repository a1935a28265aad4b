"""The folders in which a change can alter what is searched: all below the root but those that are certainly left out.

Certainly means that our own reading of the rules and git itself agree: a folder that only one of them leaves out is watched. What git
tracks below an ignored folder is not looked for here; whoever watches compares with the folders of the known files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mgrep_tui.corpus import git, sources
from mgrep_tui.corpus.plain import folder_rules, layer_names
from mgrep_tui.corpus.root import Root, nested_root
from mgrep_tui.corpus.rules import Layers
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import CorpusSettings

_KERNEL_FOLDERS = (b"/proc", b"/sys", b"/dev")
_FOLDERS_A_LOOK = 64
_GIT_TIMEOUT_S = 20.0


@dataclass(slots=True)
class Visited:
    """What a walk met: repositories inside, folders with a `.git` that is none (yet), and folders that are left out with certainty.

    All relative to the root, without a slash at the end."""

    repositories: list[tuple[bytes, Root]] = field(default_factory=list)
    unclear: list[bytes] = field(default_factory=list)
    left_out: list[bytes] = field(default_factory=list)


def visit_folders(
    root: Root,
    settings: CorpusSettings,
    visit: Callable[[bytes], bool],
    cancel: CancelToken | None = None,
    *,
    start: bytes = b"",
) -> Visited:
    """Call `visit` for `start` (relative, no slash at the end; empty for the root) and every folder below it that counts, each before it is
    listed, so that nothing made after `visit` goes unseen; where it answers False the walk does not go on. Raises Cancelled.
    """
    met = Visited()
    owner, mount = _owner(root, start)
    waiting: list[tuple[Root, bytes, bytes]] = [(owner, mount, start)]
    while waiting:
        repository, at, first = waiting.pop()
        closed = _visit_one(root, repository, at, first, settings, visit, cancel, met, waiting, skips=True)
        certain = left_out(repository, [folder[len(at) :] for folder in closed], settings)
        for folder in closed:
            if folder[len(at) :] in certain:
                met.left_out.append(folder)
            else:
                _visit_one(root, repository, at, folder, settings, visit, cancel, met, waiting, skips=False)
    return met


def _visit_one(
    root: Root,
    repository: Root,
    mount: bytes,
    start: bytes,
    settings: CorpusSettings,
    visit: Callable[[bytes], bool],
    cancel: CancelToken | None,
    met: Visited,
    waiting: list[tuple[Root, bytes, bytes]],
    *,
    skips: bool,
) -> list[bytes]:
    """Walk within one repository. The folders that our rules leave out, not entered when `skips`."""
    names = layer_names(settings)
    base = os.path.join(os.fsencode(root.path), b"")
    prefix = repository.prefix
    closed: list[bytes] = []
    stack = [(start, _Rules(repository, settings).above(start[len(mount) :]))]
    count = 0
    while stack:
        folder, above = stack.pop()
        count += 1
        if cancel is not None and count % _FOLDERS_A_LOOK == 0:
            cancel.check()
        inner = folder[len(mount) :]
        if not visit(folder):
            continue
        try:
            with os.scandir(base + folder) as listing:
                children = [(child.name, child.is_dir(follow_symlinks=False)) for child in listing]
        except OSError:
            continue  # its files, if any are known, are missed by whoever compares
        present = {name for name, _ in children}
        if b".git" in present and folder != mount.rstrip(b"/"):
            nested = nested_root(root.path / os.fsdecode(folder))
            if nested is not None:
                met.repositories.append((folder, nested))
                waiting.append((nested, folder + b"/", folder))
                continue
            met.unclear.append(folder)
        here = above
        if not present.isdisjoint(names):
            own = folder_rules(repository, inner + b"/" if inner else b"", prefix, names)
            here = above.extended((*own, *(None,) * (len(above.sets) - len(own))))
        for name, is_folder in children:
            if not is_folder or name == b".git" or (name.startswith(b".") and not settings.hidden):
                continue
            path = folder + b"/" + name if folder else name
            if base + path in _KERNEL_FOLDERS:
                continue
            may_skip = skips and not settings.follow_links and not here.is_empty
            if may_skip and here.is_ignored(prefix + path[len(mount) :], True):
                closed.append(path)
                continue
            stack.append((path, here))
    return closed


def left_out(repository: Root, paths: Iterable[bytes], settings: CorpusSettings) -> frozenset[bytes]:
    """Those of the paths (relative to the repository, files or folders, none of a repository inside) that our rules and git's both leave
    out, and that git does not track. May run git; any thread; never raises."""
    wanted = list(paths)
    if not wanted:
        return frozenset()
    rules = _Rules(repository, settings)
    ours = [path for path in wanted if rules.leave_out(path)]
    if not ours or not repository.is_git:
        return frozenset(ours)
    if not settings.use_gitignore:
        return frozenset()  # only our own rules count, and git tracks what it likes
    try:
        output = git.run(
            repository.path, ("check-ignore", "-z", "--stdin"), timeout_s=_GIT_TIMEOUT_S, data=b"\0".join(ours) + b"\0"
        )
    except UnreadableError:
        return frozenset()
    return frozenset(output.split(b"\0")).intersection(ours)


def left_out_below(root: Root, paths: Iterable[bytes], settings: CorpusSettings) -> frozenset[bytes]:
    """The same for paths relative to the root, which may lie in repositories inside."""
    groups: dict[bytes, tuple[Root, list[bytes]]] = {}
    for path in paths:
        owner, mount = _owner(root, os.path.dirname(path))
        groups.setdefault(mount, (owner, []))[1].append(path[len(mount) :])
    found: set[bytes] = set()
    for mount, (owner, inner) in groups.items():
        found.update(mount + path for path in left_out(owner, inner, settings))
    return frozenset(found)


def _owner(root: Root, folder: bytes) -> tuple[Root, bytes]:
    """The repository to whose files those of `folder` belong, and where it is mounted (with a slash at the end, or empty)."""
    while folder:
        if os.path.lexists(root.absolute(folder + b"/.git")):
            nested = nested_root(root.path / os.fsdecode(folder))
            if nested is not None:
                return nested, folder + b"/"
        folder = os.path.dirname(folder)
    return root, b""


class _Rules:
    """The rules of one repository by folder, each ignore file read once. Good for a moment only."""

    def __init__(self, repository: Root, settings: CorpusSettings) -> None:
        self._repository = repository
        self._names = layer_names(settings)
        self._above = {b"": sources.base_layers(repository, settings)}
        self._inside: dict[bytes, Layers] = {}

    def above(self, folder: bytes) -> Layers:
        """The rules in force at `folder` (no slash at the end) before its own ignore files."""
        found = self._above.get(folder)
        if found is None:
            found = self._above[folder] = self.inside(os.path.dirname(folder))
        return found

    def inside(self, folder: bytes) -> Layers:
        """The rules for what lies directly in `folder`."""
        found = self._inside.get(folder)
        if found is None:
            above = self.above(folder)
            base = folder + b"/" if folder else b""
            own = folder_rules(self._repository, base, self._repository.prefix, self._names)
            found = self._inside[folder] = above.extended((*own, *(None,) * (len(above.sets) - len(own))))
        return found

    def leave_out(self, path: bytes) -> bool:
        """Whether a rule leaves out the path or a folder above it."""
        parts = path.split(b"/")
        is_folder = os.path.isdir(self._repository.absolute(path))
        for number in range(1, len(parts) + 1):
            at = b"/".join(parts[:number])
            layers = self.inside(os.path.dirname(at))
            if layers.is_ignored(self._repository.prefix + at, is_folder or number < len(parts)):
                return True
        return False
