"""Every key of the map arrives from a plain terminal, which knows no newer keyboard protocol."""

from __future__ import annotations

import pytest
from textual import events

from mgrep_tui.ui.alt_keys import AltParser
from mgrep_tui.ui.keymap import COMMANDS, textual_key

# What xterm sends.
_NAMED = {
    "up": "\x1b[{}A", "down": "\x1b[{}B", "right": "\x1b[{}C", "left": "\x1b[{}D", "home": "\x1b[{}H", "end": "\x1b[{}F",
    "pageup": "\x1b[5{}~", "pagedown": "\x1b[6{}~", "delete": "\x1b[3{}~",
    **{f"f{number}": f"\x1b[{code}{{}}~" for number, code in {5: 15, 6: 17, 7: 18, 8: 19, 9: 20, 10: 21, 11: 23, 12: 24}.items()},
    **{f"f{number}": f"\x1b[{{}}{letter}" for number, letter in {1: "P", 2: "Q", 3: "R", 4: "S"}.items()},
}  # fmt: skip
_MODIFIERS = {"": "", "shift": "2", "alt": "3", "ctrl": "5"}
_CHARACTERS = {"enter": "\r", "tab": "\t", "escape": "\x1b", "space": " ", "backspace": "\x7f"}


def sent(key: str) -> str:
    """The characters that a plain terminal sends for a key of the map."""
    modifier, _, last = key.rpartition("+") if len(key) > 1 else ("", "", key)
    if key == "shift+tab":
        return "\x1b[Z"
    if last in _NAMED:
        number = _MODIFIERS[modifier]
        form = _NAMED[last]
        if not number:
            return form.format("") if last not in ("f1", "f2", "f3", "f4") else "\x1bO" + form[-1]
        return form.format(f";{number}" if form[2] != "{" else f"1;{number}")
    character = _CHARACTERS.get(last, last)
    if modifier == "ctrl":
        return chr(ord(character) & 0x1F)
    return "\x1b" + character if modifier == "alt" else character


def arrived(text: str) -> list[events.Key]:
    parser = AltParser(debug=False)
    return [event for event in parser.feed(text) if isinstance(event, events.Key)]


KEYS = sorted({key for command in COMMANDS for key in (*command.keys, *command.pane_keys)} - {"escape", "alt+f", "="})


@pytest.mark.parametrize("key", KEYS)
def test_the_key_arrives_as_itself_at_once_and_twice(key: str) -> None:
    """`Alt+.` was typed as a dot, `Alt+1` as `¡`, `Alt+Enter` opened one hit; two of them in a hurry typed `^`."""
    for times in (1, 2):
        got = arrived(sent(key) * times)
        assert len(got) == times
        for event in got:
            assert textual_key(key) in event.aliases


def test_every_command_has_a_key_that_arrives() -> None:
    for command in COMMANDS:
        if command.keys:
            assert set(command.keys) - {"alt+f"}, command.id


def test_words_of_macos_keep_their_meaning() -> None:
    """Option with an arrow is a step by a word there."""
    assert [event.key for event in arrived("\x1bb\x1bf")] == ["ctrl+left", "ctrl+right"]


def test_a_paste_is_text_whatever_is_in_it() -> None:
    parser = AltParser(debug=False)
    got = [
        *parser.feed("\x1b[200~one \x1b."),
        *parser.feed("two\x1bx"),
        *parser.feed(" three\x1b[201~"),
        *parser.feed("\x1b."),
    ]
    pasted = "".join(event.text for event in got if isinstance(event, events.Paste))
    assert pasted.startswith("one ")
    assert ";3u" not in pasted
    assert [event.key for event in got if isinstance(event, events.Key)][-1] == "alt+full_stop"


def test_what_a_terminal_answers_is_no_key() -> None:
    assert not [event for event in arrived("\x1b]11;rgb:0000/0000/0000\x1b\\") if event.key.startswith("alt")]
