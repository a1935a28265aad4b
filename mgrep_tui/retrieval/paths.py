"""What a path says about a file: its words, and whether it is a test, an example, documentation, an old version, of one platform.

Always by path segment, never by substring: `tests/` is a test folder, `latest_news.py` is not a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from mgrep_tui.retrieval import words
from mgrep_tui.retrieval.question import platforms_of

_TEST_FOLDERS = {
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "testing",
    "testdata",
    "test-data",
    "test_data",
    "fixtures",
    "fixture",
}
_TEST_FOLDERS |= {
    "mocks",
    "__mocks__",
    "e2e",
    "unittest",
    "unittests",
    "unit-tests",
    "integration-tests",
    "testsuite",
    "testutil",
}
_TEST_FOLDERS |= {
    "__snapshots__",
    "snapshots",
    "testfixtures",
    "androidtest",
    "jvmtest",
    "commontest",
    "jstest",
    "nativetest",
    "concurrenttest",
}
_TEST_STEM = re.compile(
    r"(?:^|[._-])(?:test|tests|spec|specs)(?:[._-]|$)|[a-z0-9](?:Test|Tests|Spec|Specs|TestCase|IT)$|^conftest$|^Test[A-Z]"
)
_EXAMPLE_FOLDERS = {
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "tutorial",
    "tutorials",
    "docs_src",
    "playground",
    "cookbook",
}
_BENCH_FOLDERS = {"bench", "benches", "benchmark", "benchmarks", "perf", "stress", "fuzz", "fuzzing", "fuzzers"}
_OLD_FOLDERS = {
    "compat",
    "legacy",
    "deprecated",
    "old",
    "polyfill",
    "polyfills",
    "shim",
    "shims",
    "_compat",
    "obsolete",
    "attic",
}
_OLD_STEMS = {"compat", "legacy", "deprecated", "polyfill", "polyfills", "shim", "_compat", "_deprecated"}
_VENDOR_FOLDERS = {
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "external",
    "extern",
    "_vendor",
}
_DOC_FOLDERS = {"doc", "docs", "documentation", "website", "site", "man", "manual"}
_DOC_ENDINGS = {"md", "rst", "txt", "adoc", "mdx", "html", "htm", "css", "svg", "tex", "org", "markdown", "1", "3"}
_BUILD_FOLDERS = {
    "script",
    "scripts",
    "ci",
    ".github",
    ".ci",
    "cmake",
    "packaging",
    "m4",
    "tools",
    "tool",
    "hack",
    "release",
    "contrib",
}
_CONFIG_ENDINGS = {
    "json",
    "yml",
    "yaml",
    "toml",
    "ini",
    "cfg",
    "lock",
    "xml",
    "gradle",
    "cmake",
    "am",
    "ac",
    "mk",
    "in",
    "sum",
    "properties",
    "cabal",
}
_ENTRY_STEMS = {"__init__", "package-info", "module-info", "prelude", "umbrella", "all", "exports"}
_TYPE_ENDINGS = {"pyi", "d.ts", "d.mts", "d.cts"}
_HEADER_ENDINGS = {"h", "hh", "hpp", "hxx", "hrl", "mli"}
# A stem of no meaning of its own: the folder names the file.
_HOLLOW_STEMS = {"index", "mod", "main", "__init__", "lib", "init", "default", "package"}
# Where a project keeps what it is about, as a folder or as a file's stem.
_CORE = {"core", "_core", "src", "lib"}
_PLAIN_VERSION = re.compile(r"^v?(\d{1,3})(?:\.\d+)*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What one path says. Word tuples are stems; `roles` is a subset of test, example, bench, old, vendor, docs, build, config, entry,
    types, header; `version` is `(folder before it, number)` of the last version segment, as of `src/v3/core.ts`; `is_core` says that a
    folder or the stem is core, src or lib."""

    stem: str
    stem_words: tuple[str, ...]
    folder_words: tuple[str, ...]
    parent_words: tuple[str, ...]
    roles: frozenset[str]
    platforms: frozenset[str]
    version: tuple[str, int] | None
    depth: int
    is_core: bool


@lru_cache(maxsize=200_000)
def facts(path: str) -> PathFacts:
    """Read one path (with `/` between the parts)."""
    folders = path.split("/")
    name = folders.pop()
    stem, _, ending = name.partition(".") if not name.startswith(".") else (name, "", "")
    lower = [folder.lower() for folder in folders]
    own = tuple(dict.fromkeys(words.stems(stem)))
    parents = [folder for folder in folders[-1:] if folder]
    if stem.lower() in _HOLLOW_STEMS and folders:
        own = tuple(dict.fromkeys(words.stems(folders[-1])))
        parents = folders[-2:-1]
    return PathFacts(
        stem=stem,
        stem_words=own,
        folder_words=tuple(dict.fromkeys(words.stems(" ".join(folders)))),
        parent_words=tuple(dict.fromkeys(words.stems(" ".join(parents)))),
        roles=frozenset(_roles(lower, name, stem, ending.lower())),
        platforms=platforms_of(
            {part for folder in [*lower, stem.lower()] for part in re.split(r"[-_.]", folder)} | _main_words(folders)
        ),
        version=_version_of(folders),
        depth=len(folders),
        is_core=not _CORE.isdisjoint((*lower, stem.lower())),
    )


def _roles(folders: list[str], name: str, stem: str, ending: str) -> set[str]:
    roles = set()
    here = set(folders)
    last = ending.rpartition(".")[2]
    whole_stem = name[: -len(last) - 1] if last else name
    for role, group in (
        ("test", _TEST_FOLDERS),
        ("example", _EXAMPLE_FOLDERS),
        ("bench", _BENCH_FOLDERS),
        ("old", _OLD_FOLDERS),
        ("vendor", _VENDOR_FOLDERS),
        ("docs", _DOC_FOLDERS),
        ("build", _BUILD_FOLDERS),
    ):
        if here & group:
            roles.add(role)
    if _TEST_STEM.search(whole_stem):
        roles.add("test")
    if stem.lower() in _OLD_STEMS:
        roles.add("old")
    if last in _DOC_ENDINGS or (not ending and stem.isupper() and len(stem) > 3):
        roles.add("docs")
    if last in _CONFIG_ENDINGS or name.startswith("."):
        roles.add("config")
    if stem in _ENTRY_STEMS:
        roles.add("entry")
    if ending in _TYPE_ENDINGS or any(ending.endswith("." + kind) for kind in _TYPE_ENDINGS):
        roles.add("types")
    if last in _HEADER_ENDINGS:
        roles.add("header")
    return roles


def _main_words(folders: list[str]) -> set[str]:
    """`jvmMain`, `nativeMain`: the source sets of Kotlin Multiplatform."""
    return {folder[:-4].lower() for folder in folders if folder.endswith("Main")}


def _version_of(folders: list[str]) -> tuple[str, int] | None:
    for place in range(len(folders) - 1, -1, -1):
        found = _PLAIN_VERSION.match(folders[place])
        if found:
            return "/".join(folders[:place]), int(found.group(1))
    return None


def without_version(path: str) -> str | None:
    """The path without its last version folder: `v1/fields.py` → `fields.py`; None when it has none."""
    folders = path.split("/")
    for place in range(len(folders) - 2, -1, -1):
        if _PLAIN_VERSION.match(folders[place]):
            return "/".join(folders[:place] + folders[place + 1 :])
    return None


def old_versions(paths: list[str]) -> frozenset[str]:
    """Those of `paths` that lie in a version folder which has a newer sister among `paths`: `v3/x.ts` beside `v4/`."""
    newest: dict[str, int] = {}
    for path in paths:
        version = facts(path).version
        if version is not None:
            newest[version[0]] = max(newest.get(version[0], 0), version[1])
    old = set()
    for path in paths:
        version = facts(path).version
        if version is not None and version[1] < newest[version[0]]:
            old.add(path)
    return frozenset(old)
