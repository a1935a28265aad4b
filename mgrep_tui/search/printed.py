"""Matching lines as grep prints them, `path:line:column:text`, straight from bytes to bytes."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.reading import CandidateReader

MANY_NUMBERS = 4000
_NUMBERS = [
    b"%d:" % number for number in range(MANY_NUMBERS + 1)
]  # half a millisecond, and a third of the time for each line

Stat = tuple[int, int, int, int]
Block = tuple[int, int, int]


def printed_lines(
    matcher: Matcher,
    reader: CandidateReader,
    prefix: bytes,
    path: bytes,
    stat: Stat | None,
    blocks: Sequence[Block] | None,
    texts: list[bytes],
) -> int:
    """Append the file's matching lines, each with its newline and maybe in several pieces, and return their number. Lines and columns
    (in characters) count from 1.

    `stat` and `blocks` are those of the candidate, as plain numbers; the bytes of a line stay as they are, but for a `\\r` at its end.
    """
    head = b"%b%b:" % (prefix, path)
    if matcher.is_multiline:
        content = reader.whole(path)
        if content is not None:
            text = matcher.text_of(content)
            whole = matcher.lines(text)
            texts += [_printed(head, text, line, begin, end, spans[0][0]) for line, begin, end, spans in whole]
            return len(whole)
        return 0
    count = 0
    for part in reader.parts_of(path, stat, blocks):
        buffer = part.data
        found = matcher.lines(
            buffer, first_line=part.first_line, starts_file=part.starts_file, ends_file=part.ends_file
        )
        texts += [_printed(head, buffer, line, begin, end, spans[0][0]) for line, begin, end, spans in found]
        count += len(found)
    return count


def _printed(head: bytes, buffer: bytes, line: int, begin: int, end: int, start: int) -> bytes:
    before = buffer[begin:start]
    column = len(before) if before.isascii() else len(before.decode("utf-8", "replace"))
    if end > begin and buffer[end - 1] == 13:
        end -= 1
    return b"%b%d:%d:%b\n" % (head, line + 1, column + 1, buffer[begin:end])
