"""An exhaustive answer as a stream of printed lines, with the help of a child process when there is much to read.

One process of Python runs one thread of its own code at a time, and a dense answer is a million small steps. Two of them, each with a share
of the files, are as quick as a program with two threads. The lines come in the order of the candidates.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Progress
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.child import Child
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.printed import LinePrinter
from mgrep_tui.search.query import Query

MANY_FILES = 4000
"""From so many candidates on, a child wins back the quarter of a second that it takes to start."""
FILES_A_TASK = 32
TASKS_AHEAD = 6
MOST_WAITING_BYTES = 32 << 20
"""So many bytes of printed lines wait for those before them, mostly while the child starts."""
TASK_S = 120.0


@runtime_checkable
class LineSink(Protocol):
    """A sink that would rather have printed lines, for a pipe. `prefix` stands before each path."""

    prefix: bytes

    def lines(self, text: bytes, count: int) -> None:
        """So many lines `path:line:column:text`, each with its newline."""

    def batch(self, hits: Iterable[Hit]) -> None: ...

    def progress(self, progress: Progress) -> None: ...


Printed = tuple[bytes, int, int, int]
"""Lines as text, their number, the files that they are from, and the files that were looked into."""


def stream_lines(
    root: Root,
    query: Query,
    matcher: Matcher,
    candidates: Iterable[Candidate],
    count: int,
    prefix: bytes,
    max_file_bytes: int,
    cancel: CancelToken,
) -> Iterator[Printed]:
    """The lines of all candidates, some files at a time. Raises `MgrepError` when a process dies; ends early when cancelled."""
    tasks = iter(_tasks(candidates))
    with LinePrinter(root, matcher, prefix, max_file_bytes) as printer:
        if count < MANY_FILES or (os.cpu_count() or 1) < 2:
            for task in tasks:
                if cancel.is_cancelled:
                    return
                yield (*printer.print(task), len(task))
            return
        options = {
            "case": query.case,
            "is_literal": query.is_literal,
            "is_word": query.is_word,
            "is_multiline": query.is_multiline,
        }
        child = Child(_argv())
        try:
            if first := next(tasks, None):
                yield (*printer.print(first), len(first))  # before the child has come to itself
            child.send((os.fsencode(root.path), prefix, max_file_bytes, query.pattern, options))
            yield from _together(tasks, printer, child, cancel)
        finally:
            child.kill()


def _together(
    tasks: Iterator[list[Candidate]], printer: LinePrinter, child: Child, cancel: CancelToken
) -> Iterator[Printed]:
    """Tasks are taken by whoever is free; what is printed waits for what stands before it."""
    waiting: deque[tuple[tuple[bytes, int, int] | None, int]] = deque()  # in order; None is the child's
    asked = held_bytes = 0
    while True:
        while asked < TASKS_AHEAD and (task := next(tasks, None)):
            child.send(_plain(task))
            waiting.append((None, len(task)))
            asked += 1
        own = next(tasks, None) if held_bytes < MOST_WAITING_BYTES else None
        if own is not None:
            printed = printer.print(own)
            held_bytes += len(printed[0])
            waiting.append((printed, len(own)))
        while waiting and (waiting[0][0] is not None or child.has_answered or own is None):
            answer, size = waiting.popleft()
            if answer is not None:
                held_bytes -= len(answer[0])
            else:
                answer = child.receive(TASK_S, cancel)
                asked -= 1
            if answer is None:
                cancel.check()
                raise MgrepError("A search process ended before its time.", "Search again; the log has the details.")
            yield (*answer, size)
            if own is None and asked < TASKS_AHEAD // 2:
                break
        if cancel.is_cancelled or (own is None and not waiting):
            return


def _argv() -> list[str]:
    package = str(Path(__file__).parents[2])
    code = "import sys; sys.path.insert(0, sys.argv[1]); from mgrep_tui.search.line_child import main; main()"
    return [sys.executable, "-I", "-c", code, package]


def _tasks(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    source = iter(candidates)
    while part := list(itertools.islice(source, FILES_A_TASK)):
        yield part


def _plain(candidates: Iterable[Candidate]) -> list[tuple[Any, ...]]:
    return [
        (path, stat and tuple(stat), blocks and [tuple(block) for block in blocks]) for path, stat, blocks in candidates
    ]
