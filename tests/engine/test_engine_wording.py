"""The words of chunks as columns, the same as counted chunk by chunk; and lines cut out of blocks, the same as of the whole text."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.clickhouse import wording as wordings
from mgrep_tui.clickhouse.blocks import blocks_of
from mgrep_tui.clickhouse.keys import word_of
from mgrep_tui.clickhouse.texts import lines_between
from mgrep_tui.clickhouse.wording import FIELDS, MOST_TIMES, Wording, length_code
from mgrep_tui.corpus.decode import split_lines
from mgrep_tui.index.rows import NewChunk
from mgrep_tui.retrieval import words
from mgrep_tui.text.sanitize import display_path

ASCII = ["getUserName", "HTTPServer2", "_x$y", "0x1F", "snake_case_name", "URLs", "-", "$", " ", "\n", "\t"]
OTHER = ["größe", "名前", "名", "一", "é"]
PIECES = st.sampled_from(ASCII + OTHER)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=20).map(" ".join) | st.lists(PIECES, max_size=30).map("".join)
CHUNKS = st.lists(st.tuples(st.binary(max_size=20), TEXTS, TEXTS, TEXTS), max_size=6)


def chunk_of(text: str, symbol: str, container: str) -> NewChunk:
    return NewChunk("python", "function", symbol, container, 0, 0, 1, 1, bytes(16), text)


def counted(path: bytes, chunk: NewChunk) -> dict[str, Counter[str]]:
    return {
        "body": Counter(words.stems(chunk.text)),
        "symbol": Counter(words.stems(chunk.symbol)),
        "container": Counter(words.stems(chunk.container)),
        "path": Counter(words.stems(display_path(path))),
        "names": Counter(words.names(f"{chunk.text}\n{chunk.symbol} {chunk.container}")),
    }


@given(st.lists(CHUNKS, max_size=3), st.sampled_from([1, 30, 8_000_000]))
def test_postings_are_what_each_chunk_has(batches: list[list[tuple[bytes, str, str, str]]], portion_chars: int) -> None:
    with patch.object(wordings, "PORTION_CHARS", portion_chars):
        check_postings(batches)


def check_postings(batches: list[list[tuple[bytes, str, str, str]]]) -> None:
    wording = Wording()
    known: dict[int, tuple[int, str]] = {}
    for batch in batches:
        chunks = [(path, chunk_of(*texts)) for path, *texts in batch]
        postings = wording.postings(chunks)
        fresh = wording.take_fresh()
        known |= dict(zip(fresh.keys, zip(fresh.fields, fresh.texts, strict=True), strict=True))
        expected = set()
        sizes = []
        for number, (path, chunk) in enumerate(chunks):
            fields = counted(path, chunk)
            sizes.append([sum(fields[name].values()) for name in FIELDS])
            for field, name in enumerate(FIELDS):
                length = length_code(sum(fields[name].values()))
                for word, times in fields[name].items():
                    key = word_of(field, word)
                    assert known[key] == (field, word)
                    expected.add((key, number, min(times, MOST_TIMES), length))
        columns = (postings.words, postings.chunks, postings.times, postings.lengths)
        found = list(zip(*(column.tolist() for column in columns), strict=True))
        assert len(found) == len(set(found)) and set(found) == expected
        assert postings.sizes.tolist() == sizes


def test_a_word_that_stands_more_often_than_a_byte_counts() -> None:
    postings = Wording().postings([(b"a.py", chunk_of("word " * 70_000, "", ""))])
    assert postings.times.max() == MOST_TIMES
    assert postings.sizes[0, 0] == 70_000


def test_words_are_told_again_after_all_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordings, "MOST_KEPT", 2)
    wording = Wording()
    chunks = [(b"a.py", chunk_of("alpha beta gamma", "delta", ""))]
    first = wording.postings(chunks)
    told = wording.take_fresh()
    again = wording.postings(chunks)
    assert sorted(wording.take_fresh().keys) == sorted(told.keys)
    assert np.array_equal(np.sort(first.words), np.sort(again.words))


@given(st.lists(st.sampled_from([b"a", b"", b"\r", b"word \xff", b"x" * 9_000]), max_size=12), st.booleans(), st.data())
def test_lines_are_cut_out_of_blocks(lines: list[bytes], is_ended: bool, data: st.DataObject) -> None:
    text = b"\n".join(lines) + (b"\n" if is_ended else b"")
    every = split_lines(text) if text else []
    blocks = [(block.first_line, block.text) for block in blocks_of(text)]
    first = data.draw(st.integers(0, len(every) + 1))
    last = data.draw(st.integers(first, len(every) + 2))
    # As they are fetched: from the block that holds the first line on.
    own = [block for number, block in enumerate(blocks) if number + 1 == len(blocks) or blocks[number + 1][0] > first]
    assert lines_between(own, first, last) == every[first : last + 1]
