"""What a path alone tells of a file, where the index was not asked."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mgrep_tui.search.filters import FileFacts
from mgrep_tui.text.languages import is_generated, is_test_path, is_vendored, language_of

FactsOf = Callable[[bytes], FileFacts]
"""From a path relative to the root. Called once a file that has hits or that a filter asks for, from the search's threads."""


def facts_of_path(path: bytes) -> FileFacts:
    """Language and kind of file by its name; nothing of git."""
    place = path.rfind(b"/") + 1
    name = path[place:]
    is_test, is_others = _of_folder(path[:place])
    return FileFacts(
        path, language_of(name), False, False, is_test or is_test_path(name), is_generated(name), is_others
    )


@functools.lru_cache(maxsize=8192)
def _of_folder(folder: bytes) -> tuple[bool, bool]:
    """What the folder, which ends in a slash, says of each file in it: whether it is a test, and whether it is somebody else's."""
    return is_test_path(folder), is_vendored(folder)
