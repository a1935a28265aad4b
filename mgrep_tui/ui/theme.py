"""The few roles of colour that everything on the screen is drawn with.

Widgets never name a colour: they take a `Palette`, which is made anew when the theme changes. It works from any Textual theme, also from
those of 16 colours, and makes what a theme has too pale readable. No role lives by colour alone: matches are underlined, the cursor has a
bar, marks have a glyph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.color import Color, ColorParseError

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
    quiet: Style  # text that stands behind other text
    muted: Style
    faint: Style
    accent: Style
    match: Style  # in the preview, where one looks for it
    found: Style  # in the list, where it is on every line
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
    syntax: Mapping[str, Style]
    heading: Style

    def token(self, role: str) -> Style:
        """The style of a token's role; plain text for one that is not known."""
        return self.syntax.get(role, self.text)


# The contrasts of WCAG 2: text, and text that may be overlooked.
TEXT_CONTRAST, DIM_CONTRAST = 4.5, 3.0
_BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)


def contrast(front: Color, back: Color) -> float:
    """How well one colour is read on another, 1 to 21 (WCAG 2)."""
    low, high = sorted((_light(front), _light(back)))
    return (high + 0.05) / (low + 0.05)


def _light(color: Color) -> float:
    parts = [part / 255 for part in color.rgb]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable(color: Color, beneath: Sequence[Color], least: float) -> Color:
    """`color`, or the nearest towards black or white that has the contrast `least` on all of `beneath`; where none has, the best."""
    if all(contrast(color, back) >= least for back in beneath):
        return color
    far = max((_BLACK, _WHITE), key=lambda end: min(contrast(end, back) for back in beneath))
    for step in range(1, 20):
        nearer = color.blend(far, step / 20)
        if all(contrast(nearer, back) >= least for back in beneath):
            return nearer
    return far


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
    cursor = color("mg-cursor-background", background.blend(accent, 0.16))
    panel = color("panel", background.blend(foreground, 0.1))
    match_background = color("mg-match-background", background.blend(warning, 0.18))
    # All that text can lie on.
    beneath = (background, color("surface", background), cursor, panel)
    foreground = readable(foreground, (*beneath, match_background), TEXT_CONTRAST)
    accent = readable(accent, beneath, TEXT_CONTRAST)
    quiet = readable(color("mg-quiet", background.blend(foreground, 0.8)), beneath, TEXT_CONTRAST)
    muted = readable(color("mg-muted", background.blend(foreground, 0.62)), beneath, DIM_CONTRAST)
    faint = color("mg-faint", background.blend(foreground, 0.3))
    match = readable(color("mg-match", warning), (*beneath, match_background), TEXT_CONTRAST)

    def fore(value: Color, *, bold: bool = False, italic: bool = False, underline: bool = False) -> Style:
        value = readable(value, beneath, DIM_CONTRAST if value in (muted, faint) or italic else TEXT_CONTRAST)
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
        quiet=fore(quiet),
        muted=Style(color=muted.rich_color),
        faint=Style(color=faint.rich_color),
        accent=fore(accent),
        found=fore(match, underline=True),
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
        chip_lit=Style(
            color=readable(background, (accent,), TEXT_CONTRAST).rich_color, bgcolor=accent.rich_color, bold=True
        ),
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
        quiet=plain,
        muted=Style(dim=True),
        faint=Style(dim=True),
        accent=ansi(accent),
        found=ansi(role("warning", "ansi_yellow"), underline=True),
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
        syntax={name: syntax[role] for name, role in _SYNTAX.items()},
        heading=syntax["heading"],
    )
