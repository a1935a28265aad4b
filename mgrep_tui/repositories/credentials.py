"""Which secret goes to which host, and how it reaches git and HTTP: through environment variables and headers, never an argument or a URL.

Git gets it as a helper that answers for that host alone. A header (`http.<url>.extraHeader`) would be simpler, but git sends it on to
whatever host a redirect names.

Tokens come from the environment alone: `GITHUB_TOKEN` or `GH_TOKEN` for github.com, `GITLAB_TOKEN` for gitlab.com, `BITBUCKET_TOKEN` for
bitbucket.org, `CODEBERG_TOKEN` for codeberg.org, and `MGREP_TUI_TOKEN` as `host=token`, several of them with blanks between. A secret that
an address itself holds is used for this address and not stored. They are sent over TLS only, or to this very machine.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from mgrep_tui.repositories.addresses import Address, is_loopback

_VARIABLES = {
    "github.com": ("GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab.com": ("GITLAB_TOKEN",),
    "bitbucket.org": ("BITBUCKET_TOKEN",),
    "codeberg.org": ("CODEBERG_TOKEN",),
}
OWN_VARIABLE = "MGREP_TUI_TOKEN"
# The user name that a forge wants beside a token.
_USERS = {"github": "x-access-token", "gitlab": "oauth2", "bitbucket": "x-token-auth"}
# Of git's own child alone. The helper is a line for the shell; what it prints with is built into that, so no process is told the secret.
_USER_VARIABLE, _PASSWORD_VARIABLE = "MGREP_TUI_GIT_USER", "MGREP_TUI_GIT_PASSWORD"
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" '
    f'"${_USER_VARIABLE}" "${_PASSWORD_VARIABLE}"; }}; f'
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret for one host; its text is kept out of every representation."""

    host: str
    origin: str  # the variable that it came from, or `the address`
    user: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def header(self) -> str:
        """The value of an `Authorization` header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode("ascii")


def secret_for(address: Address, environ: Mapping[str, str]) -> Secret | None:
    """The secret for the address's host; None when there is none or it would travel in the clear. Pure."""
    if not may_have_secret(address):
        return None
    user = _USERS.get(address.forge, "git")
    if address.secret:
        own, _, password = address.secret.partition(":")
        return _sound(Secret(address.host, "the address", own or user, password))
    for pair in environ.get(OWN_VARIABLE, "").split():
        host, equals, token = pair.partition("=")
        if equals and host.lower() == address.host.lower():
            return _sound(Secret(address.host, OWN_VARIABLE, user, token))
    for name in _VARIABLES.get(address.host.lower(), ()):
        if token := environ.get(name, "").strip():
            return _sound(Secret(address.host, name, user, token))
    return None


def may_have_secret(address: Address) -> bool:
    """Whether a secret may travel to this address. Pure."""
    return address.scheme == "https" or (address.scheme == "http" and is_loopback(address.host))


def _sound(secret: Secret) -> Secret | None:
    """The secret, unless it could end a header and begin another."""
    text = secret.user + secret.password
    return secret if secret.password and text.isprintable() and " " not in text else None


def git_configuration(address: Address, secret: Secret | None) -> list[tuple[str, str]]:
    """Settings that have git ask for the secret in its own environment (`git_variables`), for the one host only.

    The person's own helpers are left out there, else git would give them our secret to keep.
    """
    if secret is None:
        return []
    where = f"{address.scheme}://{address.host}"
    return [
        (f"credential.{where}.helper", ""),
        (f"credential.{where}.helper", _HELPER),
        (f"http.{where}/.sslVerify", "true"),
    ]


def git_variables(secret: Secret | None) -> dict[str, str]:
    """What the helper of `git_configuration` answers with."""
    return {} if secret is None else {_USER_VARIABLE: secret.user, _PASSWORD_VARIABLE: secret.password}


def variables_named(address: Address) -> str:
    """The variables that would be looked at, for a hint."""
    own = f"{OWN_VARIABLE}={address.host}=…"
    return " or ".join((*_VARIABLES.get(address.host.lower(), ())[:1], own))


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for a child without our tokens: git gets the one that it needs by itself."""
    hidden = {OWN_VARIABLE, *(name for names in _VARIABLES.values() for name in names)}
    return {name: value for name, value in environ.items() if name not in hidden}
