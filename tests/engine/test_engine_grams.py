"""The engine's text index narrows and never decides: every block that holds a match is let through."""

from __future__ import annotations

import random
import re

import pyarrow as pa
import pytest

from mgrep_tui.clickhouse.blocks import blocks_of, first_lines, folded
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.grams import block_condition, content_condition
from mgrep_tui.clickhouse.rows import HASH
from mgrep_tui.ngram.grams import fold
from mgrep_tui.ngram.plan import plan, plan_literal

ALPHABET = "abcxyzkKsS_ (){}\n\té\u212a\u017fßÉ日本😀0.'\\"
BROKEN = (b"\xff", b"\xe2", b"\x80", b"\xc3", b"\xf0\x9f", b"\0")


def texts(count: int) -> list[bytes]:
    """Texts of every kind: plain, with letters of many scripts, and with bytes that are no UTF-8."""
    source = random.Random(11)
    found = []
    for number in range(count):
        text = bytearray("".join(source.choices(ALPHABET, k=source.randint(3, 60))).encode())
        if number % 3 == 2:
            for _ in range(source.randint(1, 4)):
                at = source.randint(0, len(text))
                text[at:at] = source.choice(BROKEN)
        found.append(bytes(text))
    return found


def written(engine: EmbeddedConnection, found: list[bytes]) -> None:
    """Each text as one block; its number is that of the text."""
    engine.insert(
        "mgrep.blocks",
        pa.table(
            {
                "content": pa.array([number.to_bytes(16, "big") for number in range(len(found))], HASH),
                "number": pa.array([0] * len(found), pa.uint32()),
                "first_line": pa.array([0] * len(found), pa.uint32()),
                "is_last": pa.array([1] * len(found), pa.uint8()),
                "text": pa.array(found, pa.binary()),
                "folded": pa.array([folded(text) for text in found], pa.binary()),
            }
        ),
    )


def let_through(engine: EmbeddedConnection, condition: str, bound: Bound) -> set[int]:
    where = f" WHERE {condition}" if condition else ""
    return {
        int.from_bytes(content, "big")
        for (content,) in rows(engine.batches(f"SELECT content FROM mgrep.blocks{where}", bound.values))
    }


def test_no_literal_of_a_text_is_missed(engine: EmbeddedConnection) -> None:
    found = texts(900)
    written(engine, found)
    source = random.Random(12)
    narrowed = 0
    for _ in range(250):
        text = source.choice(found)
        start = source.randrange(len(text))
        raw = text[start : start + source.randint(2, 14)]
        try:
            literal = raw.decode()
        except UnicodeDecodeError:
            continue
        if source.random() < 0.3:
            literal = literal.swapcase()
        bound = Bound()
        condition = block_condition(plan_literal(literal), bound)
        wanted = {
            number
            for number, text in enumerate(found)
            if all(line in fold(text) for line in fold(literal.encode()).split(b"\n"))
        }
        got = let_through(engine, condition, bound)
        assert wanted <= got, literal
        narrowed += len(got) < len(found)
    assert narrowed > 50


@pytest.mark.parametrize(
    "pattern",
    [
        "abc|xyz",
        "a.*xyz",
        "(?i)KS",
        "[kK]s_",
        "(?:ab|ba)c",
        "xyz{1,2}",
        "日本",
        "é.*é",
        r"\bab\b",
        "a?bcx",
        "sß",
        "K",
        "",
    ],
)
def test_no_match_of_a_pattern_is_missed(engine: EmbeddedConnection, pattern: str) -> None:
    found = texts(600)
    written(engine, found)
    bound = Bound()
    got = let_through(engine, block_condition(plan(pattern), bound), bound)
    compiled = re.compile(pattern)
    wanted = {
        number
        for number, text in enumerate(found)
        if any(compiled.search(line) for line in text.decode("utf-8", "replace").split("\n"))
    }
    assert wanted <= got


def test_a_literal_too_short_for_a_gram_asks_for_nothing() -> None:
    assert block_condition(plan_literal("ab"), Bound()) == ""
    assert block_condition(plan_literal("éa"), Bound()) == ""


def test_a_literal_over_several_lines_is_asked_of_the_whole_content(engine: EmbeddedConnection) -> None:
    text = b"alpha one\n" + b"x" * 20_000 + b"\nomega two\n"
    blocks = list(blocks_of(text))
    assert len(blocks) > 1
    engine.insert(
        "mgrep.blocks",
        pa.table(
            {
                "content": pa.array([b"c" * 16] * len(blocks), HASH),
                "number": pa.array([block.number for block in blocks], pa.uint32()),
                "first_line": pa.array([block.first_line for block in blocks], pa.uint32()),
                "is_last": pa.array([int(block.is_last) for block in blocks], pa.uint8()),
                "text": pa.array([block.text for block in blocks], pa.binary()),
                "folded": pa.array([block.folded for block in blocks], pa.binary()),
            }
        ),
    )
    bound = Bound()
    having = content_condition(plan(r"alpha[\s\S]*omega", multiline=True), bound)
    found = rows(engine.batches(f"SELECT content FROM mgrep.blocks GROUP BY content HAVING {having}", bound.values))
    assert found == [(b"c" * 16,)]


def test_the_index_is_used_and_not_only_kept(engine: EmbeddedConnection) -> None:
    written(engine, texts(200))
    bound = Bound()
    condition = block_condition(plan_literal("nowhere_to_be_found"), bound)
    statement = f"SELECT * FROM (EXPLAIN indexes = 1 SELECT content FROM mgrep.blocks WHERE {condition})"
    explained = "\n".join(line.decode() for (line,) in rows(engine.batches(statement, bound.values)))
    assert "grams" in explained and "Parts: 0/1" in explained


@pytest.mark.parametrize("size", [0, 1, 16_383, 16_384, 16_385, 50_000])
def test_blocks_are_whole_lines_and_add_up(size: int) -> None:
    source = random.Random(size)
    text = bytes(source.choices(b"abc\n\n  x", k=size))
    blocks = list(blocks_of(text))
    assert b"".join(block.text for block in blocks) == text
    assert [block.first_line for block in blocks] == first_lines(text)
    assert all(block.text.endswith(b"\n") for block in blocks[:-1])
    assert [block.is_last for block in blocks] == [False] * (len(blocks) - 1) + [True] * bool(blocks)
    for block in blocks:
        assert text[: text.find(block.text)].count(b"\n") <= block.first_line
