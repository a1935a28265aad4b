"""One table of keys: bindings, help, palette, README and configuration come from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mgrep_tui.ui.actions import handlers
from mgrep_tui.ui.bindings import textual_keymap
from mgrep_tui.ui.keymap import COMMANDS, GROUPS, by_id, readme_table, rebound, shown_key, textual_key
from mgrep_tui.ui.panels import help_rows, palette_picks
from tests.support.screen import running

README = Path(__file__).parents[2] / "README.md"


def test_every_key_leads_to_one_command() -> None:
    for keys in ([key for each in COMMANDS for key in each.keys], [key for each in COMMANDS for key in each.pane_keys]):
        assert [key for key, number in Counter(keys).items() if number > 1] == []


def test_no_plain_letter_is_a_command_while_the_query_is_typed() -> None:
    """A query with a q in it can be typed."""
    assert [key for each in COMMANDS for key in each.keys if len(key) == 1] == []


def test_keys_that_terminals_do_not_send_are_never_the_only_way() -> None:
    fragile = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+s", "ctrl+q", "ctrl+enter", "f10", "f11"}
    for command in COMMANDS:
        assert not command.keys or set(command.keys) - fragile, command.id


def test_every_command_says_what_it_does() -> None:
    for command in COMMANDS:
        assert command.help.endswith("."), command.id
        assert command.group in GROUPS


async def test_every_command_can_be_run() -> None:
    async with running() as screen:
        assert set(handlers(screen.main)) == {command.id for command in COMMANDS}


def test_help_and_palette_hold_every_command() -> None:
    for width in (120, 48):
        text = "\n".join("".join(part for part, _ in row.left) for row in help_rows(COMMANDS, width))
        for command in COMMANDS:
            assert (command.help if width == 120 else command.title[:12]) in text
    assert {pick.value for pick in palette_picks(COMMANDS)} == {each.id for each in COMMANDS} - {"palette", "back"}


def test_readme_has_the_table_of_keys() -> None:
    """README keys equal the key map. Write them with `python -m mgrep_tui.ui.keymap`."""
    if "| anywhere |" not in README.read_text(encoding="utf-8"):
        pytest.skip("the README has no key table yet")
    assert readme_table() in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("ctrl+r", "Ctrl+R"),
        ("f2", "F2"),
        ("shift+down", "Shift+↓"),
        ("/", "/"),
        ("G", "G"),
        ("g", "g"),
        ("+", "+"),
        ("alt+.", "Alt+."),
    ],
)
def test_keys_are_shown_as_on_the_keyboard(key: str, shown: str) -> None:
    assert shown_key(key) == shown


def test_punctuation_has_the_names_that_textual_knows() -> None:
    assert textual_key("/") == "slash"
    assert textual_key("alt+,") == "alt+comma"
    assert textual_key("ctrl+r") == "ctrl+r"


def test_rebinding_takes_a_key_from_its_former_command() -> None:
    commands, complaints = rebound({"open": "f5"})
    assert complaints == ()
    assert by_id(commands)["open"].keys == ("f5",)
    assert by_id(commands)["again"].keys == ()


@pytest.mark.parametrize(("name", "key"), [("no-such-command", "f4"), ("open", "x"), ("open.window", "x")])
def test_what_cannot_be_rebound_is_said(name: str, key: str) -> None:
    commands, complaints = rebound({name: key})
    assert commands == COMMANDS
    assert len(complaints) == 1
    assert name in complaints[0]


def test_only_changed_commands_are_rebound() -> None:
    commands, _ = rebound({"open.pane": "o"})
    assert textual_keymap(commands) == {"open.pane": "o", "sort.pane": "unbound-sort"}


async def test_a_rebound_key_works_and_the_old_one_does_not() -> None:
    async with running(text="retry", keys={"mode": "f4", "wordier": "f7", "copy-path.pane": "f"}) as screen:
        before = screen.main.flow.ask.mode
        await screen.press("f2")
        assert screen.main.flow.ask.mode is before
        await screen.press("f4")
        assert screen.main.flow.ask.mode is not before


async def test_complaints_about_keys_are_toasts() -> None:
    async with running(keys={"nonsense[/b]": "f4"}) as screen:
        await screen.until(lambda: "nonsense[/b]" in screen.text())
