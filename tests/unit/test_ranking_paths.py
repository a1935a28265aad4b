"""What a path says: always by segment, never by substring."""

from __future__ import annotations

import pytest

from mgrep_tui.retrieval import paths


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("tests/a.py", "test"),
        ("src/__tests__/a.ts", "test"),
        ("pkg/tree_test.go", "test"),
        ("src/FooTest.java", "test"),
        ("a/b.spec.ts", "test"),
        ("conftest.py", "test"),
        ("examples/a.rs", "example"),
        ("benches/a.rs", "bench"),
        ("src/compat/a.c", "old"),
        ("vendor/x/a.go", "vendor"),
        ("docs/a.py", "docs"),
        ("README.md", "docs"),
        ("LICENSE", "docs"),
        ("scripts/a.sh", "build"),
        ("go.sum", "config"),
        ("pkg/__init__.py", "entry"),
        ("src/a.d.ts", "types"),
        ("include/a.h", "header"),
    ],
)
def test_roles(path: str, role: str) -> None:
    assert role in paths.facts(path).roles


@pytest.mark.parametrize(
    "path", ["latest_news.py", "src/contest.py", "src/testify.go", "exampled/a.py", "src/protest/a.rb", "src/main.c"]
)
def test_a_substring_gives_no_role(path: str) -> None:
    assert not paths.facts(path).roles


def test_a_hollow_stem_takes_the_name_of_its_folder() -> None:
    assert paths.facts("src/scheduler/mod.rs").stem_words == ("schedul",)
    assert paths.facts("src/mod.rs").stem == "mod"


def test_an_old_major_version_beside_a_newer_one_is_old() -> None:
    every = ["src/v3/a.ts", "src/v4/a.ts", "lib/v1/x.py", "v2.py"]
    assert paths.old_versions(every) == {"src/v3/a.ts"}


def test_a_version_folder_can_be_taken_out_of_a_path() -> None:
    assert paths.without_version("pydantic/v1/fields.py") == "pydantic/fields.py"
    assert paths.without_version("pydantic/fields.py") is None


def test_platforms_of_folders_and_stems() -> None:
    assert paths.facts("src/win/core.c").platforms == {"windows"}
    assert paths.facts("src/unix/linux.c").platforms == {"posix", "linux"}
    assert paths.facts("lib/jvmMain/a.kt").platforms == {"jvm"}
    assert paths.facts("src/window.c").platforms == frozenset()
