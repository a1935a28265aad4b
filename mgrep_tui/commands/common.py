"""What every command needs before it can begin: the folder, the settings in force, the log."""

from __future__ import annotations

import argparse
import logging
import logging.handlers
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.load import PROJECT_FILE, load_settings
from mgrep_tui.settings.paths import Folders, user_folders
from mgrep_tui.text.sanitize import sanitize

LOG_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Context:
    """A command's surroundings. `is_git_root_chosen` says that no folder was named and the one above was taken."""

    root: Root
    settings: Settings
    folders: Folders
    warnings: tuple[str, ...]
    is_git_root_chosen: bool


def prepare(arguments: argparse.Namespace, *, prefers_git_root: bool) -> Context:
    """Find folder and settings, and begin the log. Raises `MgrepError` when the folder cannot be read."""
    folders = user_folders()
    named = arguments.path
    root = open_root(Path(named or "."))
    is_chosen = False
    if not named and prefers_git_root and root.git_top is not None and root.git_top != root.path:
        root, is_chosen = open_root(root.git_top), True
    start_log(folders, getattr(arguments, "log_level", None))
    user_file = Path(arguments.config) if arguments.config else config_file(folders)
    loaded = load_settings(user_file, root.path / PROJECT_FILE, flags(arguments))
    return Context(root, loaded.settings, folders, loaded.warnings, is_chosen)


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
    """Say what was wrong with the configuration, on stderr."""
    for text in context.warnings:
        print(f"mgrep-tui: {sanitize(text)}", file=sys.stderr)
