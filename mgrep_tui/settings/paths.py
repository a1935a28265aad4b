"""Where the program keeps its files: the index in the cache, choices in the configuration, memories in the state, one log."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP = "mgrep-tui"
# Part of every index folder's name: an older program never opens a folder whose layout it does not know.
LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Folders:
    """The four folders of this user. None of them need exist."""

    cache: Path
    config: Path
    state: Path
    log: Path

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"

    @property
    def log_file(self) -> Path:
        return self.log / f"{APP}.log"

    @property
    def shared(self) -> Path:
        """What is keyed by content alone and so serves every root: the cache of embeddings."""
        return self.cache / "shared"

    @property
    def agreements(self) -> Path:
        """For which folders code may be sent to an endpoint."""
        return self.state / "agreements.json"

    @property
    def kernels(self) -> Path:
        """Compiled n-gram kernels (`NUMBA_CACHE_DIR`)."""
        return self.cache / "kernels"

    def index_of(self, root: Path) -> Path:
        """The index folder of a resolved root: a readable name and a hash of the whole path."""
        raw = os.fsencode(root)
        digest = hashlib.blake2b(raw, digest_size=8).hexdigest()
        name = re.sub(r"[^A-Za-z0-9._-]", "_", root.name)[:40] or "root"
        return self.cache / "roots" / f"{name}-{digest}-v{LAYOUT}"

    def session_of(self, root: Path) -> Path:
        """The file that remembers the last query and panes of a root."""
        return self.state / "sessions" / (self.index_of(root).name + ".json")


def user_folders(environ: Mapping[str, str] | None = None) -> Folders:
    """The folders as the platform has them, or all under `MGREP_TUI_HOME` where that is set."""
    home = (os.environ if environ is None else environ).get("MGREP_TUI_HOME")
    if home:
        base = Path(home).expanduser().absolute()
        return Folders(base / "cache", base / "config", base / "state", base / "log")
    dirs = platformdirs.PlatformDirs(APP, appauthor=False)
    return Folders(dirs.user_cache_path, dirs.user_config_path, dirs.user_state_path, dirs.user_log_path)
