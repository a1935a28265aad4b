"""Private repositories: the secret reaches its own host and nothing else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.repositories import git_process, git_transfer
from mgrep_tui.repositories.addresses import parse_address
from mgrep_tui.repositories.store import Kept
from tests.support.arrivals import SECRET, World, command_lines, project
from tests.support.forge import Forge


def test_a_private_repository_asks_nobody_and_says_what_to_set(world: World) -> None:
    project(world)
    world.forge.password = "git:" + SECRET
    asked = world.home / "asked"
    asker = world.home / "asker"
    asker.write_text(f"#!/bin/sh\ntouch '{asked}'\necho x\n")
    asker.chmod(0o755)
    (world.home / "gitconfig").write_text(f"[core]\n\taskPass = {asker}\n")
    environ = {"GIT_ASKPASS": str(asker), "SSH_ASKPASS": str(asker), "DISPLAY": ":0"}
    with pytest.raises(MgrepError, match=r"MGREP_TUI_TOKEN=127\.0\.0\.1"):
        world.bring(world.address("ada/engine"), environ=environ)
    assert not asked.exists()


def test_the_persons_own_credential_helper_is_used(world: World) -> None:
    project(world)
    world.forge.password = "ada:" + SECRET
    (world.home / "gitconfig").write_text(
        f'[credential]\n\thelper = "!f() {{ echo username=ada; echo password={SECRET}; }}; f"\n'
    )
    assert (world.bring(world.address("ada/engine")).tree / "src/main.py").exists()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
def test_a_token_is_in_no_command_line_no_file_and_no_address(world: World, caplog: pytest.LogCaptureFixture) -> None:
    project(world)
    world.forge.password = "git:" + SECRET
    world.forge.hangs = True
    environ = {"MGREP_TUI_TOKEN": f"other.example=x {world.forge.host}={SECRET}"}
    done: list[Kept] = []
    bringing = threading.Thread(target=lambda: done.append(world.bring(world.address("ada/engine"), environ=environ)))
    bringing.start()
    assert world.forge.began.wait(30)
    lines = command_lines()
    assert any(b"remote-http" in line for line in lines)
    assert not any(SECRET.encode() in line for line in lines)
    world.forge.hangs = False
    world.forge.hang.set()
    bringing.join(60)
    assert done
    for folder, _, names in os.walk(world.home):
        for name in names:
            assert SECRET.encode() not in Path(folder, name).read_bytes(), name
    assert not any(SECRET in path for _, path, _ in world.forge.asked)
    assert SECRET not in caplog.text
    assert SECRET not in "".join(world.said)


def test_a_redirect_to_another_host_does_not_take_the_token_along(world: World, tmp_path: Path) -> None:
    other = Forge(tmp_path / "other")
    try:
        other.repository("ada/engine").commit()
        world.forge.redirects["/ada/moved/info/refs"] = other.url("ada/engine") + "/info/refs?service=git-upload-pack"
        environ = {"MGREP_TUI_TOKEN": f"{world.forge.host}={SECRET}"}
        world.bring(world.address("ada/moved"), environ=environ)
        other.password = "git:" + SECRET
        with pytest.raises(MgrepError, match="does not let us read"):
            world.bring(world.address("ada/moved", "main"), environ=environ)
        assert [method for method, _, _ in other.asked][:3] == ["GET", "POST", "POST"]
        assert not any("Authorization" in headers for _, _, headers in other.asked)
    finally:
        other.close()


def test_the_persons_own_helper_does_not_get_our_token_to_keep(world: World) -> None:
    project(world)
    world.forge.password = "git:" + SECRET
    kept = world.home / "kept"
    (world.home / "gitconfig").write_text(f'[credential]\n\thelper = "!f() {{ cat >> {kept}; }}; f"\n')
    world.bring(world.address("ada/engine"), environ={"MGREP_TUI_TOKEN": f"{world.forge.host}={SECRET}"})
    assert not kept.exists()


def test_an_old_token_is_no_obstacle_to_what_is_public(world: World) -> None:
    project(world)
    world.bring(world.address("ada/engine"), environ={"MGREP_TUI_TOKEN": f"{world.forge.host}=expired"})
    assert not any("Authorization" in headers for _, _, headers in world.forge.asked)


def test_a_secret_in_the_address_is_used_and_not_kept(world: World) -> None:
    project(world)
    world.forge.password = "ada:" + SECRET
    address = parse_address(f"http://ada:{SECRET}@{world.forge.host}/ada/engine")
    assert address is not None
    kept = world.bring(address)
    assert SECRET not in repr(address) + str(address) + repr(kept)
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in kept.folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("text", ["git://127.0.0.1:1/o/n", "http://git.example.org/o/n"])
def test_no_token_is_asked_for_where_none_would_be_sent(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    for said in ("fatal: Authentication failed", "The requested URL returned error: 404", "too many requests"):
        assert "TOKEN" not in str(git_transfer.explained(git_process.GitFailedError(said), address))
