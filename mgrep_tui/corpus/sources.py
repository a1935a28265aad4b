"""Where the names of the corpus come from: git's own list, or a walk with the same rules.

Names are relative to the root that is asked and not looked at yet: one may be gone, a link, or the folder of a nested repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mgrep_tui.corpus import git, plain
from mgrep_tui.corpus.ignore import RuleSet
from mgrep_tui.corpus.plain import folder_rules, layer_names
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.rules import Layers, read_rules
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Skip, SkipReason
from mgrep_tui.settings.config import CorpusSettings

_CLOSED_FOLDER = re.compile(rb"^warning: could not open directory '(.*)': (.*)$", re.MULTILINE)
_CONFIG_TIMEOUT_S = 5.0


@dataclass(slots=True)
class Names:
    """Candidates. `folders` are nested repositories, without a slash at the end; `ruled` are folders with an ignore file of ours (with a
    slash at the end), as far as git names it: there may be no candidate in them yet."""

    paths: list[bytes] = field(default_factory=list)
    folders: list[bytes] = field(default_factory=list)
    ruled: list[bytes] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


class GitNames:
    """Git's list in two steps, so that the tracked files can be looked at while git still searches for untracked ones."""

    def __init__(self, root: Root, settings: CorpusSettings) -> None:
        """Start git. Raises UnreadableError when it cannot be started."""
        self._root = root
        self._settings = settings
        standard = ("--exclude-standard",) if settings.use_gitignore else ()
        self._untracked = git.GitProcess(root.path, ("ls-files", "-z", "--others", *standard))

    def tracked(self, cancel: CancelToken | None) -> Names:
        """What the index of git holds. Raises UnreadableError when git fails."""
        try:
            output = git.run(self._root.path, ("ls-files", "-z", "--cached"), cancel)
        except BaseException:
            self.stop()
            raise
        found = output.split(b"\0")[:-1]
        names = Names(visible(found, self._settings), ruled=self._ruled(found))
        if len(names.paths) > 1 and any(map(bytes.__eq__, names.paths, names.paths[1:])):
            names.paths = list(dict.fromkeys(names.paths))  # a conflict has up to three entries for a path
        return names

    def untracked(self, cancel: CancelToken | None) -> Names:
        """What else is there and not ignored. Raises UnreadableError when git fails."""
        output, warnings = self._untracked.finish(cancel)
        found = output.split(b"\0")[:-1]
        seen = visible(found, self._settings)
        names = Names(
            [path for path in seen if not path.endswith(b"/")],
            [path.rstrip(b"/") for path in seen if path.endswith(b"/")],
            self._ruled(found),
        )
        for closed, reason in _CLOSED_FOLDER.findall(warnings):
            folder = closed.rstrip(b"/").removeprefix(self._root.prefix)
            names.skips.append(Skip(folder, SkipReason.UNREADABLE, reason.decode("utf-8", "replace")))
        return names

    def _ruled(self, paths: list[bytes]) -> list[bytes]:
        own = tuple(os.fsencode(name) for name in self._settings.ignore_files)
        if not own:
            return []
        return [path[: path.rfind(b"/") + 1] for path in paths if path.endswith(own) and os.path.basename(path) in own]

    def stop(self) -> None:
        self._untracked.kill()


def is_left_out_by_git(root: Root, cancel: CancelToken | None) -> bool:
    """Whether the root lies in a folder that the repository around it ignores: then its rules say nothing about what is in it."""
    if not root.prefix:
        return False
    try:
        git.run(root.path, ("check-ignore", "-q", "."), cancel)
    except UnreadableError:
        return False
    return True


def is_submodule(repository: Root, path: bytes, cancel: CancelToken | None) -> bool:
    """Whether git holds a repository at `path` (relative to the given one), and not a file or link in whose place there is a folder now:
    what is in such a folder git lists itself. In doubt, it does."""
    name = b":(top,literal)" + repository.prefix + path
    try:
        return git.run(
            repository.path, ("ls-files", "-s", "-z", "--full-name", "--", os.fsdecode(name)), cancel
        ).startswith(b"160000 ")
    except UnreadableError:
        return True


def visible(paths: Iterable[bytes], settings: CorpusSettings) -> list[bytes]:
    """The paths of which no part starts with a dot, or all of them."""
    if settings.hidden:
        return list(paths)
    return [path for path in paths if path[0] != 0x2E and b"/." not in path]


def walked(
    root: Root,
    settings: CorpusSettings,
    cancel: CancelToken | None,
    report: Callable[[int], None] | None = None,
    *,
    start: bytes = b"",
    with_parents: bool = True,
) -> Names:
    """What a walk below `start` finds. Without `with_parents`, only rules from the root down count."""
    layers = base_layers(root, settings) if with_parents else no_layers(settings)
    found = plain.walk(root, settings, layers, cancel, start=start, report=report)
    return Names(found.files + found.links, found.repositories, skips=found.skips)


def no_layers(settings: CorpusSettings) -> Layers:
    """No rules yet: one empty layer for each kind of ignore file, and one for the excludes."""
    return Layers(((),) * (len(layer_names(settings)) + 1))


def base_layers(root: Root, settings: CorpusSettings) -> Layers:
    """The rules in force at the root before its own ignore files: those of the folders above it in its work tree, and the excludes."""
    layers = no_layers(settings)
    if root.git_top is None:
        return layers
    if settings.use_gitignore:
        layers = layers.extended((*(None,) * (len(layers.sets) - 1), *_global_excludes(root)))
        layers = layers.extended((*(None,) * (len(layers.sets) - 1), _repository_excludes(root)))
    top = Root(root.git_top, root.git_dir, root.git_top, root.common_dir)
    parts = root.prefix.split(b"/")[:-1]
    for depth in range(len(parts)):
        folder = b"".join(part + b"/" for part in parts[:depth])
        layers = layers.extended((*folder_rules(top, folder, b"", layer_names(settings)), None))
    return layers


def _repository_excludes(root: Root) -> RuleSet | None:
    assert root.common_dir is not None
    return read_rules(os.fsencode(root.common_dir / "info" / "exclude"), b"", b".git/info/exclude")


def _global_excludes(root: Root) -> tuple[RuleSet | None]:
    try:
        output = git.run(
            root.path, ("config", "--type=path", "-z", "--get", "core.excludesFile"), timeout_s=_CONFIG_TIMEOUT_S
        )
        name = output.split(b"\0")[0]
    except UnreadableError:
        name = b""
    if not name:
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        name = os.fsencode(Path(home) / "git" / "ignore")
    return (read_rules(os.path.join(os.fsencode(root.path), name), b"", name),)
