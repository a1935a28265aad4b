"""What a terminal would show of a program's output: just enough of one for programs that place text by row and column."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from mgrep_tui.text.cells import cell_width
from tests.support.terminal import PATIENCE_S, Terminal

_PIECE = re.compile(
    rb"\x1b\[([0-?]*)([ -/]*[@-~])|\x1b(?:[\]P_^X].*?(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])|([\r\n\b])|([^\x00-\x1f]+)",
    re.DOTALL,
)
_CUT_CHARACTER = re.compile(rb"[\xc2-\xdf]\Z|[\xe0-\xef][\x80-\xbf]?\Z|[\xf0-\xf4][\x80-\xbf]{0,2}\Z")


class Display:
    """Follows a `Terminal`. Lines and columns count from 0; a wide character takes two cells, the second one empty."""

    def __init__(self, source: Terminal) -> None:
        self.source = source
        self._done = 0
        self._cells: dict[tuple[int, int], str] = {}
        self._row = self._column = 0

    def text(self) -> str:
        """Every line that has something on it, after taking in what has come."""
        self.follow()
        rows: dict[int, dict[int, str]] = {}
        for (row, column), character in self._cells.items():
            rows.setdefault(row, {})[column] = character
        return "\n".join(
            "".join(cells.get(column, " ") for column in range(max(cells) + 1)) for _, cells in sorted(rows.items())
        )

    def wait(self, condition: Callable[[str], bool], what: str) -> str:
        """Read until the text on the screen is as wanted; that text."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition(text := self.text()):
            assert time.monotonic() < deadline, f"{what} did not come; the screen:\n{text}"
            assert self.source.read() or self.source.process.poll() is None, f"it ended before {what}:\n{text}"
        return text

    def shows(self, *words: str) -> str:
        return self.wait(lambda text: all(word in text for word in words), repr(words))

    def lacks(self, word: str) -> str:
        return self.wait(lambda text: word not in text, f"an end of {word!r}")

    def follow(self) -> None:
        """Take in what has come."""
        output = self.source.output
        while self._done < len(output):
            piece = _PIECE.match(output, self._done)
            if piece is None:
                if output[self._done] == 0x1B:
                    return  # the rest of the sequence is still to come
                self._done += 1
                continue
            end = piece.end()
            if piece.group(4) is not None and end == len(output) and (cut := _CUT_CHARACTER.search(output, self._done)):
                end = cut.start()
                if end == self._done:
                    return
                piece = _PIECE.match(output, self._done, end)
                assert piece is not None
            self._done = end
            numbers, final, control, text = piece.groups()
            if text is not None:
                self._write(text.decode("utf-8", "replace"))
            elif control == b"\r":
                self._column = 0
            elif control == b"\n":
                self._row += 1
            elif control == b"\b":
                self._column = max(0, self._column - 1)
            elif final in (b"H", b"f"):
                row, _, column = numbers.partition(b";")
                self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
            elif final == b"J":
                self._cells.clear()
            elif final == b"K":
                self._cells = {
                    place: each
                    for place, each in self._cells.items()
                    if place[0] != self._row or place[1] < self._column
                }
            elif final in (b"A", b"B", b"C", b"D", b"G"):
                self._move(final, int(numbers or 1))

    def _move(self, final: bytes, by: int) -> None:
        if final == b"G":
            self._column = by - 1
        elif final in (b"A", b"B"):
            self._row += by if final == b"B" else -by
        else:
            self._column += by if final == b"C" else -by

    def _write(self, text: str) -> None:
        for character in text:
            width = cell_width(character)
            if not width:
                continue
            self._cells[self._row, self._column] = character
            if width == 2:
                self._cells[self._row, self._column + 1] = ""
            self._column += width
