"""`mgrep-tui repos`: the repositories in the cache: listed, refreshed, removed."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from mgrep_tui.commands.common import config_file, flags, start_log
from mgrep_tui.commands.explorers import ProgressLine
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import parse_address
from mgrep_tui.repositories.arrival import Arrivals
from mgrep_tui.repositories.store import Kept, Store, names_of
from mgrep_tui.settings.load import load_settings
from mgrep_tui.settings.paths import Folders, user_folders
from mgrep_tui.text.sanitize import sanitize

DONE, NONE, ERROR = 0, 1, 2


def repos(arguments: argparse.Namespace) -> int:
    """Run the command. Listing nothing is status 1, as finding nothing is; a refresh that failed is 2."""
    folders = user_folders()
    start_log(folders, arguments.log_level)
    store = Store(folders)
    if arguments.action == "remove":
        return _remove(store, folders, _chosen(store, arguments.names, needs_name=True))
    chosen = _chosen(store, arguments.names, needs_name=False)
    if arguments.action == "refresh":
        user_file = Path(arguments.config) if arguments.config else config_file(folders)
        settings = load_settings(user_file, None, flags(arguments)).settings
        return _refresh(Arrivals(store, settings.repositories, os.environ), chosen)
    return _list(chosen, as_json=arguments.json)


def _chosen(store: Store, names: Sequence[str], *, needs_name: bool) -> list[Kept]:
    """The repositories with these names, or all. Raises `MgrepError` for a name that means none, or more than one."""
    if not names:
        if needs_name:
            raise MgrepError("No repository is named.", "mgrep-tui repos lists them.")
        return store.all()
    found: dict[str, Kept] = {}
    for name in names:
        meant = store.find(name)
        if not meant:
            raise MgrepError(f"There is no repository '{name}' in the cache.", "mgrep-tui repos lists them.")
        if len(meant) > 1:
            forms = ", ".join(kept.record.address for kept in meant)
            raise MgrepError(f"'{name}' may be any of {forms}.", "Name it by its address.")
        found[meant[0].folder.name] = meant[0]
    return list(found.values())


def _list(chosen: Sequence[Kept], *, as_json: bool) -> int:
    if as_json:
        for kept in chosen:
            fields = {"name": kept.name, "path": str(kept.tree), "size_bytes": kept.size_bytes, **asdict(kept.record)}
            print(json.dumps(fields))
        return DONE if chosen else NONE
    if not chosen:
        print("No repositories are kept. Open one: mgrep-tui github:owner/name")
        return NONE
    rows = [
        (
            names_of(kept)[1] if len(names_of(kept)) > 3 else kept.name,
            f"{kept.size_bytes / 1e6:,.1f} MB",
            kept.record.commit[:10] or "-",
            _day(kept.record.fetched_at),
            kept.record.address,
        )
        for kept in chosen
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0), strict=True))
        sys.stdout.write(sanitize("  ".join(cells).rstrip()) + "\n")
    return DONE


def _remove(store: Store, folders: Folders, chosen: Sequence[Kept]) -> int:
    """Each with its index. One that a copy of the program has open is left alone and said."""
    from mgrep_tui.index.as_is import clean

    for kept in chosen:
        freed = clean(folders.index_of(kept.tree)) + store.remove(kept)
        print(sanitize(f"Removed {kept.record.address} with its index: {freed / 1e6:,.1f} MB."))
    return DONE


def _refresh(arrivals: Arrivals, chosen: Sequence[Kept]) -> int:
    status = DONE if chosen else NONE
    for kept in chosen:
        address = parse_address(kept.record.address)
        assert address is not None  # else it would not have been read
        line = ProgressLine()
        try:
            done = arrivals.refresh(kept, address, CancelToken(), partial(_tell, line, kept.record.address))
        finally:
            line.clear()
        if done.note:
            print(f"mgrep-tui: {sanitize(done.note)}", file=sys.stderr)
            status = ERROR
        else:
            what = f"now at {done.kept.record.commit[:10]}" if done.is_changed else "nothing new"
            print(sanitize(f"{kept.record.address}: {what}"))
    return status


def _tell(line: ProgressLine, name: str, phrase: str) -> None:
    line.show(f"{name}: {phrase}")


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)) if moment else "-"
