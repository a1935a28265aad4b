"""Every language's sample has the outline that was checked by eye. `python tests/unit/test_chunking_golden.py` writes them anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.chunking import chunk_file
from mgrep_tui.chunking.rules import known_languages
from mgrep_tui.settings.config import ChunkingSettings

FOLDER = Path(__file__).parent.parent / "chunking_golden"
SAMPLES = sorted(FOLDER.glob("*.sample"))

# Small limits, so that samples of a page show what real files show.
SETTINGS = replace(ChunkingSettings(), target_tokens=40, small_class_methods=3)

SCANNED = {"markdown", "rst", "json", "yaml", "toml", "sql", "dockerfile", "notebook"}


def outline_of(sample: Path) -> str:
    """Symbols and chunks of a sample, with lines from 1."""
    result = chunk_file(sample.name.encode(), sample.read_bytes(), sample.stem, SETTINGS)
    rows = [f"grammar {result.grammar or '-'} fallback {result.fallback or '-'}", "", "symbols"]
    for symbol in result.symbols:
        path = f"{symbol.container}.{symbol.name}" if symbol.container else symbol.name
        rows.append(f"{symbol.first_line + 1:4}-{symbol.last_line + 1:<4} {symbol.kind:10} {path}")
    rows += ["", "chunks"]
    for chunk in result.chunks:
        part = f" {chunk.part}/{chunk.parts}" if chunk.parts > 1 else ""
        holder = f" in {chunk.container}" if chunk.container else ""
        rows.append(
            f"{chunk.first_line + 1:4}-{chunk.last_line + 1:<4} {chunk.kind:10} {chunk.symbol or '-'}{holder}{part}"
        )
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_outline_of_a_sample_is_as_checked(sample: Path) -> None:
    assert outline_of(sample) == sample.with_suffix(".outline").read_text("utf-8")


def test_every_language_with_a_query_or_a_scanner_has_a_sample() -> None:
    missing = {*known_languages(), *SCANNED} - {sample.stem for sample in SAMPLES}
    assert missing == set()


if __name__ == "__main__":
    for item in SAMPLES:
        item.with_suffix(".outline").write_text(outline_of(item), "utf-8")
