"""The figures of a chunked tree add up."""

from __future__ import annotations

import pytest

from mgrep_tui.chunking.metrics import ChunkingMetrics, FileFigures, aggregate

FILES = [
    FileFigures("python", "python", "", (3, 12, 400)),
    FileFigures("python", "python", "", (5,)),
    FileFigures("javascript", "", "minified", (1,)),
    FileFigures("", "", "", (40, 36)),
    FileFigures("python", "", "", ()),
]


def test_files_chunks_and_shares_are_counted() -> None:
    metrics = aggregate(FILES)
    assert (metrics.files, metrics.parsed_files, metrics.fallen_files, metrics.chunks) == (4, 2, 1, 7)
    assert metrics.by_grammar_share == pytest.approx(2 / 3)
    assert metrics.fallback_share == pytest.approx(1 / 3)
    assert metrics.chunks_per_file == pytest.approx(7 / 4)
    assert metrics.languages == (("python", 2), ("javascript", 1), ("unknown", 1))
    assert metrics.fallbacks == (("minified", 1),)


def test_every_chunk_is_in_one_size_class() -> None:
    metrics = aggregate(FILES)
    assert sum(count for _, count in metrics.sizes) == metrics.chunks
    assert dict(metrics.sizes) == {
        "1–5": 3, "6–10": 0, "11–20": 1, "21–40": 2, "41–80": 0, "81–160": 0, "161–320": 0, "over 320": 1,
    }  # fmt: skip
    assert metrics.largest_chunk_lines == 400


def test_an_empty_tree_has_no_failures() -> None:
    metrics = aggregate([])
    assert (metrics.by_grammar_share, metrics.fallback_share, metrics.chunks_per_file) == (1.0, 0.0, 0.0)
    assert isinstance(metrics, ChunkingMetrics)


def test_rows_are_words_for_the_panel() -> None:
    rows = dict(aggregate(FILES).rows())
    assert rows["by syntax"] == "2 (66.7% of those with a grammar)"
    assert rows["reasons"] == "minified 1"
    assert rows["lines a chunk"] == "1–5: 3, 11–20: 1, 21–40: 2, over 320: 1"
