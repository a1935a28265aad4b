"""What people reported of programs like this one, on the level of the index: the file is among the candidates, its line in a block."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.ngram.layout import FileKind
from mgrep_tui.ngram.plan import plan
from tests.support import ngram_world as worlds


def candidates(folder: Path, files: dict[bytes, bytes], pattern: str) -> set[bytes]:
    """The candidate files, after the check that no line is missed."""
    world = worlds.World.make(folder, files)
    compiled = worlds.compile_re2(pattern)
    assert compiled is not None
    planned = plan(pattern)
    world.check(planned, compiled)
    return set(world.candidates(planned))


def test_a_needle_inside_other_text_is_found(tmp_path: Path) -> None:
    """A1: the grams at the needle's borders do not depend on what stands around it."""
    files = {b"a": b"xyzfoo_bar123\n", b"b": b"xyzfoo_baz123\n"}
    assert candidates(tmp_path, files, "foo_bar") == {b"a"}


def test_an_optional_group_is_no_required_gram(tmp_path: Path) -> None:
    """A3"""
    files = {b"a": b"foo_\n", b"b": b"foo_bar_\n"}
    assert candidates(tmp_path / "1", files, "foo_(bar_)?") == {b"a", b"b"}
    assert candidates(tmp_path / "2", files, "foo_b(ar_)?") == {b"b"}


def test_more_than_65535_files_and_postings_are_counted(tmp_path: Path) -> None:
    """A6: no 16-bit counters. The files are few here, the blocks many."""
    with worlds.small_blocks(10, 1 << 20):
        files = {
            b"f%02d" % part: b"".join(
                b"needle %d\n" % number for number in range(part * 10_000, part * 10_000 + 10_000)
            )
            for part in range(7)
        }
        world = worlds.World.make(tmp_path, files)
    (segment,) = world.snapshot.segments
    assert segment.block_count > 65_535
    found = segment.candidates(plan("needle"))
    assert found is not None
    assert len(found) == segment.block_count
    candidate = world.candidates(plan("needle 69999"))[b"f06"]
    assert candidate.blocks is not None
    last = candidate.blocks[-1]
    assert last.start_byte + last.length_bytes == len(files[b"f06"])
    assert last.first_line < 9_999


@pytest.mark.parametrize("pattern", ["(?i)артем", "^арт", "те.$", "(?i)АРТЕМ"])
def test_grams_are_bytes_on_both_sides(tmp_path: Path, pattern: str) -> None:
    """A9"""
    assert candidates(tmp_path, {b"a": "артем\nАРТЕМ\n".encode()}, pattern) == {b"a"}


def test_the_last_line_needs_no_newline(tmp_path: Path) -> None:
    """B10"""
    for number, pattern in enumerate(["two$", r"two\z", "^two"]):
        assert candidates(tmp_path / str(number), {b"a": b"one\ntwo"}, pattern) == {b"a"}


@pytest.mark.parametrize("pattern", ["(?i)привет", "(?i)magnéz", "(?i)kelvin", "(?i)mask", "(?i)straße"])
def test_case_is_ignored_beyond_ascii(tmp_path: Path, pattern: str) -> None:
    """D1"""
    text = "привет\nПривет\nПрИвЕт\nMagnéz\nMAGNÉZ\n\u212aelvin\nma\u017fk\nSTRAẞE\n"
    assert candidates(tmp_path, {b"a": text.encode()}, pattern) == {b"a"}


def test_a_latin_1_byte_hides_no_neighbour(tmp_path: Path) -> None:
    """D3, F3: invalid UTF-8 stays as it is, next to grams and inside them; other files are not touched by it."""
    files = {
        b"a": b"L\xfcnen\n",
        b"l1.java": b'String s = "\xe4\xf6";\nint PAT;\n',
        b"ok1.py": b"PAT = 1\n",
        b"ok2.py": b"PAT = 2\n",
    }
    assert candidates(tmp_path / "1", files, "nen") == {b"a"}
    assert candidates(tmp_path / "2", files, "PAT") == {b"l1.java", b"ok1.py", b"ok2.py"}


@pytest.mark.parametrize("pattern", ["needle\r?$", "^needle\r?$", "(?m)foo\r?$", "needle"])
def test_windows_line_ends(tmp_path: Path, pattern: str) -> None:
    """E1"""
    assert candidates(tmp_path, {b"a": b"needle\r\nfoo\r\n"}, pattern) == {b"a"}


def test_byte_order_marks(tmp_path: Path) -> None:
    """F1: the mark is no part of the text, but of the offsets in the file."""
    files = {
        b"bom": b"\xef\xbb\xbftest123\ntest123\n",
        b"le": b"\xff\xfe" + "eins\ntest123\n".encode("utf-16-le"),
        b"be": b"\xfe\xff" + "eins\ntest123\n".encode("utf-16-be"),
    }
    world = worlds.World.make(tmp_path, files)
    found = world.candidates(plan("^test123"))
    assert set(found) == set(files)
    assert found[b"bom"].blocks is not None
    assert [block.start_byte for block in found[b"bom"].blocks] == [3]
    assert found[b"le"].blocks is None, "offsets of a transcoded text say nothing about the file"


def test_a_nul_in_a_text_hides_nothing(tmp_path: Path) -> None:
    """G1"""
    files = {b"t.ts": b"hello TOKEN here\x00more\nTOKEN again\n"}
    assert candidates(tmp_path, files, "TOKEN again") == {b"t.ts"}


def test_binary_files_are_known_but_no_candidates(tmp_path: Path) -> None:
    """G3: an object file harms nobody; the index knows that it was looked at."""
    files = {b"a.py": b"needle\n", b"b.pyc": bytes(range(256)) * 8 + b"needle", b"c.py": b"needle\n"}
    world = worlds.World.make(tmp_path, files)
    assert set(world.candidates(plan("needle"))) == set(world.candidates(plan("."))) == {b"a.py", b"c.py"}
    (segment,) = world.snapshot.segments
    number = segment.find(b"b.pyc")
    assert number is not None
    assert segment.kind(number) is FileKind.BINARY
    assert list(segment.blocks_of(number)) == []


def test_one_very_long_line(tmp_path: Path) -> None:
    """H1: a line longer than a block, and than a piece, is one block with all its grams."""
    filler = b"0123456789abcdef" * 700_000
    files = {b"a.min.js": filler + b"needle_one" + filler[:100] + b"\nnext needle_two\n", b"b": b"other\n"}
    world = worlds.World.make(tmp_path, files)
    for pattern, line in (("needle_one", 0), ("needle_two", 1)):
        found = world.candidates(plan(pattern))
        assert set(found) == {b"a.min.js"}
        blocks = found[b"a.min.js"].blocks
        assert blocks is not None
        assert any(block.first_line <= line for block in blocks)
    assert set(world.candidates(plan("fneedle_one0123"))) == {b"a.min.js"}


def test_a_match_over_several_lines_may_lie_in_several_blocks(tmp_path: Path) -> None:
    """Grams are ANDed by file there, and the file is read whole."""
    with worlds.small_blocks(16):
        files = {b"a": b"first_part\n" + b"filler filler\n" * 50 + b"second_part\n", b"b": b"first_part only\n" * 9}
        world = worlds.World.make(tmp_path, files)
    pattern = r"first_part\n(?s:.*)second_part"
    assert world.candidates(plan(pattern)) == {}
    found = world.candidates(plan(pattern, multiline=True))
    assert set(found) == {b"a"}
    assert found[b"a"].blocks is None
