"""Our plan of a pattern as a condition on the engine's text index: true for every block that can hold a match, and for some others.

`hasAllTokens` cuts a literal into the grams of the index, all its runs of four characters, each of which every text with that literal has.
That holds for UTF-8, which the indexed form of every block is; of a shorter literal nothing is asked.
"""

from __future__ import annotations

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.schema import FOLDED, GRAM_CHARS
from mgrep_tui.ngram.plan import All, And, Literal, Or, Plan, Tree

MOST_LITERAL_CHARS = 512
"""Of a longer literal its beginning says enough."""
MOST_LITERALS = 64
"""Each is a lookup; a pattern with more of them is asked for nothing rather than for part of them."""


def block_condition(plan: Plan, bound: Bound) -> str:
    """What a block must hold; empty when it can be any. Only for matches within one line."""
    return _simple(_condition(plan.tree, bound))


def content_condition(plan: Plan, bound: Bound) -> str:
    """What must stand somewhere in a content, in whichever of its blocks: a condition on the rows of `blocks` grouped by content.

    Empty when it can be anything.
    """
    return _simple(_condition(plan.tree, bound, whole=True))


def _simple(sql: str | None) -> str:
    return sql or ""


def _condition(tree: Tree, bound: Bound, *, whole: bool = False) -> str | None:
    """None where anything may match."""
    match tree:
        case Literal(text):
            return _literal(text, bound, whole)
        case And(parts):
            found = [sql for part in parts[:MOST_LITERALS] if (sql := _condition(part, bound, whole=whole)) is not None]
            return None if not found else found[0] if len(found) == 1 else "(" + " AND ".join(found) + ")"
        case Or(parts):
            if len(parts) > MOST_LITERALS:
                return None
            every = [_condition(part, bound, whole=whole) for part in parts]
            known = [sql for sql in every if sql is not None]
            if len(known) < len(every):
                return None
            return "0" if not known else known[0] if len(known) == 1 else "(" + " OR ".join(known) + ")"
        case All():
            return None
    raise AssertionError(tree)


def _literal(text: bytes, bound: Bound, whole: bool) -> str | None:
    try:
        literal = text.decode("utf-8")
    except UnicodeDecodeError:
        return None  # cut inside a character
    if len(literal) < GRAM_CHARS:
        return None
    test = f"hasAllTokens({FOLDED}, {bound.text(literal[:MOST_LITERAL_CHARS])})"
    return f"countIf({test}) > 0" if whole else test
