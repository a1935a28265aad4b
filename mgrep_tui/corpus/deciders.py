"""The files outside the searched folders that decide about what is searched: git's index and configuration, excludes, rules above the root.

Their stats are compared at every check that has no listing. `index` ones say what git tracks, `rules` ones what it leaves out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.corpus.plain import layer_names
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.settled import is_settled
from mgrep_tui.errors import UnreadableError
from mgrep_tui.model import FileStat
from mgrep_tui.settings.config import CorpusSettings

_CONFIG_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Deciders:
    """Absolute paths; a file need not exist."""

    index: tuple[bytes, ...] = ()
    rules: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What files looked like at `taken_ns` (`time.time_ns()`)."""

    stats: tuple[FileStat | None, ...]
    taken_ns: int

    def holds(self, paths: Iterable[bytes]) -> bool:
        """Whether they certainly are as they were: a file that was written just before the look may have been written again since."""
        now = look_at(paths)
        return now.stats == self.stats and all(stat is None or is_settled(stat, self.taken_ns) for stat in self.stats)


def look_at(paths: Iterable[bytes]) -> Look:
    taken_ns = time.time_ns()
    stats: list[FileStat | None] = []
    for path in paths:
        try:
            stats.append(FileStat.of(os.stat(path)))  # configuration is often a link
        except OSError:
            stats.append(None)
    return Look(tuple(stats), taken_ns)


def deciders_of(
    root: Root, nested: Iterable[Root], settings: CorpusSettings, unclear: Iterable[bytes] = ()
) -> Deciders:
    """For a root and the repositories in it; `unclear` are folders with a `.git` that may become one. Runs git once for each repository;
    any thread; never raises."""
    index: list[bytes] = []
    rules = [
        root.absolute(folder + name) for folder in unclear for name in (b"/.git/HEAD", b"/.git/objects", b"/.git/refs")
    ]
    for repository in (root, *nested):
        if repository.git_dir is None or repository.common_dir is None:
            continue
        git_dir, common = os.fsencode(repository.git_dir), os.fsencode(repository.common_dir)
        index += [git_dir + b"/index", git_dir + b"/HEAD"]
        rules += [common + b"/config", git_dir + b"/config.worktree", common + b"/info/exclude"]
        rules += _configuration(repository)
    rules += _above(root, settings)
    return Deciders(tuple(dict.fromkeys(index)), tuple(dict.fromkeys(rules)))


def _configuration(repository: Root) -> list[bytes]:
    """Every configuration file that git reads or would read there, those that they include, and the excludes that they name."""
    home = Path(os.path.expanduser("~"))
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    found = [os.fsencode(path) for path in (home / ".gitconfig", own / "config", own / "ignore")]
    found += [b"/etc/gitconfig"]
    found += [
        os.fsencode(os.environ[name]) for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if os.environ.get(name)
    ]
    try:
        output = git.run(
            repository.path, ("config", "--list", "--show-origin", "-z"), timeout_s=_CONFIG_TIMEOUT_S
        ).split(b"\0")
    except UnreadableError:
        return found
    base = os.fsencode(repository.path)
    for origin, setting in zip(output[::2], output[1::2], strict=False):
        if not origin.startswith(b"file:"):
            continue
        file = os.path.join(base, origin[5:])
        found.append(file)
        key, _, value = setting.partition(b"\n")
        if key == b"core.excludesfile" or (key.startswith((b"include.", b"includeif.")) and key.endswith(b".path")):
            place = base if key == b"core.excludesfile" else os.path.dirname(file)
            found.append(os.path.join(place, os.path.expanduser(value)))
    return found


def _above(root: Root, settings: CorpusSettings) -> list[bytes]:
    """The ignore files of the folders between the top of the work tree and the root, and the pointer to git's folder where it is one."""
    if root.git_top is None:
        return []
    marker = root.git_top / ".git"
    found = [os.fsencode(marker)] if marker.is_file() else []
    folder = root.path
    while folder != root.git_top:
        folder = folder.parent
        found += [os.path.join(os.fsencode(folder), name) for name in layer_names(settings)]
    return found
