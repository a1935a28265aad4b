"""Hits on stdout, as grep prints them or as JSON.

A hit is written as `path:line:column:text`, the path as it can be opened from where the command was started. To a terminal everything is
sanitised and coloured, and hits by meaning come with some lines of their chunk (`coloured`); to a pipe go the bytes of the file names and
the text as decoded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mgrep_tui.commands import coloured
from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Hit, Mode, Progress


@dataclass(frozen=True, slots=True)
class Where:
    """Whose hit it is: what stands before its paths so that they open from here, and the root's label when there are several."""

    prefix: bytes
    label: str = ""


Locate = Callable[[bytes], tuple[Where, bytes]]
"""From a hit's path to the root that it belongs to, and the path as that root has it."""

BEST_HITS = 10
"""So many hits by meaning a terminal shows when nothing is said: more would push the best ones off the screen."""


def prefix_of(typed: str) -> bytes:
    """What stands before a path of the corpus so that it opens from here: nothing for the current folder."""
    if typed in ("", "."):
        return b""
    return os.fsencode(typed if typed.endswith("/") else typed + "/")


class Printer:
    """Prints hits as they come, up to a limit. Regex hits stream, by path; semantic ones, and those that are to be explained, wait for the
    last word on their order."""

    def __init__(self, arguments: argparse.Namespace, locate: Locate, snippet: Callable[[Hit], str]) -> None:
        """`snippet` gives the text of a hit's chunk."""
        self.count = 0
        self._limit = arguments.limit
        self._as_json = arguments.json
        self._explain = arguments.explain
        is_terminal = sys.stdout.isatty()
        self._has_colour = coloured.wants_colour(arguments.color, os.environ, is_terminal)
        self._is_for_people = is_terminal or self._has_colour
        self._locate = locate
        self._snippet = snippet
        self._waiting: list[Hit] = []
        self._is_regex = arguments.mode == Mode.REGEX
        self._streams = self._is_regex and not arguments.explain

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
        """Print what waited for the last word."""
        hits = self._waiting
        is_short = self._is_for_people and not self._as_json and not self._is_regex and self._limit is None
        self._print(hits[:BEST_HITS] if is_short else hits)
        self._waiting = []
        sys.stdout.flush()
        if is_short and len(hits) > BEST_HITS and sys.stderr.isatty():
            print(f"\nThe best {BEST_HITS} of {len(hits)}; --limit {len(hits)} shows all.", file=sys.stderr)

    def _print(self, hits: Sequence[Hit]) -> None:
        if self._limit is not None:
            hits = hits[: self._limit - self.count]
        first = self.count
        self.count += len(hits)
        if self._as_json:
            sys.stdout.write(
                "".join(json.dumps(fields_of(hit, self._locate, with_signals=self._explain)) + "\n" for hit in hits)
            )
        elif self._is_for_people:
            width = shutil.get_terminal_size().columns
            for number, hit in enumerate(hits, start=first):
                sys.stdout.write(("\n" if number and not self._is_regex else "") + self._shown(hit, width) + "\n")
        elif hits:
            lines = []
            for hit in hits:
                lines.append(b"%s:%d:%d:" % (self._path(hit), hit.line + 1, hit.column + 1))
                lines[-1] += hit.text.encode("utf-8", "replace")
                if self._explain:
                    lines.append(_signals(hit).encode())
            sys.stdout.flush()
            sys.stdout.buffer.write(b"\n".join(lines) + b"\n")

    def _shown(self, hit: Hit, width: int) -> str:
        path = os.fsdecode(self._path(hit))
        if self._is_regex:
            shown = coloured.line_of(path, hit, has_colour=self._has_colour)
        else:
            try:
                chunk = self._snippet(hit)
            except MgrepError:  # gone since it was found
                chunk = ""
            shown = coloured.block_of(path, hit, chunk, width, has_colour=self._has_colour)
        return f"{shown}\n{_signals(hit)}" if self._explain else shown

    def _path(self, hit: Hit) -> bytes:
        where, path = self._locate(hit.path)
        return where.prefix + path


def _signals(hit: Hit) -> str:
    return "    " + "  ".join(f"{signal.name} {signal.value:+.3f}" for signal in hit.signals)


class LinePrinter:
    """Prints to a pipe what comes as ready lines (see `search.streaming.LineSink`): a million of them, without a value for each.

    `where` is the root that is being searched.
    """

    def __init__(self, arguments: argparse.Namespace, where: Where) -> None:
        self.where = where
        self._hits = Printer(arguments, lambda path: (self.where, path), lambda hit: hit.text)
        self._lines = 0

    @property
    def prefix(self) -> bytes:
        return self.where.prefix

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


def fields_of(hit: Hit, locate: Locate, *, with_signals: bool = False) -> dict[str, Any]:
    """A hit as JSON has it: 1-based, inclusive lines; undecodable bytes of a path as lone surrogates (`surrogateescape`).

    `repository` is there when several roots are searched, and says which of them `path` belongs to.
    """
    where, path = locate(hit.path)
    found: dict[str, Any] = {"repository": where.label} if where.label else {}
    found |= {
        "path": os.fsdecode(path),
        "line": hit.line + 1,
        "column": hit.column + 1,
        "start_line": hit.first_line + 1,
        "end_line": hit.last_line + 1,
        "text": hit.text,
        "symbol": hit.full_name,
        "kind": hit.kind,
        "language": hit.language,
        "score": round(hit.score, 6),
    }
    if with_signals:
        found["signals"] = {signal.name: round(signal.value, 6) for signal in hit.signals}
    return found
