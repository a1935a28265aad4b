r"""How good a matching line is.

The order is that of zoekt and Sourcegraph: a definition before a whole word before the edge of a word before a part of one. A file counts
as its best line, and more when its name matches; tests, generated and other people's files come last. Whether a line defines something is
told from the line itself, in the habits of many languages, so it needs no parse and works for a file that was saved a moment ago.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mgrep_tui.model import Signal

PART, EDGE, WORD = 1.0, 2.0, 4.0
DEFINITION, PART_OF_DEFINITION, ASSIGNMENT = 8.0, 4.0, 1.5
IN_NAME, IS_NAME = 1.5, 3.0
TEST, GENERATED, VENDORED, SQUEEZED = -3.0, -5.0, -5.0, -4.0
MAX_SPANS_LOOKED_AT = 4
LOOK_BACK_CHARS = 120
# The name in a definition never follows one of these; it spares most lines the patterns below.
_NO_DEFINITION_AFTER = frozenset("=,(+-<|?[{}\"'/;%^~$`")

# A match that holds the keyword and the beginning of the name.
_DEFINES_WITHIN = re.compile(
    r"(?:(?:export|pub|public|private|static|final|async|abstract)\s+)*"
    r"(?:def|class|func|fn|fun|function|struct|enum|interface|trait|impl|\#\s*define)\s+\w"
)
# What stands before a name that is being defined, up to the name itself.
_DEFINES = re.compile(
    r"(?:\b(?:def|class|func|fn|fun|function\*?|struct|enum|union|interface|trait|type|typedef|impl|mod|module|namespace|package|object|"
    r"protocol|extension|record|defmodule|defp|defmacro|sub|macro|macro_rules!|const|let|var|val|static|newtype|data|instance|"
    r"message|service|rpc|resource|local function|CREATE\s+(?:TABLE|VIEW|FUNCTION|INDEX))"
    r"|\#\s*define|@interface|@implementation)\s+(?:\([^)]*\)\s*|[*&]+|mut\s+|async\s+|[\w.]+\s*[.:]{1,2}\s*)?\Z",
)
# The words of `_DEFINES` that stand right before a name, and the signs that may stand between.
_BEFORE_NAMES_TEXT = (
    "def class func fn fun function struct enum union interface trait type typedef impl mod module namespace package object protocol"
    " extension record defmodule defp defmacro sub macro const let var val static newtype data instance message service rpc resource"
    " TABLE VIEW FUNCTION INDEX define mut async"
)
_BEFORE_NAMES = frozenset(_BEFORE_NAMES_TEXT.split())
_JOINTS = frozenset("*&.:)")
# A function of the C family: a type at the very start of the line, then the name, then a parenthesis, and no end of statement.
_RETURN_TYPE = re.compile(
    r"(?!return\b|else\b|case\b|goto\b|throw\b|new\b|delete\b|using\b)[A-Za-z_][\w\s*&:<>,~\[\]]*[\s*&:]\Z"
)
# A method in a class body of the C family.
_METHOD = re.compile(
    r"\s+(?:public|private|protected|internal|static|final|override|abstract|async|virtual|suspend|open)\b[\w\s*&:<>,\[\]?]*\s\Z"
)
_ASSIGNS = re.compile(r"\s*(?::\s*[\w.\[\], |]+\s*)?(?::=|=(?![=~>]))")
_MODIFIERS = re.compile(r"\s*(?:(?:export|pub|public|private|static|final|readonly|global)\s+)*\Z")


@dataclass(frozen=True, slots=True)
class LineRank:
    """What a line is worth, and why; its place in `RANKS`, by which rows name it."""

    number: int
    score: float
    signals: tuple[Signal, ...]


@dataclass(frozen=True, slots=True)
class FileRank:
    """What a file adds to each of its lines, and why."""

    score: float
    signals: tuple[Signal, ...]


Reasons = tuple[tuple[str, float], ...]
"""The signals of a `FileRank`, plain."""

_KINDS: Reasons = (("test", TEST), ("generated", GENERATED), ("vendored", VENDORED))
_BY_KINDS: dict[tuple[bool, ...], Reasons] = {
    kinds: tuple(itertools.compress(_KINDS, kinds)) for kinds in itertools.product((False, True), repeat=len(_KINDS))
}


RANKS: list[LineRank] = []


def _rank(*signals: tuple[str, float]) -> LineRank:
    score = sum(value for _, value in signals)
    rank = LineRank(len(RANKS), score, tuple(Signal(name, value) for name, value in signals))
    RANKS.append(rank)
    return rank


_BY_EDGES = (_rank(("part of a word", PART)), _rank(("edge of a word", EDGE)), _rank(("word", WORD)))
_DEFINITION_BY_EDGES = (
    _rank(("part of a word", PART), ("definition", PART_OF_DEFINITION)),
    _rank(("edge of a word", EDGE), ("definition", PART_OF_DEFINITION)),
    _rank(("word", WORD), ("definition", DEFINITION)),
)
DEFINED = _DEFINITION_BY_EDGES[2].number
"""The rank of a line that defines the very word that is looked for."""
_SQUEEZED = _rank(("part of a word", PART), ("very long line", SQUEEZED))
_ASSIGNED = _rank(("word", WORD), ("assignment", ASSIGNMENT))


def rank_line(text: str, spans: Sequence[tuple[int, int]], *, is_squeezed: bool = False) -> LineRank:
    """The rank of a line whose matches are at `spans` (characters, in order). Pure, about 1 µs.

    `is_squeezed` says that the text is a piece of a very long line.
    """
    if is_squeezed:
        return _SQUEEZED
    best = _BY_EDGES[0]
    for start, end in spans[:MAX_SPANS_LOOKED_AT]:
        found = _rank_span(text, start, end)
        if found.score > best.score:
            best = found
    return best


def _rank_span(text: str, start: int, end: int) -> LineRank:
    begin, finish = start, end
    if start >= end:
        return _BY_EDGES[0]
    if text[start].isspace() or text[end - 1].isspace():
        matched = text[start:end]
        begin += len(matched) - len(matched.lstrip())
        finish -= len(matched) - len(matched.rstrip())
        if begin >= finish:
            return _BY_EDGES[0]
    edges = _is_edge(text, begin) + _is_edge(text, finish)
    before = text[max(0, begin - LOOK_BACK_CHARS) : begin]
    bare = before.rstrip()
    if not bare:
        # The match may hold the keyword itself: `def \w+_handler`.
        if _DEFINES_WITHIN.match(text, begin, finish):
            return _DEFINITION_BY_EDGES[edges]
    elif bare[-1] not in _NO_DEFINITION_AFTER:
        if _may_define(before, bare) and _DEFINES.search(before):
            return _DEFINITION_BY_EDGES[edges]
        if text[finish : finish + 1] == "(" and begin < LOOK_BACK_CHARS and _opens_body(text, before):
            return _DEFINITION_BY_EDGES[edges]
    if edges == 2 and "=" in text[finish:] and _ASSIGNS.match(text, finish) and _MODIFIERS.match(before):
        return _ASSIGNED
    return _BY_EDGES[edges]


def _may_define(before: str, bare: str) -> bool:
    """Whether `_DEFINES` can match, told from the last word alone, which spares most lines a search of some microseconds."""
    if len(bare) == len(before):
        return bare[-1] in _JOINTS
    last = bare.rsplit(None, 1)[-1]
    return not last.isidentifier() or last in _BEFORE_NAMES


def _opens_body(text: str, before: str) -> bool:
    """Whether a name and its parenthesis begin a function in the manner of C, not a call or a declaration."""
    if "=" in before or text.rstrip().endswith((";", ",")):
        return False
    return _RETURN_TYPE.match(before) is not None or _METHOD.match(before) is not None


def _is_edge(text: str, place: int) -> bool:
    """Whether a word begins or ends here."""
    if place == 0 or place == len(text):
        return True
    left, right = text[place - 1], text[place]
    return not ((left.isalnum() or left == "_") and (right.isalnum() or right == "_"))


def rank_file(path: bytes, kinds: tuple[bool, bool, bool], *, matches_path: bool, matched: str) -> Reasons:
    """What is said of the file by its path. `kinds` says whether it is a test, generated, vendored; `matched` is the text of its first
    match."""
    reasons = _BY_KINDS[kinds]
    name = path[path.rfind(b"/") + 1 :].partition(b".")[0]
    if len(matched) == len(name) and name.lower() == matched.lower().encode("utf-8", "replace"):
        return (("file name", IS_NAME), *reasons)
    return (("path", IN_NAME), *reasons) if matches_path else reasons


@functools.lru_cache(maxsize=256)
def file_rank(reasons: Reasons) -> FileRank:
    """The rank with its reasons, of which there are a few dozen different ones."""
    return FileRank(sum(value for _, value in reasons), tuple(Signal(name, value) for name, value in reasons))
