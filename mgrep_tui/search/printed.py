"""Matching lines as grep prints them, `path:line:column:text`, straight from bytes to bytes."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.search.buffers import UNANCHORED
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.reading import CandidateReader

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
) -> None:
    """Append the file's matching lines, each with its newline. Lines and columns (in characters) count from 1.

    `stat` and `blocks` are those of the candidate, as plain numbers; the bytes of a line stay as they are, but for a `\\r` at its end.
    """
    head = b"%b%b:" % (prefix, path)
    if matcher.is_multiline:
        content = reader.whole(path)
        if content is not None:
            text = matcher.text_of(content)
            texts += [
                _printed(head, text, line, begin, end, spans[0][0]) for line, begin, end, spans in matcher.lines(text)
            ]
        return
    for part in reader.parts_of(path, stat, blocks):
        buffer = part.data
        if matcher.is_plain(buffer) and matcher.has_no_inner_literal:
            _plain_lines(matcher, head, buffer, part.first_line, texts)
            continue
        found = matcher.lines(
            buffer, first_line=part.first_line, starts_file=part.starts_file, ends_file=part.ends_file
        )
        texts += [_printed(head, buffer, line, begin, end, spans[0][0]) for line, begin, end, spans in found]


def _printed(head: bytes, buffer: bytes, line: int, begin: int, end: int, start: int) -> bytes:
    before = buffer[begin:start]
    column = len(before) if before.isascii() else len(before.decode("utf-8", "replace"))
    if end > begin and buffer[end - 1] == 13:
        end -= 1
    return b"%b%d:%d:%b\n" % (head, line + 1, column + 1, buffer[begin:end])


def _plain_lines(matcher: Matcher, head: bytes, buffer: bytes, line: int, texts: list[bytes]) -> None:
    """As `buffers.scan`, with only the first match of each line: the loop that dense answers spend their time in."""
    literal = matcher.literal
    text_find = buffer.find
    if literal is None and matcher.folded_literal is not None:
        # The buffer is ASCII, so all places stay the same; one copy is cheaper than a call of RE2 for each line.
        literal = matcher.folded_literal
        text_find = buffer.lower().find
    match = matcher.plain.Match
    find, rfind, count, append = buffer.find, buffer.rfind, buffer.count, texts.append
    length = len(buffer)
    has_return = b"\r" in buffer
    line += 1
    position = 0
    while position < length:
        start = (
            text_find(literal, position) if literal is not None else match(UNANCHORED, buffer, position, length)[0][0]
        )
        if start < 0:
            return
        begin = rfind(b"\n", position, start) + 1 or position
        end = find(b"\n", start)
        if end < 0:
            end = length
        if begin > position:
            line += count(b"\n", position, begin)
        text = buffer[begin:end]
        if has_return:
            text = text.removesuffix(b"\r")
        append(b"%b%d:%d:%b\n" % (head, line, start - begin + 1, text))
        line += 1
        position = end + 1
