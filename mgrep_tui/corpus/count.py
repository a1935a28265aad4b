"""Roughly how many files there are: enough to ask before a huge tree is indexed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from mgrep_tui.corpus.root import Root

TIME_LIMIT_S = 0.5


def count_files(
    root: Root, limit: int, *, time_limit_s: float = TIME_LIMIT_S, clock: Callable[[], float] = time.monotonic
) -> int:
    """Files below the root, ignore rules apart; stops at `limit` or when the time is over, so the count is a lower bound."""
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
    return min(count, limit)
