"""Pattern → what every matching text must hold: an AND/OR tree of folded literals.

The tree says less than the pattern, never more: where a construct is not understood the plan is `ALL` and everything is scanned. Since the
index folds case, `ignore_case` and inline flags change nothing. The construction is that of Russ Cox, "Regular Expression Matching with a
Trigram Index" (2012): each part of a pattern gives the set of all its texts while that is small, else sets of prefixes and of suffixes and
a tree for what lies between.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mgrep_tui.ngram.grams import fold_text
from mgrep_tui.ngram.syntax import Alternatives, Chars, Concat, Empty, Node, NotUnderstood, Repeat, Unknown, parse

MIN_LITERAL_BYTES = 3
"""A shorter literal has no gram."""

MAX_TEXTS = 64
"""More texts than this are not multiplied out: each costs lookups, and together they say little."""

MAX_TEXT_BYTES = 4096
"""Sum of the lengths of a set of texts; bounds the work for patterns such as `((a{99}){99}){99}`."""

MAX_PARTS = 48
"""More conditions than this narrow nothing further; those that say least are dropped."""

_MAX_COPIES = 32
_MAX_SPELLED_CHARS = 256


@dataclass(frozen=True, slots=True)
class Literal:
    """These folded bytes are somewhere in the folded text."""

    text: bytes


@dataclass(frozen=True, slots=True)
class And:
    """All of these hold; at least two."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of these holds at least; none: nothing can match."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Anything may match."""


Tree: TypeAlias = Literal | And | Or | All

ALL = All()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of the index. With `multiline` the parts of a match may lie in different blocks of a file."""

    tree: Tree
    multiline: bool = False

    @property
    def is_all(self) -> bool:
        """Whether every file has to be scanned."""
        return isinstance(self.tree, All)

    def literals(self) -> Iterator[bytes]:
        """All literals of the tree, left to right."""
        return literals_of(self.tree)


Texts: TypeAlias = frozenset[bytes]

_NOTHING: Texts = frozenset([b""])


@dataclass(frozen=True, slots=True)
class _Exact:
    """All texts that a part can match, folded."""

    texts: Texts


@dataclass(frozen=True, slots=True)
class _Open:
    """A part whose every match begins with one of `prefixes`, ends with one of `suffixes`, and lies in a text for which `tree` holds."""

    prefixes: Texts
    tree: Tree
    suffixes: Texts


_Fact: TypeAlias = _Exact | _Open

_EMPTY = _Exact(_NOTHING)
_ANYTHING = _Open(_NOTHING, ALL, _NOTHING)


@functools.lru_cache(maxsize=64)
def plan(pattern: str, *, ignore_case: bool = True, multiline: bool = False) -> Plan:
    """The plan of a pattern in RE2's syntax (or Rust's, or the backtracking engine's: what they do not share is `ALL`). Pure, never raises.

    `ignore_case` is accepted for the contract's sake; see above. About 0.1 ms for common patterns.
    """
    try:
        fact = _fact(parse(pattern))
    except NotUnderstood:
        return Plan(ALL, multiline)
    return Plan(_pruned(_tree_of(fact)), multiline)


def plan_literal(text: str, *, multiline: bool = False) -> Plan:
    """The plan of a text that is searched as it is."""
    try:
        return Plan(_any_of(frozenset([_folded(text)])), multiline)
    except NotUnderstood:
        return Plan(ALL, multiline)


def _fact(node: Node) -> _Fact:
    match node:
        case Empty():
            return _EMPTY
        case Unknown():
            return _ANYTHING
        case Chars(chars):
            return _Exact(frozenset(map(_folded, chars)))
        case Concat(parts):
            whole: _Fact = _EMPTY
            for part in _spelled(parts):
                whole = _join(whole, part)
            return whole
        case Alternatives(parts):
            return _either([_fact(part) for part in parts])
        case Repeat(part, least, most):
            return _repeated(_fact(part), least, most)
    raise AssertionError(node)


def _spelled(parts: tuple[Node, ...]) -> Iterator[_Fact]:
    """The facts of a sequence, single characters that follow each other as one text."""
    text = ""
    for part in parts:
        if isinstance(part, Chars) and len(part.chars) == 1 and len(text) < _MAX_SPELLED_CHARS:
            text += part.chars[0]
            continue
        if text:
            yield _Exact(frozenset([_folded(text)]))
            text = ""
        yield _fact(part)
    if text:
        yield _Exact(frozenset([_folded(text)]))


def _folded(text: str) -> bytes:
    if "\ufffd" in text:
        # An engine that works on decoded text lets it match invalid bytes.
        raise NotUnderstood
    try:
        return fold_text(text)
    except UnicodeEncodeError:
        raise NotUnderstood from None


def _join(left: _Fact, right: _Fact) -> _Fact:
    match left, right:
        case _Exact(ours), _Exact(theirs):
            texts = _product(ours, theirs)
            if texts is not None:
                return _Exact(texts)
            return _Open(ours, _any_of(theirs), theirs)
        case _Exact(ours), _Open(prefixes, tree, suffixes):
            texts = _product(ours, prefixes)
            if texts is not None:
                return _Open(texts, tree, suffixes)
            return _Open(ours, _all_of([_any_of(prefixes), tree]), suffixes)
        case _Open(prefixes, tree, suffixes), _Exact(theirs):
            texts = _product(suffixes, theirs)
            if texts is not None:
                return _Open(prefixes, tree, texts)
            return _Open(prefixes, _all_of([tree, _any_of(suffixes)]), theirs)
        case _Open(prefixes, tree, suffixes), _Open(others, other_tree, other_suffixes):
            texts = _product(suffixes, others)
            middle = _all_of([_any_of(suffixes), _any_of(others)]) if texts is None else _any_of(texts)
            return _Open(prefixes, _all_of([tree, middle, other_tree]), other_suffixes)
    raise AssertionError


def _product(left: Texts, right: Texts) -> Texts | None:
    """All texts of the one before all texts of the other, or None when that is too much."""
    count = len(left) * len(right)
    if count > MAX_TEXTS:
        return None
    if sum(map(len, left)) * len(right) + sum(map(len, right)) * len(left) > MAX_TEXT_BYTES:
        return None
    return frozenset(a + b for a in left for b in right)


def _either(facts: list[_Fact]) -> _Fact:
    if all(isinstance(fact, _Exact) for fact in facts):
        texts = frozenset[bytes]().union(*(fact.texts for fact in facts if isinstance(fact, _Exact)))
        if len(texts) <= MAX_TEXTS:
            return _Exact(texts)
    prefixes = frozenset[bytes]().union(*(fact.texts if isinstance(fact, _Exact) else fact.prefixes for fact in facts))
    suffixes = frozenset[bytes]().union(*(fact.texts if isinstance(fact, _Exact) else fact.suffixes for fact in facts))
    return _Open(_few(prefixes), _one_of([_tree_of(fact) for fact in facts]), _few(suffixes))


def _few(texts: Texts) -> Texts:
    return texts if len(texts) <= MAX_TEXTS and b"" not in texts else _NOTHING


def _repeated(fact: _Fact, least: int, most: int | None) -> _Fact:
    if least == 0:
        if most == 1 and isinstance(fact, _Exact) and len(fact.texts) < MAX_TEXTS:
            return _Exact(fact.texts | _NOTHING)
        return _EMPTY if most == 0 else _ANYTHING
    copies = _EMPTY if least > 1 else fact
    if least > 1:
        for _ in range(min(least, _MAX_COPIES)):
            copies = _join(copies, fact)
    if most == least <= _MAX_COPIES:
        return copies
    # The first copies, a gap, the last copies: they may be the same ones.
    return _Open(_beginnings(copies), _tree_of(copies), _endings(copies))


def _beginnings(fact: _Fact) -> Texts:
    return fact.texts if isinstance(fact, _Exact) else fact.prefixes


def _endings(fact: _Fact) -> Texts:
    return fact.texts if isinstance(fact, _Exact) else fact.suffixes


def _tree_of(fact: _Fact) -> Tree:
    match fact:
        case _Exact(texts):
            return _any_of(texts)
        case _Open(prefixes, tree, suffixes):
            return _all_of([_any_of(prefixes), tree, _any_of(suffixes)])


def _any_of(texts: Texts) -> Tree:
    """One of these texts occurs. A newline divides a text: grams never cross it."""
    return _one_of([_all_of([_literal(line) for line in text.split(b"\n")]) for text in _without_longer(texts)])


def _without_longer(texts: Texts) -> Iterable[bytes]:
    """Drop the texts that contain another one: where they occur, it does."""
    if not 1 < len(texts) <= 16:
        return sorted(texts)
    return [text for text in sorted(texts) if not any(other != text and other in text for other in texts)]


def _literal(text: bytes) -> Tree:
    return Literal(text) if len(text) >= MIN_LITERAL_BYTES else ALL


def _all_of(trees: Iterable[Tree]) -> Tree:
    parts: dict[Tree, None] = {}
    for tree in trees:
        if isinstance(tree, And):
            parts.update(dict.fromkeys(tree.parts))
        elif not isinstance(tree, All):
            parts[tree] = None
    if len(parts) > MAX_PARTS:
        said_most = set(sorted(parts, key=_says, reverse=True)[:MAX_PARTS])
        parts = dict.fromkeys(part for part in parts if part in said_most)
    return _and(tuple(parts))


def _and(parts: tuple[Tree, ...]) -> Tree:
    if not parts:
        return ALL
    return parts[0] if len(parts) == 1 else And(parts)


def _says(tree: Tree) -> int:
    """How much a part narrows, roughly: long literals most."""
    return len(tree.text) if isinstance(tree, Literal) else 0


def _pruned(tree: Tree) -> Tree:
    """The tree without literals that lie inside a longer one beside them, which says more."""
    match tree:
        case And(parts):
            literals = [part.text for part in parts if isinstance(part, Literal)]
            kept = [
                _pruned(part)
                for part in parts
                if not isinstance(part, Literal)
                or not any(part.text in other and other != part.text for other in literals)
            ]
            return _and(tuple(kept))
        case Or(parts):
            return Or(tuple(map(_pruned, parts)))
        case _:
            return tree


def _one_of(trees: Iterable[Tree]) -> Tree:
    parts: dict[Tree, None] = {}
    for tree in trees:
        if isinstance(tree, All):
            return ALL
        if isinstance(tree, Or):
            parts.update(dict.fromkeys(tree.parts))
        else:
            parts[tree] = None
    return next(iter(parts)) if len(parts) == 1 else Or(tuple(parts))


def literals_of(tree: Tree) -> Iterator[bytes]:
    """All literals of a tree, left to right."""
    match tree:
        case Literal(text):
            yield text
        case And(parts) | Or(parts):
            for part in parts:
                yield from literals_of(part)
        case All():
            return
