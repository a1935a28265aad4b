"""Archives made to do harm, and damaged ones: refused whole, whatever they hold."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories import unpack as unpacking
from mgrep_tui.repositories.limits import LimitError, Limits
from mgrep_tui.repositories.unpack import ArchiveError, unpack

WIDE = Limits(100_000_000, 10_000)


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for member, content in members:
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return path


def a_file(name: str, **given: object) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    for key, value in given.items():
        setattr(member, key, value)
    return member, b"" if given.get("type") else b"content"


def zip_of(path: Path, *members: tuple[str, int, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, mode, content in members:
            member = zipfile.ZipInfo(name)
            member.filename = name
            member.external_attr = mode << 16
            zipped.writestr(member, content, zipfile.ZIP_DEFLATED)
    return path


def unpacked(archive: Path, limits: Limits = WIDE) -> Path:
    folder = archive.parent / "out"
    folder.mkdir()
    unpack(archive, folder, limits, CancelToken())
    return folder


PATHS = [
    "n/../../evil",
    "/etc/evil",
    "n/a\\..\\..\\evil",
    "C:/evil",
    "n/.git/config",
    "n/.GIT/hooks/x",
    "n/sub/.git. /x",
    "n/GIT~1/x",
    "n/" + "d/" * 300 + "x",
    "n/" + "x" * 300,
]


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    archive = tmp_path / "a"
    if kind == "tar":
        tar_of(archive, a_file("n/good"), a_file(name))
    else:
        zip_of(archive, ("n/good", 0o100644, b"x"), (name, 0o100644, b"x"))
    with pytest.raises(ArchiveError):
        unpacked(archive)
    assert not list(tmp_path.rglob("evil"))


LINKS: list[Callable[[], list[tuple[tarfile.TarInfo, bytes]]]] = [
    lambda: [a_file("n/l", type=tarfile.SYMTYPE, linkname="/etc/passwd")],
    lambda: [a_file("n/l", type=tarfile.SYMTYPE, linkname="../../outside")],
    lambda: [a_file("n/sub/l", type=tarfile.SYMTYPE, linkname="../../outside")],
    lambda: [a_file("n/l", type=tarfile.SYMTYPE, linkname="")],
    lambda: [
        a_file("n/b", type=tarfile.SYMTYPE, linkname="."),
        a_file("n/l", type=tarfile.SYMTYPE, linkname="b/../outside"),
    ],
    lambda: [a_file("n/d", type=tarfile.SYMTYPE, linkname="."), a_file("n/d/x")],
    lambda: [a_file("n/d", type=tarfile.SYMTYPE, linkname="sub"), a_file("n/d/sub/x")],
    lambda: [a_file("n/l", type=tarfile.LNKTYPE, linkname="/etc/passwd")],
    lambda: [a_file("n/l", type=tarfile.LNKTYPE, linkname="n/good")],
    lambda: [a_file("n/dev", type=tarfile.CHRTYPE)],
    lambda: [a_file("n/dev", type=tarfile.BLKTYPE)],
    lambda: [a_file("n/pipe", type=tarfile.FIFOTYPE)],
    lambda: [a_file("n/x"), a_file("n/x")],
    lambda: [a_file("n/x"), a_file("n/x/y")],
]


@pytest.mark.parametrize("make", LINKS)
def test_links_out_devices_and_doubles_are_refused(
    tmp_path: Path, make: Callable[[], list[tuple[tarfile.TarInfo, bytes]]]
) -> None:
    with pytest.raises(ArchiveError):
        unpacked(tar_of(tmp_path / "a", a_file("n/good"), *make()))


def test_a_link_of_a_zip_is_looked_at_as_well(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError):
        unpacked(zip_of(tmp_path / "a", ("n/l", stat.S_IFLNK | 0o777, b"../../outside")))
    (tmp_path / "b").mkdir()
    good = zip_of(tmp_path / "b" / "z", ("n/x", 0o100755, b"1"), ("n/l", stat.S_IFLNK | 0o777, b"x"))
    folder = unpacked(good)
    assert os.readlink(folder / "l") == "x"
    assert os.access(folder / "x", os.X_OK)


def test_permissions_are_ours(tmp_path: Path) -> None:
    folder = unpacked(tar_of(tmp_path / "a", a_file("n/s", mode=0o7777), a_file("n/z", mode=0)))
    assert stat.S_IMODE((folder / "s").stat().st_mode) & 0o7022 == 0
    assert (folder / "z").read_bytes() == b"content"


def test_names_that_differ_in_capitals_only_are_refused_where_the_disk_mixes_them_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tar_of(tmp_path / "a", a_file("n/README"), a_file("n/readme"))
    monkeypatch.setattr(unpacking, "_folds_case", lambda folder: True)
    with pytest.raises(ArchiveError, match="capitals"):
        unpacked(archive)


def test_such_names_are_two_files_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_folds_case", lambda folder: False)
    folder = tmp_path / "out"
    archive = tar_of(tmp_path / "a", a_file("n/README"), a_file("n/readme"))
    folder.mkdir()
    try:
        assert unpack(archive, folder, WIDE, CancelToken()).files == 2
    except ArchiveError:
        assert (folder / "readme").exists()  # a disk that mixes them up after all


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_bomb_is_stopped_by_its_ratio(tmp_path: Path, kind: str) -> None:
    content = b"\0" * (unpacking.FREE_BYTES + 1_000_000)
    archive = tmp_path / "a"
    if kind == "tar":
        member = tarfile.TarInfo("n/bomb")
        tar_of(archive, (member, content))
    else:
        zip_of(archive, ("n/bomb", 0o100644, content))
    assert archive.stat().st_size < 100_000
    with pytest.raises(LimitError, match="hundred times"):
        unpacked(archive)


def test_size_and_number_are_bounded(tmp_path: Path) -> None:
    many = tar_of(tmp_path / "many", *(a_file(f"n/{number}") for number in range(30)))
    with pytest.raises(LimitError, match=r"repositories\.max_files"):
        unpacked(many, Limits(1_000_000, 20))
    (tmp_path / "b").mkdir()
    large = tar_of(tmp_path / "b" / "large", (tarfile.TarInfo("n/x"), os.urandom(50_000)))
    with pytest.raises(LimitError, match=r"repositories\.max_mb"):
        unpacked(large, Limits(10_000, 20))


def test_a_header_that_claims_gigabytes_is_not_read(tmp_path: Path) -> None:
    """An extended header is read in one piece: its length must not decide how much memory that takes."""
    member = tarfile.TarInfo("pax")
    member.type = tarfile.XHDTYPE
    member.size = 7_000_000_000
    archive = tmp_path / "a"
    archive.write_bytes(gzip.compress(member.tobuf(tarfile.USTAR_FORMAT) + b"\0" * 100_000))
    with pytest.raises(ArchiveError):
        unpacked(archive)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"\x1f\x8b\x08garbage", b"PK\x03\x04", b"x" * 2000])
def test_what_is_no_archive_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ArchiveError):
        unpacked(tmp_path / "a")


def test_an_archive_that_is_cut_off_is_said(tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "a", (tarfile.TarInfo("n/x"), os.urandom(100_000)))
    whole.write_bytes(whole.read_bytes()[:50_000])
    with pytest.raises(ArchiveError):
        unpacked(whole)


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a", a_file("n/x"))
    (tmp_path / "out").mkdir()
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        unpack(archive, tmp_path / "out", WIDE, cancel)


@pytest.mark.parametrize("kind", ["in the middle", "the check sum", "without an end"])
def test_a_damaged_archive_is_no_smaller_tree(tmp_path: Path, kind: str) -> None:
    """A damaged header was taken for the end, and half of the files for all of them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for number in range(20):
            member, content = tarfile.TarInfo(f"n/{number}"), os.urandom(2_000)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    plain = bytearray(out.getvalue())
    third = 3 * (512 + 2048)
    if kind == "in the middle":
        plain[third + 20 : third + 60] = b"\xff" * 40
    archive = tmp_path / "archive"
    packed_bytes = bytearray(gzip.compress(bytes(plain)))
    if kind == "the check sum":
        packed_bytes[-6] ^= 1
    archive.write_bytes(plain[:third] if kind == "without an end" else packed_bytes)
    with pytest.raises(ArchiveError):
        unpacked(archive)


def test_a_zip_with_damaged_content_is_said(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("n/a.py", b"hello world " * 3_000)
    content = bytearray(archive.read_bytes())
    content[45] ^= 0x5A
    content[60] ^= 0x5A
    archive.write_bytes(content)
    with pytest.raises(ArchiveError):
        unpacked(archive)


def test_a_zip_that_asks_for_any_memory_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("n/a.py", b"x")
    with pytest.raises(ArchiveError, match="no forge"):
        unpacked(archive)
