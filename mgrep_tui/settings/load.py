"""Where the values of the configuration come from: defaults < user's file < project's file < flags.

A file never stops the program: what it holds that cannot be used is named with its file and line, and the layer below stays in force. A
project's file comes with a repository, so it may not name programs, model folders or addresses.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mgrep_tui.settings.config import Key, Settings, all_keys

PROJECT_FILE = ".mgrep-tui.toml"
WORKSPACES = "workspaces"
# A configuration is a page of text; more is a mistake or an attack on our memory.
MAX_FILE_BYTES = 256_000
# What a person reads; the place of each is looked for in the whole text.
MAX_WARNINGS = 20
MAX_QUOTED = 60
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force and what was wrong with the files, one sentence each."""

    settings: Settings
    warnings: tuple[str, ...]


def load_settings(user_file: Path | None, project_file: Path | None, flags: Mapping[str, Any] | None = None) -> Loaded:
    """Read both files where they exist and put `flags` (`"index.watch": False`) on top."""
    settings, warnings = Settings(), []
    for path, is_project in ((user_file, False), (project_file, True)):
        if path is None:
            continue
        settings, found = _apply_file(settings, path, is_project)
        warnings.extend(found)
    for name, value in (flags or {}).items():
        section, _, key = name.partition(".")
        settings = _with(settings, section, key, value)
    return Loaded(settings, tuple(warnings))


def _apply_file(settings: Settings, path: Path, is_project: bool) -> tuple[Settings, list[str]]:
    try:
        raw = _read(path, is_project)
    except FileNotFoundError:
        return settings, []
    except OSError as error:
        return settings, [f"{path}: cannot be read ({error.strerror}); the defaults are used."]
    if len(raw) > MAX_FILE_BYTES:
        return settings, [f"{path}: larger than {MAX_FILE_BYTES:,} bytes; not read."]
    try:
        text = raw.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        return settings, [f"{path}: not valid TOML ({error}); not used."]
    return _apply_tables(settings, tables, text, path, is_project)


def _read(path: Path, is_project: bool) -> bytes:
    """The start of a file. A project's file is opened without blocking, and refused when it is a link (it could lead out of the root) or
    anything else that is no regular file."""
    if not is_project:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link")
    with open(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(MAX_FILE_BYTES + 1)


def _apply_tables(
    settings: Settings, tables: Mapping[str, Any], text: str, path: Path, is_project: bool
) -> tuple[Settings, list[str]]:
    keys = {(key.section, key.name): key for key in all_keys()}
    sections = {key.section for key in keys.values()}
    warnings: list[str] = []

    def warn(section: str, name: str, sentence: str) -> None:
        if len(warnings) < MAX_WARNINGS:
            warnings.append(f"{_place(path, text, section, name)}: {sentence}")

    for section, values in tables.items():
        if section == WORKSPACES:
            if is_project:
                warn("", section, f"'{section}' is not taken from a project's file; set it in your own.")
                continue
            found, wrong = _workspaces(values)
            settings = replace(settings, workspaces={**settings.workspaces, **found})
            for name in wrong:
                warn(section, name, f"'{section}.{_cut(name)}' must be a list of folders and addresses.")
            continue
        if section not in sections:
            warn("", section, f"unknown section or key '{_cut(section)}'.")
            continue
        if not isinstance(values, dict):
            warn("", section, f"'{section}' is a section, not a value.")
            continue
        for name, value in values.items():
            key = keys.get((section, name))
            if key is None:
                warn(section, name, f"unknown key '{section}.{_cut(name)}'.")
            elif is_project and key.is_private:
                warn(section, name, f"'{section}.{name}' is not taken from a project's file; set it in your own.")
            else:
                checked = _checked(key, value)
                if checked is None:
                    warn(section, name, f"'{section}.{name}' must be {_wanted(key)}; {_cut(repr(value))} is not.")
                else:
                    settings = _with(settings, section, name, checked)
    return settings, warnings


def _workspaces(values: Any) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The workspaces of a file, and the names of those that are none."""
    if not isinstance(values, dict):
        return {}, [""]
    found: dict[str, tuple[str, ...]] = {}
    wrong = []
    for name, places in values.items():
        if isinstance(places, list) and places and all(isinstance(place, str) and place.strip() for place in places):
            found[name] = tuple(places)
        else:
            wrong.append(name)
    return found, wrong


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "…"


def _with(settings: Settings, section: str, name: str, value: Any) -> Settings:
    changed = replace(getattr(settings, section), **{name: value})
    return replace(settings, **{section: changed})


def _checked(key: Key, value: Any) -> Any:
    """The value in the type of the key, or None where it does not fit: not in the range, not among the choices, not a file's name."""
    if key.kind is bool:
        return value if isinstance(value, bool) else None
    if key.kind in (int, float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not key.lowest <= value <= key.highest:
            return None
        if key.kind is int and value != int(value):
            return None
        return key.kind(value)
    if key.kind is str:
        return value if isinstance(value, str) and (not key.choices or value in key.choices) else None
    if key.kind is tuple:
        return tuple(value) if isinstance(value, list) and all(map(_is_file_name, value)) else None
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return dict(value)
    return None


def _is_file_name(value: Any) -> bool:
    """Whether it names a file in whatever folder it is looked for, and never one elsewhere."""
    return isinstance(value, str) and value not in ("", ".", "..") and not re.search(r"[/\\\0]", value)


def _wanted(key: Key) -> str:
    if key.choices:
        return "one of " + ", ".join(key.choices)
    if key.kind in (int, float):
        return f"a {'whole ' if key.kind is int else ''}number from {key.lowest:,.0f} to {key.highest:,.0f}"
    names = {bool: "true or false", str: "text", tuple: "a list of names of files, without folders"}
    return names.get(key.kind, "a table of texts")


def _place(path: Path, text: str, section: str, name: str) -> str:
    """`file:line` of a key, found by reading the lines; the parser does not tell."""
    current = ""
    wanted = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*[=.]""")
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"""\s*\[+\s*["']?([^\]"'.]+)""", line)
        if header:
            current = header.group(1).strip()
            if not section and current == name:
                return f"{path}:{number}"
        elif current == section:
            if wanted.match(line):
                return f"{path}:{number}"
        elif not current and re.match(rf"\s*{re.escape(section)}\s*(\.\s*{re.escape(name)}\s*)?=", line):
            return f"{path}:{number}"
    return str(path)
