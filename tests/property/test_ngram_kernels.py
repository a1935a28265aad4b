"""The compiled kernels do what the definitions in plain Python say, for every input."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.ngram import grams, kernels, postings, runs
from mgrep_tui.ngram.tables import tables
from tests.support.ngram_cases import RAW, WORDS

_nasty = st.lists(
    st.one_of(st.sampled_from([*(word.encode() for word in WORDS), *RAW, b"\n"]), st.binary(max_size=6))
).map(b"".join)
_compiled = settings(deadline=None)  # the first example compiles
_texts = st.one_of(st.binary(max_size=400), _nasty)
_WEIGHTS = np.frombuffer(tables().weights, np.uint16)
_FOLDS = np.arange(max(tables().folds) + 1, dtype=np.uint32)
_FOLDS[list(tables().folds)] = list(tables().folds.values())


def _array(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


@_compiled
@given(_texts)
def test_folding_is_the_same_and_never_lengthens(text: bytes) -> None:
    out = np.empty(len(text) + 1, np.uint8)
    size = kernels.fold(_array(text), 0, len(text), _FOLDS, out)
    assert out[:size].tobytes() == grams.fold(text)
    assert size <= len(text)
    assert grams.fold(grams.fold(text)) == grams.fold(text)
    assert grams.fold(text).count(b"\n") == text.count(b"\n")


@_compiled
@given(st.lists(_texts, min_size=1, max_size=5))
def test_extraction_gives_the_keys_of_the_definition(texts: list[bytes]) -> None:
    joined = b"".join(texts)
    ends = np.cumsum([len(text) for text in texts])
    starts = ends - [len(text) for text in texts]
    keys = np.empty(2 * len(joined) + 1, np.uint32)
    counts = np.empty(len(texts), np.int64)
    seen = np.zeros(kernels.SEEN_SLOTS, np.uint32)
    scratch = np.empty(len(joined) + 1, np.uint8)
    total = kernels.extract(_array(joined), starts, ends, _WEIGHTS, _FOLDS, scratch, seen, keys, counts)
    assert total == counts.sum()
    at = 0
    for text, count in zip(texts, counts.tolist(), strict=True):
        expected = {grams.key_of(gram) for gram in grams.grams_of(grams.fold(text))}
        assert set(keys[at : at + count].tolist()) == expected
        at += count


@_compiled
@given(_texts, st.integers(1, 60))
def test_blocks_cover_the_text_and_end_at_lines(text: bytes, target: int) -> None:
    room = len(text) + 1
    starts, lengths, lines = (np.empty(room, np.uint32) for _ in range(3))
    count = kernels.split_blocks(_array(text), 0, len(text), target, starts, lengths, lines)
    at = 0
    for start, length, line in zip(
        starts[:count].tolist(), lengths[:count].tolist(), lines[:count].tolist(), strict=True
    ):
        assert start == at
        assert length > 0
        assert line == text[:at].count(b"\n")
        at += length
        assert at == len(text) or text[at - 1] == ord("\n")
        assert b"\n" not in text[start : max(start, at - 1)] or length < 3 * target + _longest(text[start:at])
    assert at == len(text)


def _longest(text: bytes) -> int:
    return max(map(len, text.split(b"\n")))


@_compiled
@given(_texts)
def test_every_gram_says_so_by_its_own_bytes_alone(text: bytes) -> None:
    """A1: a gram stays a gram whatever stands around it."""
    folded = grams.fold(text)
    for gram in grams.grams_of(folded):
        assert 3 <= len(gram) <= grams.CAP
        assert gram in grams.grams_of(gram)
        assert gram in grams.grams_of(b"xq" + gram + b"_9")


@_compiled
@given(_texts)
def test_maximal_grams_say_as_much_as_all(text: bytes) -> None:
    folded = grams.fold(text)
    every = grams.grams_of(folded)
    chosen = grams.maximal_grams(folded)
    assert set(chosen) <= every
    assert all(any(gram in other for other in chosen) for gram in every)
    assert len(set(chosen)) == len(chosen)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.binary(max_size=40), max_size=6), min_size=1, max_size=6))
def test_the_merge_brings_each_key_its_blocks(batches: list[list[bytes]]) -> None:
    """Runs of several batches → one list a key, ascending, without repeats, whatever its coding."""
    block = 0
    expected: dict[int, list[int]] = {}
    parts = []
    for texts in batches:
        keys: list[int] = []
        counts = []
        numbers = []
        for text in texts:
            found = [grams.key_of(gram) for gram in sorted(grams.grams_of(grams.fold(text)))] * 2  # repeats must go
            for key in found:
                blocks = expected.setdefault(key, [])
                if block not in blocks:
                    blocks.append(block)
            keys += found
            counts.append(len(found))
            numbers.append(block)
            block += 1
        offsets, sizes = np.empty(kernels.BUCKETS + 1, np.int64), np.empty(kernels.BUCKETS, np.int64)
        out = np.empty(2 * len(keys) + kernels.BUCKETS * len(texts) + len(keys) // 255, np.uint8)
        kernels.divide(np.array(keys, np.uint32), np.array(counts, np.int64), offsets, sizes, out)
        parts.append((out, offsets, sizes, numbers))
    found_lists: dict[int, list[int]] = {}
    bitmap_bytes = (block + 7) // 8
    for bucket in range(kernels.BUCKETS):
        raws = [out[offsets[bucket] : offsets[bucket + 1]] for out, offsets, _, _ in parts]
        lengths = [len(raw) for raw in raws]
        sizes = np.array([sizes[bucket] for _, _, sizes, _ in parts], np.int64)
        pieces = np.array([len(numbers) for *_, numbers in parts], np.int64)
        total = int(sizes.sum())
        names, values = np.empty(total, np.uint16), np.empty(total, np.uint32)
        lists = np.empty(5 * total + bitmap_bytes, np.uint8)
        count, size = kernels.merge_bucket(
            np.concatenate(raws),
            np.cumsum(lengths) - lengths,
            sizes,
            np.cumsum(pieces) - pieces,
            np.array([number for *_, numbers in parts for number in numbers], np.uint32),
            pieces,
            bitmap_bytes,
            np.empty(total, np.uint32),
            names,
            values,
            lists,
        )
        assert names[:count].tolist() == sorted(set(names[:count].tolist()))
        starts = [int(value) for value in values[:count] if not int(value) & kernels.SINGLE]
        ends = dict(zip(starts, [*starts[1:], size], strict=True)) if starts else {}
        for name, value in zip(names[:count].tolist(), values[:count].tolist(), strict=True):
            if value & kernels.SINGLE:
                blocks = [value ^ kernels.SINGLE]
            else:
                content = lists[value : ends[value]].tobytes()
                is_bitmap = len(content) == bitmap_bytes
                blocks = (postings.decode_bitmap if is_bitmap else postings.decode)(content, block).tolist()
            found_lists[bucket << 16 | name] = blocks
    assert found_lists == expected


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 400), st.integers(0, 5))
def test_pieces_of_a_long_line_lose_no_gram(size: int, seed: int) -> None:
    """A line longer than a piece is cut with an overlap, at characters."""
    rng = np.random.default_rng(seed)
    text = b"".join(rng.choice([word.encode() for word in WORDS if "\n" not in word], size).tolist())
    before = runs.PIECE_BYTES
    runs.PIECE_BYTES = 150
    try:
        groups = runs._pieces(_array(text), np.array([0]), np.array([len(text)]))
    finally:
        runs.PIECE_BYTES = before
    found: set[bytes] = set()
    for starts, ends, blocks in groups:
        assert set(blocks.tolist()) == {0}
        assert (ends - starts).sum() <= 150
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            found |= grams.grams_of(grams.fold(text[start:end]))
    assert found == grams.grams_of(grams.fold(text))
