"""Bringing a repository with git: one commit, without its history, its tags, its submodules, its filters and its hooks.

A new clone is made in a folder under a temporary name. A refresh fetches the new commit beside the old one (which may stop at any time),
then marks what is to be done, checks out, and takes the mark away: a checkout that was broken off is ended at the next opening, without
the network.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from mgrep_tui.errors import MgrepError
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.repositories.credentials import may_have_secret, variables_named
from mgrep_tui.repositories.git_process import Git, GitFailedError
from mgrep_tui.repositories.limits import ROOM_HINT
from mgrep_tui.repositories.store import remove_tree

CURRENT = "refs/mgrep-tui/current"
COMING = "refs/mgrep-tui/coming"
PACKS_KEPT = 12
_FETCH = (
    "fetch",
    "--progress",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--force",
)


def clone(git: Git, folder: Path, address: Address) -> str:
    """Fill the empty `folder`, where `git` runs. The commit that stands there afterwards. Raises as `fetch` and `Git.run`."""
    try:
        _begin(git, address)
        commit = fetch(git, address)
    except OtherHashError:
        remove_tree(folder / ".git")
        _begin(git, address, "--object-format=sha256")
        commit = fetch(git, address)
    check_out(git, folder, commit)
    return commit


def _begin(git: Git, address: Address, *hashes: str) -> None:
    try:
        git.run("init", "--quiet", "--template=", "--initial-branch=mgrep-tui", *hashes, is_offline=True)
        git.run("config", "remote.origin.url", address.url, is_offline=True)
    except GitFailedError as error:
        raise explained(error, address) from error


def fetch(git: Git, address: Address) -> str:
    """Bring what the address names beside what is there; the commit. The tree stays as it was. Raises `MgrepError` in a person's words."""
    what = ("--", address.url, f"+{address.ref or 'HEAD'}:{COMING}")
    try:
        try:
            git.run(*_FETCH, "--depth=1", *what)
        except GitFailedError as error:
            if not _NOT_SHALLOW.search(error.output):
                raise
            git.run(*_FETCH, *what)  # the limits hold for the whole history too
        # A tag may stand for a tag object; `^{commit}` is what it means.
        return git.run("rev-parse", "--verify", "--quiet", f"{COMING}^{{commit}}", is_offline=True).strip()
    except GitFailedError as error:
        raise explained(error, address) from error


def check_out(git: Git, folder: Path, commit: str) -> None:
    """Make the tree that of a commit which is here. May be broken off and done again. Raises as `Git.run`, and `OSError`."""
    mark = folder / ".git" / "mgrep-tui-checkout"
    mark.write_text(commit, encoding="ascii")
    for lock in ("index.lock", "HEAD.lock"):
        (folder / ".git" / lock).unlink(missing_ok=True)  # of a checkout that was killed; nobody else works in here
    try:
        git.run(
            "checkout", "--progress", "--force", "--detach", "--no-recurse-submodules", commit, "--", is_offline=True
        )
        git.run("update-ref", CURRENT, commit, is_offline=True)
    except GitFailedError as error:
        raise _full(error) or UnclearError(f"The files cannot be checked out: {_last_words(error)}") from error
    mark.unlink(missing_ok=True)


def unfinished(folder: Path) -> str:
    """The commit whose checkout was broken off; empty when the tree is whole."""
    try:
        text = (folder / ".git" / "mgrep-tui-checkout").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if re.fullmatch(r"[0-9a-f]{40,64}", text) else ""


def tidy(git: Git, folder: Path) -> None:
    """Forget the objects of former commits when many refreshes have piled them up. Failing is no harm."""
    if len(list((folder / ".git" / "objects" / "pack").glob("*.pack"))) <= PACKS_KEPT:
        return
    with contextlib.suppress(MgrepError):
        git.run("update-ref", "-d", COMING, is_offline=True)
        git.run("gc", "--quiet", "--prune=now", is_offline=True)


class UnclearError(MgrepError):
    """Git failed for a reason that may lie in what is here as well as at the other side."""


class OtherHashError(MgrepError):
    """The other side names its objects by another hash than the clone."""


_NETWORK = re.compile(
    r"could not resolve host|couldn't resolve|network is unreachable|connection refused|connection timed out|no route to host|"
    r"failed to connect|couldn't connect|name or service not known|temporary failure in name resolution|operation timed out|"
    r"connection reset|connection was reset|early eof|unexpected disconnect|recv failure",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"authentication failed|could not read (?:username|password)|permission denied|access denied|terminal prompts disabled|"
    r"returned error: 40[13]|invalid username or (?:password|token)",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"repository .*not found|returned error: 404|does not appear to be a git repository|project you were looking for|"
    r"could not be found|no such file or directory|does not exist",
    re.IGNORECASE,
)
_NO_REF = re.compile(
    r"couldn't find remote ref|not our ref|no such remote ref|remote ref does not exist|unadvertised object",
    re.IGNORECASE,
)
_NOT_SHALLOW = re.compile(r"does not support shallow", re.IGNORECASE)
_OTHER_HASH = re.compile(r"mismatched algorithms", re.IGNORECASE)
_NO_COMMIT = re.compile(r"expected commit type", re.IGNORECASE)
_DISK = re.compile(
    r"^(?!remote:).*(?P<what>no space left on device|disk quota exceeded|out of disk ?space|read-only file system)",
    re.IGNORECASE | re.MULTILINE,
)
_LIMITED = re.compile(r"returned error: 429|too many requests|rate limit", re.IGNORECASE)
_HOST_KEY = re.compile(r"host key verification failed|authenticity of host|no .* host key is known", re.IGNORECASE)
_OWNER = re.compile(r"dubious ownership", re.IGNORECASE)
_TLS = re.compile(r"certificate|ssl", re.IGNORECASE)
# What the other side says of its own objects.
_DAMAGED = re.compile(
    r"(?:remote: |git upload-pack: )(?:fatal: |error: )?"
    r"(?P<what>[^\n]*(?:missing|unable to read|bad object|corrupt)[^\n]*)",
    re.IGNORECASE,
)
_UNSOUND = re.compile(r"fsck|bad object|hasdotgit|gitmodules", re.IGNORECASE)


def _full(error: GitFailedError) -> MgrepError | None:
    full = _DISK.search(error.output)
    return full and MgrepError(f"The cache cannot be written: {full.group('what').lower()}.", ROOM_HINT)


def _last_words(error: GitFailedError) -> str:
    return error.message.removeprefix("git failed: ")


def explained(error: GitFailedError, address: Address) -> MgrepError:
    """What went wrong with a transfer, as a sentence and what to do. Pure."""
    said = error.output
    where = address.host or address.project
    if _LIMITED.search(said):
        return MgrepError(
            f"{where} takes no more requests for now.",
            f"Wait a while, or set {variables_named(address)}." if may_have_secret(address) else "Wait a while.",
        )
    if full := _full(error):
        return full
    if _OTHER_HASH.search(said):
        return OtherHashError(f"{address.project} uses another hash than before.", "Remove it and open it again.")
    if _NO_REF.search(said):
        if not address.ref:
            return MgrepError(
                f"There is no commit on the default branch of {address.project}.", "Name a branch that has one: @BRANCH"
            )
        return MgrepError(
            f"There is no branch, tag or commit '{address.ref}' in {address.project}.",
            "A commit must be named in full.",
        )
    if _NO_COMMIT.search(said):
        return MgrepError(f"'{address.ref}' of {address.project} is a tag of something that is no commit.")
    if _HOST_KEY.search(said):
        return MgrepError(f"The key of {where} is not known to ssh.", f"Connect once by hand, to check it: ssh {where}")
    if _OWNER.search(said):
        return MgrepError(
            "git refuses to read that repository: it belongs to somebody else.",
            f"If you trust it: git config --global --add safe.directory '{address.project}'",
        )
    if damaged := _DAMAGED.search(said):
        return MgrepError(f"The repository at {where} is damaged: {damaged.group('what').strip()}")
    if address.host and _NETWORK.search(said):
        return MgrepError(f"{where} cannot be reached.", "Is there a network?")
    if _DENIED.search(said):
        hint = (
            "Add your key to the agent (ssh-add)." if address.scheme == "ssh"
            else f"If it is private, set {variables_named(address)}, or let git remember your name there."
            if may_have_secret(address) else "Is the name right? If it is private, open it by https:// or ssh://."
        )  # fmt: skip
        return MgrepError(f"{where} does not let us read {address.project}, or there is no such repository.", hint)
    if _MISSING.search(said):
        hint = "Is the name right?" if address.host else "Is the path right?"
        if may_have_secret(address):
            hint += f" If it is private, set {variables_named(address)}."
        return MgrepError(
            f"There is no repository {address.project} at {where}."
            if address.host
            else f"There is no repository at {where}.",
            hint,
        )
    if _UNSOUND.search(said):
        return UnclearError(
            f"{address.project} holds objects that git takes for unsound, so it is not opened.", str(error)
        )
    if _TLS.search(said):
        return MgrepError(f"The connection to {where} is not safe: {_last_words(error)}")
    return UnclearError(f"{address.project} could not be fetched: {_last_words(error)}")
