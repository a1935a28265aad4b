"""What every command needs before it can begin: the places, the settings in force, the log."""

from __future__ import annotations

import argparse
import logging
import logging.handlers
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mgrep_tui.commands.targets import Target, Targets, targets_of
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.load import PROJECT_FILE, Loaded, load_settings
from mgrep_tui.settings.paths import Folders, user_folders
from mgrep_tui.text.sanitize import sanitize

LOG_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Context:
    """A command's surroundings. `settings` are those of the person; with a single folder also what its own file says.

    `warnings` tell what was wrong with configurations and with places that cannot be opened.
    """

    targets: Targets
    settings: Settings
    folders: Folders
    warnings: tuple[str, ...]
    user_file: Path
    flags: Mapping[str, Any]

    @property
    def root(self) -> Root:
        """The one folder of a command that takes one. Raises `MgrepError` when there are more, or a repository."""
        found = self.targets.places
        if len(found) != 1:
            raise MgrepError("This command takes one folder at a time.")
        if found[0].root is None:
            raise MgrepError(f"{found[0].typed} is an address, and this command takes a folder.")
        return found[0].root

    def settings_for(self, folder: Path) -> Loaded:
        """The settings of one root among several, its own file included."""
        return load_settings(self.user_file, folder / PROJECT_FILE, self.flags)


def prepare(arguments: argparse.Namespace, *, prefers_git_root: bool) -> Context:
    """Find places and settings, and begin the log. Raises `MgrepError` when no place can be opened."""
    folders = user_folders()
    start_log(folders, getattr(arguments, "log_level", None))
    user_file = Path(arguments.config) if arguments.config else config_file(folders)
    given = flags(arguments)
    own = load_settings(user_file, None, given)
    words = [word for word in arguments.paths if word]
    workspace = getattr(arguments, "workspace", None) or ""
    if words or workspace:
        targets = targets_of(words, workspace, own.settings.workspaces)
    else:
        root = open_root(Path("."))
        if prefers_git_root and root.git_top is not None and root.git_top != root.path:
            root = open_root(root.git_top)
        targets = Targets((Target("", root=root),))
    loaded = own
    if len(targets.places) == 1 and (only := targets.places[0].root) is not None:
        loaded = load_settings(user_file, only.path / PROJECT_FILE, given)
    return Context(targets, loaded.settings, folders, (*loaded.warnings, *targets.troubles), user_file, given)


def with_targets(context: Context, targets: Targets) -> Context:
    """The same command on other places."""
    return replace(context, targets=targets)


def config_file(folders: Folders) -> Path:
    return Path(os.environ.get("MGREP_TUI_CONFIG") or folders.config_file)


def flags(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line names."""
    given: dict[str, Any] = {}
    if getattr(arguments, "hidden", False):
        given["corpus.hidden"] = True
    if getattr(arguments, "no_ignore", False):
        given["corpus.use_gitignore"] = False
        given["corpus.ignore_files"] = ()
    if getattr(arguments, "no_watch", False):
        given["index.watch"] = False
    if getattr(arguments, "case", None):
        given["regex.case"] = arguments.case
    if getattr(arguments, "ratio", None) is not None:
        given["semantic.ratio"] = arguments.ratio
    return given


def start_log(folders: Folders, level: str | None) -> None:
    """Everything goes to one file; nothing but our own screen ever writes to the terminal."""
    log = logging.getLogger()
    handler: logging.Handler
    try:
        folders.log.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            folders.log_file, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"))
    log.handlers[:] = [handler]
    log.setLevel((level or "warning").upper())
    logging.raiseExceptions = False


def warn(context: Context) -> None:
    """Say what was wrong with the configuration and the places, on stderr."""
    for text in context.warnings:
        print(f"mgrep-tui: {sanitize(text)}", file=sys.stderr)
