"""The web address of lines of a file at a forge, from a remote's address. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote

from mgrep_tui.errors import MgrepError

# `git@host:owner/name.git`, as git takes it for `ssh://git@host/owner/name.git`.
SCP_LIKE = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/@\s]{2,}):(?!//)(?P<path>[^\s]+)")
URL = re.compile(r"(?P<scheme>https?|ssh|git)://(?:[^/\s]*@)?(?P<host>[^:/@\s]+)(?P<port>:\d+)?/(?P<path>[^\s]+)")
_HOST = re.compile(r"[\w.\-\[\]]+")
# Hosts that take ssh on the port of HTTPS, and are no web sites.
_SSH_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
# Files that forges show as a page, where no line has an address.
_RENDERED = re.compile(rb"\.(?:md|markdown|mdown|rst|adoc|asciidoc|org|ipynb)\Z", re.IGNORECASE)


def is_forge(remote: str) -> bool:
    """Whether a remote's address can be made one of the web."""
    return _parts(remote) is not None


def with_host(remote: str, names: dict[str, str]) -> str:
    """A remote of ssh whose host is a name of the person's own, with the host that it stands for."""
    match = SCP_LIKE.fullmatch(remote) or URL.fullmatch(remote)
    if match is None or match.groupdict().get("scheme", "ssh") != "ssh" or match["host"] not in names:
        return remote
    return remote[: match.start("host")] + names[match["host"]] + remote[match.end("host") :]


def ssh_names(config: str) -> dict[str, str]:
    """The names of ssh's configuration that stand for other hosts: `Host work`, `HostName github.com`. Patterns are left out."""
    found: dict[str, str] = {}
    own: list[str] = []
    for line in config.splitlines():
        key, _, value = re.sub(r"\s*=\s*|\s+", " ", line.strip(), count=1).partition(" ")
        match key.lower():
            case "host":
                own = [name for name in value.split() if not re.search(r"[*?!]", name)]
            case "match":
                own = []
            case "hostname" if "%" not in value:
                for name in own:
                    found.setdefault(name, value.strip())
    return found


def _parts(remote: str) -> dict[str, str | None] | None:
    match = URL.fullmatch(remote) or SCP_LIKE.fullmatch(remote)
    return match.groupdict() if match is not None and _HOST.fullmatch(match["host"]) else None


def address(remote: str, commit: str, path: bytes, first_line: int, last_line: int) -> str:
    """The web address of 1-based, inclusive lines of a file. A user name or token in the remote is left out. Pure."""
    found = _parts(remote)
    if found is None:
        raise MgrepError("The remote is not an address of a forge.")
    is_web = found.get("scheme") in ("http", "https")
    host = (found["host"] or "").lower()
    host = _SSH_HOSTS.get(host, host)
    where = f"{found['scheme'] if is_web else 'https'}://{host}{(found['port'] or '') if is_web else ''}"
    project = quote((found["path"] or "").strip("/").removesuffix(".git"), safe="/~%")
    file, ref = quote(path), quote(commit, safe="")
    one = first_line == last_line
    is_rendered = _RENDERED.search(path) is not None
    if "gitlab" in host:
        lines = f"#L{first_line}" if one else f"#L{first_line}-{last_line}"
        return f"{where}/{project}/-/blob/{ref}/{file}{'?plain=1' if is_rendered else ''}{lines}"
    if host == "bitbucket.org":
        lines = f"#lines-{first_line}" if one else f"#lines-{first_line}:{last_line}"
        return f"{where}/{project}/src/{ref}/{file}{lines}"
    if "bitbucket" in host:
        lines = f"#{first_line}" if one else f"#{first_line}-{last_line}"
        return f"{where}{_data_center(project)}/browse/{file}?at={ref}{lines}"
    if host == "git.sr.ht" or "sourcehut" in host:
        lines = f"#L{first_line}" if one else f"#L{first_line}-{last_line}"
        return f"{where}/{project}/tree/{ref}/item/{file}{lines}"
    lines = f"#L{first_line}" if one else f"#L{first_line}-L{last_line}"
    if "github" in host:
        return f"{where}/{project}/blob/{ref}/{file}{'?plain=1' if is_rendered else ''}{lines}"
    # Gitea and Forgejo, which most other hosts run.
    return f"{where}/{project}/src/commit/{ref}/{file}{'?display=source' if is_rendered else ''}{lines}"


def _data_center(project: str) -> str:
    """A project of a Bitbucket of one's own as its pages have it: `scm/key/name` and `key/name` are `/projects/key/repos/name`."""
    folder, _, rest = f"/{project}".rpartition("/scm/")
    owner, _, name = rest.lstrip("/").partition("/")
    kind, owner = ("users", owner[1:]) if owner.startswith("~") else ("projects", owner)
    return f"{folder}/{kind}/{owner}/repos/{name}"
