"""Where the names of the corpus come from: git's own list, a walk, or both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mgrep_tui.corpus import git, plain
from mgrep_tui.corpus.plain import layer_names
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.rules import Layers
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Skip, SkipReason
from mgrep_tui.settings.config import CorpusSettings

_CLOSED_FOLDER = re.compile(rb"^warning: could not open directory '(.*)': (.*)$", re.MULTILINE)


@dataclass(slots=True)
class Sources:
    """Candidates relative to the root, sorted, each once. A candidate may turn out to be gone, a link or a folder."""

    paths: list[bytes] = field(default_factory=list)
    links: list[bytes] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    is_git: bool = False
    notes: tuple[str, ...] = ()


def find(
    root: Root,
    settings: CorpusSettings,
    cancel: CancelToken | None = None,
    report: Callable[[int], None] | None = None,
) -> Sources:
    """All candidates under `root`. Raises Cancelled."""
    if root.is_bare:
        return Sources(notes=("This is a bare git repository: it has no files checked out.",))
    sources = Sources(is_git=root.is_git)
    if root.is_git:
        try:
            _from_git(root, settings, sources, cancel)
        except UnreadableError as error:
            sources.notes = (
                f"{error.message} Ignore rules are read without git; ignored files that git tracks are not searched.",
            )
            sources.is_git = False
    if not sources.is_git:
        _from_walk(root, settings, sources, cancel, report)
    sources.paths = sorted(set(sources.paths))
    return sources


def _from_git(root: Root, settings: CorpusSettings, sources: Sources, cancel: CancelToken | None) -> None:
    """Add git's list. Raises UnreadableError when git fails."""
    standard = ("--exclude-standard",) if settings.use_gitignore else ()
    untracked = git.GitProcess(root.path, ("ls-files", "-z", "--others", *standard))
    try:
        tracked = git.run(root.path, ("ls-files", "-z", "--cached"), cancel)
    except BaseException:
        untracked.kill()
        raise
    others, warnings = untracked.finish(cancel)
    for closed, reason in _CLOSED_FOLDER.findall(warnings):
        sources.skips.append(Skip(closed.rstrip(b"/"), SkipReason.UNREADABLE, reason.decode("utf-8", "replace")))
    names = tracked.split(b"\0")[:-1] + others.split(b"\0")[:-1]
    sources.paths += names if settings.hidden else without_hidden(names)


def without_hidden(paths: Iterable[bytes]) -> list[bytes]:
    """The paths of which no part starts with a dot."""
    return [path for path in paths if path[0] != 0x2E and b"/." not in path]


def _from_walk(
    root: Root,
    settings: CorpusSettings,
    sources: Sources,
    cancel: CancelToken | None,
    report: Callable[[int], None] | None,
) -> None:
    found = plain.walk(root, settings, base_layers(root, settings), cancel, enter_repositories=True, report=report)
    sources.paths += found.files
    sources.links += found.links
    sources.skips += found.skips


def base_layers(root: Root, settings: CorpusSettings) -> Layers:
    """The rules in force above the root's own ignore files: one layer for each kind of file, and the excludes at the end."""
    return Layers(((),) * (len(layer_names(settings)) + 1))
