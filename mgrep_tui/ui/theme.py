"""Our two themes, and the few roles of colour that everything on the screen is drawn with.

Widgets never name a colour: they take a `Palette`, which is made anew when the theme changes. It works from any Textual theme, also from
those of 16 colours. No role lives by colour alone: matches are bold and underlined, the cursor has a bar, marks have a glyph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style
from textual.color import Color, ColorParseError
from textual.theme import Theme

DARK = Theme(
    name="mgrep-dark",
    primary="#7cb7ff",
    secondary="#5f9ad6",
    accent="#7cb7ff",
    warning="#f0b35e",
    error="#ff7b85",
    success="#86cf8a",
    foreground="#dadde3",
    background="#14161a",
    surface="#1a1d22",
    panel="#21252c",
    dark=True,
    variables={
        "mg-muted": "#8c93a1",
        "mg-faint": "#4a505c",
        "scrollbar": "#4a505c",
        "scrollbar-hover": "#8c93a1",
        "scrollbar-active": "#8c93a1",
        "border-blurred": "#4a505c",
        "mg-match": "#ffd166",
        "mg-match-background": "#3a3320",
        "mg-cursor-background": "#263244",
        "mg-keyword": "#c79bf2",
        "mg-string": "#a3d48c",
        "mg-comment": "#848c9c",
        "mg-number": "#f2ab78",
        "mg-function": "#82bdff",
        "mg-type": "#74d2c8",
        "mg-operator": "#b0b8c6",
        "mg-decorator": "#e2c48a",
    },
)
LIGHT = Theme(
    name="mgrep-light",
    primary="#0a5cb0",
    secondary="#3c7dc0",
    accent="#0a5cb0",
    warning="#8f5200",
    error="#b3202b",
    success="#256f35",
    foreground="#23262d",
    background="#fcfbf8",
    surface="#f5f3ee",
    panel="#ebe8e1",
    dark=False,
    variables={
        "mg-muted": "#666b76",
        "mg-faint": "#b9b7b0",
        "scrollbar": "#b9b7b0",
        "scrollbar-hover": "#666b76",
        "scrollbar-active": "#666b76",
        "border-blurred": "#b9b7b0",
        "mg-match": "#7a3e00",
        "mg-match-background": "#ffe7a3",
        "mg-cursor-background": "#dde9f7",
        "mg-keyword": "#7a2db0",
        "mg-string": "#2b6a2b",
        "mg-comment": "#6a6f7a",
        "mg-number": "#964600",
        "mg-function": "#0a5cb0",
        "mg-type": "#00666a",
        "mg-operator": "#4c515c",
        "mg-decorator": "#7d5a00",
    },
)
OWN_THEMES = (DARK, LIGHT)

# The roles of `text.highlight`, to ours. What is not here is drawn as plain text.
_SYNTAX = {
    "keyword": "keyword", "tag": "keyword",
    "string": "string", "escape": "number", "regex": "string", "code": "string",
    "comment": "comment", "documentation": "comment",
    "number": "number", "constant": "number",
    "function": "function", "link": "function",
    "type": "type", "class": "type", "builtin": "type", "namespace": "type",
    "operator": "operator", "punctuation": "operator",
    "decorator": "decorator", "attribute": "decorator", "preprocessor": "decorator",
    "heading": "heading", "strong": "strong", "emphasis": "emphasis",
    "added": "added", "removed": "removed",
}  # fmt: skip
_SYNTAX_FALLBACK = {
    "keyword": "primary",
    "string": "success",
    "number": "warning",
    "function": "accent",
    "type": "secondary",
    "operator": "foreground",
    "decorator": "warning",
}
_SYNTAX_ANSI = {
    "keyword": "ansi_magenta",
    "string": "ansi_green",
    "number": "ansi_yellow",
    "function": "ansi_blue",
    "type": "ansi_cyan",
    "operator": "ansi_default",
    "decorator": "ansi_yellow",
}


@dataclass(frozen=True, slots=True)
class Palette:
    """A Rich style for each role. Styles without a background lie on whatever is beneath."""

    text: Style
    strong: Style
    muted: Style
    faint: Style
    accent: Style
    match: Style
    mark: Style
    added: Style
    changed: Style
    removed: Style
    warning: Style
    error: Style
    good: Style
    key: Style
    cursor: Style  # the row under the cursor, when the list has the focus or the query drives it
    cursor_bar: Style
    chunk_bar: Style
    chip: Style
    chip_lit: Style
    selected_text: Style
    input_cursor: Style
    syntax: Mapping[str, Style]
    heading: Style

    def token(self, role: str) -> Style:
        """The style of a token's role; plain text for one that is not known."""
        return self.syntax.get(role, self.text)


def palette_of(variables: Mapping[str, str], *, is_ansi: bool) -> Palette:
    """The palette of a theme, from its variables (`App.theme_variables`)."""
    if is_ansi:
        return _ansi_palette(variables)

    def color(name: str, default: Color) -> Color:
        try:
            return Color.parse(variables[name])
        except (KeyError, ColorParseError):
            return default

    background = color("background", Color(20, 22, 26))
    foreground = color("foreground", Color(220, 220, 220))
    accent = color("accent", foreground)
    warning = color("warning", accent)
    muted = color("mg-muted", background.blend(foreground, 0.62))
    faint = color("mg-faint", background.blend(foreground, 0.3))
    match = color("mg-match", warning)
    match_background = color("mg-match-background", background.blend(warning, 0.18))
    cursor = color("mg-cursor-background", background.blend(accent, 0.16))
    panel = color("panel", background.blend(foreground, 0.1))

    def fore(value: Color, *, bold: bool = False, italic: bool = False, underline: bool = False) -> Style:
        return Style(color=value.rich_color, bold=bold or None, italic=italic or None, underline=underline or None)

    syntax = {"comment": fore(color("mg-comment", muted), italic=True), "text": fore(foreground)}
    for role, fallback in _SYNTAX_FALLBACK.items():
        syntax[role] = fore(color(f"mg-{role}", color(fallback, foreground)))
    syntax["heading"] = fore(accent, bold=True)
    syntax["strong"], syntax["emphasis"] = fore(foreground, bold=True), fore(foreground, italic=True)
    syntax["added"], syntax["removed"] = fore(color("success", foreground)), fore(color("error", foreground))
    return Palette(
        text=fore(foreground),
        strong=fore(foreground, bold=True),
        muted=fore(muted),
        faint=fore(faint),
        accent=fore(accent),
        match=Style(color=match.rich_color, bgcolor=match_background.rich_color, bold=True, underline=True),
        mark=fore(accent, bold=True),
        added=fore(color("success", foreground)),
        changed=fore(accent),
        removed=fore(color("error", foreground)),
        warning=fore(warning),
        error=fore(color("error", foreground), bold=True),
        good=fore(color("success", foreground)),
        key=fore(foreground, bold=True),
        cursor=Style(bgcolor=cursor.rich_color),
        cursor_bar=Style(color=accent.rich_color, bgcolor=cursor.rich_color, bold=True),
        chunk_bar=fore(accent),
        chip=Style(color=foreground.rich_color, bgcolor=panel.rich_color),
        chip_lit=Style(color=background.rich_color, bgcolor=accent.rich_color, bold=True),
        selected_text=Style(bgcolor=background.blend(accent, 0.35).rich_color),
        input_cursor=Style(color=background.rich_color, bgcolor=foreground.rich_color),
        syntax={name: syntax[role] for name, role in _SYNTAX.items()},
        heading=syntax["heading"],
    )


def _ansi_palette(variables: Mapping[str, str]) -> Palette:
    def ansi(name: str, *, bold: bool = False, italic: bool = False, underline: bool = False) -> Style:
        color = Color.parse(name).rich_color
        return Style(color=color, bold=bold or None, italic=italic or None, underline=underline or None)

    def role(name: str, default: str) -> str:
        value = variables.get(name, default)
        return value if value.startswith("ansi_") else default

    accent = role("primary", "ansi_blue")
    plain = ansi("ansi_default")
    syntax = {role: ansi(name) for role, name in _SYNTAX_ANSI.items()}
    syntax["comment"] = Style(dim=True, italic=True)
    syntax["heading"] = ansi(accent, bold=True)
    syntax["strong"], syntax["emphasis"] = ansi("ansi_default", bold=True), ansi("ansi_default", italic=True)
    syntax["added"], syntax["removed"] = ansi("ansi_green"), ansi("ansi_red")
    syntax["text"] = plain
    return Palette(
        text=plain,
        strong=ansi("ansi_default", bold=True),
        muted=Style(dim=True),
        faint=Style(dim=True),
        accent=ansi(accent),
        match=ansi(role("warning", "ansi_yellow"), bold=True, underline=True),
        mark=ansi(accent, bold=True),
        added=ansi("ansi_green"),
        changed=ansi("ansi_blue"),
        removed=ansi("ansi_red"),
        warning=ansi("ansi_yellow"),
        error=ansi("ansi_red", bold=True),
        good=ansi("ansi_green"),
        key=ansi("ansi_default", bold=True),
        cursor=Style(bold=True),
        cursor_bar=ansi(accent, bold=True),
        chunk_bar=ansi(accent),
        chip=Style(underline=True),
        chip_lit=Style(reverse=True),
        selected_text=Style(reverse=True),
        input_cursor=Style(reverse=True),
        syntax={name: syntax[role] for name, role in _SYNTAX.items()},
        heading=syntax["heading"],
    )
