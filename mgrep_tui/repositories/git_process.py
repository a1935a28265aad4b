"""Git where it talks to others: no prompt, no terminal, no program of a repository's choosing, and an end at any time.

The person's own configuration is read here (proxies, certificates, credential helpers: the address is the person's word), with everything
that could ask or start something else switched off. For what touches files (`is_offline`) not even that: no configuration but the clone's
own, which we wrote, so that no filter (`lfs`) and no hook exists.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from mgrep_tui.corpus.git import HARDENED, clean_environment, program
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.repositories.credentials import Secret, git_configuration, git_variables, without_secrets
from mgrep_tui.repositories.limits import LimitError, Limits, check_size, memory_of_session, size_of

POLL_S = 0.05
LOOK_S = 0.5  # between two looks at the size
SILENCE_S = 120.0  # a transfer that says nothing for so long has died
DISK_SILENCE_S = 1_800.0  # a large tree on a slow disk is long in coming
MAX_ERROR_BYTES = 100_000
_SETTINGS = (
    "protocol.ext.allow=never",
    "transfer.fsckObjects=true",
    # What old and honest repositories hold; what could do harm (`.git` as a name, bad submodule names) stays an error.
    *(f"fetch.fsck.{kind}=ignore" for kind in ("zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "badDateOverflow")),
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "core.bigFileThreshold=16m",  # larger files stream instead of being held
    "core.askPass=",
    "credential.interactive=false",
    "credential.guiPrompt=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.lowSpeedLimit=200",
    "http.lowSpeedTime=60",
    "advice.detachedHead=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.logAllRefUpdates=false",
)  # fmt: skip
_OFFLINE = ("core.attributesFile=" + os.devnull, "core.excludesFile=" + os.devnull, "core.autocrlf=false")
_PROGRESS = re.compile(rb"(?P<what>[A-Z][A-Za-z ]+):\s+(?P<share>\d{1,3})% ")

Report = Callable[[str], None]


class GitFailedError(MgrepError):
    """Git ended with an error; `output` is what it said, as it said it."""

    def __init__(self, output: str) -> None:
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "it said nothing")
        super().__init__(f"git failed: {last.strip()}")
        self.output = output


def has_git(environ: Mapping[str, str]) -> bool:
    return program(environ.get("PATH", os.defpath)) is not None


def environment_for(
    address: Address, environ: Mapping[str, str], secret: Secret | None, *, is_offline: bool, ssh: str = ""
) -> dict[str, str]:
    """The environment of git. Pure. The secret travels in it, so that it stands in no list of processes; `ssh` is `core.sshCommand`."""
    found = without_secrets(clean_environment(environ))
    found.update(
        GIT_ASKPASS="",  # empty: nothing is asked, whatever the configuration names
        SSH_ASKPASS_REQUIRE="never",
        GCM_INTERACTIVE="never",
        GIT_ALLOW_PROTOCOL=_transports(address),
    )
    found.pop("DISPLAY", None)
    if is_offline:
        found.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", GIT_ATTR_NOSYSTEM="1")
        return found
    found["GIT_SSH_COMMAND"] = _ssh(environ, ssh)
    found.update(git_variables(secret))
    config = git_configuration(address, secret)
    found["GIT_CONFIG_COUNT"] = str(len(config))
    for number, (name, value) in enumerate(config):
        found[f"GIT_CONFIG_KEY_{number}"] = name
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found


def _transports(address: Address) -> str:
    # The person's `url.*.insteadOf` may turn one of these two into the other.
    return {"https": "https:ssh", "ssh": "ssh:https", "http": "http:https"}.get(address.scheme, address.scheme)


def _ssh(environ: Mapping[str, str], configured: str) -> str:
    """The person's ssh, found as git does, with questions switched off."""
    own = environ.get("GIT_SSH_COMMAND", "") or configured or shlex.quote(environ.get("GIT_SSH", "") or "ssh")
    return f"{own} -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=20"


class Git:
    """Runs git in one folder, again and again, for one address. Not for two threads at once."""

    def __init__(
        self,
        folder: Path,
        address: Address,
        environ: Mapping[str, str],
        cancel: CancelToken,
        *,
        secret: Secret | None = None,
        limits: Limits | None = None,
        measured: Path | None = None,
        report: Report | None = None,
    ) -> None:
        """`measured` is the folder whose size `limits` bound; `report` hears phrases such as `receiving objects, 34 %`."""
        self._folder = folder
        self._address = address
        self._environ = environ
        self._cancel = cancel
        self._secret = secret
        self._limits = limits
        self._measured = measured or folder
        self._report = report or (lambda phrase: None)
        self._ssh: str | None = None

    def _configured_ssh(self) -> str:
        """What the person's configuration names for this repository; asked once, before git first goes out."""
        if self._ssh is None:
            self._ssh = ""
            with contextlib.suppress(GitFailedError):
                self._ssh = self.run("config", "--get", "core.sshCommand").strip()
        return self._ssh

    def run(self, *arguments: str, is_offline: bool = False) -> str:
        """One command's output. Raises `GitFailedError`, `LimitError`, `MgrepError` and `Cancelled`; no process of it is left then."""
        ssh = "" if is_offline else self._configured_ssh()
        environ = environment_for(self._address, self._environ, self._secret, is_offline=is_offline, ssh=ssh)
        # Named, so that it is not looked for in the folders above when it is damaged: the cache may lie in somebody's repository.
        environ["GIT_DIR"] = ".git"
        git = program(environ.get("PATH", os.defpath))
        if git is None:
            raise MgrepError("git is not installed.")
        settings = [word for setting in (*_SETTINGS, *(_OFFLINE if is_offline else ())) for word in ("-c", setting)]
        try:
            process = subprocess.Popen(
                [git, *HARDENED, *settings, *arguments],
                cwd=self._folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A session of its own has no terminal to ask on, and ends as a whole.
                start_new_session=True,
            )
        except OSError as error:
            raise MgrepError(f"git cannot be started: {error.strerror}.") from error
        return self._follow(process, DISK_SILENCE_S if is_offline else SILENCE_S)

    def _follow(self, process: subprocess.Popen[bytes], silence_s: float) -> str:
        listener = _Listener(process, self._report)
        looked = time.monotonic()
        try:
            while not listener.wait(POLL_S):
                self._cancel.check()
                now = time.monotonic()
                if now - listener.heard_at > silence_s:
                    raise MgrepError("git stood still and was given up.", "Try again later.")
                if self._limits is not None and now - looked > LOOK_S:
                    self._check(process.pid, self._limits)
                    looked = time.monotonic()
            code = process.wait()
        except BaseException:
            _end(process)
            raise
        if self._limits is not None:
            check_size(self._measured, self._limits, size_of(self._measured))
        if code:
            raise GitFailedError(listener.errors())
        return listener.output()

    def _check(self, session: int, limits: Limits) -> None:
        check_size(self._measured, limits, size_of(self._measured))
        if limits.memory_bytes and memory_of_session(session) > limits.memory_bytes:
            raise LimitError(
                f"git takes more than {limits.memory_bytes / 1e6:,.0f} MB of memory for this repository.",
                "Raise repositories.max_memory_mb in the configuration to let it.",
            )


class _Listener:
    """Reads both outputs of a process in threads of its own."""

    def __init__(self, process: subprocess.Popen[bytes], report: Report) -> None:
        self._process = process
        self._report = report
        self._output = b""
        self._errors = bytearray()
        self.heard_at = time.monotonic()
        self._threads = [
            threading.Thread(target=self._read_output, name="git output", daemon=True),
            threading.Thread(target=self._read_errors, name="git errors", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            self._output = stream.read()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while chunk := os.read(stream.fileno(), 8192):
                self.heard_at = time.monotonic()
                self._errors += chunk
                del self._errors[:-MAX_ERROR_BYTES]
                if steps := list(_PROGRESS.finditer(chunk)):
                    found = steps[-1]
                    self._report(f"{found['what'].decode().lower()}, {int(found['share'])} %")

    def wait(self, seconds: float) -> bool:
        """Whether the process has ended and all it said is read."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            return False
        try:
            self._process.wait(max(0.01, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def errors(self) -> str:
        return self._errors.decode("utf-8", "replace").replace("\r", "\n")

    def output(self) -> str:
        return self._output.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with everything it started."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
