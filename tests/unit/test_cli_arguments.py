"""The command line refuses what it cannot do in one sentence, and reads a query that looks like an option as text."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from mgrep_tui import __version__
from mgrep_tui.cli import COMMANDS, _command_parser, _screen_parser, _search_arguments
from mgrep_tui.errors import MgrepError


def parsed(*words: str) -> argparse.Namespace:
    return _search_arguments(list(words))


def test_query_and_folder_are_told_apart() -> None:
    assert (parsed("retry upload").query, parsed("retry upload").paths) == ("retry upload", [])
    assert (parsed("x", "src").query, parsed("x", "src").paths) == ("x", ["src"])
    assert (parsed("-e", "x", "src").query, parsed("-e", "x", "src").paths) == ("x", ["src"])
    assert parsed("--queries", "q.txt", "src").paths == ["src"]


@pytest.mark.parametrize("query", ["--help", "-info", "-e", "--", "-"])
def test_a_query_that_looks_like_an_option_is_text(query: str) -> None:
    """FAULTS B3."""
    assert parsed(f"--query={query}").query == query
    assert parsed("--", query).query == query
    assert parsed("--mode", "regex", "--", query).query == query
    assert (parsed("-w", "--", query, "src").query, parsed("-w", "--", query, "src").paths) == (query, ["src"])


@pytest.mark.parametrize("words", [(), ("a", "b", "c"), ("--queries", "f", "-e", "x")])
def test_too_few_or_too_many_words_are_said(words: tuple[str, ...]) -> None:
    with pytest.raises(MgrepError):
        parsed(*words)


@pytest.mark.parametrize("words", [("--limit", "0", "x"), ("--ratio", "101", "x"), ("--mode", "fuzzy", "x")])
def test_a_value_out_of_range_ends_with_status_two(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _command_parser("search").parse_args(words)
    assert caught.value.code == 2
    assert "error" in capsys.readouterr().err


def test_help_names_every_command() -> None:
    text = _screen_parser().format_help()
    assert all(name in text for name in COMMANDS)


def test_version_and_errors_reach_the_shell() -> None:
    program = [sys.executable, "-m", "mgrep_tui"]
    shown = subprocess.run([*program, "--version"], capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.strip()) == (0, f"mgrep-tui {__version__}")
    wrong = subprocess.run(
        [*program, "search", "x", "/no/such\x1b[31m/folder"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("mgrep-tui: ") and "\x1b" not in wrong.stderr and wrong.stderr.count("\n") == 1


def test_without_a_terminal_the_screen_is_refused_in_a_sentence() -> None:
    """TEXTUAL.md, acceptance 14."""
    done = subprocess.run(
        [sys.executable, "-m", "mgrep_tui", "."], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert "terminal" in done.stderr and "Traceback" not in done.stderr


def test_several_places_stand_behind_the_query() -> None:
    assert parsed("x", ".", "github:o/n", "@work").paths == [".", "github:o/n", "@work"]
    with pytest.raises(MgrepError, match="quotes"):
        parsed("retry", "failed", "uploads")
