"""Compile the kernels once, in a process of its own: the compiler's memory (35 MB) then adds nothing to that of a build.

`python -m mgrep_tui.ngram.warm` builds two tiny segments, which calls every kernel with every type of argument that a build has.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from mgrep_tui.corpus.root import Root
from mgrep_tui.model import Entry, FileStat
from mgrep_tui.ngram.build import build_segment


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for file in ("a", "b"):
            (folder / file).write_bytes(b"some text\n")
        entries = [Entry(path, FileStat.of((folder / path.decode()).stat())) for path in (b"a", b"b")]
        for chosen in (entries, entries[:1]):
            build_segment(Root(folder), chosen, folder / "out" / "base")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
