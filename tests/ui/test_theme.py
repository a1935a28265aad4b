"""Every theme can be read: the contrast of each role on all that it lies on, computed as WCAG 2 has it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from mgrep_tui.text.highlight import ROLES
from mgrep_tui.ui.own_themes import DARK, LIGHT, OWN_THEMES
from mgrep_tui.ui.theme import DIM_CONTRAST, TEXT_CONTRAST, Palette, contrast, palette_of, readable
from mgrep_tui.ui.user_themes import load_themes, theme_of
from tests.support.screen import running

# Roles that carry text; what is faint is only lines and bars.
READ = (
    "text", "strong", "quiet", "accent", "match", "found", "mark", "added", "changed", "removed", "warning", "error", "good", "key",
    "chip", "chip_lit", "cursor_bar",
)  # fmt: skip
DIM = ("comment", "documentation", "emphasis")
COLOURED = [theme for theme in (*BUILTIN_THEMES.values(), *OWN_THEMES) if not theme.ansi]


def variables(theme: Theme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables}


def palette(theme: Theme) -> Palette:
    return palette_of(variables(theme), is_ansi=theme.ansi)


def contrast_of(style: Style, beneath: Color) -> float:
    assert style.color is not None
    back = Color.from_rich_color(style.bgcolor) if style.bgcolor is not None else beneath
    return contrast(Color.from_rich_color(style.color), back)


def backgrounds(theme: Theme) -> list[Color]:
    """The screen, an open box, and the row under the cursor."""
    cursor = palette(theme).cursor.bgcolor
    assert cursor is not None
    named = variables(theme)
    return [Color.parse(named["background"]), Color.parse(named["surface"]), Color.from_rich_color(cursor)]


def check(theme: Theme) -> None:
    colors = palette(theme)
    for beneath in backgrounds(theme):
        for role in READ:
            assert contrast_of(getattr(colors, role), beneath) >= TEXT_CONTRAST, (role, beneath)
        assert contrast_of(colors.muted, beneath) >= DIM_CONTRAST
        for role, style in colors.syntax.items():
            least = DIM_CONTRAST if role in DIM else TEXT_CONTRAST
            assert contrast_of(style, beneath) >= least, (role, beneath)


@pytest.mark.parametrize("theme", COLOURED, ids=lambda theme: theme.name)
def test_text_has_contrast_wherever_it_lies(theme: Theme) -> None:
    check(theme)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color(255, 255, 255)) == pytest.approx(4.48, abs=0.01)


def test_a_readable_colour_is_left_alone_and_a_pale_one_moves_no_further_than_it_must() -> None:
    back = (Color.parse("#14161a"),)
    fine, pale = Color.parse("#7cb7ff"), Color.parse("#333a44")
    assert readable(fine, back, TEXT_CONTRAST) == fine
    assert TEXT_CONTRAST <= contrast(readable(pale, back, TEXT_CONTRAST), back[0]) < 6


@pytest.mark.parametrize("theme", [*BUILTIN_THEMES.values(), *OWN_THEMES], ids=lambda theme: theme.name)
def test_every_theme_has_every_role(theme: Theme) -> None:
    colors = palette(theme)
    for field in fields(Palette):
        assert getattr(colors, field.name) is not None
    for role in ROLES:
        assert isinstance(colors.token(role), Style)
    # Never by colour alone.
    assert colors.match.underline
    assert colors.found.underline


# --- a person's own


def test_a_theme_of_ones_own_needs_one_colour_and_takes_the_rest_from_its_base() -> None:
    theme, complaints = theme_of("mine", {"accent": "#ff8800", "base": "mgrep-light", "keyword": "#123456"})
    assert complaints == ()
    assert (theme.name, theme.accent, theme.primary, theme.background) == (
        "mine",
        "#ff8800",
        "#ff8800",
        LIGHT.background,
    )
    assert theme.variables["mg-keyword"] == "#123456"
    assert theme.variables["mg-string"] == LIGHT.variables["mg-string"]
    check(theme)


def test_what_is_wrong_with_a_theme_is_said_and_the_rest_of_it_used(tmp_path: Path) -> None:
    (tmp_path / "dusk.toml").write_text(
        'accent = "nonsense"\nacent = "#fff"\nbase = "no"\nmatch = "#00ff00"\nerror = 3\n'
    )
    (tmp_path / "broken.toml").write_text("accent = ")
    (tmp_path / "notes.txt").write_text("not a theme")
    themes, complaints = load_themes(tmp_path)
    assert [theme.name for theme in themes] == ["dusk"]
    assert themes[0].accent == DARK.accent
    assert themes[0].variables["mg-match"] == "#00ff00"
    said = " ".join(complaints)
    for wanted in (
        "broken.toml: not used",
        "'base' is one of",
        "'acent'",
        "'accent' must be a colour",
        "'error' must be",
    ):
        assert wanted in said
    assert load_themes(tmp_path / "missing") == ((), ())


async def test_a_theme_of_the_configuration_folder_is_used_and_offered(tmp_path: Path) -> None:
    (tmp_path / "dusk.toml").write_text('background = "#201020"\naccent = "#ff8800"\n')
    async with running(theme="dusk", themes=tmp_path, text="retry") as screen:
        assert screen.app.theme == "dusk"
        assert screen.app.current_theme.accent == "#ff8800"
        screen.main.perform("theme")
        await screen.type("dusk")
        assert "dusk" in screen.text()
