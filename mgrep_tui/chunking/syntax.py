"""Code with a grammar and a query file: parsed, its definitions found, laid out as pieces."""

from __future__ import annotations

from pathlib import Path

from mgrep_tui.chunking.definitions import find_definitions, walk
from mgrep_tui.chunking.grammar import ParseRefused, parse
from mgrep_tui.chunking.islands import is_damaged, sound_outline, without_conflicts
from mgrep_tui.chunking.layout import lay_out
from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.rules import Rules, rules_for
from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings


def read_rules(language: str, folder: Path | None) -> Rules | None:
    """The language's rules, or None where it has none. Raises `ParseRefused` for a user's file that cannot be read."""
    try:
        return rules_for(language, folder)
    except (ValueError, OSError) as error:
        raise ParseRefused(f"query file unusable: {error}") from error


def chunk_syntax(source: Source, rules: Rules, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """Pieces and symbols. Raises `ParseRefused` when the file has no usable tree."""
    buffer = without_conflicts(source.buffer)
    tree = parse(buffer, rules, settings.parse_timeout_s)
    outline = find_definitions(tree, buffer, rules)
    if is_damaged(tree, buffer, rules, outline):
        outline = sound_outline(tree, buffer, rules, outline, settings.parse_timeout_s)
    for item in walk(outline.roots):
        item.last_row = max(
            item.first_row, source.trimmed(item.first_row, min(item.last_row, len(source.lines) - 1))[1]
        )
    if not outline.roots and not outline.imports and tree.root_node.is_error:
        raise ParseRefused("no tree")
    return lay_out(source, tree, rules, outline, settings), outline.symbols()
