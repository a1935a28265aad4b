"""Stand-ins for what must not reach a terminal."""

from __future__ import annotations

import pytest

from mgrep_tui.text.sanitize import display_path, sanitize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x1b]0;PWNED\x07\x1b[2J\x1b[31mB", "A␛]0;PWNED␇␛[2J␛[31mB"),
        ("\x9b31m", "\ufffd31m"),
        ("a\x00b\x7f", "a␀b␡"),
        ("user\u202e\u2066", "user⇄⇄"),
        ("zero\u200bwidth\ufeff", "zero⋅width⋅"),
        ("one\u2028two\u2029", "one⏎two⏎"),
        ("\ud800x", "\ufffdx"),
        ("tab\tstays", "tab\tstays"),
        ("\ttab and\r", "\ttab and␍"),
        ("naïve café 日本 e\u0301 🙂", "naïve café 日本 e\u0301 🙂"),
        ("arr[i] [/] [link=x]", "arr[i] [/] [link=x]"),
    ],
)
def test_unsafe_characters_become_visible(text: str, shown: str) -> None:
    """P3, P1: escape codes of a file are shown, never sent; brackets are ordinary characters."""
    assert sanitize(text) == shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"caf\xe9.py", "caf\\xe9.py"),
        ("日本/é.py".encode(), "日本/é.py"),
        (b"app/[id]/[...slug]/page.tsx", "app/[id]/[...slug]/page.tsx"),
        (b"--sample.py", "--sample.py"),
        (b"a\tb\nc", "a␉b␊c"),
        (b"\x1b[2Jx", "␛[2Jx"),
    ],
)
def test_names_are_shown_verbatim_but_for_what_a_terminal_would_obey(path: bytes, shown: str) -> None:
    """J1, J3, J5."""
    assert display_path(path) == shown
