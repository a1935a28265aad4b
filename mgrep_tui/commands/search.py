"""`mgrep-tui search`: hits to stdout, as grep prints them or as JSON.

A hit is written as `path:line:column:text`, the path as it can be opened from where the command was started. To a terminal everything is
sanitised; to a pipe go the bytes of the file names and the text as decoded.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mgrep_tui.commands.common import Context, prepare, warn
from mgrep_tui.commands.waiting import wait_for_index
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Outcome, Progress, Sink
from mgrep_tui.text.sanitize import sanitize

FOUND, NONE = 0, 1
MAX_QUERIES_BYTES = 16_000_000


def search(arguments: argparse.Namespace) -> int:
    """Run the command; the exit status is grep's."""
    context = prepare(arguments, prefers_git_root=False)
    warn(context)
    mode = Mode(arguments.mode or Mode.SEMANTIC)
    queries = _read_queries(Path(arguments.queries)) if arguments.queries else None
    explorer = LocalExplorer(
        context.root, context.settings, context.folders, os.environ, semantic=mode is Mode.SEMANTIC, watch=False
    )
    cancel = CancelToken()
    try:
        if arguments.no_index:
            explorer.open_as_is()
        else:
            explorer.start()
            wait_for_index(explorer, cancel, needs_vectors=mode is Mode.SEMANTIC and not arguments.no_wait)
        ask = _Asker(explorer, context, arguments, mode, cancel)
        if queries is not None:
            return ask.all(queries)
        return ask.one(arguments.query)
    finally:
        cancel.cancel()
        explorer.close()


def _read_queries(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_QUERIES_BYTES)
    except OSError as error:
        raise MgrepError(f"The queries in '{path}' cannot be read: {error.strerror}.") from error
    lines = raw.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines]


class _Asker:
    """Puts queries to the explorer and prints the answers."""

    def __init__(
        self, explorer: LocalExplorer, context: Context, arguments: argparse.Namespace, mode: Mode, cancel: CancelToken
    ) -> None:
        self._explorer = explorer
        self._arguments = arguments
        self._mode = mode
        self._cancel = cancel
        self._options = SearchOptions(
            ratio=context.settings.semantic.ratio,
            case=context.settings.regex.case,
            literal=arguments.literal,
            word=arguments.word,
        )
        self._limit = arguments.limit

    def one(self, query: str) -> int:
        arguments = self._arguments
        is_plain = self._limit is None and not arguments.json and not arguments.explain
        if self._mode is Mode.REGEX and is_plain and not sys.stdout.isatty():
            printer: _Printer | _LinePrinter = _LinePrinter(arguments)
        else:
            printer = _Printer(arguments)
        outcome = self._ask(query, printer)
        printer.finish()
        for note in outcome.notes:
            if not self._arguments.json and sys.stderr.isatty():
                print(f"mgrep-tui: {sanitize(note)}", file=sys.stderr)
        return FOUND if printer.count else NONE

    def all(self, queries: Sequence[str]) -> int:
        found = NONE
        for query in queries:
            kept = Collected()
            began = time.perf_counter()
            self._ask(query, kept)
            elapsed_ms = (time.perf_counter() - began) * 1000
            hits = kept.hits if self._limit is None else kept.hits[: self._limit]
            if self._arguments.json:
                answer = {
                    "query": query,
                    "hits": [fields_of(hit, with_signals=self._arguments.explain) for hit in hits],
                    "elapsed_ms": round(elapsed_ms, 3),
                }
                print(json.dumps(answer), flush=True)
            else:
                print(f"# {sanitize(query)}")
                printer = _Printer(self._arguments)
                printer.batch(hits)
                printer.finish()
            if hits:
                found = FOUND
        return found

    def _ask(self, query: str, sink: Sink) -> Outcome:
        return self._explorer.answer(
            query,
            self._mode,
            self._options,
            sink,
            self._cancel,
            limit=self._limit,
            tier=self._arguments.tier,
            is_exhaustive=self._mode is Mode.REGEX,
            # The disk was looked at after this program began, which is when its one query was asked.
            checks_disk=self._arguments.queries is not None,
        )


class _Printer:
    """Prints hits as they come, up to a limit. Regex hits stream; semantic ones wait for the last word on their order."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.count = 0
        self._limit = arguments.limit
        self._as_json = arguments.json
        self._explain = arguments.explain
        self._is_terminal = sys.stdout.isatty()
        self._prefix = _prefix(arguments.path)
        self._waiting: list[Hit] = []
        self._streams = arguments.mode == Mode.REGEX

    def batch(self, hits: Sequence[Hit]) -> None:
        if self._streams:
            self._print(hits)
        else:
            self._waiting.extend(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        if not self._streams:
            self._waiting[:] = hits

    def progress(self, progress: Progress) -> None:
        return None

    def finish(self) -> None:
        self._print(self._waiting)
        self._waiting = []
        sys.stdout.flush()

    def _print(self, hits: Sequence[Hit]) -> None:
        if self._limit is not None:
            hits = hits[: self._limit - self.count]
        self.count += len(hits)
        if self._as_json:
            sys.stdout.write("".join(json.dumps(fields_of(hit, with_signals=self._explain)) + "\n" for hit in hits))
            return
        lines = []
        for hit in hits:
            line = b"%s%s:%d:%d:" % (self._prefix, hit.path, hit.line + 1, hit.column + 1)
            lines.append(line + hit.text.encode("utf-8", "replace"))
            if self._explain:
                lines.append(
                    ("    " + "  ".join(f"{signal.name} {signal.value:+.3f}" for signal in hit.signals)).encode()
                )
        if self._is_terminal:
            sys.stdout.write("".join(sanitize(os.fsdecode(line)) + "\n" for line in lines))
        elif lines:
            sys.stdout.flush()
            sys.stdout.buffer.write(b"\n".join(lines) + b"\n")


class _LinePrinter:
    """Prints to a pipe what comes as ready lines (see `search.streaming.LineSink`): a million of them, without a value for each."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.prefix = _prefix(arguments.path)
        self._hits = _Printer(arguments)
        self._lines = 0

    @property
    def count(self) -> int:
        return self._lines + self._hits.count

    def lines(self, text: bytes, count: int) -> None:
        self._lines += count
        sys.stdout.buffer.write(text)

    def batch(self, hits: Sequence[Hit]) -> None:
        self._hits.batch(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        return None

    def progress(self, progress: Progress) -> None:
        return None

    def finish(self) -> None:
        sys.stdout.flush()


def _prefix(path: str) -> bytes:
    """What stands before a path of the corpus so that it opens from here: nothing for the current folder."""
    if path in ("", "."):
        return b""
    return os.fsencode(path if path.endswith("/") else path + "/")


def fields_of(hit: Hit, *, with_signals: bool = False) -> dict[str, Any]:
    """A hit as JSON has it: 1-based, inclusive lines; undecodable bytes of a path as lone surrogates (`surrogateescape`)."""
    found: dict[str, Any] = {
        "path": os.fsdecode(hit.path),
        "line": hit.line + 1,
        "column": hit.column + 1,
        "start_line": hit.first_line + 1,
        "end_line": hit.last_line + 1,
        "text": hit.text,
        "symbol": f"{hit.container}.{hit.symbol}" if hit.container and hit.symbol else hit.symbol or hit.container,
        "kind": hit.kind,
        "language": hit.language,
        "score": round(hit.score, 6),
    }
    if with_signals:
        found["signals"] = {signal.name: round(signal.value, 6) for signal in hit.signals}
    return found
