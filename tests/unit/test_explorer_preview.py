"""The preview of every odd kind of file: its text, or one sentence. Acceptance 7."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.explorer.preview import plain_preview, rich_preview

LINES = 200_000


def long_line(path: Path) -> None:
    path.write_bytes(b"x" * 500_000 + b" needle " + b"y" * 500_000)


def long_log(path: Path) -> None:
    path.write_bytes(b"".join(b"line %d of a log\n" % number for number in range(LINES)))


def unreadable(path: Path) -> None:
    path.write_text("secret\n")
    path.chmod(0)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


KINDS: dict[str, tuple[Callable[[Path], object], int, int, str]] = {
    # How it is made, the line and column that are asked for, and what is to be seen.
    "one long line": (long_line, 0, 500_001, "needle"),
    "a long log": (long_log, LINES - 5, 0, f"line {LINES - 5} of a log"),
    "empty": (lambda path: path.write_bytes(b""), 0, 0, "The file is empty."),
    "no final line end": (lambda path: path.write_bytes(b"one\nlast"), 1, 0, "last"),
    "CRLF": (lambda path: path.write_bytes(b"one\r\ntwo\r\n"), 1, 0, "two"),
    "UTF-16 with a mark": (lambda path: path.write_bytes("one\nzwei ü\n".encode("utf-16")), 1, 0, "zwei ü"),
    "Latin-1": (lambda path: path.write_bytes(b"one\nL\xfcnen\n"), 1, 0, "nen"),
    "NUL bytes": (lambda path: path.write_bytes(b"const A = 'text';\n" * 40 + b"a\x00b\n"), 40, 0, "a"),
    "binary": (lambda path: path.write_bytes(bytes(range(256)) * 40), 0, 0, "A binary file"),
    "gone": (lambda path: None, 0, 0, "gone"),
    "a pipe": (lambda path: os.mkfifo(path), 0, 0, ""),
    "unreadable": (unreadable, 0, 0, ""),
    "a link to itself": (loop, 0, 0, ""),
    "a folder": (lambda path: path.mkdir(), 0, 0, ""),
}


@pytest.mark.parametrize("kind", KINDS)
def test_text_or_one_sentence(kind: str, tmp_path: Path) -> None:
    make, line, column, seen = KINDS[kind]
    make(tmp_path / "file.txt")
    root = open_root(tmp_path)
    plain = plain_preview(root, b"file.txt", line, column, 30, 80)
    shown = rich_preview(root, plain, line, ()) if plain.lines else plain
    text = "\n".join(shown.lines)
    if kind == "unreadable" and os.geteuid() == 0:
        assert "secret" in text  # nothing is unreadable to root
        return
    assert seen in (text or shown.notice)
    assert text or (shown.notice.endswith(".") and "\n" not in shown.notice)
    assert not any("\r" in each or len(each) > 3_000 for each in shown.lines)
    if text:
        assert shown.first_line <= line < shown.first_line + len(shown.lines)
