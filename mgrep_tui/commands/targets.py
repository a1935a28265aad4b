"""What a person means by the places on a command line: folders, addresses of repositories, and workspaces of both."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.repositories.addresses import Address, AddressError, parse_address, without_secret

MARK = "@"
PATIENCE_S = 8.0  # for a folder to be looked at, where there are others: a disk that wakes up is waited for, a server that is gone is not


@dataclass(frozen=True, slots=True)
class Target:
    """One place: a folder that is here, or a repository to bring. `typed` is how it was written."""

    typed: str
    root: Root | None = None
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """All places, none twice, and what was wrong with others. `title` is the workspace's name, if there is just that."""

    places: tuple[Target, ...]
    troubles: tuple[str, ...] = ()
    title: str = ""


def targets_of(words: Sequence[str], workspace: str, workspaces: Mapping[str, Sequence[str]]) -> Targets:
    """Sort the words. A place among others that cannot be opened is a trouble; raises `MgrepError` when none can be."""
    title = ""
    wanted: list[str] = []
    for word in [*([MARK + workspace] if workspace else []), *words]:
        name = word.removeprefix(MARK)
        if word.startswith(MARK) and name in workspaces:
            title = name if not wanted else ""
            wanted += _places_of(name, workspaces, frozenset())
        elif word.startswith(MARK) and not Path(word).exists():
            known = ", ".join(MARK + known for known in workspaces)
            raise MgrepError(
                f"There is no workspace '{name}'.",
                f"Known are {known}." if known else "Name some in the configuration: [workspaces]",
            )
        else:
            title = ""
            wanted.append(word)
    places: dict[object, Target] = {}
    troubles: list[MgrepError] = []
    for target in _looked_at(wanted):
        if isinstance(target, MgrepError):
            troubles.append(target)
            continue
        key: object = target.root.path if target.root is not None else target.address and target.address.key
        places.setdefault(key, target)
    if troubles and not places:
        raise troubles[0]
    return Targets(tuple(places.values()), tuple(str(trouble) for trouble in troubles), title)


def _places_of(name: str, workspaces: Mapping[str, Sequence[str]], around: frozenset[str]) -> list[str]:
    """The places of a workspace and of those that it names; one that is in itself adds nothing."""
    found: list[str] = []
    for word in workspaces[name]:
        inner = word.removeprefix(MARK)
        if word.startswith(MARK) and inner in workspaces:
            if inner not in around | {name}:
                found += _places_of(inner, workspaces, around | {name})
        else:
            found.append(word)
    return found


def _looked_at(words: Sequence[str]) -> list[Target | MgrepError]:
    """What each word means, or what is wrong with it, in their order. Of several, all at once: a disk that hangs keeps nobody waiting."""
    found: list[Target | MgrepError] = [
        UnreadableError(f"{without_secret(word)} does not answer, and is left out.") for word in words
    ]

    def look(number: int, word: str) -> None:
        try:
            found[number] = _target(word)
        except MgrepError as error:
            found[number] = error

    if len(words) == 1:
        look(0, words[0])
        return found
    threads = [threading.Thread(target=look, args=each, name="looking", daemon=True) for each in enumerate(words)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + PATIENCE_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return list(found)


def _target(word: str) -> Target:
    """A folder that is there is one, whatever it is called; a repository without files is brought as from anywhere else."""
    try:
        root = open_root(Path(word))
        if root.is_bare:
            return Target(word, address=parse_address("file://" + quote(os.fsencode(root.path))))
        return Target(os.path.expanduser(word), root=root)
    except UnreadableError:
        try:
            address = parse_address(word)
        except AddressError:
            if Path(word).exists():
                raise UnreadableError(f"{word} is not a folder.") from None
            raise
        if address is None:
            raise
        return Target(without_secret(word), address=address)
