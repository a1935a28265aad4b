"""What a path alone tells of a file, where the index was not asked."""

from __future__ import annotations

from collections.abc import Callable

from mgrep_tui.search.filters import FileFacts
from mgrep_tui.text.languages import is_generated, is_test_path, is_vendored, language_of

FactsOf = Callable[[bytes], FileFacts]
"""From a path relative to the root. Called once a file that has hits or that a filter asks for, from the search's threads."""


def facts_of_path(path: bytes) -> FileFacts:
    """Language and kind of file by its name; nothing of git."""
    return FileFacts(
        path,
        language_of(path),
        is_test=is_test_path(path),
        is_generated=is_generated(path),
        is_vendored=is_vendored(path),
    )
