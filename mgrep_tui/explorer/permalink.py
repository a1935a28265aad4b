"""The address of a line at the forge that the repository came from, by commit, so that it stays right."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import quote

from mgrep_tui.corpus.git import head, run
from mgrep_tui.corpus.root import Root, owner_of
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.model import Hit

# `git@host:owner/name.git`, as git takes it for `ssh://git@host/owner/name.git`.
SCP_LIKE = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/@\s]+):(?!//)(?P<path>[^\s]+)")
URL = re.compile(r"(?P<scheme>https?|ssh|git)://(?:[^/\s]*@)?(?P<host>[^:/@\s]+)(?P<port>:\d+)?/(?P<path>[^\s]+)")
_HOST = re.compile(r"[\w.\-\[\]]+")
# Files that forges show as a page, where no line has an address.
_RENDERED = re.compile(rb"\.(?:md|markdown|mdown|rst|adoc|asciidoc|org|ipynb)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tree without git came from, and what commit it is."""

    url: str
    commit: str


def permalink(root: Root, hit: Hit, origin: Origin | None = None) -> str:
    """The address of the hit's lines. Raises `MgrepError` when there is no commit or no remote that has addresses."""
    if origin is not None:
        if not origin.commit:
            raise MgrepError("It is not known which commit this is.")
        return address(origin.url, origin.commit, hit.path, hit.first_line + 1, hit.last_line + 1)
    owner, path = owner_of(root, hit.path)
    commit = head(owner).commit
    if not commit:
        raise MgrepError("There is no commit to link to yet.")
    try:
        remote = os.fsdecode(run(owner.path, ["config", "--get", "remote.origin.url"])).strip()
    except UnreadableError as error:
        raise MgrepError("The repository has no remote named 'origin'.") from error
    return address(remote, commit, owner.prefix + path, hit.first_line + 1, hit.last_line + 1)


def address(remote: str, commit: str, path: bytes, first_line: int, last_line: int) -> str:
    """The web address of 1-based, inclusive lines of a file. A user name or token in the remote is left out. Pure."""
    match = URL.fullmatch(remote) or SCP_LIKE.fullmatch(remote)
    found = {} if match is None else match.groupdict()
    if not _HOST.fullmatch(found.get("host") or ""):
        raise MgrepError("The remote is not an address of a forge.")
    is_web = found.get("scheme") in ("http", "https")
    host = found["host"]
    where = f"{found['scheme'] if is_web else 'https'}://{host}{(found['port'] or '') if is_web else ''}"
    project = quote(found["path"].strip("/").removesuffix(".git"), safe="/~%")
    file, ref = quote(path), quote(commit, safe="")
    one = first_line == last_line
    is_rendered = _RENDERED.search(path) is not None
    if "gitlab" in host:
        lines = f"#L{first_line}" if one else f"#L{first_line}-{last_line}"
        return f"{where}/{project}/-/blob/{ref}/{file}{'?plain=1' if is_rendered else ''}{lines}"
    if "bitbucket" in host:
        lines = f"#lines-{first_line}" if one else f"#lines-{first_line}:{last_line}"
        return f"{where}/{project}/src/{ref}/{file}{lines}"
    if host == "git.sr.ht" or "sourcehut" in host:
        lines = f"#L{first_line}" if one else f"#L{first_line}-{last_line}"
        return f"{where}/{project}/tree/{ref}/item/{file}{lines}"
    lines = f"#L{first_line}" if one else f"#L{first_line}-L{last_line}"
    if "github" in host:
        return f"{where}/{project}/blob/{ref}/{file}{'?plain=1' if is_rendered else ''}{lines}"
    # Gitea and Forgejo, which most other hosts run.
    return f"{where}/{project}/src/commit/{ref}/{file}{'?display=source' if is_rendered else ''}{lines}"
