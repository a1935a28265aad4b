"""Reading: what is refused, what belongs together, what is text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mgrep_tui.corpus import read
from mgrep_tui.corpus.decode import decode_line, decode_text, is_binary, searchable, split_lines
from mgrep_tui.corpus.read import Reader, read_file
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import UnreadableError
from mgrep_tui.model import FileStat

_LIMIT = 1_000_000


def test_bytes_and_stat_belong_together(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_bytes(b"text\n")
    raw = read_file(open_root(tmp_path), b"a/b.py", _LIMIT)
    assert raw.data == b"text\n"
    assert raw.stat == FileStat.of((tmp_path / "a" / "b.py").stat())


def test_one_reader_reads_files_in_any_order(tmp_path: Path) -> None:
    paths = ["a", "d/e/f/g", "d/e/h", "d/i", "z/y", "d/e/f/j", "b"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    with Reader(open_root(tmp_path)) as reader:
        for path in [*paths, *reversed(paths), *sorted(paths)]:
            assert reader.read(path.encode(), _LIMIT).data == path.encode()
            with pytest.raises(UnreadableError, match="is gone"):
                reader.read(path.encode() + b"/nothing/there", _LIMIT)


def test_a_reader_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "f").write_text("x")
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("open descriptors cannot be counted here")
    before = len(list(folder.iterdir()))
    with Reader(open_root(tmp_path)) as reader:
        for path, limit in ((b"d/e/f", 10), (b"d/e/f", 0), (b"d/e", 10), (b"d/none", 10)):
            try:
                reader.read(path, limit)
            except UnreadableError:
                pass
    assert len(list(folder.iterdir())) == before


def test_links_are_not_followed_anywhere_in_the_path(tmp_path: Path) -> None:
    """Nothing outside the root is read, whatever became a link since the listing."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "secret").write_text("mine")
    root = open_root(tree)
    assert read_file(root, b"src/secret", _LIMIT).data == b"mine"
    (tree / "one").symlink_to(outside / "secret")
    (tree / "src").rename(tree / "moved")
    (tree / "src").symlink_to(outside)
    for path in (
        b"one",
        b"src/secret",
        b"../outside/secret",
        b"moved/../../outside/secret",
        b"moved//secret",
        b"./moved/secret",
    ):
        with pytest.raises(UnreadableError):
            read_file(root, path, _LIMIT)


def test_special_files_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    """I1: a FIFO never blocks."""
    root = open_root(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnreadableError, match="not a regular file"):
        read_file(root, b"folder", _LIMIT)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.py")
        with pytest.raises(UnreadableError, match="not a regular file"):
            read_file(root, b"pipe.py", _LIMIT)


def test_messages_are_for_a_person_and_safe_for_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "big\x1b[2J").write_bytes(b"x" * 11)
    root = open_root(tmp_path)
    with pytest.raises(UnreadableError) as caught:
        read_file(root, b"big\x1b[2J", 10)
    assert str(caught.value) == "big␛[2J is larger than the limit of 0 MB."
    with pytest.raises(UnreadableError, match=r"^caf\\xe9 is gone\.$"):
        read_file(root, b"caf\xe9", 10)


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M8: never a mixture of two states, never a mapping that dies."""
    file = tmp_path / "a"
    file.write_bytes(b"old" * 1000)
    changes = [b"new" * 2000, b"x"]
    original = os.read

    def read_and_change(descriptor: int, length: int) -> bytes:
        data = original(descriptor, length)
        if changes and length > 100:
            file.write_bytes(changes.pop(0))
        return data

    monkeypatch.setattr(read.os, "read", read_and_change)
    raw = read_file(open_root(tmp_path), b"a", _LIMIT)
    assert raw.data == b"x"
    assert raw.stat.size_bytes == 1


def test_a_file_that_never_rests_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    original = os.read

    def read_and_grow(descriptor: int, length: int) -> bytes:
        data = original(descriptor, length)
        with file.open("ab") as stream:
            stream.write(b"y")
        return data

    monkeypatch.setattr(read.os, "read", read_and_grow)
    with pytest.raises(UnreadableError, match="changes while it is read"):
        read_file(open_root(tmp_path), b"a", 100)


# --- what is searched


@pytest.mark.parametrize(
    ("data", "canonical", "shift", "is_raw"),
    [
        (b"plain\r\n", b"plain\r\n", 0, True),
        (b"", b"", 0, True),
        (b"\xef\xbb\xbftest123\ntest123\n", b"test123\ntest123\n", 3, True),
        ("über\n".encode("utf-16"), "über\n".encode(), 0, False),
        (b"\xfe\xff" + "über 🙂\n".encode("utf-16-be"), "über 🙂\n".encode(), 0, False),
        (b"\xff\xfea\x00\x00\xd8b\x00", b"a\xef\xbf\xbdb", 0, False),
        (b'String s = "\xe4\xf6";\nint PAT;\n', b'String s = "\xe4\xf6";\nint PAT;\n', 0, True),
        (b"hello TOKEN here\x00more\nTOKEN again\n", b"hello TOKEN here\x00more\nTOKEN again\n", 0, True),
        (b"\xff\xfe", b"", 0, False),
    ],
)
def test_canonical_bytes(data: bytes, canonical: bytes, shift: int, is_raw: bool) -> None:
    """F1, F3, D3, G1, E1: marks go, UTF-16 becomes UTF-8, all else stays as it is."""
    found = searchable(data)
    assert found is not None
    assert (found.data, found.shift_bytes, found.is_raw) == (canonical, shift, is_raw)
    if is_raw:
        assert data[found.shift_bytes :] == found.data


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01\x00" + bytes(100),
        b"!<arch>\nfoo.o/          0           0     0     644     1234      `\n\x7fELF\x02\x01\x01\x00"
        + bytes(range(64)) * 20,
        b"\xa7\r\r\n\x00\x00\x00\x00\x12\x34\x56\x65\x10\x00\x00\x00\xe3\x00\x00\x00\x00\x00\x00",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10",
        b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
        b"\x1f\x8b\x08\x08abc",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "no mark".encode("utf-16-le") * 10,
        b"\xff\xfe\x00\x00" + "four bytes".encode("utf-32-le"),
        b"text first\n" * 2000 + bytes(range(256)) * 100,
        bytes(20_000),
        b"name.txt" + bytes(249) + b"ustar  \0" + bytes(247) + b"text in a tar\n" * 300,
        b"BZh91AY&SY\xe9\x01\x1d\x05\x9a",
        b"!<arch>\n/               0           0     0     0       8         `\n" + bytes(8),
    ],
    ids=str.split(
        "elf archive bytecode png jpeg zip gzip pdf utf16-unmarked utf32 text-then-binary nothing-but-nuls tar bzip2 empty-archive"
    ),
)
def test_binary_files_are_told_from_text(data: bytes) -> None:
    """G3: object files, archives, byte code, images."""
    assert searchable(data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[31mcolour\x1b[0m\n\x0c\n",
        b"one\x00two\x00three hundred\x00" * 50,
        b"def f():\n    return 1\n" * 5000 + b"\x00",
        "日本語のテキスト\n".encode("shift-jis") * 50,
        "текст\n".encode("koi8-r") * 50,
        b"a\x00b",
        b"log before the crash\n" * 300 + bytes(4096) + b"log after it\n" * 300,
        bytes(1_000_000) + b"an open log was truncated\n" * 300,
        b"GIF89a is the signature of such files.\n",
        b"BZh and ID3 are others.\n",
    ],
    ids=str.split("colours nul-separated one-nul shift-jis koi8 tiny hole-in-a-log hole-first gif-prose bzip2-prose"),
)
def test_text_with_strange_bytes_stays_text(data: bytes) -> None:
    """G1: never silently nothing."""
    assert not is_binary(data)


def test_lines_end_at_line_feeds_only() -> None:
    """E1: and a carriage return before one is no part of the line."""
    assert split_lines(b"a\r\nb\x0bc\x0cd\x85e\rf\n\ng") == [b"a", b"b\x0bc\x0cd\x85e\rf", b"", b"g"]
    assert split_lines(b"a\n") == [b"a"]
    assert split_lines(b"a\r\n") == [b"a"]
    assert split_lines(b"\n") == [b""]
    assert split_lines(b"") == []


def test_bytes_become_text() -> None:
    """D3, F3."""
    assert decode_line(b"L\xfcnen") == "L\ufffdnen"
    assert decode_text("größe".encode()) == "größe"
    assert decode_text("größe".encode("latin-1")) == "größe"
    assert decode_text("größe über öl".encode() + b"\xff") == "größe über öl\ufffd"
