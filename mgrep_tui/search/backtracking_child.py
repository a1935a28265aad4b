"""The child process that runs patterns which can take for ever. Started as a script by `search.backtracking`; imports nothing of ours.

Frames come on stdin and answers go to stdout, each with its length in 4 bytes before it, all in `marshal`. The first frame is the pattern,
whether it folds case, whether it is multi-line, and the time limit of one line in seconds; the answer is `("ok",)` or
`("error", message, position)`. Every further frame is `(buffer, is_whole)`; the answer is `(lines, is_late)` with the lines that match as
`(number, start, end, spans)`, in bytes of the buffer. With `is_whole` the buffer is one text and only spans come, in one line. `is_late`
says that some line was given up.
"""

import marshal
import sys
from typing import Any, BinaryIO

import regex


def main() -> None:
    source, output = sys.stdin.buffer, sys.stdout.buffer
    first = _receive(source)
    if first is None:
        return
    text, folds, is_multiline, limit_s = first
    flags = regex.V0 | (regex.IGNORECASE if folds else 0) | (regex.MULTILINE if is_multiline else 0)
    try:
        pattern = regex.compile(text, flags)
    except regex.error as error:
        _send(output, ("error", error.msg, error.pos))
        return
    except (RecursionError, MemoryError, OverflowError, ValueError):
        _send(output, ("error", "too large", 0))
        return
    _send(output, ("ok",))
    while (frame := _receive(source)) is not None:
        buffer, is_whole = frame
        _send(output, _whole(pattern, buffer, limit_s) if is_whole else _lines(pattern, buffer, limit_s))


def _lines(pattern: Any, buffer: bytes, limit_s: float) -> tuple[list[Any], bool]:
    found = []
    is_late = False
    start = 0
    for number, line in enumerate(buffer.split(b"\n")):
        if line:
            spans, was_late = _spans(pattern, line.removesuffix(b"\r"), limit_s)
            is_late = is_late or was_late
            if spans:
                found.append((number, start, start + len(line), [(start + begin, start + end) for begin, end in spans]))
        start += len(line) + 1
    return found, is_late


def _whole(pattern: Any, buffer: bytes, limit_s: float) -> tuple[list[Any], bool]:
    spans, is_late = _spans(pattern, buffer, limit_s)
    return ([(0, 0, len(buffer), spans)] if spans else []), is_late


def _spans(pattern: Any, raw: bytes, limit_s: float) -> tuple[list[tuple[int, int]], bool]:
    """The non-empty matches, in bytes, and whether the time was over. Invalid bytes are surrogates, which few patterns match."""
    text = raw.decode("utf-8", "surrogateescape")
    places = []
    is_late = False
    try:
        for match in pattern.finditer(text, timeout=limit_s):
            start, end = match.span()
            if start < end:
                places.append((start, end))
    except TimeoutError:
        is_late = True
    if len(text) == len(raw):
        return places, is_late
    return [(_bytes(text, start), _bytes(text, end)) for start, end in places], is_late


def _bytes(text: str, place: int) -> int:
    return len(text[:place].encode("utf-8", "surrogateescape"))


def _receive(source: BinaryIO) -> Any:
    head = source.read(4)
    return marshal.loads(source.read(int.from_bytes(head, "little"))) if len(head) == 4 else None


def _send(output: BinaryIO, value: Any) -> None:
    data = marshal.dumps(value)
    output.write(len(data).to_bytes(4, "little") + data)
    output.flush()


if __name__ == "__main__":
    main()
