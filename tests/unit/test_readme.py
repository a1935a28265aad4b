"""The README says what is true: its tables equal the code, its commands exist, its pictures are there."""

from __future__ import annotations

import re
import shlex

from mgrep_tui.cli import COMMANDS, _command_parser, _screen_parser
from tests.support.readme import README, filled

TEXT = README.read_text(encoding="utf-8")


def test_key_and_configuration_tables_equal_the_code() -> None:
    """TEXTUAL.md, acceptance 17. After a change: python -m tests.support.readme"""
    assert filled(TEXT) == TEXT


def test_every_command_and_option_that_the_readme_shows_exists() -> None:
    shown = re.findall(r"^mgrep-tui (.+?)(?:\s+#.*)?$", TEXT, re.MULTILINE)
    assert shown
    for line in shown:
        words = [word.strip("[]") for word in shlex.split(line.split("  #")[0])]
        parser = _command_parser(words[0]) if words[0] in COMMANDS else _screen_parser()
        known = parser.format_help()
        for word in words:
            if word.startswith("--"):
                assert word in known, line


def test_every_command_is_in_the_readme() -> None:
    for name in COMMANDS:
        assert f"mgrep-tui {name}" in TEXT


def test_the_pictures_are_there() -> None:
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", TEXT):
        assert (README.parent / path).is_file(), path
