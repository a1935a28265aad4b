"""What is published of a root: the files of its commit, as they are in that commit.

A file that the work tree has as the commit has it is read from the disk; one that was changed here comes from git's own objects. What git
does not track is not published. A folder without git is published as it is, under the hash of all that it holds.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.corpus.decode import Searchable, searchable
from mgrep_tui.corpus.git import GitProcess, head, run
from mgrep_tui.corpus.gitstate import work_tree_state
from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.index.ingest import content_hash
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import Settings

_REMOTE_NAME = re.compile(r"[/:]([^/:]+/[^/:]+?)(?:\.git)?/?$")


@dataclass(frozen=True, slots=True)
class Publication:
    """A commit that is to be published. `files` are the paths to read from the disk, `objects` those to read from git, by blob id.

    `commit` is git's, or for a folder without git empty until its files were read. `default_branch` is what the remote calls its own, where
    that is known here.
    """

    root: Root
    repository: str
    branch: str
    commit: str
    committed_s: int
    remote: str
    files: tuple[bytes, ...]
    objects: tuple[tuple[bytes, str], ...]
    default_branch: str = ""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file with its content. `seen` is None for what is not text."""

    path: bytes
    content: bytes
    size_bytes: int
    seen: Searchable | None
    is_object: bool = False


def publication_of(root: Root, settings: Settings, cancel: CancelToken, *, name: str = "") -> Publication:
    """What there is to publish of a root. Raises `MgrepError`, `Cancelled`."""
    entries = [entry.path for entry in list_files(root, settings.corpus, cancel).entries]
    where = head(root)
    if not where.commit:
        if root.is_git:
            raise MgrepError("There is no commit to publish yet.")
        return Publication(root, name or root.path.name or "root", "", "", 0, "", tuple(entries), ())
    remote = remote_of(root)
    tree = _tree(root, where.commit, cancel)
    dirty = work_tree_state(root, cancel).dirty
    limit = settings.corpus.max_file_bytes
    listed = set(entries)
    # A file that was deleted here is in the commit all the same; the rules for what is listed cannot be asked about it any more.
    missing = [path for path in tree if path not in listed and not os.path.lexists(root.absolute(path))]
    files = tuple(path for path in entries if path in tree and path not in dirty)
    changed = sorted([path for path in entries if path in tree and path in dirty] + missing)
    objects = tuple((path, tree[path][0]) for path in changed if tree[path][1] <= limit)
    when = run(root.path, ("show", "-s", "--format=%ct", where.commit), cancel).strip()
    return Publication(
        root,
        name or repository_name(root, remote),
        where.branch,
        where.commit,
        int(when or b"0"),
        remote,
        files,
        objects,
        default_branch_of(root),
    )


def read_files(publication: Publication, limit_bytes: int, cancel: CancelToken) -> Iterator[TreeFile]:
    """Every file of a publication with its content, those from git last. A file that cannot be read is left out."""
    with Reader(publication.root) as reader:
        for path in publication.files:
            cancel.check()
            try:
                raw = reader.read(path, limit_bytes)
            except UnreadableError:
                continue
            yield TreeFile(path, content_hash(raw.data), len(raw.data), searchable(raw.data))
    for path, blob in publication.objects:
        cancel.check()
        data = run(publication.root.path, ("cat-file", "blob", blob), cancel)
        yield TreeFile(path, content_hash(data), len(data), searchable(data), is_object=True)


def commit_of_contents(files: dict[bytes, bytes]) -> str:
    """The name of a state that has no commit: the hash of its paths and contents."""
    digest = hashlib.blake2b(digest_size=20)
    for path in sorted(files):
        digest.update(len(path).to_bytes(4, "little") + path + files[path])
    return digest.hexdigest()


def repository_name(root: Root, remote: str) -> str:
    """`owner/name` of the remote; else the folder's name. For a part of a repository, with that part."""
    found = _REMOTE_NAME.search(remote.strip())
    top = root.git_top if root.git_top is not None else root.path
    name = found[1] if found is not None else top.name or "root"
    inner = os.fsdecode(root.prefix).strip("/")
    return f"{name}/{inner}" if inner else name


def remote_of(root: Root) -> str:
    """The address of the remote `origin`; empty when there is none."""
    try:
        return os.fsdecode(run(root.path, ("config", "--get", "remote.origin.url"))).strip()
    except UnreadableError:
        return ""


def default_branch_of(root: Root) -> str:
    """The branch that `origin` has checked out itself; empty when this clone does not know."""
    try:
        name = run(root.path, ("symbolic-ref", "-q", "refs/remotes/origin/HEAD"))
    except UnreadableError:
        return ""
    return os.fsdecode(name.strip()).removeprefix("refs/remotes/origin/")


def _tree(root: Root, commit: str, cancel: CancelToken) -> dict[bytes, tuple[str, int]]:
    """Path below the root → blob id and size, of the regular files of a commit."""
    top = root.git_top if root.git_top is not None else root.path
    words = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit]
    prefix = root.prefix
    if prefix:
        words += ["--", os.fsdecode(prefix)]
    output, _ = GitProcess(Path(top), words).finish(cancel)
    found = {}
    for line in output.split(b"\0"):
        described, _, path = line.partition(b"\t")
        fields = described.split()
        if len(fields) == 4 and fields[0].startswith(b"100") and path.startswith(prefix):
            found[path[len(prefix) :]] = (fields[2].decode("ascii"), int(fields[3]) if fields[3].isdigit() else 0)
    return found
