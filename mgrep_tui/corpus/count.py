"""Roughly how many files there are: enough to ask before a huge tree is indexed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from mgrep_tui.corpus.root import Root

TIME_LIMIT_S = 1.0  # 200,000 files that lie in the kernel's memory take 0.3 s


def count_files(
    root: Root, limit: int, *, time_limit_s: float = TIME_LIMIT_S, clock: Callable[[], float] = time.monotonic
) -> tuple[int, bool]:
    """Files below the root, ignore rules apart, and whether these are all; stops at `limit` or when the time is over."""
    end = clock() + time_limit_s
    count = 0
    stack = [os.fspath(root.path)]
    while stack and count < limit and clock() < end:
        try:
            with os.scandir(stack.pop()) as children:
                for child in children:
                    if child.is_dir(follow_symlinks=False):
                        if child.name != ".git":
                            stack.append(child.path)
                    else:
                        count += 1
        except OSError:
            continue
    return min(count, limit), not stack and count < limit
