"""What must hold between the answers of related patterns, on the project's own sources, indexed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.regex_patterns import all_patterns
from tests.support.regex_ways import ask, snapshot_of, write_tree

PROJECT = Path(__file__).parents[2]
PATTERNS = [pattern for pattern in all_patterns()[::3] if "(?" not in pattern]

Places = set[tuple[str, int]]
Find = Callable[..., Places]


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Find:
    folder = tmp_path_factory.mktemp("metamorphic")
    sources = sorted(PROJECT.glob("mgrep_tui/*/*.py"))[::2]
    files: dict[str | bytes, bytes | str] = {str(path.relative_to(PROJECT)): path.read_bytes() for path in sources}
    root = write_tree(folder / "tree", files)
    snapshot = snapshot_of(root, folder / "index", "indexed")
    return lambda pattern, **options: set(ask(root, pattern, snapshot, is_exhaustive=True, **options).lines)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_case_insensitive_finds_no_less(find: Find, pattern: str) -> None:
    assert find(pattern, case="yes") <= find(f"(?i){pattern}", case="yes") == find(pattern, case="no")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_group_changes_nothing(find: Find, pattern: str) -> None:
    assert find(f"({pattern})") == find(pattern) == find(f"(?:{pattern})")


@pytest.mark.parametrize(("pattern", "other"), list(itertools.pairwise(PATTERNS)))
def test_alternatives_find_what_each_finds(find: Find, pattern: str, other: str) -> None:
    assert find(f"{pattern}|{other}", case="yes") == find(pattern, case="yes") | find(other, case="yes")


@pytest.mark.parametrize(
    "text", ["self.", "def _", "(", "->", "[0]", "a.b", "return None", "\\n", "é", '"""', "* ", "import os"]
)
def test_literal_is_the_escaped_pattern(find: Find, text: str) -> None:
    assert find(text, is_literal=True) == find(re.escape(text))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_whole_words_find_no_more(find: Find, pattern: str) -> None:
    assert find(pattern, is_word=True) <= find(pattern)
