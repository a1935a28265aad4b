"""Markdown's headings and blocks: ATX and underlined headings outside of fenced code, front matter and HTML comments."""

from __future__ import annotations

import re

from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.sections import Heading, lay_sections
from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??[ \t]*(?:[ \t]#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")

# A line that starts so is no paragraph, and a row of dashes below it no underline.
_NO_PARAGRAPH = "#>|*-+`~<"


def chunk_markdown(source: Source, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """Pieces and symbols of a Markdown file."""
    headings: list[Heading] = []
    blocks: list[tuple[int, int]] = []
    lines = source.lines
    row = _front_matter_end(lines)
    if row:
        blocks.append((0, row - 1))
    while row < len(lines):
        line = lines[row]
        if source.is_blank(row):
            row += 1
            continue
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence and not (fence.group(1)[0] == "`" and "`" in fence.group(2)):
            end = _fence_end(lines, row, fence.group(1))
            blocks.append((row, end))
            row = end + 1
            continue
        if line.lstrip().startswith("<!--"):
            end = row
            while end + 1 < len(lines) and "-->" not in lines[end]:
                end += 1
            blocks.append((row, end))
            row = end + 1
            continue
        head = _HEADING.match(line) if "#" in line else None
        if head:
            headings.append(Heading(row, len(head.group(1)), _title(head.group(2) or "")))
            blocks.append((row, row))
            row += 1
            continue
        end = row
        underline = None
        while end + 1 < len(lines) and not source.is_blank(end + 1) and not _starts_block(lines[end + 1]):
            end += 1
            underline = _UNDERLINE.match(lines[end])
            if underline:
                break
        if underline and end == row + 1 and line.lstrip()[0] not in _NO_PARAGRAPH:
            headings.append(Heading(row, 1 if underline.group(1)[0] == "=" else 2, _title(line)))
        blocks.append((row, end))
        row = end + 1
    return lay_sections(source, headings, blocks, settings)


def _front_matter_end(lines: list[str]) -> int:
    """The row behind the YAML or TOML in front of the text; 0 when there is none."""
    if not lines or lines[0].rstrip() not in ("---", "+++"):
        return 0
    mark = lines[0].rstrip()
    return next((row + 1 for row in range(1, min(len(lines), 200)) if lines[row].rstrip() == mark), 0)


def _fence_end(lines: list[str], row: int, mark: str) -> int:
    """The row that closes the fence; the last one where nothing does."""
    for end in range(row + 1, len(lines)):
        text = lines[end].strip(" \t>")
        if text.startswith(mark) and not text.strip(mark[0]):
            return end
    return len(lines) - 1


def _starts_block(line: str) -> bool:
    text = line.lstrip()
    return text.startswith(("```", "~~~")) or (text.startswith("#") and _HEADING.match(line) is not None)


def _title(text: str) -> str:
    """A heading's words, without the addresses of links."""
    return _LINK.sub(r"\1", text).strip() or "#"
