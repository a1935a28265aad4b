"""The address of a line at the forge that the repository came from, by commit, so that it stays right.

The commit is one that the forge has, as far as this clone knows, and the lines are those of that commit: what was changed here since has
moved them.
"""

from __future__ import annotations

from dataclasses import dataclass

from mgrep_tui.corpus.git import head
from mgrep_tui.corpus.root import Root, owner_of
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.forges import address
from mgrep_tui.explorer.published import lines_then, published
from mgrep_tui.model import Hit

__all__ = ["Origin", "address", "permalink"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a tree without git came from, and what commit it is."""

    url: str
    commit: str


def permalink(root: Root, hit: Hit, origin: Origin | None = None) -> str:
    """The address of the hit's lines. Raises `MgrepError` when they are in no commit that a remote with addresses has."""
    if origin is not None:
        if not origin.commit:
            raise MgrepError("It is not known which commit this is.")
        return address(origin.url, origin.commit, hit.path, hit.first_line + 1, hit.last_line + 1)
    owner, path = owner_of(root, hit.path)
    now = head(owner)
    if not now.commit:
        raise MgrepError("There is no commit to link to yet.")
    remote, commit = published(owner, now)
    first, last = lines_then(owner, commit, path, hit.first_line, hit.last_line)
    return address(remote, commit, owner.prefix + path, first + 1, last + 1)
