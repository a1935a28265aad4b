"""Walks folders itself and applies the ignore rules: for trees outside git, for what lies in the gaps, and where git cannot be asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from mgrep_tui.corpus.ignore import RuleSet
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.rules import Layers, read_rules
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Skip, SkipReason
from mgrep_tui.settings.config import CorpusSettings

# File systems that the kernel makes up: endless, and no files of anybody.
_KERNEL_FOLDERS = frozenset((b"/proc", b"/sys", b"/dev"))
_GITIGNORE = b".gitignore"
# Folders between two looks at the cancel token and two reports: some 10 ms.
_FOLDERS_A_LOOK = 64


@dataclass(slots=True)
class Found:
    """What a walk has met: paths of files and links relative to the root, nested repositories (not entered, without a slash at the end),
    and what could not be entered."""

    files: list[bytes] = field(default_factory=list)
    links: list[bytes] = field(default_factory=list)
    repositories: list[bytes] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def layer_names(settings: CorpusSettings) -> tuple[bytes, ...]:
    """The names of per-folder ignore files, the strongest first."""
    own = tuple(os.fsencode(name) for name in reversed(settings.ignore_files))
    return (*own, _GITIGNORE) if settings.use_gitignore else own


def folder_rules(root: Root, folder: bytes, prefix: bytes, names: Collection[bytes]) -> tuple[RuleSet | None, ...]:
    """The rule sets of the ignore files directly in `folder` (relative, with a slash at its end, or empty), one for each name.

    `prefix` is what stands before the root's paths when rules are matched.
    """
    return tuple(read_rules(root.absolute(folder + name), prefix + folder, folder + name) for name in names)


def walk(
    root: Root,
    settings: CorpusSettings,
    layers: Layers,
    cancel: CancelToken | None = None,
    *,
    start: bytes = b"",
    report: Callable[[int], None] | None = None,
) -> Found:
    """Every file below `start` (relative, with a slash at its end, or empty) that the rules admit, in no order.

    `layers` are the rules in force above `start`, one layer for each of `layer_names(settings)` and then the excludes. A folder that is a
    git repository of its own is not entered but handed back. `report` is told the number of files so far.
    """
    names = layer_names(settings)
    prefix = root.prefix
    base = os.fsencode(root.path)
    found = Found()
    stack: list[tuple[bytes, Layers]] = [(start, layers)]
    looked = 0
    while stack:
        folder, above = stack.pop()
        looked += 1
        if looked % _FOLDERS_A_LOOK == 0:
            if cancel is not None:
                cancel.check()
            if report is not None:
                report(len(found.files))
        try:
            with os.scandir(os.path.join(base, folder)) as listing:
                children = list(listing)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            found.skips.append(Skip(folder.rstrip(b"/") or b".", SkipReason.UNREADABLE, error.strerror or ""))
            continue
        present = {child.name for child in children}
        if folder != start and b".git" in present and _is_repository(base, folder):
            found.repositories.append(folder[:-1])
            continue
        here = above
        if not present.isdisjoint(names):
            own = folder_rules(root, folder, prefix, names)
            here = above.extended((*own, *(None,) * (len(above.sets) - len(own))))
        for child in children:
            name = child.name
            if name == b".git" or (name.startswith(b".") and not settings.hidden):
                continue
            path = folder + name
            try:
                is_folder = child.is_dir(follow_symlinks=False)
            except OSError:
                is_folder = False
            if not here.is_empty and here.is_ignored(prefix + path, is_folder):
                continue
            if is_folder:
                if os.path.join(base, path) not in _KERNEL_FOLDERS:
                    stack.append((path + b"/", here))
            elif child.is_symlink():
                found.links.append(path)
            else:
                found.files.append(path)
    return found


def _is_repository(base: bytes, folder: bytes) -> bool:
    """Whether there is more than an empty `.git` in `folder`; the same files are asked for as when it is opened."""
    marker = os.path.join(base, folder, b".git")
    return os.path.isfile(marker) or os.path.isfile(os.path.join(marker, b"HEAD"))
