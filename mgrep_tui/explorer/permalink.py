"""The address of a line at the forge that the repository came from, by commit, so that it stays right."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from mgrep_tui.corpus.git import head, run
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.model import Hit

# `git@host:owner/name.git`, as git takes it for `ssh://git@host/owner/name.git`.
SCP_LIKE = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?!//)(?P<path>[^\s]+)")
URL = re.compile(r"(?:https?|ssh|git)://(?:[^@/\s]*@)?(?P<host>[^:/\s]+)(?::\d+)?/(?P<path>[^\s]+)")


def permalink(root: Root, hit: Hit) -> str:
    """The address of the hit's lines. Raises `MgrepError` when there is no commit or no remote that has addresses."""
    commit = head(root).commit
    if not commit:
        raise MgrepError("There is no commit to link to yet.")
    try:
        remote = os.fsdecode(run(root.path, ["config", "--get", "remote.origin.url"])).strip()
    except UnreadableError as error:
        raise MgrepError("The repository has no remote named 'origin'.") from error
    return address(remote, commit, root.prefix + hit.path, hit.first_line + 1, hit.last_line + 1)


def address(remote: str, commit: str, path: bytes, first_line: int, last_line: int) -> str:
    """The web address of 1-based, inclusive lines of a file. A user name or token in the remote is left out. Pure."""
    match = URL.fullmatch(remote) or SCP_LIKE.fullmatch(remote)
    if match is None:
        raise MgrepError("The remote is not an address of a forge.")
    host, project = match["host"], match["path"].strip("/").removesuffix(".git")
    file = quote(path)
    one = first_line == last_line
    if "gitlab" in host:
        lines = f"#L{first_line}" if one else f"#L{first_line}-{last_line}"
        return f"https://{host}/{project}/-/blob/{commit}/{file}{lines}"
    if "bitbucket" in host:
        lines = f"#lines-{first_line}" if one else f"#lines-{first_line}:{last_line}"
        return f"https://{host}/{project}/src/{commit}/{file}{lines}"
    lines = f"#L{first_line}" if one else f"#L{first_line}-L{last_line}"
    if "github" in host:
        return f"https://{host}/{project}/blob/{commit}/{file}{lines}"
    # Gitea and Forgejo, which most other hosts run.
    return f"https://{host}/{project}/src/commit/{commit}/{file}{lines}"
