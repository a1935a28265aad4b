"""Compile the kernels once, in a process of its own: the compiler's memory (35 MB) then adds nothing to that of a build.

`python -m mgrep_tui.ngram.warm` builds two tiny segments, which calls every kernel with every type of argument that a build has.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mgrep_tui.corpus.root import Root
from mgrep_tui.model import Entry, FileStat

_LIMIT_S = 120.0


def compile_apart(kernel_cache: Path) -> None:
    """Fill an empty cache folder. When that fails, a build compiles for itself."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if any(kernel_cache.iterdir()):
            return
        subprocess.run(
            [sys.executable, "-m", __name__],
            env={**os.environ, "NUMBA_CACHE_DIR": str(kernel_cache)},
            cwd=kernel_cache,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_LIMIT_S,
            check=False,
        )


def main() -> int:
    from mgrep_tui.ngram.build import build_segment

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
