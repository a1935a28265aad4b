"""The preview's window: long lines, encodings, files that are no text or change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mgrep_tui.corpus import window
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.window import read_window
from mgrep_tui.errors import UnreadableError


def test_one_line_of_many_megabytes_is_shown_around_the_match(tmp_path: Path) -> None:
    """H1: both ends are cut, only a part is read out."""
    size = 5_000_000
    content = bytearray(b"x" * size)
    content[4_000_000:4_000_006] = b"needle"
    (tmp_path / "a.min.js").write_bytes(bytes(content))
    shown = read_window(open_root(tmp_path), b"a.min.js", 0, 10, 20, 1000, column=4_000_000)
    (text,) = shown.lines
    assert len(text) == 1000
    assert text.index("needle") == 4_000_000 - shown.first_column
    assert shown.cut_lines == {0}
    assert (shown.total_lines, shown.size_bytes, shown.first_line) == (1, size, 0)


def test_a_long_line_in_another_script_is_cut_at_characters(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("я" * 700_000 + "needle" + "я" * 700_000)
    shown = read_window(open_root(tmp_path), b"a.txt", 0, 0, 0, 300, column=700_000)
    assert shown.lines[0][700_000 - shown.first_column :].startswith("needle")
    assert "\ufffd" not in shown.lines[0]


def test_a_column_behind_the_line_shows_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 50_000 + "end")
    shown = read_window(open_root(tmp_path), b"a.txt", 0, 0, 0, 300, column=900_000)
    assert shown.lines[0].endswith("end")


def test_a_line_deep_in_a_large_file(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"".join(b"line %d\n" % number for number in range(200_000)))
    shown = read_window(open_root(tmp_path), b"a.log", 150_000, 2, 1, 100)
    assert shown.lines == ("line 149998", "line 149999", "line 150000", "line 150001")
    assert (shown.first_line, shown.total_lines) == (149_998, 200_000)


def test_a_line_that_is_no_more_shows_the_end_of_the_file(tmp_path: Path) -> None:
    """L15: the file has become shorter."""
    (tmp_path / "a.txt").write_bytes(b"1\n2\n3\n")
    shown = read_window(open_root(tmp_path), b"a.txt", 90, 1, 1, 100)
    assert shown.lines == ("1", "2", "3")
    (tmp_path / "a.txt").write_bytes(b"")
    assert read_window(open_root(tmp_path), b"a.txt", 90, 1, 1, 100).lines == ()


@pytest.mark.parametrize(
    ("content", "lines", "encoding"),
    [
        (b"\xef\xbb\xbftest\nx\n", ("test", "x"), "utf-8 (mark)"),
        ("test\nх\n".encode("utf-16"), ("test", "х"), "utf-16-le"),
        (b"\xfe\xff" + "test\nх".encode("utf-16-be"), ("test", "х"), "utf-16-be"),
        (b"needle\r\nfoo\r\n", ("needle", "foo"), "utf-8"),
        (b"L\xfcnen", ("L\ufffdnen",), "utf-8"),
        (b"a\x0bb\x0cc\x85d\xe2\x80\xa8e", ("a\x0bb\x0cc\ufffdd\u2028e",), "utf-8"),
    ],
)
def test_encodings_and_line_ends(tmp_path: Path, content: bytes, lines: tuple[str, ...], encoding: str) -> None:
    """F1, E1, D3: no mark, no carriage return; only a line feed ends a line."""
    (tmp_path / "a.txt").write_bytes(content)
    shown = read_window(open_root(tmp_path), b"a.txt", 0, 0, 9, 100)
    assert shown.lines == lines
    assert shown.encoding == encoding


def test_a_binary_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(bytes(range(256)) * 20)
    shown = read_window(open_root(tmp_path), b"a.o", 0, 0, 9, 100)
    assert shown.is_binary
    assert shown.lines == ()
    assert shown.size_bytes == 5120


def test_a_huge_file_is_not_counted_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "_COUNTED_BYTES", 1000)
    (tmp_path / "a.log").write_bytes(b"line\n" * 1000)
    shown = read_window(open_root(tmp_path), b"a.log", 10, 0, 0, 100)
    assert shown.lines == ("line",)
    assert shown.total_lines is None


def test_gone_special_and_linked_files_are_refused(tmp_path: Path) -> None:
    root = open_root(tmp_path)
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").mkdir()
    for name in (b"nothing", b"link", b"folder"):
        with pytest.raises(UnreadableError):
            read_window(root, name, 0, 0, 0, 100)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UnreadableError, match="not a regular file"):
            read_window(root, b"pipe", 0, 0, 0, 100)
