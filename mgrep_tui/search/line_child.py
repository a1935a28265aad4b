"""The child process that turns candidates into printed lines, for an exhaustive answer over very many files.

Frames as in `search.child`. The first says what is looked for: root, prefix of each line, limit of a file's size, and the arguments of
`compile_pattern`. Each further one is a list of candidates, `(path, stat, blocks)`; the answer is `(text, lines, files)`.
"""

from __future__ import annotations

import marshal
import sys
from pathlib import Path
from typing import Any, BinaryIO

from mgrep_tui.corpus.root import open_root
from mgrep_tui.search.matcher import Matcher, compile_pattern
from mgrep_tui.search.printed import printed_lines
from mgrep_tui.search.reading import CandidateReader


def main() -> None:
    """Answer until stdin ends."""
    source, output = sys.stdin.buffer, sys.stdout.buffer
    root, prefix, limit_bytes, pattern, options = _receive(source)
    matcher = compile_pattern(pattern, **options)
    with CandidateReader(open_root(Path(root.decode("utf-8", "surrogateescape"))), limit_bytes) as reader:
        while (candidates := _receive(source)) is not None:
            data = marshal.dumps(_answer(matcher, reader, prefix, candidates))
            output.write(len(data).to_bytes(4, "little") + data)
            output.flush()


def _answer(matcher: Matcher, reader: CandidateReader, prefix: bytes, candidates: list[Any]) -> tuple[bytes, int, int]:
    texts: list[bytes] = []
    lines = files = 0
    for path, stat, blocks in candidates:
        found = printed_lines(matcher, reader, prefix, path, stat, blocks, texts)
        lines += found
        files += found > 0
    return b"".join(texts), lines, files


def _receive(source: BinaryIO) -> Any:
    head = source.read(4)
    return marshal.loads(source.read(int.from_bytes(head, "little"))) if len(head) == 4 else None


if __name__ == "__main__":
    main()
