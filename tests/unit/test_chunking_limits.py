"""What no file may do: take for ever, take all memory, nest without end. Each falls back with a reason, or is cut in linear time."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mgrep_tui.chunking import chunk_file
from mgrep_tui.settings.config import ChunkingSettings

SETTINGS = ChunkingSettings()


def test_a_json_file_of_one_long_line_is_one_short_chunk() -> None:
    data = b'{"a":[' + b",".join(b'{"k%d":%d}' % (i, i) for i in range(100_000)) + b"]}"
    result = chunk_file(b"a.json", data, "json", SETTINGS)
    assert len(result.chunks) == 1 and len(result.chunks[0].text) <= 2_000
    assert len(result.symbols) <= 2_000


@pytest.mark.parametrize(("language", "reason"), [("javascript", "minified"), ("json", "nested too deep")])
def test_100000_nested_brackets_on_a_line(language: str, reason: str) -> None:
    """N1"""
    assert chunk_file(b"a", b"[" * 100_000 + b"]" * 100_000, language, SETTINGS).fallback == reason


def test_a_yaml_list_of_60000_items_is_cut_in_linear_time() -> None:
    data = b"items:\n" + b"".join(b"  - name: x%d\n    value: 1\n" % i for i in range(60_000))
    result = chunk_file(b"a.yaml", data, "yaml", SETTINGS)
    assert result.grammar == "yaml" and len(result.chunks) > 1_000


def test_a_yaml_list_at_the_edge_of_its_key_keeps_its_items() -> None:
    data = b"items:\n- name: one\n  value: 1\n- name: two\n  value: 2\nother: 3\n"
    symbols = chunk_file(b"a.yaml", data, "yaml", SETTINGS).symbols
    assert [(item.container, item.name) for item in symbols] == [
        ("", "items"),
        ("items", "one"),
        ("items", "two"),
        ("", "other"),
    ]


def test_a_file_over_the_limit_says_so() -> None:
    chosen = replace(SETTINGS, max_file_bytes=1_000)
    result = chunk_file(b"a.c", b"int a;\n" * 1_000, "c", chosen)
    assert (result.grammar, result.fallback) == ("", "too big")
    assert result.chunks


def test_a_parse_that_takes_too_long_says_so_and_loses_nothing() -> None:
    data = b"".join(b"int f%d(int a)\n{\n  return a + %d;\n}\n\n" % (i, i) for i in range(20_000))
    result = chunk_file(b"a.c", data, "c", replace(SETTINGS, parse_timeout_s=0.001))
    assert (result.grammar, result.fallback) == ("", "took too long")
    covered = {row for chunk in result.chunks for row in range(chunk.first_line, chunk.last_line + 1)}
    assert all(row in covered for row, line in enumerate(data.split(b"\n")) if line.strip())


def test_a_large_broken_file_is_read_block_by_block_once() -> None:
    """N5"""
    functions = b"".join(b"int f%d(int a)\n{\n  return a + %d;\n}\n\n" % (i, i) for i in range(3_000))
    result = chunk_file(b"a.c", b"int g(int a) {\n  if (a {\n\n" + functions, "c", SETTINGS)
    assert {f"f{i}" for i in range(3_000)} <= {symbol.name for symbol in result.symbols if not symbol.container}


@pytest.mark.parametrize(
    "language", ["rust", "cpp", "scala", "haskell", "ruby", "markdown", "yaml", "toml", "sql", "rst", "notebook"]
)
def test_noise_is_cut_without_harm(language: str) -> None:
    noise = random.Random(language)
    data = bytes(noise.choice(b"<>{}()[];:,&'\"abc \n|?#-=*`") for _ in range(8_000))
    result = chunk_file(b"a", data, language, SETTINGS)
    assert result.chunks
    assert all(chunk.first_line <= chunk.last_line for chunk in result.chunks)
