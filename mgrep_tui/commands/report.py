"""`index`, `status`, `why` and `clean`: what the index of a tree holds, in words or as one JSON object."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from typing import Any

from mgrep_tui.commands.common import prepare, warn
from mgrep_tui.commands.explorers import Explorers, bring_all
from mgrep_tui.commands.waiting import wait_for_index
from mgrep_tui.corpus.gitstate import work_tree_state
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, IndexState
from mgrep_tui.text.sanitize import sanitize

DONE, NOT_DONE, ERROR = 0, 1, 2


def index(arguments: argparse.Namespace) -> int:
    """Build or refresh, wait until all is there, and say what it holds now."""
    cancel = CancelToken()
    context = prepare(arguments, prefers_git_root=True)
    warn(context)
    context = bring_all(context, cancel)
    explorers = Explorers(context, watch=False)
    is_whole = not context.targets.troubles
    for number, place in enumerate(context.targets.places):
        explorer = explorers.local(place)
        began = time.monotonic()
        try:
            explorer.start()
            wait_for_index(explorer, cancel, needs_vectors=True)
            health = explorer.health()
        finally:
            explorer.close()
        elapsed_s = time.monotonic() - began
        is_made = health.state is not IndexState.BROKEN
        is_whole = is_whole and is_made
        if arguments.json:
            print(json.dumps({**fields_of(health), "elapsed_s": round(elapsed_s, 3)}), flush=True)
        else:
            done = "Indexed in" if is_made else "The index could not be made whole, given up after"
            print(f"{'' if not number else chr(10)}{done} {elapsed_s:.1f} s.")
            print_health(health)
    return DONE if is_whole else ERROR


def status(arguments: argparse.Namespace) -> int:
    """Print the health panel's content without changing anything."""
    context = prepare(arguments, prefers_git_root=True)
    warn(context)
    explorers = Explorers(context, watch=False)
    has_trouble = bool(context.targets.troubles)
    for number, place in enumerate(context.targets.places):
        if place.address is not None and explorers.store.get(place.address) is None:
            print(f"mgrep-tui: {sanitize(str(place.address))} is not in the cache.", file=sys.stderr)
            has_trouble = True
            continue
        explorer = explorers.as_it_is(place)
        try:
            explorer.open_as_is()
            health = explorer.health()
        finally:
            explorer.close()
        if place.root is not None:
            health = dataclasses.replace(health, dirty=len(work_tree_state(place.root).dirty))
        if arguments.json:
            print(json.dumps(fields_of(health)))
        else:
            if number:
                print()
            print_health(health)
    return ERROR if has_trouble else DONE


def clean(arguments: argparse.Namespace) -> int:
    """Remove the index; a copy that is running on it is left alone and said."""
    from mgrep_tui.index.as_is import clean as remove

    context = prepare(arguments, prefers_git_root=True)
    warn(context)
    for place in context.targets.places:
        if place.root is None:
            raise MgrepError(f"{place.typed} is a repository.", "Remove it with its index: mgrep-tui repos remove NAME")
        freed = remove(context.folders.index_of(place.root.path))
        print(
            f"Removed {megabytes(freed)} of index for {sanitize(str(place.root.path))}."
            if freed
            else "There was no index."
        )
    return ERROR if context.targets.troubles else DONE


def why(arguments: argparse.Namespace) -> int:
    """Say whether a file is searched and what decides."""
    from mgrep_tui.corpus.why import explain

    context = prepare(arguments, prefers_git_root=True)
    answer = explain(context.root, os.fsencode(os.path.abspath(arguments.file)), context.settings.corpus)
    if arguments.json:
        print(json.dumps({"path": os.fsdecode(answer.path), "searched": answer.is_searched, "reason": answer.reason}))
    else:
        print(
            f"{sanitize(os.fsdecode(answer.path))}: {'searched' if answer.is_searched else 'not searched'}: {sanitize(answer.reason)}"
        )
    return DONE if answer.is_searched else NOT_DONE


def fields_of(health: Health) -> dict[str, Any]:
    """The health as JSON has it: pairs become objects."""
    found = dataclasses.asdict(health)
    for name in ("skipped", "index_bytes", "models", "metrics", "languages"):
        found[name] = dict(found[name])
    return found


def print_health(health: Health) -> None:
    """One fact a line, aligned."""
    vectors = f"{health.vectors / health.chunks:.0%}" if health.chunks else "none"
    rows: list[tuple[str, str]] = [
        ("root", health.root),
        ("state", f"{health.state.value}{': ' + health.phase if health.phase else ''}"),
        (
            "files",
            f"{health.files_seen:,} seen, {health.files_indexed:,} in the n-gram index, {health.files_chunked:,} in chunks",
        ),
        ("pending", f"{health.files_pending:,} files"),
        ("chunks", f"{health.chunks:,}, vectors for {vectors}"),
        ("text", megabytes(health.text_bytes)),
        (
            "commit",
            f"{health.commit[:12] or 'none'} {health.branch}".rstrip()
            + (f", {health.dirty:,} changed files" if health.dirty else ""),
        ),
        ("generation", str(health.generation)),
        *((f"on disk: {part}", megabytes(size)) for part, size in health.index_bytes),
        *((f"skipped: {reason}", f"{count:,} files") for reason, count in health.skipped),
        *((f"model: {tier}", model) for tier, model in health.models),
        *health.metrics,
    ]
    if health.last_error:
        rows.append(("last error", health.last_error))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        sys.stdout.write(sanitize(f"{name:<{width}}  {value}".rstrip()) + "\n")


def megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"
