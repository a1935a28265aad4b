"""A forge, a home, and a way to bring repositories from the one into the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import Address, parse_address
from mgrep_tui.repositories.arrival import Arrivals
from mgrep_tui.repositories.store import Kept, Store
from mgrep_tui.settings.config import RepositorySettings
from mgrep_tui.settings.paths import user_folders
from tests.support.forge import Forge
from tests.support.git_trees import Tree

SECRET = "s3cr3t-t0k3n-that-nobody-may-see"


class World:
    """A forge, a home, and a way to bring repositories."""

    def __init__(self, folder: Path) -> None:
        self.forge = Forge(folder / "forge")
        self.home = folder / "home"
        self.home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / "gitconfig"), "LC_ALL": "C",
        }  # fmt: skip
        self.store = Store(user_folders({"MGREP_TUI_HOME": str(self.home)}))
        self.settings = RepositorySettings(refresh_s=0)
        self.said: list[str] = []

    def address(self, project: str, ref: str = "") -> Address:
        found = parse_address(self.forge.url(project) + (f"@{ref}" if ref else ""))
        assert found is not None
        return found

    def bring(
        self, address: Address, cancel: CancelToken | None = None, environ: Mapping[str, str] | None = None
    ) -> Kept:
        arrivals = Arrivals(self.store, self.settings, {**self.environ, **(environ or {})})
        return arrivals.bring(address, cancel or CancelToken(), self.said.append)

    def refresh(self, kept: Kept, address: Address, environ: Mapping[str, str] | None = None) -> tuple[Kept, str]:
        arrivals = Arrivals(self.store, self.settings, {**self.environ, **(environ or {})})
        done = arrivals.refresh(kept, address, CancelToken(), self.said.append)
        return done.kept, done.note

    def left(self) -> list[str]:
        """What lies in the store besides locks."""
        try:
            return sorted(name for name in os.listdir(self.store.base) if not name.endswith(".lock"))
        except FileNotFoundError:
            return []


def project(world: World, name: str = "ada/engine") -> Tree:
    tree = world.forge.repository(name)
    tree.write("src/main.py", "def run():\n    return 1\n")
    tree.commit()
    tree.write("src/main.py", "def run():\n    return 2\n")
    tree.commit()
    return tree


def command_lines() -> list[bytes]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found.append(Path("/proc", name, "cmdline").read_bytes())
            except OSError:
                continue
    return found
