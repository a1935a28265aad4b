"""Pieces of a file on their way to chunks: line ranges that know what they hold, merged where small, cut where long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Chunk

# Names of a merged chunk are listed up to here; the symbol table has them all.
MAX_NAMES = 12

# Up to this size, what has no name (`#endif`, a lone statement) and a module's first line are no chunks of their own.
SLIVER_TOKENS = 15


@dataclass(slots=True)
class Piece:
    """Lines first..last (inclusive). `names` are the symbols that it defines at its own level; `extra` is text that the lines do not
    hold (the signatures in an outline), `text` stands for them altogether (a notebook's cell). `is_fixed` pieces never merge."""

    kind: str
    names: list[str]
    container: str
    first: int
    last: int
    is_fixed: bool = False
    part: int = 1
    parts: int = 1
    extra: str = ""
    text: str = ""


def merge_small(source: Source, pieces: Sequence[Piece], target_tokens: int) -> list[Piece]:
    """Join slivers to what follows them, and neighbours of the same container that are both small.

    A piece of half the target or more stands alone, and so bounds how far an edit can move the seams: a function of ordinary size that
    grows changes its own chunk and no other.
    """
    merged: list[Piece] = []
    for piece in _without_slivers(source, pieces):
        before = merged[-1] if merged else None
        if (
            before is not None
            and not before.is_fixed
            and not piece.is_fixed
            and before.container == piece.container
            and source.tokens(before.first, before.last) * 2 < target_tokens
            and source.tokens(piece.first, piece.last) * 2 < target_tokens
        ):
            _join(before, piece)
        else:
            merged.append(piece)
    return merged


def _without_slivers(source: Source, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with each sliver given to the next piece, the last one to the piece before it."""
    kept: list[Piece] = []
    waiting: Piece | None = None
    for piece in pieces:
        if waiting is not None:
            piece.first = waiting.first
            waiting = None
        is_bare = not piece.is_fixed and (not piece.names or piece.kind == "module")
        if is_bare and source.tokens(piece.first, piece.last) <= SLIVER_TOKENS:
            waiting = piece
        else:
            kept.append(piece)
    if waiting is not None:
        if kept:
            kept[-1].last = waiting.last
        else:
            kept.append(waiting)
    return kept


def _join(into: Piece, piece: Piece) -> None:
    into.last = piece.last
    if not into.names:
        into.kind = piece.kind
    elif piece.names and piece.kind != into.kind:
        into.kind = "code"
    into.names += piece.names


def to_chunks(source: Source, language: str, pieces: Sequence[Piece]) -> list[Chunk]:
    """The pieces as chunks, in order, without blank lines at their ends; blank ones vanish."""
    chunks = []
    for piece in pieces:
        first, last = source.trimmed(piece.first, piece.last)
        if last < first:
            continue
        text = piece.text or source.cut(first, last) + piece.extra
        names = ", ".join(dict.fromkeys(piece.names[:MAX_NAMES]))
        chunks.append(Chunk(language, piece.kind, names, piece.container, first, last, text, piece.part, piece.parts))
    return chunks


def number_parts(pieces: Sequence[Piece]) -> None:
    """Give the pieces of one split unit their part numbers."""
    for number, piece in enumerate(pieces, 1):
        piece.part, piece.parts = number, len(pieces)
