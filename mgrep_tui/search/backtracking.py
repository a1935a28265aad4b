"""Patterns that RE2 cannot run: look-around, back-references and their kin, by the `regex` module in a child process that can be killed.

Such a pattern can take for ever on a line, and while it does, nothing stops it but the end of its process. The child gives up a line by
itself if it can; if it does not answer, it is killed and another one takes the next part. When that has cost `STUCK_S`, the search ends
and says so.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.buffers import Buffer, FoundLines, LineMatch, by_first_line
from mgrep_tui.search.child import Child
from mgrep_tui.search.pattern_parser import Parsed

LINE_S = 0.2
"""One line may take this long; the `regex` module notices late, so a call may take longer."""
CALL_S = 0.7
START_S = 5.0
CHILD = Path(__file__).with_name("backtracking_child.py")


class BacktrackingMatcher:
    """Stands where a `Matcher` stands, for one search in one thread. Close it after use."""

    plan_pattern: str
    is_serial = True
    lists_chunks = False
    can_join = False

    def __init__(
        self,
        pattern: str,
        parsed: Parsed,
        *,
        folds: bool,
        is_word: bool,
        is_multiline: bool,
        stuck_s: float,
        cancel: CancelToken,
    ) -> None:
        """Start the child; raises `QueryError` when the pattern is not understood."""
        self.beyond = parsed.beyond
        self.is_multiline = is_multiline or parsed.has_newline
        self.keeps_return = parsed.has_return
        self.plan_pattern = pattern
        self.given_up = 0  # parts of files in which a line took too long
        self._stuck_left_s = stuck_s
        self._cancel = cancel
        self._source = pattern.replace("\\z", "\\Z")
        if is_word:
            self._source = rf"(?<!\w)(?:{self._source}{chr(10) if parsed.beyond == '(?x)' else ''})(?!\w)"
        self._folds = folds
        self._child: Child | None = None
        self._start()

    @property
    def is_exhausted(self) -> bool:
        """Whether so much time was lost that the search should end."""
        return self._stuck_left_s <= 0

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _start(self) -> Child:
        child = Child([sys.executable, "-I", str(CHILD)])
        self._child = child
        child.send((self._source, self._folds, self.is_multiline, LINE_S))
        answer = child.receive(START_S, self._cancel)
        if answer is None or answer[0] == "error":
            self.close()
            if answer is None:
                raise MgrepError("The process for this kind of pattern did not start.", "The log has the details.")
            raise QueryError(f"This pattern is not understood: {answer[1]}.", answer[2])
        return child

    def lines(
        self,
        buffer: bytes,
        *,
        first_line: int = 0,
        starts_file: bool = True,
        ends_file: bool = True,
        limit: int = 1 << 60,
    ) -> list[LineMatch]:
        """As `Matcher.lines`. A part that takes too long has no lines; raises `Cancelled`."""
        if self.is_exhausted or not buffer:
            return []
        child = self._child or self._start()
        began = time.monotonic()
        child.send((buffer, self.is_multiline))
        answer = child.receive(min(CALL_S, self._stuck_left_s), self._cancel)
        if answer is None or answer[1]:
            self.given_up += 1
            self._stuck_left_s -= time.monotonic() - began
        if answer is None:
            self.close()
            self._cancel.check()
            return []
        found: list[LineMatch] = answer[0]
        if self.is_multiline:
            return by_first_line(buffer, found[0][3], limit) if found else []
        return [(first_line + line, begin, end, spans) for line, begin, end, spans in found[:limit]]

    def lines_in(self, buffer: Buffer, length: int, *, is_ascii: bool, limit: int = 1 << 60) -> FoundLines | None:
        """There is no quick way."""
        return None

    def text_of(self, content: bytes) -> bytes:
        """A file's content as this pattern sees it."""
        if self.is_multiline and not self.keeps_return:
            return content.replace(b"\r\n", b"\n")
        return content

    def is_in_path(self, path: bytes) -> bool:
        """Paths are not worth the risk."""
        return False
