"""Segments on disk: what is built, what opening checks, what damage does."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import Cancelled, IndexDamagedError, MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, FileStat, SkipReason
from mgrep_tui.ngram import layout
from mgrep_tui.ngram.build import build_segment, compile_apart
from mgrep_tui.ngram.plan import plan
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import make_snapshot
from tests.support import ngram_cases as cases
from tests.support import ngram_world as worlds

FILES = {b"a/%03d.py" % number: cases.text(Random(number), 40) for number in range(60)}
PATTERNS = ["foo_bar", "needle", "(?i)kelvin", "return|class", "self.*foo", "привет"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("segment")
    with worlds.small_blocks():
        worlds.index(folder / "tree", FILES, folder / "base")
    return folder


def copy(built: Path, into: Path) -> Path:
    for suffix in layout.SUFFIXES:
        shutil.copy(f"{built / 'base'}{suffix}", f"{into / 'base'}{suffix}")
    return into / "base"


def test_the_documents_are_the_files(built: Path) -> None:
    segment = Segment.open(built / "base")
    assert segment.paths() == sorted(FILES)
    assert [segment.path(number) for number in range(segment.file_count)] == sorted(FILES)
    for number, path in enumerate(sorted(FILES)):
        status = os.stat(built / "tree" / os.fsdecode(path))
        assert segment.find(path) == number
        assert segment.stat(number) == FileStat.of(status)
        assert segment.stats()[number].tolist()[:3] == [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        assert len(segment.content_hash(number)) == 16
    assert segment.find(b"a/") is None
    assert segment.find(b"zzz") is None
    segment.verify()


def test_equal_contents_have_equal_hashes_and_segments(tmp_path: Path) -> None:
    worlds.index(tmp_path / "tree", {b"a": b"same\n", b"b": b"same\n", b"c": b"other\n"}, tmp_path / "one")
    segment = Segment.open(tmp_path / "one")
    assert segment.content_hash(0) == segment.content_hash(1) != segment.content_hash(2)
    root = open_root(tmp_path / "tree")
    again = build_segment(root, worlds.entries_of(root, [b"c", b"a", b"b"]), tmp_path / "two", threads=1)
    for suffix in layout.SUFFIXES:
        assert Path(f"{tmp_path / 'one'}{suffix}").read_bytes() == Path(f"{tmp_path / 'two'}{suffix}").read_bytes()
    assert Segment.open(tmp_path / "two", again.checksum).header.identity == segment.header.identity


@pytest.mark.parametrize("files", [{}, {b"empty": b""}, {b"empty": b"", b"short": b"a", b"x": b"\n\n\n"}])
def test_nothing_to_index(tmp_path: Path, files: dict[bytes, bytes]) -> None:
    (tmp_path / "tree").mkdir()
    summary = worlds.index(tmp_path / "tree", files, tmp_path / "base")
    segment = Segment.open(tmp_path / "base", summary.checksum)
    assert (segment.file_count, summary.files) == (len(files), len(files))
    assert segment.candidates(plan("foo")) is not None
    assert segment.candidates(plan(".")) is None
    segment.verify()


def test_what_cannot_be_read_is_skipped_and_said(tmp_path: Path) -> None:
    worlds.write_files(tmp_path / "tree", {b"a": b"needle\n", b"binary": b"\0\1\2\3" * 99, b"big": b"x" * 5000})
    (tmp_path / "tree" / "link").symlink_to("a")
    root = open_root(tmp_path / "tree")
    entries = worlds.entries_of(root, [b"a", b"binary", b"big", b"link"])
    entries.append(Entry(b"gone", FileStat(1, 1, 1, 1)))
    summary = build_segment(root, entries, tmp_path / "base", limit_bytes=4000)
    assert {skip.path: skip.reason for skip in summary.skips} == {
        b"binary": SkipReason.BINARY,
        b"big": SkipReason.TOO_BIG,
        b"gone": SkipReason.UNREADABLE,
        b"link": SkipReason.UNREADABLE,
    }
    assert summary.files == 1
    assert Segment.open(tmp_path / "base").paths() == [b"a", b"big", b"binary"]


def test_progress_counts_to_the_end_and_cancelling_leaves_nothing(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    worlds.index(tmp_path / "tree", FILES, tmp_path / "base", report=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(FILES), len(FILES))
    assert seen == sorted(seen)
    token = CancelToken()
    token.cancel()
    (tmp_path / "other").mkdir()
    with pytest.raises(Cancelled):
        worlds.index(tmp_path / "tree", FILES, tmp_path / "other" / "base", cancel=token)
    assert list((tmp_path / "other").iterdir()) == []


def test_a_folder_that_takes_no_files_is_named(tmp_path: Path) -> None:
    """M3, M5: a plain message, and nothing half written."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(MgrepError, match=r"cannot be written in .*file"):
        worlds.index(tmp_path / "tree", {b"a": b"x\n"}, tmp_path / "file" / "base")


def test_a_missing_file_is_damage(built: Path, tmp_path: Path) -> None:
    for suffix in layout.SUFFIXES:
        path = copy(built, tmp_path)
        os.unlink(f"{path}{suffix}")
        with pytest.raises(IndexDamagedError):
            Segment.open(path)


def test_cut_and_grown_files_are_damage(built: Path, tmp_path: Path) -> None:
    for suffix in layout.SUFFIXES:
        path = copy(built, tmp_path)
        size = os.path.getsize(f"{path}{suffix}")
        for wrong in (0, 7, 40, size // 2, size - 1, size + 1):
            path = copy(built, tmp_path)
            os.truncate(f"{path}{suffix}", wrong)
            with pytest.raises(IndexDamagedError):
                Segment.open(path)


def test_the_wrong_segment_is_refused(built: Path, tmp_path: Path) -> None:
    """M10: also parts of another segment, another format, other tables."""
    with pytest.raises(IndexDamagedError, match="published"):
        Segment.open(built / "base", "00" * 16)
    path = copy(built, tmp_path)
    worlds.index(tmp_path / "tree", FILES, tmp_path / "other")
    for suffix in layout.SUFFIXES:
        shutil.copy(f"{tmp_path / 'other'}{suffix}", f"{path}{suffix}")
        if suffix != layout.SUFFIXES[-1]:
            with pytest.raises(IndexDamagedError):
                Segment.open(path)
    Segment.open(path)


def test_another_version_is_refused_by_name(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M10"""
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    with pytest.raises(IndexDamagedError, match="another version"):
        Segment.open(built / "base")


@pytest.mark.parametrize("suffix", layout.SUFFIXES)
def test_changed_bytes_never_crash_and_verify_finds_them(built: Path, tmp_path: Path, suffix: str) -> None:
    """Each change is refused at opening, or found by `verify`; in between every call answers or raises `IndexDamagedError`."""
    rng = Random(1)
    sound = copy(built, tmp_path)
    content = bytearray(Path(f"{sound}{suffix}").read_bytes())
    for _ in range(150):
        changed = bytearray(content)
        for _ in range(rng.choice((1, 1, 4, 200))):
            place = rng.randrange(len(content)) if rng.random() < 0.5 else rng.randrange(min(len(content), 6000))
            changed[place] = rng.choice((0, 0xFF, changed[place] ^ 1 << rng.randrange(8)))
        if changed == content:
            continue
        Path(f"{sound}{suffix}").write_bytes(changed)
        try:
            segment = Segment.open(sound)
        except IndexDamagedError:
            continue
        with pytest.raises(IndexDamagedError):
            segment.verify()
        for pattern in PATTERNS:
            for multiline in (False, True):
                with contextlib.suppress(IndexDamagedError):
                    for candidate in make_snapshot([segment]).candidates(plan(pattern, multiline=multiline)):
                        for block in candidate.blocks or ():
                            assert candidate.stat is not None
                            assert block.start_byte + block.length_bytes <= candidate.stat.size_bytes + 3


def test_the_kernels_are_compiled_apart_into_the_given_folder(tmp_path: Path) -> None:
    """All of them, with all types: the build that follows compiles nothing."""
    (tmp_path / "kernels").mkdir()
    compile_apart(tmp_path / "kernels")
    made = sorted(path.name for path in (tmp_path / "kernels").rglob("*.nbi"))
    assert [name.partition("-")[0] for name in made] == [
        f"kernels.{name}" for name in ("_keys_of_piece", "divide", "extract", "fold", "merge_bucket", "split_blocks")
    ]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    code = "from mgrep_tui.ngram.warm import main; main()"
    environ = {**os.environ, "NUMBA_CACHE_DIR": os.fspath(tmp_path / "kernels")}
    # As the program itself starts it: never from the folder that it happens to stand in.
    subprocess.run([sys.executable, "-P", "-c", code], env=environ, check=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == before
