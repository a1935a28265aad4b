"""Themes of the person's own: each file `themes/NAME.toml` of the configuration folder is a theme of that name.

A file holds colours (`accent = "#ff8800"`) and nothing has to be there: what is missing comes from `base`, one of our own themes.
A colour that cannot be read on its background is made readable, as with every theme. A file that is wrong never stops the program.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

from mgrep_tui.ui.own_themes import DARK, OWN_THEMES

# Of Textual's themes.
GROUND = ("background", "foreground", "surface", "panel", "accent", "warning", "error", "success")
# Of ours.
ROLES = (
    "muted", "quiet", "faint", "match", "match-background", "cursor-background",
    "keyword", "string", "comment", "number", "function", "type", "operator", "decorator",
)  # fmt: skip
FILES_READ = 50
MAX_FILE_BYTES = 64_000


def load_themes(folder: Path) -> tuple[tuple[Theme, ...], tuple[str, ...]]:
    """The themes of a folder, and a sentence for each thing that is wrong with one."""
    themes: list[Theme] = []
    complaints: list[str] = []
    try:
        paths = sorted(folder.glob("*.toml"))[:FILES_READ]
    except OSError:
        return (), ()
    for path in paths:
        try:
            with path.open("rb") as file:
                values = tomllib.loads(file.read(MAX_FILE_BYTES).decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            complaints.append(f"{path}: not used ({error}).")
            continue
        theme, wrong = theme_of(path.stem, values)
        themes.append(theme)
        complaints += [f"{path}: {sentence}" for sentence in wrong]
    return tuple(themes), tuple(complaints)


def theme_of(name: str, values: Mapping[str, object]) -> tuple[Theme, tuple[str, ...]]:
    """A theme from a file's values, with what of them could not be used. Pure."""
    complaints: list[str] = []
    bases = {theme.name: theme for theme in OWN_THEMES}
    base = values.get("base", DARK.name)
    if base not in bases:
        complaints.append(f"'base' is one of {', '.join(bases)}.")
    ground: dict[str, str] = {}
    roles: dict[str, str] = {}
    for key, value in values.items():
        if key == "base":
            continue
        if key not in (*GROUND, *ROLES):
            complaints.append(f"unknown key '{key[:60]}'.")
        elif not _is_color(value):
            complaints.append(f"'{key}' must be a colour such as \"#7cb7ff\".")
        elif key in GROUND:
            ground[key] = str(value)
        else:
            roles[f"mg-{key}"] = str(value)
    theme = bases.get(str(base), DARK)
    if "accent" in ground:
        ground["primary"] = ground["accent"]
    if "faint" in values and "mg-faint" in roles:
        roles |= dict.fromkeys(("scrollbar", "border-blurred"), roles["mg-faint"])
    return replace(theme, name=name, variables={**theme.variables, **roles}, **ground), tuple(complaints)  # type: ignore[arg-type]


def _is_color(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return Color.parse(value).a == 1
    except ColorParseError:
        return False
