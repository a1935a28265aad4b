"""Cut a range of lines along the tree: at the seams between statements, the outermost ones first."""

from __future__ import annotations

from tree_sitter import Tree

from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.settings.config import ChunkingSettings

# A part of a split unit aims at this many times the target size, and at no more than this share of the longest unit's lines.
PART_TARGETS = 2
_PART_SHARE = 2

# A rest below one part in this many joins the part before it.
_TAIL = 4

# Nodes looked at for one range; beyond, the seams found so far must do.
_MAX_NODES = 20_000


def split_rows(
    source: Source, tree: Tree, first: int, last: int, settings: ChunkingSettings, *, overlap: int | None = None
) -> list[tuple[int, int]]:
    """Ranges (inclusive) that cover first..last in order; each but the first starts `overlap` lines before its seam."""
    limit_tokens = PART_TARGETS * settings.target_tokens
    limit_lines = max(1, settings.max_unit_lines // _PART_SHARE)
    overlap = settings.overlap_lines if overlap is None else overlap
    depths = _seams(tree, first, last)
    found: list[tuple[int, int]] = []
    start = first
    while start <= last:
        end = _furthest(source, start, last, limit_tokens, limit_lines)
        if end < last and source.tokens(end + 1, last) * _TAIL < limit_tokens and last - end < limit_lines:
            end = last  # a short tail is no part of its own
        if end < last:
            # Of the seams in the second half of the part, the outermost, and of those the last.
            low = start + (end - start) // 2 + 1
            seams = [row for row in range(low, end + 2) if row in depths]
            if seams:
                best = min(depths[row] for row in seams)
                end = max(row for row in seams if depths[row] == best) - 1
            elif end == start and source.tokens(start, end) > limit_tokens:
                pass  # one line that is longer than a part
            else:
                end = cut_windows(source, start, end, limit_tokens, 0)[0][1] if not source.is_blank(start) else end
        begin = max(first, start - overlap) if found else start
        found.append((begin, end))
        start = end + 1
        while start <= last and source.is_blank(start):
            start += 1
    return found


def _furthest(source: Source, start: int, last: int, limit_tokens: int, limit_lines: int) -> int:
    end = start
    while end < last and end - start + 1 < limit_lines and source.tokens(start, end + 1) <= limit_tokens:
        end += 1
    return end


def _seams(tree: Tree, first: int, last: int) -> dict[int, int]:
    """Rows within (first, last] on which a node begins, with the smallest depth of such a node; found by a cursor, without recursion."""
    depths: dict[int, int] = {}
    cursor = tree.walk()
    looked = 0
    depth = 0
    is_above = True  # everything so far begins at or before `first`: children that end before it can be jumped over
    while looked < _MAX_NODES:
        node = cursor.node
        assert node is not None  # the cursor always stands on a node
        looked += 1
        top, bottom = node.start_point.row, node.end_point.row
        if top > last:
            is_child = False
        else:
            if first < top:
                is_above = False
                if depths.get(top, depth) >= depth:
                    depths[top] = depth
            is_child = (
                bottom > top
                and bottom >= first
                and (
                    cursor.goto_first_child_for_point((first, 0)) is not None if is_above else cursor.goto_first_child()
                )
            )
        if is_child:
            depth += 1
            continue
        while top > last or not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return depths
            depth -= 1
            top = -1
    return depths
