"""Which files and chunks a query lets through: the filters as a tree, and the facts that they look at.

A filter that asks for something unknown (a symbol when only the file is at hand, a text that was not read yet) neither accepts nor
refuses; what stays unknown in the end is let through. So a file is only left out when none of its chunks can be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mgrep_tui.search.globs import path_test

CLASS_KINDS = frozenset(
    {"class", "interface", "struct", "enum", "trait", "impl", "object", "module", "type", "outline"}
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file. `path` is relative to the root; `language` is canonical, "" when unknown."""

    path: bytes
    language: str = ""
    is_dirty: bool = False  # differs from the commit, untracked files included
    is_untracked: bool = False
    is_test: bool = False
    is_generated: bool = False
    is_vendored: bool = False


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """What is known of a chunk; `text` is None as long as it was not read."""

    file: FileFacts
    kind: str = ""
    symbol: str = ""
    container: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """`lang:`; `names` are the canonical languages that `value` stands for."""

    value: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class PathLike:
    """`path:`. With a `prefix`, the path counts as it is and with the prefix before it: among several roots both are meant."""

    value: str
    prefix: bytes = b""


@dataclass(frozen=True, slots=True)
class Repository:
    """`repo:`. Which root it means is decided before the search (see `scope`); where it was not, it lets everything through."""

    value: str


@dataclass(frozen=True, slots=True)
class Below:
    """A folder, with a slash at its end, and everything in it. It cannot be typed."""

    folder: bytes


@dataclass(frozen=True, slots=True)
class SymbolLike:
    """`sym:`, a part of the symbol's name; with a dot, of its name with its containers."""

    value: str


@dataclass(frozen=True, slots=True)
class ClassLike:
    """`class:`, a part of the name of the class itself or of one around it."""

    value: str


@dataclass(frozen=True, slots=True)
class KindIs:
    """`kind:`"""

    value: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Is:
    """`is:`, one of dirty, untracked, test, generated, vendored."""

    value: str


@dataclass(frozen=True, slots=True)
class HasText:
    """A quoted text or `/pattern/` of semantic mode, which a chunk must hold. `found` tells whether a text does, `lines` where: the numbers
    of the lines that match, with the matches in them as pairs of characters."""

    value: str
    is_pattern: bool
    found: Callable[[str], bool] = field(compare=False, repr=False)
    lines: Callable[[str], list[tuple[int, list[tuple[int, int]]]]] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HasWord:
    """The word of `-word` in semantic mode."""

    value: str
    found: Callable[[str], bool] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    inner: Condition


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...]


Leaf = Language | PathLike | Repository | Below | SymbolLike | ClassLike | KindIs | Is | HasText | HasWord
Condition = Leaf | Not | And | Or

NOTHING = And(())


@dataclass(frozen=True)
class Filters:
    """A query's conditions; `NOTHING` (the default) accepts everything. Its methods are pure and may be called from any thread."""

    condition: Condition = NOTHING

    def __bool__(self) -> bool:
        return self.condition != NOTHING

    def accepts_file(self, file: FileFacts) -> bool:
        """False when nothing in that file can be meant."""
        return _judge(self.condition, file, None) is not False

    def accepts_chunk(self, chunk: ChunkFacts) -> bool:
        """False when that chunk is not meant. Without its text, texts and patterns count as there; see `needs_text`."""
        return _judge(self.condition, chunk.file, chunk) is not False

    @cached_property
    def needs_text(self) -> bool:
        """Whether a chunk's text has a say."""
        return any(isinstance(leaf, HasText | HasWord) for leaf in leaves(self.condition))

    @cached_property
    def asked_texts(self) -> tuple[HasText, ...]:
        """The texts and patterns that are asked for; those that are denied are not among them."""
        return tuple(_asked_texts(self.condition))

    @cached_property
    def needs_chunk(self) -> bool:
        """Whether symbol, class or kind have a say."""
        return any(isinstance(leaf, SymbolLike | ClassLike | KindIs) for leaf in leaves(self.condition))

    @cached_property
    def denies_names(self) -> bool:
        """Whether some symbol, class or kind must not be there."""
        return _denies_names(self.condition)

    @cached_property
    def needs_git(self) -> bool:
        """Whether it counts what git says of a file."""
        return any(isinstance(leaf, Is) and leaf.value in ("dirty", "untracked") for leaf in leaves(self.condition))


EVERYTHING = Filters()


def leaves(condition: Condition) -> Iterator[Leaf]:
    """The conditions without their connectives, from left to right."""
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from leaves(part)
    elif isinstance(condition, Not):
        yield from leaves(condition.inner)
    else:
        yield condition


def _asked_texts(condition: Condition) -> Iterator[HasText]:
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _asked_texts(part)
    elif isinstance(condition, HasText):
        yield condition


def _denies_names(condition: Condition) -> bool:
    if isinstance(condition, And | Or):
        return any(map(_denies_names, condition.parts))
    return isinstance(condition, Not) and any(
        isinstance(leaf, SymbolLike | ClassLike | KindIs) for leaf in leaves(condition.inner)
    )


def _judge(condition: Condition, file: FileFacts, chunk: ChunkFacts | None) -> bool | None:
    """Kleene's three values: None is unknown."""
    match condition:
        case And(parts):
            verdicts = [_judge(part, file, chunk) for part in parts]
            return False if False in verdicts else None if None in verdicts else True
        case Or(parts):
            verdicts = [_judge(part, file, chunk) for part in parts]
            return True if True in verdicts else None if None in verdicts else False
        case Not(inner):
            verdict = _judge(inner, file, chunk)
            return None if verdict is None else not verdict
        case Language(_, names):
            return file.language in names
        case PathLike(value, prefix):
            is_meant = path_test(value)
            return is_meant(file.path) or (prefix != b"" and is_meant(prefix + file.path))
        case Below(folder):
            return file.path.startswith(folder)
        case Repository():
            return None
        case Is(value):
            return _is(value, file)
    if chunk is None:
        return None
    match condition:
        case SymbolLike(value):
            name = f"{chunk.container}.{chunk.symbol}" if "." in value and chunk.container else chunk.symbol
            return _is_part(value, name)
        case ClassLike(value):
            own = [chunk.symbol] if chunk.kind in CLASS_KINDS else []
            return any(_is_part(value, name) for name in [*chunk.container.split("."), *own])
        case KindIs(_, names):
            return chunk.kind in names
        case HasText() | HasWord():
            return None if chunk.text is None else condition.found(chunk.text)
    raise AssertionError(condition)


def _is_part(value: str, name: str) -> bool:
    if any(char.isupper() for char in value):
        return value in name
    return value in name.lower()


def _is(value: str, file: FileFacts) -> bool:
    match value:
        case "dirty":
            return file.is_dirty or file.is_untracked
        case "untracked":
            return file.is_untracked
        case "test":
            return file.is_test
        case "generated":
            return file.is_generated
        case _:
            return file.is_vendored
