"""The child process that turns candidates into printed lines, for an exhaustive answer over very many files.

Frames as in `search.child`. The first says what is looked for: root, prefix of each line, limit of a file's size, and the arguments of
`compile_pattern`. Each further one is a list of candidates, `(path, stat, blocks)`; the answer is `(text, lines, files)`.
"""

from __future__ import annotations

import marshal
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from mgrep_tui.corpus.root import open_root
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.matcher import compile_pattern
from mgrep_tui.search.printed import LinePrinter


def main() -> None:
    """Answer until stdin ends."""
    source, output = sys.stdin.buffer, sys.stdout.buffer
    root, prefix, limit_bytes, pattern, options = _receive(source)
    matcher = compile_pattern(pattern, **options)
    with LinePrinter(open_root(Path(os.fsdecode(root))), matcher, prefix, limit_bytes) as printer:
        while (candidates := _receive(source)) is not None:
            data = marshal.dumps(printer.print([Candidate._make(candidate) for candidate in candidates]))
            output.write(len(data).to_bytes(4, "little") + data)
            output.flush()


def _receive(source: BinaryIO) -> Any:
    head = source.read(4)
    return marshal.loads(source.read(int.from_bytes(head, "little"))) if len(head) == 4 else None


if __name__ == "__main__":
    main()
