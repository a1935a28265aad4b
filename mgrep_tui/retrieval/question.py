"""What a question asks for: its words, the names in it, and its wishes (tests, examples, a platform, a version).

A question is *symbol-like* when it is nothing but a name: qualified (`a::b`, `a.b`, `a->b`), with an inner capital or an underscore, or one
capitalised word. Names inside a sentence count too, at half strength.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mgrep_tui.retrieval import words
from mgrep_tui.retrieval.deeds import is_deed

_QUALIFIER = re.compile(r"::|->|\.|#|/")
_NAME = r"[^\W\d][\w$]*"
_SYMBOL_QUERY = re.compile(rf"[.@&*~]?{_NAME}(?:(?:::|->|\.|#){_NAME})*(?:\(\))?[!?]?", re.UNICODE)
_NAME_IN_SENTENCE = re.compile(rf"(?<![\w]){_NAME}(?:(?:::|->|\.|#){_NAME})*", re.UNICODE)
_INNER = re.compile(r"[^\W_]_[^\W]|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|^_", re.UNICODE)
_VERSION = re.compile(r"\bv(\d+)\b", re.IGNORECASE)

_WISHES = {
    "test": {
        "test",
        "tests",
        "testing",
        "tested",
        "spec",
        "specs",
        "fixture",
        "fixtures",
        "mock",
        "mocks",
        "benchmark",
        "benchmarks",
    },
    "example": {"example", "examples", "sample", "samples", "demo", "demos", "tutorial", "snippet", "usage"},
    "docs": {"documentation", "docs", "readme", "changelog", "guide", "license", "contributing"},
    "old": {
        "legacy",
        "compat",
        "compatibility",
        "deprecated",
        "old",
        "backward",
        "backwards",
        "polyfill",
        "shim",
        "migration",
    },
    "types": {"header", "headers", "declaration", "declarations", "typings", "stub", "stubs"},
    "build": {
        "build",
        "ci",
        "workflow",
        "script",
        "scripts",
        "cmake",
        "makefile",
        "packaging",
        "release",
        "tooling",
        "generator",
    },
}

# What names a platform, in a question or in a path. The kernel interfaces stand for the systems that have them.
PLATFORM_WORDS = {
    "windows": {"win", "windows", "win32", "win64", "winapi", "iocp", "winsock", "msvc", "mingw", "overlapped"},
    "linux": {"linux", "inotify", "epoll", "procfs", "cgroup", "iouring", "io_uring"},
    "apple": {"darwin", "macos", "mac", "osx", "fsevents", "cocoa", "ios", "apple"},
    "bsd": {"bsd", "freebsd", "openbsd", "netbsd", "dragonfly", "kqueue"},
    "solaris": {"sunos", "solaris", "illumos"},
    "aix": {"aix", "os390", "ibmi", "zos", "os400"},
    "posix": {"unix", "posix", "pthread", "pthreads"},
    "android": {"android"},
    "wasm": {"wasm", "wasi", "emscripten"},
    "js": {"js", "javascript", "browser", "nodejs"},
    "jvm": {"jvm", "java"},
    "native": {"native"},
}
_PLATFORM_OF = {word: platform for platform, group in PLATFORM_WORDS.items() for word in group}


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `stems` are distinct, in order; `names` are as typed, without their qualifiers.

    `qualifiers` are the words before the last name of a qualified one (`Outer` of `Outer::inner`); `wishes` is a subset of test, example,
    docs, old, types, build; `platforms` are keys of `PLATFORM_WORDS`; `versions` are major numbers.
    """

    text: str
    stems: tuple[str, ...]
    names: tuple[str, ...]
    qualifiers: tuple[str, ...]
    is_symbol_like: bool
    is_deed: bool
    wishes: frozenset[str]
    platforms: frozenset[str]
    versions: frozenset[int]

    @property
    def kind(self) -> str:
        """symbol (a lone name), deed (what one function does) or sentence: each has its own weights."""
        return "symbol" if self.is_symbol_like else "deed" if self.is_deed else "sentence"


MOST_CHARS = 4_000
"""About 600 words. Everything that is made of a question is made for each of its words: a hundred thousand took a minute."""


def read(text: str) -> Question:
    """Take a question apart; of a text that somebody pasted, the beginning. Never raises."""
    text = text.strip()
    if len(text) > MOST_CHARS:
        text = text[:MOST_CHARS].rpartition(" ")[0].rstrip() or text[:MOST_CHARS]
    is_symbol = is_symbol_like(text)
    names, qualifiers = _names_of(text, is_symbol)
    plain = {word.lower() for word in re.findall(r"\w+", text)}
    return Question(
        text=text,
        stems=tuple(words.question_stems(text)),
        names=names,
        qualifiers=qualifiers,
        is_symbol_like=is_symbol,
        is_deed=not is_symbol and is_deed(text),
        wishes=frozenset(wish for wish, group in _WISHES.items() if plain & group),
        platforms=platforms_of(plain),
        versions=frozenset(int(number) for number in _VERSION.findall(text)),
    )


def is_symbol_like(text: str) -> bool:
    """Whether the whole text is one name that looks like code."""
    if not _SYMBOL_QUERY.fullmatch(text):
        return False
    bare = text.strip(".@&*~()!?")
    return bool(_QUALIFIER.search(bare) or _INNER.search(bare) or bare[:1].isupper())


def platforms_of(plain_words: set[str]) -> frozenset[str]:
    """The platforms that lower-case words name."""
    return frozenset(_PLATFORM_OF[word] for word in plain_words if word in _PLATFORM_OF)


def _names_of(text: str, is_symbol: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: dict[str, None] = {}
    qualifiers: dict[str, None] = {}
    if re.fullmatch(_NAME, text):
        return (text,), ()
    for match in _NAME_IN_SENTENCE.finditer(text):
        parts = _QUALIFIER.split(match.group())
        last = parts[-1]
        is_first = match.start() == 0
        is_name = is_symbol or len(parts) > 1 or bool(_INNER.search(last)) or (last[:1].isupper() and not is_first)
        if is_name and len(last) > 1 and last.lower() not in words.STOP_WORDS:
            names[last] = None
            qualifiers.update(dict.fromkeys(parts[:-1]))
        elif is_name and is_symbol:
            names[last] = None
    return tuple(names), tuple(qualifiers)
