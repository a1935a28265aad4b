"""Where git is missing: archives over HTTP from a real server on this machine."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import Address, parse_address
from mgrep_tui.repositories.archive import TIMEOUT_S, archive_url, default_ref, download
from mgrep_tui.repositories.arrival import Arrivals
from mgrep_tui.repositories.limits import Limits
from mgrep_tui.repositories.store import Kept, Store
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
