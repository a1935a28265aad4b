"""Where git is missing: archives over HTTP from a real server on this machine, and archives made to do harm."""

from __future__ import annotations

import gzip
import io
import os
import socket
import stat
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories import unpack as unpacking
from mgrep_tui.repositories.addresses import Address, parse_address
from mgrep_tui.repositories.archive import TIMEOUT_S, archive_url, default_ref, download
from mgrep_tui.repositories.arrival import Arrivals
from mgrep_tui.repositories.limits import LimitError, Limits
from mgrep_tui.repositories.store import Kept, Store
from mgrep_tui.repositories.unpack import ArchiveError, unpack
from mgrep_tui.settings.config import RepositorySettings
from mgrep_tui.settings.paths import user_folders
from tests.support.forge import Forge
from tests.support.git_trees import Tree

COMMIT = "4f3c2b1a" * 5
WIDE = Limits(100_000_000, 10_000)


class World:
    """A forge and a home on a machine without git."""

    def __init__(self, folder: Path) -> None:
        self.forge = Forge(folder / "forge")
        self.source = Tree(folder / "source")
        self.source.write("src/main.py", "def run():\n    return 1\n")
        self.source.write("run.sh", "echo\n").chmod(0o755)
        (self.source.path / "link.py").symlink_to("src/main.py")
        self.store = Store(user_folders({"MGREP_TUI_HOME": str(folder / "home")}))
        self.environ = {"PATH": str(folder / "nothing")}
        self.said: list[str] = []

    def address(self, ref: str = "main") -> Address:
        found = parse_address(self.forge.url("ada/engine") + (f"@{ref}" if ref else ""))
        assert found is not None
        return found

    def arrivals(self, **environ: str) -> Arrivals:
        return Arrivals(self.store, RepositorySettings(refresh_s=0), {**self.environ, **environ})

    def bring(self, address: Address | None = None, **environ: str) -> Kept:
        return self.arrivals(**environ).bring(address or self.address(), CancelToken(), self.said.append)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.forge.close()


def test_an_archive_becomes_a_tree_with_its_commit(world: World) -> None:
    world.forge.pack("ada/engine", "main", world.source.path, COMMIT)
    kept = world.bring()
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 1\n"
    assert (kept.record.way, kept.record.commit) == ("archive", COMMIT)
    assert os.access(kept.tree / "run.sh", os.X_OK)
    assert os.readlink(kept.tree / "link.py") == "src/main.py"
    assert sorted(path.name for path in kept.folder.iterdir()) == ["engine", "origin.json"]
    assert any("receiving" in said for said in world.said)


def test_the_default_branch_is_asked_for(world: World) -> None:
    world.forge.pack("ada/engine", "trunk", world.source.path)
    world.forge.archives["/api/v1/repos/ada/engine"] = b'{"default_branch": "trunk"}'
    assert (world.bring(world.address("")).tree / "src/main.py").exists()


def test_a_refresh_changes_the_tree_and_a_failed_one_leaves_it(world: World) -> None:
    world.forge.pack("ada/engine", "main", world.source.path, COMMIT)
    kept = world.bring()
    world.source.write("src/main.py", "new")
    world.forge.pack("ada/engine", "main", world.source.path, "a" * 40)
    done = world.arrivals().refresh(kept, world.address(), CancelToken(), world.said.append)
    assert (done.is_changed, done.note, done.kept.record.commit) == (True, "", "a" * 40)
    assert (kept.tree / "src/main.py").read_text() == "new"
    world.forge.archives["/ada/engine/archive/main.tar.gz"] = b"no archive at all"
    done = world.arrivals().refresh(done.kept, world.address(), CancelToken(), world.said.append)
    assert "damaged" in done.note
    assert (kept.tree / "src/main.py").read_text() == "new"
    assert not [path for path in world.store.base.iterdir() if path.name.startswith(".coming")]


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (404, {}, "There is no 'main' of ada/engine"),
        (401, {}, "does not let us read"),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}, "no more requests for now until"),
        (403, {"Retry-After": "60"}, "no more requests for now until"),
        (429, {"Retry-After": "60"}, "no more requests for now until"),
        (503, {}, "answered with an error"),
    ],
)  # fmt: skip
def test_what_a_server_refuses_is_a_sentence(world: World, status: int, headers: dict[str, str], expected: str) -> None:
    world.forge.status, world.forge.headers = status, headers
    with pytest.raises(MgrepError, match=expected):
        world.bring()
    assert world.store.all() == []


def test_no_network_and_other_transports_are_sentences(world: World) -> None:
    nowhere = parse_address("http://127.0.0.1:1/ada/engine@main")
    assert nowhere is not None
    with pytest.raises(MgrepError, match="cannot be reached"):
        world.bring(nowhere)
    for text in ("git@example.org:o/n.git", "file:///srv/n"):
        address = parse_address(text)
        assert address is not None
        with pytest.raises(MgrepError, match="Without git only web addresses"):
            world.bring(address)


def test_a_token_goes_into_a_header_and_not_to_another_host(world: World, tmp_path: Path) -> None:
    other = Forge(tmp_path / "other")
    try:
        other.pack("ada/engine", "main", world.source.path)
        world.forge.redirects["/ada/engine/archive/main.tar.gz"] = other.url("ada/engine") + "/archive/main.tar.gz"
        world.bring(MGREP_TUI_TOKEN=f"{world.forge.host}=s3cr3t")
        assert "Authorization" in world.forge.asked[0][2]
        assert all("Authorization" not in headers for _, _, headers in other.asked)
        assert len(other.asked) == 1
        assert not any("s3cr3t" in path for _, path, _ in world.forge.asked + other.asked)
    finally:
        other.close()


def test_a_redirect_to_a_file_is_refused(world: World) -> None:
    world.forge.redirects["/ada/engine/archive/main.tar.gz"] = "file:///etc/passwd"
    with pytest.raises(MgrepError):
        world.bring()


def test_redirects_without_end_are_given_up(world: World) -> None:
    path = "/ada/engine/archive/main.tar.gz"
    world.forge.redirects[path] = path
    with pytest.raises(MgrepError):
        world.bring()


def test_where_each_forge_has_its_archives() -> None:
    def url(text: str) -> str:
        address = parse_address(text)
        assert address is not None
        return archive_url(address, address.ref or "HEAD")

    assert url("github:o/n") == "https://codeload.github.com/o/n/tar.gz/HEAD"
    assert url("gitlab:g/s/n@a/b") == "https://gitlab.com/api/v4/projects/g%2Fs%2Fn/repository/archive.tar.gz?sha=a%2Fb"
    assert url("bitbucket:o/n@v1") == "https://bitbucket.org/o/n/get/v1.tar.gz"
    assert url("codeberg:o/n@v1") == "https://codeberg.org/o/n/archive/v1.tar.gz"
    assert url("sourcehut:~u/n@v1") == "https://git.sr.ht/~u/n/archive/v1.tar.gz"


# --- archives made to do harm


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


def test_a_download_that_hangs_ends_when_it_is_told_to(tmp_path: Path) -> None:
    """A read waited for the network until its time limit of half a minute."""
    cancel = CancelToken()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbeginning")
                cancel.cancel()
                connection.recv(10_000)  # until the other side has gone

        serving = threading.Thread(target=serve)
        serving.start()
        address = parse_address(f"http://127.0.0.1:{listening.getsockname()[1]}/ada/engine@main")
        assert address is not None
        (tmp_path / "out").mkdir()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            download(address, None, tmp_path / "out", tmp_path / "archive", WIDE, cancel, lambda text: None)
        serving.join(TIMEOUT_S)
    assert time.monotonic() - began < TIMEOUT_S / 2
    assert not (tmp_path / "archive").exists() and list((tmp_path / "out").iterdir()) == []


def test_a_server_that_never_answers_does_not_hold_up_the_end(world: World) -> None:
    """The first line of an answer was waited for, twice half a minute, whoever had left."""
    cancel = CancelToken()
    world.forge.hangs = True
    leaving = threading.Thread(target=lambda: (world.forge.began.wait(TIMEOUT_S), cancel.cancel()))
    leaving.start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        world.arrivals().bring(world.address(""), cancel, world.said.append)
    leaving.join()
    assert time.monotonic() - began < TIMEOUT_S / 2
    assert list(world.store.base.iterdir()) == []


def test_no_network_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(address: tuple[str, int], *given: object, **named: object) -> socket.socket:
        asked.append(address[0])
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", refuse)
    address = parse_address("https://git.example.org/o/n")
    assert address is not None
    with pytest.raises(MgrepError, match="cannot be reached"):
        default_ref(address, None, CancelToken())
    assert asked == ["git.example.org"]


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
