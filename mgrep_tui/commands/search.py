"""`mgrep-tui search`: ask one question or many of one root or several, and print the hits.

Several roots are opened side by side. By regular expression they are printed one after the other, in the order in which they were named;
by meaning as one list. What cannot be searched is said on stderr and makes the exit status that of an error; the others answer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from mgrep_tui.commands.asking import may_index
from mgrep_tui.commands.common import Context, prepare, warn, with_targets
from mgrep_tui.commands.explorers import Explorers, bring_all
from mgrep_tui.commands.printing import LinePrinter, Printer, Where, fields_of, prefix_of
from mgrep_tui.commands.targets import Target, Targets
from mgrep_tui.commands.waiting import wait_for_index
from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.several import SeveralExplorer
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Outcome, Progress, Sink
from mgrep_tui.search.query import narrowed, parse
from mgrep_tui.text.sanitize import sanitize

FOUND, NONE, ERROR = 0, 1, 2
MAX_QUERIES_BYTES = 16_000_000
NOT_INDEXED = "There is no index yet, so every file was read. `mgrep-tui index` makes one."


def search(arguments: argparse.Namespace) -> int:
    """Run the command; the exit status is grep's."""
    queries = read_queries(Path(arguments.queries)) if arguments.queries else None
    cancel = CancelToken()
    context = prepare(arguments, prefers_git_root=False)
    warn(context)
    context = bring_all(context, cancel)
    mode = Mode(arguments.mode or Mode.SEMANTIC)
    # One question is answered by reading the files before an index of them could be made.
    can_scan = mode is Mode.REGEX and queries is None and not _asks_for_symbols(arguments, context)
    context = _without_forbidden(context, arguments, can_scan=can_scan)
    explorers = Explorers(context, semantic=mode is Mode.SEMANTIC, watch=False)
    roots = [explorers.local(place) for place in context.targets.places]
    several = explorers.several(roots) if len(roots) > 1 else None
    try:
        notes = []
        for root in roots:
            if arguments.no_index:
                root.open_as_is()
            elif can_scan and not root.is_indexed():
                root.open_as_is()
                notes.append(NOT_INDEXED)
            else:
                root.start()
        asker = _Asker(roots, several, context, arguments, mode, cancel, notes)
        if not arguments.no_index:
            asker.wait(needs_vectors=mode is Mode.SEMANTIC and not arguments.no_wait)
        found = asker.all(queries) if queries is not None else asker.one(arguments.query)
        return ERROR if asker.has_trouble or context.targets.troubles else found
    finally:
        cancel.cancel()
        for root in roots:
            root.close()


def _without_forbidden(context: Context, arguments: argparse.Namespace, *, can_scan: bool) -> Context:
    """The same without the places that need an index which may not be made; they are said. Raises `MgrepError` when none is left."""
    explorers = Explorers(context, semantic=False, watch=False)
    places: list[Target] = []
    troubles: list[MgrepError] = []
    for place in context.targets.places:
        assert place.root is not None
        try:
            needs_index = not arguments.no_index and (not can_scan or explorers.local(place).is_indexed())
            if needs_index and not may_index(context, place.root):
                raise MgrepError(f"{place.root.path} is not searched by meaning without an index.")
            places.append(place)
        except MgrepError as error:
            troubles.append(error)
    if not places:
        raise troubles[0]
    for trouble in troubles:
        print(f"mgrep-tui: {sanitize(str(trouble))}", file=sys.stderr)
    said = (*context.targets.troubles, *map(str, troubles))
    return with_targets(context, Targets(tuple(places), said, context.targets.title))


def _asks_for_symbols(arguments: argparse.Namespace, context: Context) -> bool:
    """Whether only an index can tell what is asked for."""
    try:
        return parse(arguments.query, Mode.REGEX, case=context.settings.regex.case).filters.needs_chunk
    except QueryError:
        return False  # said when it is asked


def read_queries(path: Path) -> list[str]:
    """One query a line. Raises `MgrepError`."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_QUERIES_BYTES)
    except OSError as error:
        raise MgrepError(f"The queries in '{path}' cannot be read: {error.strerror}.") from error
    lines = raw.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip("\r") for line in lines]


class _Printing(Protocol):
    """A sink that prints; `where` is set by who searches root after root."""

    @property
    def count(self) -> int: ...

    def batch(self, hits: Sequence[Hit]) -> None: ...

    def replace(self, hits: Sequence[Hit]) -> None: ...

    def progress(self, progress: Progress) -> None: ...

    def finish(self) -> None: ...


class _Asker:
    """Puts queries to the roots and prints the answers."""

    def __init__(
        self,
        roots: Sequence[LocalExplorer],
        several: SeveralExplorer | None,
        context: Context,
        arguments: argparse.Namespace,
        mode: Mode,
        cancel: CancelToken,
        notes: Sequence[str],
    ) -> None:
        self._notes = notes
        labels = several.labels if several is not None else ("",)
        self._roots = list(roots)
        self._wheres = [
            Where(prefix_of(place.typed), label) for place, label in zip(context.targets.places, labels, strict=True)
        ]
        self._by_label = {os.fsencode(where.label): where for where in self._wheres}
        self._several = several
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
        self._broken: set[int] = set()
        self._refused = 0

    @property
    def has_trouble(self) -> bool:
        """Whether some root among several could not be searched, or some query among many not be asked."""
        return bool(self._broken) or self._refused > 0

    def wait(self, *, needs_vectors: bool) -> None:
        """Wait for every index; one among several that cannot be had is said and left out."""
        for number, root in enumerate(self._roots):
            try:
                wait_for_index(root, self._cancel, needs_vectors=needs_vectors)
            except MgrepError as error:
                self._trouble(number, error)

    def _trouble(self, number: int, error: MgrepError) -> None:
        if self._several is None or isinstance(error, QueryError):
            raise error
        if number not in self._broken:
            print(f"mgrep-tui: {sanitize(f'{self._wheres[number].label}: {error}')}", file=sys.stderr)
        self._broken.add(number)

    def _locate(self, path: bytes) -> tuple[Where, bytes]:
        if self._several is None:
            return self._wheres[0], path
        label, _, own = path.partition(b"/")
        return self._by_label[label], own

    def _snippet(self, hit: Hit) -> str:
        return (self._several or self._roots[0]).snippet(hit)

    def one(self, query: str) -> int:
        arguments = self._arguments
        is_plain = self._limit is None and not arguments.json and not arguments.explain
        printer: _Printing
        if self._mode is Mode.REGEX and is_plain and arguments.color != "always" and not sys.stdout.isatty():
            printer = LinePrinter(arguments, self._wheres[0])
        else:
            printer = Printer(arguments, self._locate, self._snippet)
        outcomes = self._ask(query, printer)
        printer.finish()
        # Without an engine nothing was searched at all: no answer, and by no means "nothing there".
        is_idle = any(not outcome.engine and outcome.is_partial for outcome in outcomes)
        for note in dict.fromkeys([*self._notes, *(note for outcome in outcomes for note in outcome.notes)]):
            if is_idle or (not self._arguments.json and sys.stderr.isatty()):
                print(f"mgrep-tui: {sanitize(note)}", file=sys.stderr)
        return FOUND if printer.count else ERROR if is_idle else NONE

    def all(self, queries: Sequence[str]) -> int:
        found = NONE
        for query in queries:
            kept = Collected()
            began = time.perf_counter()
            try:
                self._ask(query, kept)
            except QueryError as error:
                # One bad query among many ends itself only.
                self._refuse(query, error)
                continue
            elapsed_ms = (time.perf_counter() - began) * 1000
            hits = kept.hits if self._limit is None else kept.hits[: self._limit]
            if self._arguments.json:
                answer = {
                    "query": query,
                    "hits": [fields_of(hit, self._locate, with_signals=self._arguments.explain) for hit in hits],
                    "elapsed_ms": round(elapsed_ms, 3),
                }
                print(json.dumps(answer), flush=True)
            else:
                print(f"# {sanitize(query)}")
                printer = Printer(self._arguments, self._locate, self._snippet)
                printer.batch(hits)
                printer.finish()
            if hits:
                found = FOUND
        return found

    def _refuse(self, query: str, error: QueryError) -> None:
        self._refused += 1
        if self._arguments.json:
            print(json.dumps({"query": query, "hits": [], "error": str(error)}), flush=True)
        else:
            print(f"# {sanitize(query)}", flush=True)
            print(f"mgrep-tui: {sanitize(f'{query!r}: {error}')}", file=sys.stderr)

    def _ask(self, query: str, sink: Sink) -> list[Outcome]:
        query = narrowed(query, self._arguments.language, self._arguments.path)
        if self._several is not None and self._mode is Mode.SEMANTIC:
            return [
                self._several.answer(
                    query, self._mode, self._options, sink, self._cancel, limit=self._limit, tier=self._arguments.tier
                )
            ]
        outcomes = []
        left = self._limit
        for number, root in enumerate(self._roots):
            if number in self._broken or left == 0:
                continue
            into = sink
            if self._several is not None:
                if isinstance(sink, LinePrinter):
                    sink.where = self._wheres[number]
                else:
                    into = _Labelled(sink, self._wheres[number].label)
            try:
                outcome = self._ask_one(root, query, into, left)
            except MgrepError as error:
                self._trouble(number, error)
                continue
            outcomes.append(outcome)
            if left is not None:
                left = max(0, left - outcome.hits)
        return outcomes

    def _ask_one(self, root: LocalExplorer, query: str, sink: Sink, limit: int | None) -> Outcome:
        # What is to be explained is ranked: the best of all that the screen would show, not the first by path.
        is_ranked = self._mode is Mode.SEMANTIC or self._arguments.explain
        return root.answer(
            query,
            self._mode,
            self._options,
            sink,
            self._cancel,
            limit=None if is_ranked and self._mode is Mode.REGEX else limit,
            tier=self._arguments.tier,
            is_exhaustive=not is_ranked,
            # The disk was looked at after this program began, which is when its one query was asked.
            checks_disk=self._arguments.queries is not None,
        )


class _Labelled:
    """Puts a root's label before the paths of its hits, as a search over several roots does by itself."""

    def __init__(self, sink: Sink, label: str) -> None:
        self._sink = sink
        self._prefix = os.fsencode(label) + b"/"

    def _named(self, hits: Sequence[Hit]) -> list[Hit]:
        return [replace(hit, path=self._prefix + hit.path) for hit in hits]

    def batch(self, hits: Sequence[Hit]) -> None:
        self._sink.batch(self._named(hits))

    def replace(self, hits: Sequence[Hit]) -> None:
        self._sink.replace(self._named(hits))

    def progress(self, progress: Progress) -> None:
        self._sink.progress(progress)
