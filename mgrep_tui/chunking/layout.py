"""From a tree of definitions to pieces that cover the file: which unit stands alone, which is taken apart, and what is between them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from tree_sitter import Tree

from mgrep_tui.chunking.definitions import (
    CLASS_KINDS,
    FUNCTION_KINDS,
    MINOR_KINDS,
    UNIT_LINES,
    Definition,
    Outline,
    signature,
)
from mgrep_tui.chunking.leading import first_leading_line
from mgrep_tui.chunking.pieces import SLIVER_TOKENS, Piece, merge_small, number_parts
from mgrep_tui.chunking.rules import Rules
from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.split import split_rows
from mgrep_tui.settings.config import ChunkingSettings

# A class of few methods is one chunk while it stays below this many times the target size.
FITS_TARGETS = 4

# Module-level code is cut into chunks of this many times the target size.
CODE_TARGETS = 2

# What follows the last member of a class goes with it when it is shorter than this share of the target size.
TAIL_SHARE = 4

_CLOSING_CHARS = 40

# An outline lists this many members.
MAX_SIGNATURES = 100

# Definitions nested deeper are left inside what encloses them.
MAX_LEVELS = 12

# What holds units without being one itself: the inside is laid out like a file.
_TRANSPARENT = frozenset({"module", "section", "rule", "object", "constant", "property"})


@dataclass(frozen=True, slots=True)
class _Layout:
    """What every step needs to know."""

    source: Source
    tree: Tree
    rules: Rules
    outline: Outline
    settings: ChunkingSettings

    def level(
        self, items: list[Definition], first: int, last: int, owner: Definition | None, depth: int
    ) -> list[Piece]:
        """Pieces that cover first..last, given the definitions in it. `owner` is the definition that holds them."""
        pieces: list[Piece] = []
        cursor = first
        units = [item for item in items if not item.is_minor]
        for item in units:
            if item.last_row < cursor or item.first_row > last:
                # Two names in one statement, or definitions on one line.
                if (
                    pieces
                    and pieces[-1].names
                    and not pieces[-1].is_fixed
                    and pieces[-1].first <= item.first_row <= pieces[-1].last
                ):
                    pieces[-1].names.append(item.name)
                continue
            start = max(item.first_row, cursor)
            lead = self.leading(start, cursor, owner)
            # Definitions on one line share a piece.
            if start < item.first_row or lead > item.first_row:
                lead = start
            if pieces and owner is not None and owner.kind in CLASS_KINDS and self._is_small(cursor, lead):
                lead = cursor  # fields between two members go with the second
            pieces += self.between(cursor, lead - 1, items, owner)
            end = min(item.last_row, last)
            pieces += self.unit(item, lead, end, depth)
            cursor = end + 1
        rest = self.between(cursor, last, items, owner)
        is_tail = owner is not None and (
            self._is_closing(cursor, last)
            or (
                owner.kind in CLASS_KINDS
                and self.source.tokens(cursor, last) * TAIL_SHARE < self.settings.target_tokens
            )
        )
        if rest and pieces and is_tail:
            pieces[-1].last = last
        else:
            pieces += rest
        return pieces

    def leading(self, start: int, floor: int, owner: Definition | None) -> int:
        """The first line of the unit at `start`, its comments and attributes included; not above `floor`."""
        if not self.settings.include_comments:
            return start
        return first_leading_line(
            self.source, self.rules, self.outline.leads, start, floor, is_file_head=owner is None and floor == 0
        )

    def unit(self, item: Definition, first: int, last: int, depth: int) -> list[Piece]:
        """The pieces of one definition."""
        settings = self.settings
        lines = last - first + 1
        inner = [child for child in item.children if not child.is_minor]
        fits = lines <= settings.max_unit_lines
        if depth < MAX_LEVELS and inner:
            if item.kind in _TRANSPARENT and not self._is_small(first, last):
                return self.level(item.children, first, last, item, depth + 1)
            if item.kind not in FUNCTION_KINDS:
                methods = sum(child.kind in FUNCTION_KINDS for child in inner)
                is_whole = (
                    fits
                    and methods < settings.small_class_methods
                    and self.source.tokens(first, last) <= FITS_TARGETS * settings.target_tokens
                )
                if not is_whole:
                    return self.apart(item, first, last, depth)
            elif not fits:
                return self.apart(item, first, last, depth)
        if fits:
            return [Piece(item.kind, [item.name], item.container, first, last)]
        return self.parts(item, first, last)

    def apart(self, item: Definition, first: int, last: int, depth: int) -> list[Piece]:
        """A large class as its outline and one piece a method; a long function as its own parts and its inner ones."""
        pieces = self.level(item.children, first, last, item, depth + 1)
        own = [piece for piece in pieces if piece.container == item.container and piece.names == [item.name]]
        if item.kind in FUNCTION_KINDS:
            number_parts(own)
            return pieces
        if not own or own[0] is not pieces[0]:
            return pieces  # the first member begins on the header's line
        heads = [piece for piece, mine in zip(pieces, own, strict=False) if piece is mine]
        for head in heads:
            head.kind = "outline"
        number_parts(heads)
        head = heads[0]
        members = [child for child in item.children if child.first_row > head.last]
        signatures = [signature(child, self.source.buffer) for child in members[:MAX_SIGNATURES]]
        head.extra = "".join(f"\n    {line}" for line in signatures)
        return pieces

    def parts(self, item: Definition, first: int, last: int) -> list[Piece]:
        """A long unit along its tree."""
        rows = split_rows(self.source, self.tree, first, last, self.settings)
        pieces = [Piece(item.kind, [item.name], item.container, start, end, is_fixed=True) for start, end in rows]
        number_parts(pieces)
        return pieces

    def between(self, first: int, last: int, items: list[Definition], owner: Definition | None) -> list[Piece]:
        """The lines that belong to no unit: imports and code, cut to size; inside a unit, its own lines."""
        is_head = owner is None and first == 0
        first, last = self.source.trimmed(first, last)
        if last < first:
            return []
        if owner is not None and owner.kind not in _TRANSPARENT:
            return [
                Piece(owner.kind, [owner.name], owner.container, start, end, is_fixed=True)
                for start, end in self.code_rows(first, last)
            ]
        container = owner.path if owner is not None else ""
        pieces = []
        for start, end, is_import in self._runs(first, last):
            for low, high in [(start, end)] if is_import else self.code_rows(start, end):
                minor = _minor_within(items, low, high)
                kind = minor[0].kind if len(minor) == 1 and not is_import else "code"
                names = [item.name for item in minor]
                # A lone import further down goes with the code beside it; those at the head stand alone however few they are.
                is_fixed = is_import and (is_head or self.source.tokens(low, high) > SLIVER_TOKENS)
                pieces.append(Piece(kind, names, container, low, high, is_fixed=is_fixed))
        if owner is not None and pieces and pieces[0].first <= owner.first_row <= pieces[0].last:
            pieces[0].kind, pieces[0].names, pieces[0].container = owner.kind, [owner.name], owner.container
        return pieces

    def code_rows(self, first: int, last: int) -> list[tuple[int, int]]:
        """The range as it is when it is small, else along the tree."""
        if self.source.tokens(first, last) <= CODE_TARGETS * self.settings.target_tokens:
            return [(first, last)]
        return split_rows(self.source, self.tree, first, last, self.settings, overlap=0)

    def _runs(self, first: int, last: int) -> list[tuple[int, int, bool]]:
        """The range as alternating stretches of imports and of other code."""
        if not self.settings.preserve_imports or not self.outline.imports:
            return [(first, last, False)]
        runs: list[tuple[int, int, bool]] = []
        cursor = first
        start = end = -1
        imports = self.outline.imports
        reach = slice(bisect_left(imports, (first, 0)), bisect_left(imports, (last + 1, 0)))
        for low, high in [*imports[reach], (last + 1, last + 1)]:
            if start >= 0 and low <= last and self._is_quiet(end + 1, low - 1):
                end = max(end, high)
                continue
            if start >= 0:
                if cursor < start:
                    runs.append((cursor, start - 1, False))
                runs.append((start, min(end, last), True))
                cursor = end + 1
            start, end = max(low, cursor), high
        if cursor <= last:
            runs.append((cursor, last, False))
        # A licence or a module's docstring in front of the imports stays with them when it is short.
        if len(runs) > 1 and not runs[0][2] and runs[1][2] and self._is_small(runs[0][0], runs[1][1]):
            runs[:2] = [(runs[0][0], runs[1][1], True)]
        return runs

    def _is_quiet(self, first: int, last: int) -> bool:
        """Only blank lines and comments."""
        found = first_leading_line(self.source, self.rules, self.outline.leads, last + 1, first, is_file_head=False)
        return all(self.source.is_blank(line) for line in range(first, found))

    def _is_small(self, first: int, last: int) -> bool:
        return self.source.tokens(first, last) <= self.settings.target_tokens

    def _is_closing(self, first: int, last: int) -> bool:
        """Only what closes brackets and blocks."""
        return last - first < UNIT_LINES and all(
            not text or (text[0] in "})]" and len(text) < _CLOSING_CHARS) or text.rstrip(";") == "end"
            for text in (line.strip() for line in self.source.lines[first : last + 1])
        )


def _minor_within(items: list[Definition], first: int, last: int) -> list[Definition]:
    """The small definitions in these lines; `items` are in order."""
    found = []
    for position in range(bisect_left(items, first, key=lambda item: item.first_row), len(items)):
        item = items[position]
        if item.first_row > last:
            break
        if item.kind in MINOR_KINDS and item.last_row <= last:
            found.append(item)
    return found


def lay_out(source: Source, tree: Tree, rules: Rules, outline: Outline, settings: ChunkingSettings) -> list[Piece]:
    """The pieces of a file, in order, covering every line that is not blank."""
    last = len(source.lines) - 1
    if source.tokens(0, last) <= settings.target_tokens and last < settings.max_unit_lines:
        units = [item for item in outline.roots if not item.is_minor] or outline.roots
        names = [item.name for item in units]
        kind = units[0].kind if len({item.kind for item in units}) == 1 else "code"
        container = units[0].container if len({item.container for item in units}) == 1 else ""
        return [Piece(kind, names, container, 0, last)]
    layout = _Layout(source, tree, rules, outline, settings)
    pieces = layout.level(outline.roots, 0, last, None, 0)
    return merge_small(source, pieces, settings.target_tokens)
