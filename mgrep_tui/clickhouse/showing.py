"""A window of a file that the engine has: its lines, its outline, and a copy on the disk for an editor."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.heads import Published
from mgrep_tui.clickhouse.texts import blocks_of_lines, lines_between, lines_of
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.preview import CONTEXT_LINES, MAX_CHARS, breadcrumb
from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Symbol
from mgrep_tui.text.highlight import Token, highlight

LIMITS = Limits(time_s=5.0, memory_bytes=1_000_000_000)


class Files:
    """Reads files of published commits. Any thread may ask."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def content_of(self, state: int, path: bytes) -> tuple[bytes, str] | None:
        """The content hash and the language of a file; None when the commit has no such file."""
        found = rows(
            self._connection.batches(
                f"SELECT content, language FROM {self._connection.database}.files"
                " WHERE state = {state:UInt64} AND path = unhex({path:String}) LIMIT 1",
                {"state": state, "path": path.hex()},
                limits=LIMITS,
            )
        )
        return (bytes(found[0][0]), bytes(found[0][1]).decode()) if found else None

    def preview(
        self,
        published: Published,
        path: bytes,
        shown: bytes,
        line: int,
        column: int,
        height: int,
        width: int,
        *,
        is_coloured: bool,
    ) -> Preview:
        """At least `height` lines around `line`; `shown` is the path that the screen knows. Never raises for the file's own faults."""
        try:
            found = self.content_of(published.state, path)
            if found is None:
                return Preview(shown, notice="The published commit has no such file.", is_gone=True)
            content, language = found
            first = max(0, line - height // 3)
            before = CONTEXT_LINES if is_coloured else 0
            blocks = blocks_of_lines(self._connection, content, max(0, first - before), first + height, LIMITS)
            total = self._total_lines(content)
        except MgrepError as error:
            return Preview(shown, notice=str(error))
        start, lines = lines_of(blocks)
        if not lines:
            return Preview(shown, notice="The file is empty." if not total else "There is no such line.")
        wanted = lines[max(0, first - start) : first - start + height]
        texts, offsets, cut = _windows(wanted, line - first, column, max(MAX_CHARS, width))
        plain = Preview(
            shown,
            first_line=first,
            lines=tuple(texts),
            total_lines=total,
            notice="Long lines are shown in part." if cut else "",
            language=language,
            offsets=tuple(offsets) if cut else (),
            cut_lines=frozenset(cut),
        )
        if not is_coloured:
            return plain
        above = lines[max(0, first - start - before) : max(0, first - start)]
        return self._coloured(plain, published.state, path, line, [_decoded(one)[:MAX_CHARS] for one in above])

    def _coloured(self, plain: Preview, state: int, path: bytes, line: int, above: Sequence[str]) -> Preview:
        try:
            symbols = self.symbols_of(state, path)
        except EngineError:
            symbols = ()
        tokens: tuple[Sequence[Token], ...] = ()
        if plain.language and not plain.cut_lines:
            tokens = tuple(highlight("\n".join(plain.lines), plain.language, context="\n".join(above)))
        return replace(
            plain,
            tokens=tokens,
            breadcrumb=breadcrumb(symbols, line),
            symbols=tuple(sorted(symbols, key=lambda symbol: (symbol.first_line, -symbol.last_line))),
        )

    def symbols_of(self, state: int, path: bytes) -> tuple[Symbol, ...]:
        """The outline of a file."""
        database = self._connection.database
        found = rows(
            self._connection.batches(
                f"SELECT DISTINCT name, kind, container, first_line, last_line FROM {database}.symbols"
                f" WHERE bitShiftRight(chunk, 15) IN (SELECT document FROM {database}.files"
                " WHERE state = {state:UInt64} AND path = unhex({path:String})) ORDER BY first_line",
                {"state": state, "path": path.hex()},
                limits=LIMITS,
            )
        )
        return tuple(
            Symbol(_decoded(name), _decoded(kind), _decoded(container), first, last)
            for name, kind, container, first, last in found
        )

    def _total_lines(self, content: bytes) -> int:
        bound = Bound()
        found = rows(
            self._connection.batches(
                "SELECT first_line, countSubstrings(text, '\\n'), endsWith(text, '\\n')"
                f" FROM {self._connection.database}.blocks WHERE content IN {bound.hashes([content])} AND is_last = 1 LIMIT 1",
                bound.values,
                limits=LIMITS,
            )
        )
        if not found:
            return 0
        first, newlines, ends = found[0]
        return int(first + newlines + (0 if ends else 1))

    def text_of(self, state: int, path: bytes) -> bytes:
        """The whole text of a file. Raises `MgrepError`."""
        found = self.content_of(state, path)
        if found is None:
            raise MgrepError("The published commit has no such file.")
        bound = Bound()
        blocks = rows(
            self._connection.batches(
                f"SELECT number, text FROM {self._connection.database}.blocks WHERE content IN {bound.hashes([found[0]])}"
                " ORDER BY number LIMIT 1 BY number",
                bound.values,
                limits=LIMITS,
            )
        )
        return b"".join(text for _, text in blocks)

    def snippet(self, state: int, path: bytes, first_line: int, last_line: int) -> str:
        """The text of inclusive lines. Raises `MgrepError`."""
        found = self.content_of(state, path)
        if found is None:
            raise MgrepError("The published commit has no such file.")
        blocks = blocks_of_lines(self._connection, found[0], first_line, last_line, LIMITS)
        return "\n".join(_decoded(line) for line in lines_between(blocks, first_line, last_line))

    def copy_of(self, published: Published, path: bytes, folder: Path) -> Path:
        """A read-only copy of a file below `folder`, for an editor. Raises `MgrepError`.

        An engine is written by others: a path that would leave the folder is refused.
        """
        parts = path.split(b"/")
        if not path or b"\0" in path or any(part in (b"", b".", b"..") for part in parts):
            raise MgrepError("That path cannot be opened here.")
        place = folder / f"{published.state:016x}" / os.fsdecode(path)
        try:
            if not place.exists():
                text = self.text_of(published.state, path)
                place.parent.mkdir(parents=True, exist_ok=True)
                temporary = place.with_name(f".{os.getpid()}.tmp")
                temporary.write_bytes(text)
                temporary.chmod(0o444)
                os.replace(temporary, place)
        except OSError as error:
            raise MgrepError(f"The file cannot be copied for the editor: {error.strerror}.") from error
        return place


def _windows(lines: Sequence[bytes], at: int, column: int, most: int) -> tuple[list[str], list[int], set[int]]:
    """The lines as text, each cut to `most` characters; the asked one around its column."""
    texts, offsets, cut = [], [], set()
    for number, line in enumerate(lines):
        text = _decoded(line)
        offset = 0
        if len(text) > most:
            cut.add(number)
            offset = max(0, min(column - most // 4, len(text) - most)) if number == at else 0
            text = text[offset : offset + most]
        texts.append(text)
        offsets.append(offset)
    return texts, offsets, cut


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")
