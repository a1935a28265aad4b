"""What an address of a repository means: `github:owner/name@ref`, `https://…`, `ssh://…`, `git@host:owner/name`, `file://…`. Pure.

Nothing in an address reaches git as anything but one URL and one ref, and neither may begin with a dash, hold a control character or name
a transport that runs programs (`ext::`).
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from mgrep_tui.errors import MgrepError

SHORT_FORMS = {
    "github": "github.com",
    "gitlab": "gitlab.com",
    "bitbucket": "bitbucket.org",
    "codeberg": "codeberg.org",
    "sourcehut": "git.sr.ht",
    "gitea": "",
    "forgejo": "",
}
SCHEMES = ("https", "http", "ssh", "git", "file")
MAX_CHARS = 1_000
_SHORT = re.compile(r"(?P<forge>[a-z]+):(?!//)(?P<rest>.+)", re.DOTALL)
_SCP_LIKE = re.compile(r"(?P<user>[\w.+-]+)@(?P<host>[\w.-]+):(?!//)(?P<path>[^\s].*)", re.DOTALL)
# Without a user, git's way to write an address looks like much else: a file with a line, a drive, a port.
_SCP_BARE = re.compile(r"(?P<host>[\w.-]{2,}):(?!//|\d+/)(?P<path>[^\s:]+)")
_HOST = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_PART = re.compile(r"[\w.~+][\w.~+-]*")
_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(?:/|$)|/\.|^[-./@]$|^[-/.]|[/.]$")
# A user name alone is left to git's helpers, unless it is as long as none is: forges give addresses of the form `https://TOKEN@host/`.
_TOKEN = re.compile(r"[\w.-]{20,}")
_BEFORE_HOST = re.compile(r"(?:(?<=://)|(?<=gitea:)|(?<=forgejo:))(?!git@)[^/\s']*@")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# The addresses of a browser: what stands between a project and the ref that is looked at.
_BROWSED = {
    "github": re.compile(r"^(?P<project>[^/]+/[^/]+)/(?:tree|commit|releases/tag)/(?P<ref>.+)$"),
    "gitlab": re.compile(r"^(?P<project>.+?)/-/(?:tree|commit|tags)/(?P<ref>.+)$"),
    "bitbucket": re.compile(r"^(?P<project>[^/]+/[^/]+)/(?:src|branch|commits)/(?P<ref>.+)$"),
    "gitea": re.compile(r"^(?P<project>[^/]+/[^/]+)/src/(?:branch|tag|commit)/(?P<ref>.+)$"),
}


class AddressError(MgrepError):
    """Something looks like the address of a repository and is none."""


@dataclass(frozen=True, slots=True)
class Address:
    """A repository and what of it is wanted. `url` is what git is given, without user name and secret of a web address.

    `project` is `owner/name` (at GitLab with more groups, of a file its path), `ref` a branch, tag or whole commit, empty for the default
    branch. `forge` is github, gitlab, bitbucket, gitea or sourcehut as far as the host's name tells, else empty. `secret` is what the
    address itself held as `user:password`, or `:token`.
    """

    url: str
    scheme: str
    host: str
    project: str
    ref: str = ""
    forge: str = ""
    secret: str = field(default="", repr=False, compare=False)

    @property
    def name(self) -> str:
        """The repository's own name."""
        parts = [part.removesuffix(".git") for part in self.project.split("/")]
        return next((part for part in reversed(parts) if part), "repository")

    @property
    def names(self) -> tuple[str, ...]:
        """What `repo:` may call it: its name, with its owner, with its host."""
        at = f"@{self.ref[:12] if self.is_commit else self.ref}" if self.ref else ""
        project = self.project.removesuffix(".git").strip("/")
        if self.scheme == "file":
            return (self.name + at,)
        return tuple(dict.fromkeys((self.name + at, project + at, f"{self.host}/{project}{at}")))

    @property
    def is_commit(self) -> bool:
        """Whether a whole commit is named: what never changes need not be refreshed."""
        return _COMMIT.fullmatch(self.ref) is not None

    @property
    def key(self) -> str:
        """The same for every way of writing the same: what the place in the cache is made of."""
        project = self.project.removesuffix(".git").strip("/")
        where = self.url if self.scheme == "file" else f"{self.host.lower()}/{project}"
        return f"{where}@{self.ref}" if self.ref else where

    def __str__(self) -> str:
        """As a person writes it."""
        at = f"@{self.ref}" if self.ref else ""
        for short, host in SHORT_FORMS.items():
            if host and host == self.host and self.scheme in ("https", "ssh"):
                return f"{short}:{self.project.removesuffix('.git')}{at}"
        return self.url + at


def parse_address(text: str) -> Address | None:
    """The address that `text` is; None when it looks like none (a folder's name). Raises `AddressError` when it is a wrong one.

    No error says a secret back that stands in it.
    """
    try:
        return _parsed(text)
    except AddressError as error:
        raise AddressError(without_secret(error.message), without_secret(error.hint)) from None


def without_secret(text: str) -> str:
    """A text with addresses in it, as it may be shown: what stands before their host is left out. Pure."""
    return _BEFORE_HOST.sub("…@", text)


def _parsed(text: str) -> Address | None:
    if short := _SHORT.fullmatch(text):
        forge = short["forge"]
        if forge in SHORT_FORMS:
            return _from_short(forge, short["rest"], text)
    scheme, separator, _ = text.partition("://")
    if separator and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return _from_url(text, scheme.lower())
    if "::" in text and re.match(r"[a-z][a-z0-9+.-]*::", text):
        raise AddressError(f"'{text.partition('::')[0]}::' is no transport that is used here.", _hint())
    if scp := _SCP_LIKE.fullmatch(text):
        path, ref = _split_ref(scp["path"], text)
        _check(text, scp["host"], path)
        url = f"{scp['user']}@{scp['host']}:{path}"
        return Address(url, "ssh", scp["host"], path.strip("/"), ref, forge_of(scp["host"]))
    if scp := _SCP_BARE.fullmatch(text):
        path, ref = _split_ref(scp["path"], text)
        if path.endswith(".git") or ("." in scp["host"] and "/" in path.strip("/")):
            _check(text, scp["host"], path)
            return Address(f"{scp['host']}:{path}", "ssh", scp["host"], path.strip("/"), ref, forge_of(scp["host"]))
    if any(host and text.startswith(f"{host}/") for host in SHORT_FORMS.values()):
        return _from_url(f"https://{text}", "https")
    return None


def forge_of(host: str) -> str:
    """The kind of forge as far as a host's name tells; empty when it tells nothing."""
    name = host.partition(":")[0].lower()
    for word, forge in (
        ("github", "github"), ("gitlab", "gitlab"), ("bitbucket", "bitbucket"), ("sr.ht", "sourcehut"),
        ("codeberg", "gitea"), ("gitea", "gitea"), ("forgejo", "gitea"),
    ):  # fmt: skip
        if word in name:
            return forge
    return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    name = host if host.startswith("[") else host.partition(":")[0]
    return name in ("localhost", "127.0.0.1") or name.startswith("[::1]")


def _from_short(forge: str, rest: str, text: str) -> Address:
    path, ref = _split_ref(rest.strip("/"), text)
    host = SHORT_FORMS[forge]
    if not host:
        host, _, path = path.partition("/")
    path = path.removesuffix(".git")
    wanted = "owner/name" if SHORT_FORMS[forge] else "host/owner/name"
    if "/" not in path or not host:
        raise AddressError(f"'{text}' names no repository.", f"Write {forge}:{wanted}, with @REF for a branch or tag.")
    _check(text, host, path)
    if forge in ("github", "bitbucket", "codeberg", "sourcehut", "gitea", "forgejo") and path.count("/") != 1:
        raise AddressError(f"'{text}' names no repository.", f"Write {forge}:{wanted}, with @REF for a branch or tag.")
    kind = {"codeberg": "gitea", "forgejo": "gitea"}.get(forge, forge)
    suffix = "" if kind == "sourcehut" else ".git"
    return Address(f"https://{host}/{path}{suffix}", "https", host, path, ref, kind)


def _from_url(text: str, scheme: str) -> Address:
    if scheme.startswith("git+"):
        scheme = scheme.removeprefix("git+")
        text = text[4:]
    if scheme not in SCHEMES:
        raise AddressError(f"'{scheme}://' is no transport that is used here.", _hint())
    if len(text) > MAX_CHARS or re.search(r"[\x00-\x20\x7f]", text):
        raise AddressError("The address holds blanks or control characters, or is too long.")
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        port = parts.port
    except ValueError as error:
        # What Python says may hold a part of a password with a slash in it.
        raise AddressError(
            "The address cannot be understood." if "@" in text else f"The address is wrong: {error}."
        ) from error
    if scheme == "file":
        # What stands behind # and ? is part of the path, as git has it.
        return _from_file(text, parts.netloc, text.partition("://")[2].removeprefix(parts.netloc))
    if ":" in host:
        host = f"[{host}]"
    netloc = f"{host}:{port}" if port else host
    path, ref = _split_ref(parts.path.strip("/"), text)
    ref = unquote(parts.fragment) or ref
    forge = forge_of(netloc)
    for kind, pattern in _BROWSED.items():
        if scheme.startswith("http") and not ref and forge in (kind, "") and (browsed := pattern.match(path)):
            path, ref = browsed["project"], unquote(browsed["ref"]).strip("/")
            break
    _check(text, netloc, unquote(path))
    _check_ref(ref, text)
    user = f"{parts.username}@" if parts.username and scheme == "ssh" else ""
    secret = ""
    if parts.password is not None and scheme != "ssh":
        secret = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
    elif scheme != "ssh" and _TOKEN.fullmatch(parts.username or ""):
        secret = f":{parts.username}"
    url = f"{scheme}://{user}{netloc}/{path}"
    return Address(url, scheme, netloc, unquote(path), ref, forge, secret)


def _from_file(text: str, netloc: str, path: str) -> Address:
    if netloc not in ("", "localhost"):
        raise AddressError("A file address begins with three slashes: file:///home/….")
    # Folders may hold an @, so only the last name is looked at.
    folder, slash, last = path.rpartition("/")
    last, ref = _split_ref(last, text)
    plain = unquote(folder + slash + last)
    plain = posixpath.normpath("/" + plain.lstrip("/"))
    if plain == "/" or "\0" in plain:
        raise AddressError(f"'{text}' names no repository.")
    return Address(f"file://{quote(plain)}", "file", "", plain, ref)


def _split_ref(path: str, text: str) -> tuple[str, str]:
    """A path without `@ref` at its end, and the ref. Projects hold no @, so the first one ends them; tags may (`pkg@1.0.0`)."""
    head, at, ref = path.partition("@")
    if not at or not head:
        return path, ""
    _check_ref(ref, text)
    return head, ref


def _check(text: str, host: str, path: str) -> None:
    """Raise `AddressError` when host or path could be taken for something else."""
    if len(text) > MAX_CHARS or not _HOST.fullmatch(host):
        raise AddressError(f"'{host}' is no name of a host.")
    parts = [part for part in path.split("/") if part]
    if not parts:
        raise AddressError(f"'{text}' names no repository.", "Write it with owner and name.")
    if any(part in (".", "..") or not _PART.fullmatch(part) for part in parts):
        raise AddressError(
            f"'{path}' is no name of a repository.", "Owner and name are of letters, digits, '-', '_' and '.'."
        )


def _check_ref(ref: str, text: str) -> None:
    if len(ref) > 250 or (ref and _BAD_REF.search(ref)):
        raise AddressError(f"'{ref}' is no name of a branch, tag or commit.", f"It stands behind the @ in '{text}'.")


def _hint() -> str:
    return "Use https, ssh or file, or a short form: github:owner/name."
