"""Which files were written to after a moment: what was found in them then need not be there now."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable


def edited_since(paths: Iterable[bytes], absolute: Callable[[bytes], str], since_ns: int) -> frozenset[bytes]:
    """Those of `paths` whose file has changed in whatever way since `since_ns` (`time.time_ns()`). One that is not there (any more) is not
    among them. Any thread; a system call each."""
    found = set()
    for path in paths:
        try:
            status = os.lstat(absolute(path))
        except (OSError, ValueError):
            continue
        if max(status.st_ctime_ns, status.st_mtime_ns) > since_ns:
            found.add(path)
    return frozenset(found)
