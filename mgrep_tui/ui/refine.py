"""Refinements of a query's text: filters added, exchanged and taken away. Pure; the query language is DESIGN's."""

from __future__ import annotations

import re

from mgrep_tui.explorer.protocol import Chip
from mgrep_tui.model import Hit

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
FILTER_NAMES = ("lang:", "path:", "repo:", "sym:", "class:", "kind:", "is:", "case:")
_COMPLETED = re.compile(r"-?(?:lang|path|file|repo|sym|class|kind|is|case):", re.IGNORECASE)


def quoted(value: str) -> str:
    """A filter's value as it is written: in quotes when it has spaces or parentheses."""
    return f'"{value}"' if re.search(r"[\s()]", value) else value


def folder_of(path: bytes) -> str:
    """The folder of a file, empty for one at the root; undecodable bytes as `?`, which the glob reads as any character."""
    folder, _, _ = path.rpartition(b"/")
    return folder.decode("utf-8", "replace").replace("\ufffd", "?")


def with_filter(text: str, name: str, value: str, chips: tuple[Chip, ...], *, is_not: bool = False) -> str:
    """`text` with `name:value` added. A filter of the same name is exchanged, unless either of the two excludes."""
    added = f"{'-' if is_not else ''}{name}:{quoted(value)}"
    if added in (text[chip.start : chip.end] for chip in chips):
        return text
    if not is_not:
        for chip in reversed(chips):
            if text[chip.start : chip.end].lower().startswith(name + ":"):
                text = without(text, chip)
    return f"{text.rstrip()} {added}".lstrip()


def without(text: str, chip: Chip) -> str:
    """`text` without a filter."""
    return " ".join(part for part in (text[: chip.start].rstrip(), text[chip.end :].lstrip()) if part)


def in_folder(text: str, hit: Hit, chips: tuple[Chip, ...]) -> str:
    """Only the hit's folder, and what is under it. At the root only the files at the root can be meant, so nothing changes."""
    folder = folder_of(hit.path)
    return with_filter(text, "path", f"{folder}/**", chips) if folder else text


def not_folder(text: str, hit: Hit, chips: tuple[Chip, ...]) -> str:
    folder = folder_of(hit.path)
    return with_filter(text, "path", f"{folder}/**", chips, is_not=True) if folder else text


def in_repository(text: str, label: str, chips: tuple[Chip, ...]) -> str:
    return with_filter(text, "repo", label, chips) if label else text


def in_language(text: str, hit: Hit, language: str, chips: tuple[Chip, ...]) -> str:
    language = hit.language or language
    return with_filter(text, "lang", language, chips) if language else text


def in_symbol(text: str, symbol: str, chips: tuple[Chip, ...]) -> str:
    return with_filter(text, "sym", symbol, chips) if symbol else text


TESTS = ("-is:test", "is:test")


def next_tests(text: str, chips: tuple[Chip, ...]) -> str:
    """With tests and all, without tests, tests only: the query of the next of these."""
    for chip in chips:
        found = text[chip.start : chip.end].lower()
        if found in TESTS:
            rest = without(text, chip)
            return f"{rest} {TESTS[1]}".lstrip() if found == TESTS[0] else rest
    return f"{text.rstrip()} {TESTS[0]}".lstrip()


def word_of(hit: Hit) -> str:
    """The word that is lit first in the hit's line, whole; else its symbol; else the line's longest word."""
    if hit.spans:
        at = hit.spans[0]
        for found in _WORD.finditer(hit.text):
            if found.start() < max(at.end, at.start + 1) and found.end() > at.start:
                return found.group()
    if hit.symbol:
        return hit.symbol
    return max(_WORD.findall(hit.text), key=len, default="")


def only_filters(text: str, chips: tuple[Chip, ...]) -> str:
    """The filters of a query without its words."""
    return " ".join(text[chip.start : chip.end] for chip in chips)


def half_typed_filter(text: str, cursor: int) -> tuple[int, int] | None:
    """Where the filter is that the cursor stands in or right behind, when it can be completed."""
    for found in _TOKEN.finditer(text):
        if found.start() < cursor <= found.end() and _COMPLETED.match(found.group()):
            return found.start(), found.end()
    return None
