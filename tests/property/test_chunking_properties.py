"""What holds of every file: coverage, order, true lines, no overlap but where asked, determinism, and that an edit stays where it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mgrep_tui.chunking import FileChunks, chunk_file, text_of
from mgrep_tui.corpus.decode import decode_text
from mgrep_tui.settings.config import ChunkingSettings

FOLDER = Path(__file__).parent.parent / "chunking_golden"
SAMPLES = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.sample"))}
LANGUAGES = sorted(SAMPLES)
QUIET = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

sizes = st.sampled_from([8, 40, 250])


def with_target(target: int) -> ChunkingSettings:
    return replace(ChunkingSettings(), target_tokens=target, max_unit_lines=max(6, target), small_class_methods=3)


def check(data: bytes, language: str, chosen: ChunkingSettings) -> FileChunks:
    """Every promise about the chunks of one file."""
    result = chunk_file(b"file", data, language, chosen)
    lines = decode_text(data).split("\n")
    covered: set[int] = set()
    for chunk in result.chunks:
        assert 0 <= chunk.first_line <= chunk.last_line < len(lines)
        assert 1 <= chunk.part <= chunk.parts
        covered.update(range(chunk.first_line, chunk.last_line + 1))
        whole = text_of(data, chunk.first_line, chunk.last_line)
        if chunk.kind == "outline":
            assert chunk.text.startswith(whole)
        elif chunk.kind != "cell":
            assert chunk.text == whole
    assert [chunk.first_line for chunk in result.chunks] == sorted(chunk.first_line for chunk in result.chunks)
    if result.grammar != "notebook":
        lost = [row for row, line in enumerate(lines) if line.strip() and row not in covered]
        assert lost == []
    for before, after in pairwise(result.chunks):
        is_split = after.kind == "lines" or after.part > 1
        if result.grammar != "notebook" and not is_split:
            assert after.first_line > before.last_line
        if is_split:
            assert before.last_line - after.first_line + 1 <= chosen.overlap_lines
    for symbol in result.symbols:
        assert symbol.name
        assert 0 <= symbol.first_line <= symbol.last_line < len(lines)
    assert chunk_file(b"file", data, language, chosen) == result
    return result


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("target", [8, 40, 250])
def test_samples_are_covered_in_order(language: str, target: int) -> None:
    check(SAMPLES[language], language, with_target(target))


@QUIET
@given(st.sampled_from(LANGUAGES), sizes, st.data())
def test_a_torn_file_is_covered_in_order(language: str, target: int, draw: st.DataObject) -> None:
    """Half-typed and badly merged files: stretches of a sample left out, doubled, moved and cut."""
    lines = SAMPLES[language].split(b"\n")
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(lines)), min_size=2, max_size=6)))
    pieces = [lines[low:high] for low, high in pairwise([0, *cuts, len(lines)])]
    order = draw.draw(st.lists(st.integers(0, len(pieces) - 1), min_size=1, max_size=8))
    data = b"\n".join(line for index in order for line in pieces[index])
    end = draw.draw(st.integers(0, len(data)))
    check(data[:end], language, with_target(target))


@QUIET
@given(st.sampled_from(LANGUAGES), sizes, st.text(max_size=300))
@example("markdown", 8, "```\n# a")
@example("json", 8, '{"a": [1, {"b": "')
@example("yaml", 8, "a:\n- - b: |\n")
@example("sql", 8, "CREATE FUNCTION a() BEGIN")
@example("rst", 8, "===\nA\n===")
def test_any_text_is_covered_in_order(language: str, target: int, text: str) -> None:
    check(text.encode("utf-8", "replace"), language, with_target(target))


@QUIET
@given(st.sampled_from(LANGUAGES), st.binary(max_size=200))
def test_any_bytes_are_chunked(language: str, data: bytes) -> None:
    result = chunk_file(b"file", data, language, with_target(40))
    assert bool(result.chunks) == bool(decode_text(data).strip())


@QUIET
@given(
    st.text(alphabet="abc def:{}()[]<>\"'#/\\\n\r\t", max_size=400),
    st.sampled_from(LANGUAGES),
    sizes,
)
def test_line_ends_of_windows_change_nothing(text: str, language: str, target: int) -> None:
    unix = text.replace("\r", "").encode()
    chosen = with_target(target)
    assert chunk_file(b"file", unix.replace(b"\n", b"\r\n"), language, chosen) == chunk_file(
        b"file", unix, language, chosen
    )


FUNCTIONS = {
    "python": ("def {name}(value):\n{body}    return value\n\n\n", "    value = value + {word}\n"),
    "javascript": ("function {name}(value) {{\n{body}  return value;\n}}\n\n", "  value = value + {word};\n"),
    "go": ("func {name}(value int) int {{\n{body}\treturn value\n}}\n\n", "\tvalue = value + {word}\n"),
    "rust": ("fn {name}(mut value: u32) -> u32 {{\n{body}    value\n}}\n\n", "    value = value + {word};\n"),
    "c": ("int {name}(int value)\n{{\n{body}    return value;\n}}\n\n", "    value = value + {word};\n"),
    "java": (
        "class {name} {{\n    int work(int value) {{\n{body}        return value;\n    }}\n}}\n\n",
        "        value = value + {word};\n",
    ),
}


def file_of(language: str, bodies: list[list[str]]) -> bytes:
    frame, line = FUNCTIONS[language]
    return "".join(
        frame.format(name=f"unit_{number}", body="".join(line.format(word=word) for word in words))
        for number, words in enumerate(bodies)
    ).encode()


words = st.sampled_from(["alpha_one", "beta_two", "gamma_three", "delta_four"])


@QUIET
@given(st.sampled_from(sorted(FUNCTIONS)), st.data())
def test_an_edit_in_one_function_changes_only_its_chunk(language: str, draw: st.DataObject) -> None:
    bodies = draw.draw(st.lists(st.lists(words, min_size=12, max_size=30), min_size=3, max_size=8))
    at = draw.draw(st.integers(0, len(bodies) - 1))
    edited = [list(body) for body in bodies]
    edited[at] = draw.draw(
        st.lists(st.sampled_from(["new_word", "other_word", "third_word"]), min_size=12, max_size=40)
    )
    chosen = ChunkingSettings(target_tokens=160)
    before = chunk_file(b"file", file_of(language, bodies), language, chosen).chunks
    after = chunk_file(b"file", file_of(language, edited), language, chosen).chunks
    assert [chunk.symbol for chunk in before] == [chunk.symbol for chunk in after]
    changed = [old.symbol for old, new in zip(before, after, strict=True) if old.text != new.text]
    assert changed == [f"unit_{at}"]
