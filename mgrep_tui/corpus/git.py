"""Runs git so that nothing in a repository can run a program, and says where HEAD is.

A repository's own configuration is not trusted. `core.fsmonitor` and hooks are switched off; every transport is refused, so that a
partial clone does not fetch (and start an ssh command) behind our back; no command is used that would run filters, text conversions,
external diffs or a pager. Git is found by absolute path only, so that a file named `git` in the tree is never started.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mgrep_tui.corpus.root import Root, work_tree_of
from mgrep_tui.errors import Cancelled, UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.text.sanitize import sanitize

HARDENED = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=" + os.devnull,
    # Ownership is git's guard against configuration that runs programs; what could run is switched off one by one here.
    "-c", "safe.directory=*",
    "--no-optional-locks",
    "--no-pager",
)  # fmt: skip
# Variables of git that say where the user's own configuration is; every other GIT_ variable could point git elsewhere or start a program.
_KEPT_VARIABLES = frozenset(
    ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
)
# Listing the largest trees known takes a few seconds from a cold disk; past this, the disk hangs.
TIMEOUT_S = 60.0
_POLL_S = 0.05


class NothingFoundError(UnreadableError):
    """Git ended with code 1 and no message: it was asked for something and there is none."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a work tree stands. `commit` is empty before the first commit, `branch` is empty when HEAD is detached."""

    commit: str = ""
    branch: str = ""

    @property
    def is_detached(self) -> bool:
        return bool(self.commit) and not self.branch


@lru_cache(maxsize=8)
def program(search_path: str) -> str | None:
    """The git program: the first in the absolute folders of `search_path`."""
    names = ("git.exe",) if os.name == "nt" else ("git",)
    for folder in search_path.split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for name in names:
            candidate = os.path.join(folder, name)
            if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
                return candidate
    return None


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without what could redirect git, make it ask, page, fetch or start a program."""
    kept = {key: value for key, value in environ.items() if not key.startswith("GIT_") or key in _KEPT_VARIABLES}
    for key in ("SSH_ASKPASS", "PAGER", "EDITOR", "VISUAL"):
        kept.pop(key, None)
    kept.update(
        LC_ALL="C",
        GIT_TERMINAL_PROMPT="0",
        GIT_OPTIONAL_LOCKS="0",
        GIT_NO_LAZY_FETCH="1",
        GIT_NO_REPLACE_OBJECTS="1",
        # A list of allowed transports that names none there is: stronger than any `protocol.*.allow` of the repository.
        GIT_ALLOW_PROTOCOL="none",
    )
    return kept


class GitProcess:
    """A running git whose output is collected by threads, so that two can run side by side and be cancelled."""

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        *,
        config: Sequence[tuple[str, str]] = (),
        max_bytes: int | None = None,
        data: bytes | None = None,
    ) -> None:
        """Start git in `folder`; `config` overrides settings by exact name, more output than `max_bytes` is a failure, `data` is what it
        reads.

        Raises UnreadableError when git cannot be started.
        """
        self._max_bytes = max_bytes
        environment = clean_environment(os.environ)
        git = program(environment.get("PATH", os.defpath))
        if git is None:
            raise UnreadableError("git is not installed.", "Without it, ignore rules are read by mgrep-tui itself.")
        if (top := work_tree_of(folder)) is not None:
            # A `core.worktree` of the repository's configuration that names another folder would have git list that one.
            environment["GIT_WORK_TREE"] = os.fspath(top)
        if config:
            environment["GIT_CONFIG_COUNT"] = str(len(config))
            for number, (key, value) in enumerate(config):
                environment[f"GIT_CONFIG_KEY_{number}"] = key
                environment[f"GIT_CONFIG_VALUE_{number}"] = value
        try:
            self._process = subprocess.Popen(
                [git, *HARDENED, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise UnreadableError(f"git cannot be started: {error.strerror}.") from error
        self._output = b""
        self._errors = b""
        self._readers = [
            threading.Thread(target=self._read_output, name="git output", daemon=True),
            threading.Thread(target=self._read_errors, name="git errors", daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        if data is not None:
            threading.Thread(target=self._write_input, args=(data,), name="git input", daemon=True).start()

    def _write_input(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as stream:
            stream.write(data)

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            self._output = stream.read() if self._max_bytes is None else stream.read(self._max_bytes + 1)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            self._errors = stream.read()

    def finish(self, cancel: CancelToken | None = None, timeout_s: float = TIMEOUT_S) -> tuple[bytes, bytes]:
        """Output and error output. Raises UnreadableError when git fails or overruns, Cancelled when cancelled."""
        waited_s = 0.0
        for reader in self._readers:
            while True:
                reader.join(_POLL_S)
                if not reader.is_alive():
                    break
                waited_s += _POLL_S
                if cancel is not None and cancel.is_cancelled:
                    self.kill()
                    raise Cancelled
                if waited_s > timeout_s:
                    self.kill()
                    raise UnreadableError(f"git did not answer within {timeout_s:.0f} s.")
        if self._max_bytes is not None and len(self._output) > self._max_bytes:
            self.kill()
            raise UnreadableError(f"git answered with more than {self._max_bytes / 1e6:.0f} MB.")
        code = self._process.wait()
        if code == 1 and not self._errors:
            raise NothingFoundError("git found nothing.")
        if code != 0:
            last = self._errors.rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
            raise UnreadableError(f"git failed: {sanitize(last) or f'code {code}'}")
        return self._output, self._errors

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()


def run(
    folder: Path,
    arguments: Sequence[str],
    cancel: CancelToken | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    config: Sequence[tuple[str, str]] = (),
    max_bytes: int | None = None,
    data: bytes | None = None,
) -> bytes:
    """The output of one git command. Any thread. Raises UnreadableError and Cancelled as `GitProcess.finish` does."""
    return GitProcess(folder, arguments, config=config, max_bytes=max_bytes, data=data).finish(cancel, timeout_s)[0]


_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\s*\Z")
_MAX_REF_BYTES = 4096


def head(root: Root) -> Head:
    """Where HEAD is, from git's files: well under a millisecond, so it may be asked at every search. Any thread; never raises."""
    if root.git_dir is None or root.common_dir is None:
        return Head()
    content = _small_file(root.git_dir / "HEAD")
    if content is None:
        return Head()
    if _COMMIT.match(content):
        return Head(commit=content.strip().decode("ascii"))
    if not content.startswith(b"ref: "):
        return Head()
    name = content[5:].strip()
    if name == b"refs/heads/.invalid" or (root.common_dir / "reftable").is_dir():
        return _head_by_git(root)
    branch = os.fsdecode(name.removeprefix(b"refs/heads/"))
    if b".." in name or not name.startswith(b"refs/"):
        return Head(branch=branch)
    value = _small_file(root.common_dir / os.fsdecode(name))
    if value is not None and _COMMIT.match(value):
        return Head(value.strip().decode("ascii"), branch)
    return Head(_packed(root.common_dir / "packed-refs", name), branch)


def _packed(file: Path, name: bytes) -> str:
    try:
        with file.open("rb") as stream:
            for line in stream:
                if line.endswith(b" " + name + b"\n") and _COMMIT.match(line.split(b" ")[0]):
                    return line.split(b" ")[0].decode("ascii")
    except OSError:
        pass
    return ""


def _head_by_git(root: Root) -> Head:
    commit = branch = b""
    with contextlib.suppress(UnreadableError):
        branch = run(root.path, ("symbolic-ref", "-q", "HEAD")).strip().removeprefix(b"refs/heads/")
    with contextlib.suppress(UnreadableError):
        commit = run(root.path, ("rev-parse", "--verify", "-q", "HEAD")).strip()
    return Head(commit.decode("ascii", "replace"), os.fsdecode(branch))


def _small_file(path: Path) -> bytes | None:
    try:
        with path.open("rb") as stream:
            return stream.read(_MAX_REF_BYTES)
    except OSError:
        return None
