"""Matching lines as grep prints them, `path:line:column:text`, straight from bytes to bytes."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.search.buffers import UNANCHORED
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.pattern_tree import NEWLINE
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
        if matcher.is_text_for(buffer):
            count += _text_lines(matcher, head, buffer, part.first_line, texts)
            continue
        if matcher.is_plain(buffer) and matcher.has_no_inner_literal:
            count += _plain_lines(matcher, head, buffer, part.first_line, texts)
            continue
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


def _text_lines(matcher: Matcher, head: bytes, buffer: bytes, line: int, texts: list[bytes]) -> int:
    """Append the lines with the matcher's text, in pieces, and return how many: the loop that dense answers spend their time in."""
    find, rfind, count = buffer.find, buffer.rfind, buffer.count
    literal, find_text = matcher.literal, find
    if literal is None:
        assert matcher.folded_literal is not None
        literal, find_text = matcher.folded_literal, buffer.lower().find
    numbers = _NUMBERS
    is_clean = b"\r" not in buffer and buffer.isascii()
    found = position = 0
    start = find_text(literal)
    while start >= 0:
        begin = rfind(b"\n", position, start) + 1 or position
        end = find(b"\n", start) + 1 or len(buffer)
        if begin > position:
            line += count(b"\n", position, begin)
        line += 1
        found += 1
        column = start - begin
        if is_clean and line < MANY_NUMBERS and column < MANY_NUMBERS and buffer[end - 1] == NEWLINE:
            texts += (head, numbers[line], numbers[column + 1], buffer[begin:end])
        else:
            texts.append(_printed(head, buffer, line - 1, begin, end - (buffer[end - 1] == NEWLINE), start))
        position = end
        start = find_text(literal, end)
    return found


def _plain_lines(matcher: Matcher, head: bytes, buffer: bytes, line: int, texts: list[bytes]) -> int:
    """As `buffers.scan`, with only the first match of each line."""
    match = matcher.plain.Match
    find, rfind = buffer.find, buffer.rfind
    length = len(buffer)
    found = position = 0
    while position < length:
        start = match(UNANCHORED, buffer, position, length)[0][0]
        if start < 0:
            break
        begin = rfind(b"\n", position, start) + 1 or position
        end = find(b"\n", start)
        if end < 0:
            end = length
        line += buffer.count(b"\n", position, begin)
        texts.append(_printed(head, buffer, line, begin, end, start))
        line += 1
        found += 1
        position = end + 1
    return found
