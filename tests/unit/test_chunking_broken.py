"""Broken code keeps its sound units: each sample is damaged in one function after the other, and the rest is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.chunking import chunk_file
from mgrep_tui.chunking.islands import without_conflicts
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

FOLDER = Path(__file__).parent.parent / "chunking_golden"
NO_CODE = {
    "ocaml_interface",
    "json",
    "yaml",
    "toml",
    "notebook",
    "markdown",
    "rst",
    "html",
    "css",
    "scss",
    "vue",
    "svelte",
    "sql",
    "dockerfile",
    "make",
    "hcl",
    "proto",
}
LANGUAGES = sorted({path.stem for path in FOLDER.glob("*.sample")} - NO_CODE)
CLOSERS = (b"}", b"end", b"};", b"},")

# The least share of the other definitions that must be found, with their containers. A missing closer is also closed by the next one in
# languages where all functions look alike, and a string that ends at the next quote can make sound code of another meaning.
LEAST = {"both sides": 0.93, "one line": 0.79, "closer": 0.66, "half typed": 0.93, "string": 0.6}


def symbols_of(lines: list[bytes], language: str) -> tuple[Symbol, ...]:
    return chunk_file(b"file", b"\n".join(lines), language, ChunkingSettings()).symbols


def damaged(lines: list[bytes], unit: Symbol, damage: str) -> list[bytes] | None:
    first, last = unit.first_line, unit.last_line
    below = lines[first + 1]
    edge = below[: len(below) - len(below.lstrip())]
    middle = (first + last + 1) // 2
    if damage == "both sides":
        sides = [b"<<<<<<< HEAD", *lines[first : last + 1], b"=======", *lines[first : last + 1], b">>>>>>> other"]
        return lines[:first] + sides + lines[last + 1 :]
    if damage == "one line":
        sides = [b"<<<<<<< HEAD", lines[middle], b"=======", lines[middle], b">>>>>>> other"]
        return lines[:middle] + sides + lines[middle + 1 :]
    if damage == "closer":
        return lines[:last] + lines[last + 1 :] if lines[last].strip() in CLOSERS else None
    typed = b"result = compute(value, " if damage == "half typed" else b'text = "it was never closed'
    return [*lines[: first + 1], edge + typed, *lines[first + 1 :]]


@pytest.mark.parametrize("damage", sorted(LEAST))
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sound_part_of_broken_code_keeps_its_units(language: str, damage: str) -> None:
    """N5"""
    lines = (FOLDER / f"{language}.sample").read_bytes().split(b"\n")
    sound = symbols_of(lines, language)
    functions = [item for item in sound if item.kind in ("function", "method") and item.last_line - item.first_line > 1]
    wanted = kept = 0
    for unit in functions:
        broken = damaged(lines, unit, damage)
        if broken is None:
            continue
        found = {(item.name, item.container) for item in symbols_of(broken, language)}
        others = [item for item in sound if item.last_line < unit.first_line or item.first_line > unit.last_line]
        wanted += len(others)
        kept += sum((item.name, item.container) in found for item in others)
    assert kept >= LEAST[damage] * wanted


def test_rust_functions_behind_a_conflict_are_found() -> None:
    """N5"""
    text = (
        "impl Shop {\n    fn open(&self) -> u8 {\n        1\n    }\n\n<<<<<<< HEAD\n    fn mine(&self) -> u8 {\n        2\n    }\n=======\n"
        "    fn theirs(&self) -> u8 {\n        3\n    }\n>>>>>>> other\n\n    fn close(&self) -> u8 {\n        4\n    }\n}\n\n"
        "fn after() -> u8 {\n    5\n}\n"
    )
    found = {(item.container, item.name) for item in symbols_of(text.encode().split(b"\n"), "rust")}
    assert {("Shop", "open"), ("Shop", "mine"), ("Shop", "theirs"), ("Shop", "close"), ("", "after")} <= found


def test_lines_of_definitions_in_damaged_code_are_the_files() -> None:
    """N5"""
    text = "class Shop {\n  void open() {\n    if (a) {\n  }\n\n  /* Shuts. */\n  void close() {\n    b();\n  }\n}\n"
    found = {item.name: (item.first_line, item.last_line) for item in symbols_of(text.encode().split(b"\n"), "java")}
    assert found["close"] == (6, 8)
    assert found["Shop"][0] == 0


def test_a_namespace_whose_inside_is_not_indented_holds_what_follows_a_fault() -> None:
    """N5"""
    text = (
        "namespace shop {\n\nint open(int a) {\n  if (a) {\n  return 1;\n\nint close(int a) {\n  return 2;\n}\n\n}\n\n"
        "int after() {\n  return 3;\n}\n"
    )
    found = {(item.container, item.name) for item in symbols_of(text.encode().split(b"\n"), "cpp")}
    assert {("shop", "close"), ("", "after")} <= found


def test_only_whole_sets_of_markers_are_a_conflict() -> None:
    heading = b"Title\n=======\ntext\n"
    assert without_conflicts(heading) == heading
    conflict = b"<<<<<<< HEAD\na\n||||||| base\nb\n=======\nc\n>>>>>>> other\n"
    assert without_conflicts(conflict).split() == [b"a", b"b", b"c"]
    assert len(without_conflicts(conflict)) == len(conflict)
