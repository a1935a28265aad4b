"""Overlapping windows of lines: for files without a grammar, and the floor under every other way."""

from __future__ import annotations

from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.source import Source
from mgrep_tui.settings.config import ChunkingSettings

# A window ends at a blank line when there is one in its last third.
_SEAM_SHARE = 3


def windows(source: Source, first: int, last: int, settings: ChunkingSettings) -> list[Piece]:
    """Cover the lines first..last with windows of about the target size that overlap by `overlap_lines` (less where lines are few)."""
    return [
        Piece("lines", [], "", start, end, is_fixed=True)
        for start, end in cut_windows(source, first, last, settings.target_tokens, settings.overlap_lines)
    ]


def cut_windows(source: Source, first: int, last: int, target_tokens: int, overlap: int) -> list[tuple[int, int]]:
    """Ranges (inclusive) of at most `target_tokens` (but at least one line) that together cover the lines that are not blank."""
    found = []
    first, last = source.trimmed(first, last)
    while first <= last:
        end = first
        while end < last and source.tokens(first, end + 1) <= target_tokens:
            end += 1
        if end < last:
            for line in range(end, first + (end - first) * (_SEAM_SHARE - 1) // _SEAM_SHARE, -1):
                if source.is_blank(line):
                    end = line
                    break
        found.append((first, end))
        if end >= last:
            break
        # The overlap never fills more than a third of a window, or short windows of long lines would hardly move on.
        first = end + 1 - min(overlap, (end - first + 1) // _SEAM_SHARE)
    return found
