"""Our themes can be read: contrast of each role on each background it lies on."""

from __future__ import annotations

from dataclasses import fields

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from mgrep_tui.text.highlight import ROLES
from mgrep_tui.ui.theme import OWN_THEMES, Palette, palette_of

# Roles that carry text; what is faint is only lines and bars.
READ = (
    "text",
    "strong",
    "accent",
    "match",
    "mark",
    "added",
    "changed",
    "removed",
    "warning",
    "error",
    "good",
    "key",
    "chip",
    "chip_lit",
)


def palette(theme: Theme) -> Palette:
    return palette_of({**theme.to_color_system().generate(), **theme.variables}, is_ansi=theme.ansi)


def contrast(style: Style, beneath: Color) -> float:
    """Of the text against its own background, or what lies beneath (WCAG 2)."""
    assert style.color is not None
    front = Color.from_rich_color(style.color)
    back = Color.from_rich_color(style.bgcolor) if style.bgcolor is not None else beneath
    lights = []
    for color in (front, back):
        parts = [part / 255 for part in color.rgb]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    low, high = sorted(lights)
    return (high + 0.05) / (low + 0.05)


def backgrounds(theme: Theme) -> list[Color]:
    """The screen, an open box, and the row under the cursor."""
    cursor = palette(theme).cursor.bgcolor
    assert cursor is not None
    assert theme.background is not None
    assert theme.surface is not None
    return [Color.parse(theme.background), Color.parse(theme.surface), Color.from_rich_color(cursor)]


@pytest.mark.parametrize("theme", OWN_THEMES, ids=lambda theme: theme.name)
def test_text_has_contrast_wherever_it_lies(theme: Theme) -> None:
    colors = palette(theme)
    for beneath in backgrounds(theme):
        for role in READ:
            assert contrast(getattr(colors, role), beneath) >= 4.5, (role, beneath)
        assert contrast(colors.muted, beneath) >= 3.0
        for role, style in colors.syntax.items():
            assert contrast(style, beneath) >= (3.0 if role in ("comment", "documentation") else 4.5), (role, beneath)


@pytest.mark.parametrize("theme", [*BUILTIN_THEMES.values(), *OWN_THEMES], ids=lambda theme: theme.name)
def test_every_theme_has_every_role(theme: Theme) -> None:
    colors = palette(theme)
    for field in fields(Palette):
        assert getattr(colors, field.name) is not None
    for role in ROLES:
        assert isinstance(colors.token(role), Style)
    assert colors.match.underline
