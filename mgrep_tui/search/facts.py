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
    return FileFacts(path, _of_name(path[path.rfind(b"/") + 1 :])[0], False, False, *kinds_of_path(path))


def kinds_of_path(path: bytes) -> tuple[bool, bool, bool]:
    """Whether the file is a test, whether a program wrote it, and whether it is somebody else's."""
    place = path.rfind(b"/") + 1
    is_in_tests, is_others = _of_folder(path[:place])
    _, is_test, is_made = _of_name(path[place:])
    return is_in_tests or is_test, is_made, is_others


@functools.lru_cache(maxsize=8192)
def _of_folder(folder: bytes) -> tuple[bool, bool]:
    """What the folder, which ends in a slash, says of each file in it: whether it is a test, and whether it is somebody else's."""
    return is_test_path(folder), is_vendored(folder)


@functools.lru_cache(maxsize=16384)
def _of_name(name: bytes) -> tuple[str, bool, bool]:
    """What the name alone says: the language, whether it is a test, and whether a program wrote it."""
    return language_of(name), is_test_path(name), is_generated(name)
