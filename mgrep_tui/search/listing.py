"""Filters without a pattern: the files that they let through, or the chunks when they ask for symbols."""

from __future__ import annotations

from mgrep_tui.search.buffers import Buffer, FoundLines, LineMatch


class ListMatcher:
    """Stands where a `Matcher` stands, and finds the first line of every file; with `all_lines` every line, of which the filters then keep
    those that begin a chunk. Nothing in them is lit."""

    is_serial = False
    is_multiline = False
    can_join = False
    plan_pattern = ""

    def __init__(self, *, all_lines: bool) -> None:
        self.lists_chunks = all_lines

    def lines(
        self,
        buffer: bytes,
        *,
        first_line: int = 0,
        starts_file: bool = True,
        ends_file: bool = True,
        limit: int = 1 << 60,
    ) -> list[LineMatch]:
        """As `Matcher.lines`."""
        if not self.lists_chunks:
            end = buffer.find(b"\n")
            return [(first_line, 0, end if end >= 0 else len(buffer), [(0, 0)])] if starts_file else []
        found: list[LineMatch] = []
        start = 0
        for line in buffer.split(b"\n"):
            found.append((first_line + len(found), start, start + len(line), [(start, start)]))
            start += len(line) + 1
        return found

    def lines_in(self, buffer: Buffer, length: int, *, is_ascii: bool, limit: int = 1 << 60) -> FoundLines | None:
        """There is no quick way."""
        return None

    def text_of(self, content: bytes) -> bytes:
        """The content as it is."""
        return content

    def is_in_path(self, path: bytes) -> bool:
        """There is nothing to match."""
        return False
