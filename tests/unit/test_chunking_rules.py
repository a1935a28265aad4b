"""What a chunk holds: whole units, what leads them, outlines, parts, merged neighbours, and what happens to files that are no good."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from mgrep_tui.chunking import FileChunks, chunk_file, text_of
from mgrep_tui.chunking.nesting import is_too_deep
from mgrep_tui.chunking.rules import rules_for
from mgrep_tui.model import Chunk
from mgrep_tui.settings.config import ChunkingSettings

SETTINGS = ChunkingSettings()
SMALL = replace(SETTINGS, target_tokens=40)


def chunked(text: str | bytes, language: str = "python", settings: ChunkingSettings = SMALL) -> FileChunks:
    return chunk_file(b"file", text.encode() if isinstance(text, str) else text, language, settings)


def of_symbol(result: FileChunks, name: str) -> Chunk:
    return next(chunk for chunk in result.chunks if name in chunk.symbol.split(", "))


def function(name: str, lines: int = 8) -> str:
    return (
        f"def {name}(value):\n"
        + "".join(f"    value = value + some_other_value_{i}\n" for i in range(lines))
        + "    return value\n"
    )


def test_comments_and_decorators_stay_with_their_function() -> None:
    text = (
        function("before") + "\nCOUNT = 1\n\n# Why it is cached.\n@cache\n@retry(\n    3)\nasync " + function("after")
    )
    chunk = of_symbol(chunked(text), "after")
    assert chunk.text.startswith("# Why it is cached.\n@cache")
    assert chunk.text.endswith("return value")


def test_comments_are_code_of_their_own_when_switched_off() -> None:
    text = function("before") + "\n" + "# A remark of some length, as they are.\n" * 3 + function("after")
    settings = replace(SMALL, include_comments=False)
    assert of_symbol(chunked(text, settings=settings), "after").text.startswith("def after")


def test_a_licence_set_apart_is_no_part_of_the_first_function() -> None:
    text = (
        "# Copyright of all of it by its owners and by nobody else.\n# All rights.\n\n# What it does.\n"
        + function("first")
        + "\n"
        + function("second")
    )
    result = chunked(text)
    assert of_symbol(result, "first").text.startswith("# What it does.")


def test_imports_form_a_chunk() -> None:
    text = (
        '"""Words."""\n\nimport os\nimport sys\n\n# for the rest\nfrom json import (\n    dumps,\n    loads,\n)\n\nLIMIT = 10\n\n'
        + function("work")
    )
    result = chunked(text)
    chunk = next(chunk for chunk in result.chunks if "import os" in chunk.text)
    assert chunk.kind == "code" and "loads" in chunk.text and "LIMIT" not in chunk.text


def test_a_small_class_is_one_chunk() -> None:
    text = (
        "class Small:\n"
        + "".join(f"    def method_{i}(self):\n        return {i}\n\n" for i in range(9))
        + "\n"
        + function("other", 40)
    )
    chunk = of_symbol(chunked(text, settings=SETTINGS), "Small")
    assert chunk.kind == "class" and "method_0" in chunk.text and "method_8" in chunk.text


def test_a_class_of_ten_methods_is_an_outline_and_its_methods() -> None:
    body = "".join(
        f"    @property\n    def method_{i}(self, value: int) -> int:\n        total = value + {i}\n        other = total * total + value\n"
        f"        third = other + total + value + {i}\n        return third\n\n"
        for i in range(10)
    )
    result = chunked('class Large(Base):\n    """What it is for."""\n\n    limit = 10\n\n' + body)
    outline = result.chunks[0]
    assert (outline.kind, outline.symbol) == ("outline", "Large")
    assert "limit = 10" in outline.text
    assert all(f"def method_{i}(self, value: int) -> int" in outline.text for i in range(10))
    assert "third = other" not in outline.text
    method = of_symbol(result, "method_7")
    assert (method.kind, method.container) == ("method", "Large")
    assert method.text.lstrip().startswith("@property")


def test_the_stretch_between_two_methods_belongs_to_the_next() -> None:
    methods = [
        f"    int method{i}() {{\n        int first = {i} + other;\n"
        f"        int second = first * first;\n        return first + second;\n    }}\n"
        for i in range(12)
    ]
    text = (
        "class Large {\n"
        + methods[0]
        + "\n    // Counts.\n    private int count = 0;\n\n"
        + "".join(methods[1:])
        + "}\n"
    )
    chunk = next(
        chunk for chunk in chunked(text, "java").chunks if "private int count" in chunk.text and chunk.kind != "outline"
    )
    assert "method1" in chunk.symbol and "method0" not in chunk.symbol


def test_a_function_of_300_lines_is_split_with_overlap_and_part_numbers() -> None:
    text = "def long(value):\n" + "".join(
        f"    if value == {i}:\n        value = value + {i}\n        continue_with(value)\n" for i in range(100)
    )
    parts = [chunk for chunk in chunked(text, settings=SETTINGS).chunks if chunk.symbol == "long"]
    assert len(parts) > 1
    assert [(chunk.part, chunk.parts) for chunk in parts] == [(i + 1, len(parts)) for i in range(len(parts))]
    for before, after in pairwise(parts):
        assert before.last_line - after.first_line + 1 == SETTINGS.overlap_lines
        # The seam lies before a statement of the function, not inside of one.
        seam = text.split("\n")[before.last_line + 1]
        assert seam.startswith("    if ")


def test_inner_functions_of_a_long_function_are_chunks() -> None:
    inner = "".join(
        f"  function inner{i}(value) {{\n"
        + "".join(f"    value = value + other{j} * {i};\n" for j in range(20))
        + "    return value;\n  }\n\n"
        for i in range(12)
    )
    result = chunked(f"function outer() {{\n  let state = 1;\n\n{inner}  return state;\n}}\n", "javascript", SETTINGS)
    assert [chunk.container for chunk in result.chunks if chunk.symbol == "inner5"] == ["outer"]


def test_small_neighbours_merge_up_to_the_target() -> None:
    text = "".join(f"def tiny_{i}():\n    return {i}\n\n\n" for i in range(80))
    result = chunked(text, settings=SETTINGS)
    assert 1 < len(result.chunks) < 20
    assert result.chunks[0].symbol.startswith("tiny_0, tiny_1")
    assert len(result.symbols) == 80


def test_constants_inside_functions_are_no_symbols() -> None:
    result = chunked("const outer = 1;\nfunction work() {\n  const inner = 2;\n  return inner;\n}\n", "javascript")
    assert {symbol.name for symbol in result.symbols} == {"outer", "work"}


def test_lines_of_a_file_with_other_line_ends_are_right() -> None:
    unix = "import os\n\n\n" + function("first") + "\n\n" + function("second")
    expected = chunked(unix)
    windows = chunked(unix.replace("\n", "\r\n"))
    assert windows == expected
    assert not any("\r" in chunk.text for chunk in windows.chunks)


def test_a_file_without_a_final_line_end_keeps_its_last_line() -> None:
    assert chunked(function("first") + "\nlast = 1").chunks[-1].text.endswith("last = 1")


def test_a_nul_byte_does_not_hide_what_follows() -> None:
    result = chunked(b"function a() {}\nvar x = '\x00';\nfunction b() { return 1; }\n", "javascript")
    assert {"a", "b"} <= {symbol.name for symbol in result.symbols}


def test_bytes_that_are_not_utf8_are_read_as_latin_1() -> None:
    result = chunked(b'class A {\n  String s = "\xe4\xf6";\n  int pat() { return 1; }\n}\n', "java")
    assert {symbol.name for symbol in result.symbols} >= {"A", "pat"}
    assert "äö" in result.chunks[0].text


def test_form_feeds_and_other_separators_end_no_line() -> None:
    result = chunked("def a():\n    x = '\x0c\x1c\u2028'\n    return x\n\n\ndef b():\n    return 1\n")
    assert [(symbol.name, symbol.first_line) for symbol in result.symbols] == [("a", 0), ("b", 5)]


def test_5000_open_brackets_are_cut_by_lines_and_counted() -> None:
    """N1"""
    for text in ("[" * 5_000 + "]" * 5_000, "\n".join(["["] * 5_000 + ["]"] * 5_000)):
        for language in ("javascript", "python", "rust", "go"):
            result = chunked(text, language)
            assert result.grammar == "" and result.fallback
            assert result.chunks


def test_5000_open_brackets_of_json_do_not_recurse() -> None:
    """N1"""
    for text in ("[" * 5_000 + "]" * 5_000, "\n".join(["["] * 5_000 + ["]"] * 5_000)):
        result = chunked(text, "json")
        assert (result.grammar, result.fallback) == ("", "nested too deep")
        assert result.chunks


def test_interfaces_of_ocaml_are_read_with_their_own_grammar() -> None:
    result = chunk_file(b"src/shop.mli", b"val find : string -> int option\n", "ocaml", SETTINGS)
    assert (result.grammar, [symbol.name for symbol in result.symbols]) == ("ocaml_interface", ["find"])
    assert result.chunks[0].language == "ocaml"
    assert chunk_file(b"src/shop.ml", b"let find x = x\n", "ocaml", SETTINGS).grammar == "ocaml"


def test_a_file_without_a_parser_for_its_language_is_no_fallback() -> None:
    result = chunked("lorem ipsum " * 10_000, "text")
    assert (result.grammar, result.fallback) == ("", "")


@pytest.mark.parametrize(("language", "line"), [("typescript", "let x: {} = 1;"), ("rust", "type X = {};")])
def test_500_nested_type_arguments_are_not_parsed(language: str, line: str) -> None:
    """N1"""
    deep = "A<" * 500 + "B" + ">" * 500
    result = chunked(f"{line.format(deep)}\n" + "// more\n" * 100, language)
    assert result.fallback == "nested too deep"


def test_brackets_in_moderation_are_not_too_deep() -> None:
    assert not is_too_deep(b"f(a[1], {2: (3,)})\n" * 5_000)
    assert not is_too_deep(b"if a < b and c < d:\n    x <<= 1\n" * 1_000)
    assert is_too_deep(b")" * 5_000 + b"(" * 5_000)


def test_conflict_markers_in_a_class_leave_the_sound_methods() -> None:
    """N5"""
    text = (
        "class Shop:\n    def open(self):\n        return 1\n\n<<<<<<< HEAD\n    def mine(self):\n        return 2\n=======\n"
        "    def theirs(self):\n        return 3\n>>>>>>> other\n\n    def close(self):\n        return 4\n\n\ndef after():\n    return 5\n"
    )
    names = {symbol.name for symbol in chunked(text).symbols}
    assert {"open", "close", "after"} <= names


def test_a_half_typed_function_at_the_end_leaves_the_others() -> None:
    """N5"""
    result = chunked(function("first") + "\n\n" + function("second") + "\n\ndef f(")
    assert {"first", "second"} <= {symbol.name for symbol in result.symbols}
    assert result.chunks[-1].text.endswith("def f(")


def test_a_template_language_in_a_page_leaves_its_script() -> None:
    """N5"""
    result = chunked(
        "{% if x %}\n<p>{{ name }}\n<script>\nfunction shown() { return 1; }\n</script>\n{% endif %}\n", "html"
    )
    assert "shown" in {symbol.name for symbol in result.symbols}


def test_a_minified_file_is_not_parsed_and_its_text_is_cut() -> None:
    result = chunked("function a(){return 1};" * 20_000, "javascript")
    assert (result.fallback, result.symbols) == ("minified", ())
    assert sum(len(chunk.text) for chunk in result.chunks) < 10_000


def test_a_missing_grammar_is_a_reason_not_a_silence(tmp_path: Path) -> None:
    """N3"""
    (tmp_path / "klingon.scm").write_text(";; grammar: klingon\n(function) @function\n")
    result = chunk_file(b"a", b"one two\n", "klingon", SETTINGS, tmp_path)
    assert (result.grammar, result.fallback) == ("", "grammar missing")
    assert result.chunks


def test_a_users_query_file_adds_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "python.scm").write_text(
        ";; inherits: python\n\n((call function: (identifier) @_register\n"
        "  arguments: (argument_list . (string (string_content) @name))) @rule\n"
        '  (#eq? @_register "register"))\n'
    )
    text = 'register("north", handler)\n\n\ndef handler():\n    return 1\n'
    result = chunk_file(b"a.py", text.encode(), "python", SETTINGS, tmp_path)
    assert {symbol.name: symbol.kind for symbol in result.symbols} == {"north": "rule", "handler": "function"}
    assert {symbol.name for symbol in chunked(text).symbols} == {"handler"}


def test_a_users_query_file_for_a_new_language(tmp_path: Path) -> None:
    (tmp_path / "erlang.scm").write_text(
        ";; comments: %\n\n(fun_decl clause: (function_clause name: (atom) @name)) @function\n"
    )
    result = chunk_file(b"a.erl", b"-module(a).\n\n% Adds.\nadd(A, B) -> A + B.\n", "erlang", SETTINGS, tmp_path)
    assert [symbol.name for symbol in result.symbols] == ["add"]


def test_a_broken_users_query_file_falls_back_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "python.scm").write_text("(no_such_node) @function\n")
    result = chunk_file(b"a.py", b"def a(): pass\n", "python", SETTINGS, tmp_path)
    assert result.fallback.startswith("the query file of python does not fit its grammar")
    (tmp_path / "go.scm").write_text(";; inherits: nothing_there\n")
    assert chunk_file(b"a.go", b"package a\n", "go", SETTINGS, tmp_path).fallback.startswith("query file unusable")


def test_a_query_file_that_inherits_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.scm").write_text(";; inherits: two\n")
    (tmp_path / "two.scm").write_text(";; inherits: one\n")
    with pytest.raises(ValueError, match="inherits from itself"):
        rules_for("one", tmp_path)


def test_the_strategy_lines_parses_nothing() -> None:
    result = chunked(function("a"), settings=replace(SMALL, strategy="lines"))
    assert (result.grammar, result.fallback, result.symbols) == ("", "", ())
    assert {chunk.kind for chunk in result.chunks} == {"lines"}


def test_windows_of_lines_overlap_and_end_at_blank_lines() -> None:
    text = "".join(f"word number {i} of this long text\n" + ("\n" if i % 9 == 8 else "") for i in range(200))
    chunks = chunked(text, "text", SETTINGS).chunks
    assert len(chunks) > 3
    assert all(after.first_line <= before.last_line + 2 for before, after in pairwise(chunks))


def test_fenced_code_is_kept_whole() -> None:
    code = "".join(f"line {i} of the code\n\n" for i in range(60))
    text = (
        "# Title\n\n"
        + "A paragraph of words. " * 40
        + f"\n\n```sh\n# no heading\n{code}```\n\n"
        + "More words here. " * 60
        + "\n"
    )
    result = chunked(text, "markdown", replace(SETTINGS, target_tokens=60))
    holder = [chunk for chunk in result.chunks if "line 0 of" in chunk.text]
    assert len(holder) == 1 and "line 59 of" in holder[0].text
    assert [symbol.name for symbol in result.symbols] == ["Title"]


def test_a_large_json_object_is_taken_apart_by_key() -> None:
    text = json.dumps({"small": 1, "large": {f"key{i}": {"first": i, "second": [i] * 20} for i in range(40)}}, indent=2)
    result = chunked(text, "json", SETTINGS)
    chunk = next(chunk for chunk in result.chunks if '"key20"' in chunk.text)
    assert chunk.container == "large" and "key20" in chunk.symbol
    assert len(result.chunks) > 5


def notebook(cells: list[dict[str, object]]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def test_a_notebook_is_cut_by_cell_without_its_images() -> None:
    """O3"""
    image = base64.b64encode(bytes(range(256)) * 1_500).decode()
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "words"]},
        {"cell_type": "code", "metadata": {}, "outputs": [{"data": {"image/png": image}}], "source": ["plot()"]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": ["%matplotlib inline\n", "def needle():\n", "    return 1\n"],
        },
    ]
    data = notebook(cells)
    result = chunk_file(b"a.ipynb", data, "notebook", SETTINGS)
    cell = of_symbol(result, "needle")
    assert (cell.kind, cell.container) == ("cell", "cell 3")
    assert cell.text == "%matplotlib inline\ndef needle():\n    return 1"
    assert data.decode().split("\n")[cell.first_line + 1].strip() == r'"def needle():\n",'
    assert sum(len(chunk.text) for chunk in result.chunks) < 200
    symbol = next(symbol for symbol in result.symbols if symbol.name == "needle")
    assert data.decode().split("\n")[symbol.first_line].strip() == r'"def needle():\n",'


def test_a_notebook_that_is_none_is_cut_by_lines() -> None:
    result = chunk_file(b"a.ipynb", b'{"not": "a notebook"}\n', "notebook", SETTINGS)
    assert (result.grammar, result.fallback) == ("", "no cells")
    assert result.chunks


def test_text_of_gives_the_text_of_a_chunk_again() -> None:
    data = ("import os\n\n\n" + function("first") + "\n\n" + function("second")).replace("\n", "\r\n").encode()
    for chunk in chunk_file(b"a.py", data, "python", SMALL).chunks:
        assert text_of(data, chunk.first_line, chunk.last_line) == chunk.text


@pytest.mark.parametrize("data", [b"", b"\n", b"   \n\t\n\n"])
@pytest.mark.parametrize("language", ["python", "markdown", "json", "yaml", "sql", "notebook", "html", ""])
def test_files_of_nothing_have_no_chunks(data: bytes, language: str) -> None:
    assert chunk_file(b"a", data, language, SETTINGS).chunks == ()
