"""`push`, and what `--engine ADDRESS` makes of `search`, `status` and the screen: a shared engine in the place of the local index."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mgrep_tui.commands.common import Context, prepare, warn
from mgrep_tui.commands.explorers import ProgressLine, bring_all
from mgrep_tui.commands.printing import Printer, Where, fields_of
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import narrowed
from mgrep_tui.text.sanitize import sanitize

if TYPE_CHECKING:
    # What is behind these is imported once it is asked for: it may not be installed.
    from mgrep_tui.clickhouse.heads import Published
    from mgrep_tui.clickhouse.standing import Standing

FOUND, NONE, ERROR = 0, 1, 2
DONE = 0


def push(arguments: argparse.Namespace) -> int:
    """Publish the commit of each root; with `--keep` forget the older ones, with `--remove` a repository."""
    from mgrep_tui.clickhouse.address import parse_address
    from mgrep_tui.clickhouse.connecting import check_installed, connect

    check_installed()
    if arguments.name and len(arguments.paths) > 1:
        raise MgrepError("--name is the name of one repository.", "Push them one by one.")
    context = prepare(arguments, prefers_git_root=True)
    warn(context)
    address = parse_address(arguments.engine)
    cancel = CancelToken()
    context = bring_all(context, cancel)
    connection = connect(address, os.environ)
    try:
        from mgrep_tui.clickhouse import schema
        from mgrep_tui.clickhouse.retention import forget_repository, keep

        schema.prepare(connection)
        if arguments.remove:
            gone = forget_repository(connection, arguments.remove)
            print(f"Forgot {sanitize(arguments.remove)}: {gone.commits:,} commits, {gone.documents:,} documents.")
            return DONE
        for place in context.targets.places:
            assert place.root is not None
            _push_one(connection, place.root, context, arguments, cancel)
        if arguments.keep is not None:
            gone = keep(connection, arguments.keep)
            if gone.commits or gone.documents:
                print(f"Forgot {gone.commits:,} older commits and {gone.documents:,} documents that only they had.")
    finally:
        cancel.cancel()
        connection.close()
    return ERROR if context.targets.troubles else DONE


def _push_one(
    connection: Any, root: Root, context: Context, arguments: argparse.Namespace, cancel: CancelToken
) -> None:
    from mgrep_tui.clickhouse.push import Step
    from mgrep_tui.clickhouse.push import push as publish

    line = ProgressLine()

    def show(step: Step) -> None:
        if step.is_published:
            line.show(f"{step.repository}: published; the engine joins what was written")
        else:
            line.show(f"{step.repository}: {step.files:,} of {step.total:,} files, {step.chunks:,} new chunks")

    began = time.monotonic()
    try:
        done = publish(
            connection,
            root,
            context.settings_for(root.path).settings,
            cancel,
            name=arguments.name or "",
            chooses_branch=arguments.default_branch,
            queries=context.folders.config / "queries",
            report=show,
        )
    finally:
        line.clear()
    elapsed_s = time.monotonic() - began
    what = f"{sanitize(done.repository)} {sanitize(done.branch)}".rstrip() + f" {done.commit[:12]}"
    if arguments.json:
        fields = {name: getattr(done, name) for name in done.__slots__}
        print(json.dumps({**fields, "elapsed_s": round(elapsed_s, 3)}), flush=True)
    elif done.is_known:
        print(f"{what}: already there, {done.files:,} files and {done.chunks:,} chunks.")
    else:
        print(
            f"{what}: {done.files:,} files and {done.chunks:,} chunks, of them {done.new_documents:,} files and"
            f" {done.new_chunks:,} chunks new, in {elapsed_s:.1f} s."
        )


def status(arguments: argparse.Namespace) -> int:
    """Say what an engine holds."""
    from mgrep_tui.clickhouse.address import parse_address
    from mgrep_tui.clickhouse.connecting import check_installed, connect

    check_installed()
    from mgrep_tui.clickhouse.standing import standing

    connection = connect(parse_address(arguments.engine), os.environ)
    try:
        found = standing(connection)
    finally:
        connection.close()
    commits = [
        {
            "repository": one.repository,
            "branch": one.branch,
            "commit": one.commit,
            "searched": one.is_searched,
            "files": one.files,
            "chunks": one.chunks,
            "text_bytes": one.text_bytes,
            "pushed_s_ago": _age_s(found, one),
            "lag_s": _lag_s(one),
        }
        for one in found.commits
    ]
    if arguments.json:
        tables = {table.name: {"rows": table.rows, "bytes": table.size_bytes} for table in found.tables}
        print(
            json.dumps(
                {
                    "schema": found.version,
                    "commits": commits,
                    "tables": tables,
                    "bytes": found.size_bytes,
                    "merges": found.merges,
                    "unfinished": found.unfinished,
                    "models": found.models,
                }
            )
        )
        return DONE
    searched = [one for one in found.commits if one.is_searched]
    rows = [
        ("repositories", f"{len({one.repository for one in found.commits}):,}"),
        ("commits", f"{len(found.commits):,}"),
        ("searched", f"{sum(one.files for one in searched):,} files, {sum(one.chunks for one in searched):,} chunks"),
        ("on disk", f"{found.size_bytes / 1e6:,.1f} MB"),
        *(
            (f"  {table.name}", f"{table.size_bytes / 1e6:,.1f} MB, {table.rows:,} rows")
            for table in found.tables
            if table.size_bytes > 1e6
        ),
        ("merging", f"{found.merges:,} parts"),
        ("unfinished", f"{found.unfinished:,} batches"),
        ("schema", str(found.version)),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    for one in found.commits:
        lag = _lag_s(one)
        made = "" if lag is None else f", {_span(lag)} after it was made"
        text = (
            f"{'*' if one.is_searched else ' '} {one.repository} {one.branch} {one.commit[:12]}: {one.files:,} files,"
            f" {one.chunks:,} chunks, pushed {_span(_age_s(found, one))} ago{made}"
        )
        print(sanitize(text))
    return DONE


def _age_s(found: Standing, one: Published) -> int:
    return round((found.now_us - one.at_us) / 1e6)


def _lag_s(one: Published) -> int | None:
    """How long after it was made a commit was published; None when that is not known."""
    return round(one.at_us / 1e6 - one.committed_s) if one.committed_s else None


def _span(seconds: int) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{max(0, seconds)} s"


def engine_explorer(arguments: argparse.Namespace, context: Context) -> Explorer:
    """The explorer of `--engine`: over all that is published, or with a folder over its repository with the disk on top."""
    explorer: Explorer = _explorer(arguments, context)
    return explorer


def _explorer(arguments: argparse.Namespace, context: Context) -> Any:
    from mgrep_tui.clickhouse.address import parse_address
    from mgrep_tui.clickhouse.connecting import check_installed

    check_installed()
    from mgrep_tui.clickhouse.explorer import EngineExplorer

    words = [word for word in arguments.paths if word]
    if len(words) > 1:
        raise MgrepError("With --engine one folder can lie on top.", "Leave the folders out to search everything.")
    root = context.root if words else None
    return EngineExplorer(parse_address(arguments.engine), context.settings, context.folders, os.environ, root=root)


def search(arguments: argparse.Namespace) -> int:
    """Ask an engine one question, or many; the exit status is grep's."""
    context = prepare(arguments, prefers_git_root=False)
    warn(context)
    mode = Mode(arguments.mode or Mode.SEMANTIC)
    options = SearchOptions(
        ratio=context.settings.semantic.ratio,
        case=context.settings.regex.case,
        literal=arguments.literal,
        word=arguments.word,
    )
    explorer = _explorer(arguments, context)
    cancel = CancelToken()
    try:
        explorer.open()
        if arguments.queries:
            from mgrep_tui.commands.search import read_queries

            return _ask_all(explorer, read_queries(Path(arguments.queries)), mode, options, arguments, cancel)
        prefix = b"" if not arguments.paths else _prefix(arguments.paths[0])
        printer = Printer(arguments, lambda path: (Where(prefix), path), explorer.snippet)
        outcome = explorer.answer(
            narrowed(arguments.query, arguments.language, arguments.path), mode, options, printer, cancel,
            limit=arguments.limit, tier=arguments.tier, is_exhaustive=mode is Mode.REGEX,
        )  # fmt: skip
        printer.finish()
        for note in outcome.notes:
            if not arguments.json and sys.stderr.isatty():
                print(f"mgrep-tui: {sanitize(note)}", file=sys.stderr)
        return FOUND if printer.count else NONE
    finally:
        cancel.cancel()
        explorer.close()


def _prefix(typed: str) -> bytes:
    from mgrep_tui.commands.printing import prefix_of

    return prefix_of(typed)


def _ask_all(
    explorer: Any,
    queries: Sequence[str],
    mode: Mode,
    options: SearchOptions,
    arguments: argparse.Namespace,
    cancel: CancelToken,
) -> int:
    found = NONE

    def here(path: bytes) -> tuple[Where, bytes]:
        return Where(b""), path

    for query in queries:
        kept = Collected()
        began = time.perf_counter()
        explorer.answer(
            narrowed(query, arguments.language, arguments.path),
            mode,
            options,
            kept,
            cancel,
            limit=arguments.limit,
            tier=arguments.tier,
            is_exhaustive=mode is Mode.REGEX,
        )
        elapsed_ms = (time.perf_counter() - began) * 1000
        hits = kept.hits if arguments.limit is None else kept.hits[: arguments.limit]
        if arguments.json:
            listed = [fields_of(hit, here, with_signals=arguments.explain) for hit in hits]
            print(json.dumps({"query": query, "elapsed_ms": round(elapsed_ms, 3), "hits": listed}), flush=True)
        else:
            printer = Printer(arguments, here, explorer.snippet)
            printer.batch(hits)
            printer.finish()
        found = FOUND if hits else found
    return found
