"""What speaks for a candidate: every rule measures one thing, as a number between 0 and 1 (or a mark, 0 or 1).

Chunk signals belong to the chunk; file signals are the same for all chunks of a file. `weights` says what each is worth. The rules take
plain values and know no index, so each can be tried by hand.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mgrep_tui.retrieval import opposites, paths, words
from mgrep_tui.retrieval.forms import Asked
from mgrep_tui.retrieval.question import Question

CALLABLE = frozenset({"function", "method"})
TYPE = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "type", "outline", "module"})
PROSE = frozenset({"section"})
POSIX_PLATFORMS = frozenset({"posix", "linux", "apple", "bsd", "solaris", "aix", "android"})

CHUNK_SIGNALS = (
    "words",
    "body words",
    "name words",
    "meaning",
    "deep",
    "symbol",
    "symbol precise",
    "container",
    "definition",
    "callable",
    "type",
    "prose",
    "part",
    "length",
    "coverage",
    "agreement",
    "nameless",
)
FILE_SIGNALS = (
    "file words",
    "file meaning",
    "file names",
    "file deep",
    "file centre",
    "best rank",
    "stem",
    "stem precise",
    "folder",
    "file symbols",
    "symbol density",
    "named or defined",
    "named after",
    "size",
    "depth",
    "mentions",
    "test",
    "example",
    "bench",
    "old",
    "old version",
    "foreign",
    "vendor",
    "docs",
    "build",
    "config",
    "entry",
    "types",
    "header",
    "other platform",
    "core",
    "opposite",
    "whole file",
)
SIGNALS = CHUNK_SIGNALS + FILE_SIGNALS
_INDEX = {name: place for place, name in enumerate(SIGNALS)}
_FILE_INDEX = {name: place for place, name in enumerate(FILE_SIGNALS)}
_ROLES = ("test", "example", "bench", "old", "vendor", "docs", "build", "config", "entry", "types", "header")
_WISH_OF_ROLE = {
    "bench": "test",
    "test": "test",
    "example": "example",
    "old": "old",
    "docs": "docs",
    "build": "build",
    "config": "build",
}
_WISH_OF_ROLE |= {"types": "types", "header": "types", "vendor": "", "entry": ""}

# What a file's best chunks have together, by arm.
_SUMMED = (("words", "file words"), ("meaning", "file meaning"), ("name words", "file names"))
SUMMED = 8

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that might be the answer. Scores are as the arms gave them, 0 where an arm did not find it (`meaning`: None).

    `coverage` is the share of the question's stems that stand in the chunk, `file_centre` the cosine of the question and the mean of the
    file's vectors, `has_younger_twin` says that the path without its version folder is a file too, `copies` counts the equal files that
    were left out for this one.
    """

    chunk_id: int
    path: str
    kind: str
    symbol: str
    container: str
    first_line: int
    last_line: int
    part: int = 1
    parts: int = 1
    words: float = 0.0
    body_words: float = 0.0
    name_words: float = 0.0
    meaning: float | None = None
    coverage: float = 0.0
    file_centre: float | None = None
    file_chunks: int = 1
    is_test: bool = False
    has_younger_twin: bool = False
    copies: int = 0


def measure(
    question: Question, candidates: Sequence[Candidate], rarity: Mapping[str, float], mentions: Callable[[str], int]
) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """All signals of all candidates, shape (candidates, len(SIGNALS)), and the number of each candidate's file.

    `rarity` gives each stem of the question its weight (idf). `mentions` says in how many chunks a whole identifier stands.
    """
    files: dict[str, int] = {}
    file_of = np.fromiter((files.setdefault(c.path, len(files)) for c in candidates), np.int64, len(candidates))
    matrix = np.zeros((len(candidates), len(SIGNALS)), np.float32)
    if not candidates:
        return matrix, file_of

    def put(name: str, values: Sequence[float] | npt.NDArray[np.floating[Any]]) -> None:
        matrix[:, _INDEX[name]] = values

    count = len(candidates)
    every = [paths.facts(path) for path in files]
    asked = Asked(question.stems, rarity)
    met, precision = asked.met(
        [
            *(words_of(c.symbol) for c in candidates),
            *(words_of(c.container) for c in candidates),
            *(facts.stem_words for facts in every),
            *(facts.folder_words for facts in every),
            *(facts.parent_words for facts in every),
        ]
    )
    share = asked.share(met)
    put("words", _by_maximum([c.words for c in candidates]))
    put("body words", _by_maximum([c.body_words for c in candidates]))
    put("name words", _by_maximum([c.name_words for c in candidates]))
    put("meaning", _between([c.meaning for c in candidates]))
    put("symbol", share[:count])
    put("symbol precise", precision[:count])
    put("container", share[count : 2 * count])
    if question.names:
        exact = frozenset(name for c in candidates if c.symbol for name in c.symbol.split(", ")).intersection(
            question.names
        )
        put("definition", [defines(question, c.symbol, c.container, exact) for c in candidates])
    put("callable", [c.kind in CALLABLE for c in candidates])
    put("type", [c.kind in TYPE for c in candidates])
    put("prose", [c.kind in PROSE for c in candidates])
    put("part", [1.0 - 1.0 / c.part for c in candidates])
    put("length", [min(1.0, math.log1p(c.last_line - c.first_line) / 6.0) for c in candidates])
    put("coverage", [c.coverage for c in candidates])
    put("agreement", matrix[:, _INDEX["words"]] * matrix[:, _INDEX["meaning"]])
    put("nameless", [not c.symbol for c in candidates])

    # The candidates of each file side by side; `starts` is where each file's begin.
    order = np.argsort(file_of, kind="stable")
    sizes = np.bincount(file_of)
    starts = np.cumsum(sizes) - sizes
    firsts = [candidates[place] for place in order[starts].tolist()]
    per_file = np.array(_file_marks(question, list(files), every, firsts), np.float32)

    def put_file(name: str, values: Sequence[float] | npt.NDArray[np.floating[Any]]) -> None:
        per_file[:, _FILE_INDEX[name]] = values

    symbols = np.maximum.reduceat(met[:count][order], starts)
    stems, folders, parents = (slice(2 * count + n * len(every), 2 * count + (n + 1) * len(every)) for n in range(3))
    put_file("stem", share[stems])
    put_file("stem precise", precision[stems])
    put_file("folder", share[folders])
    put_file("file symbols", asked.share(symbols))
    put_file("named or defined", asked.share(np.maximum(np.maximum(symbols, met[stems]), met[parents])))
    named = np.add.reduceat((met[:count].max(axis=1, initial=0.0) == 1.0)[order].astype(np.float64), starts)
    chunks = np.array([first.file_chunks for first in firsts])
    put_file("symbol density", np.minimum(1.0, named / np.maximum(1, chunks)))
    put_file("file centre", _between([c.file_centre for c in candidates])[order[starts]])
    ranks = np.empty(count, np.int64)
    ranks[np.argsort(-matrix[:, _INDEX["words"]], kind="stable")] = np.arange(count)
    put_file("best rank", 1.0 / (1.0 + np.minimum.reduceat(ranks[order], starts)))
    put_file("mentions", [min(1.0, math.log1p(mentions(facts.stem)) / 8.0) for facts in every])
    for arm, name in _SUMMED:
        put_file(name, _by_maximum(_summed(matrix[:, _INDEX[arm]], file_of, starts)))
    matrix[:, len(CHUNK_SIGNALS) :] = per_file[file_of]
    return matrix, file_of


def _summed(values: npt.NDArray[np.float32], file_of: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> Matrix:
    """What the best `SUMMED` chunks of each file have together."""
    order = np.lexsort((-values, file_of))
    counts = np.where(np.arange(len(values)) - starts[file_of[order]] < SUMMED, values[order], np.float32(0))
    summed: Matrix = np.add.reduceat(counts, starts)
    return summed


def add_deep(matrix: Matrix, file_of: npt.NDArray[np.int64], cosines: Sequence[float]) -> None:
    """Fill in what the deep model says: each chunk's cosine from the lowest to the highest, and the best one of its file."""
    deep = _between(list(cosines))
    matrix[:, _INDEX["deep"]] = deep
    for number in np.unique(file_of):
        own = file_of == number
        matrix[own, _INDEX["file deep"]] = float(deep[own].max())


def _file_marks(
    question: Question, files: Sequence[str], every: Sequence[paths.PathFacts], firsts: Sequence[Candidate]
) -> list[list[float]]:
    """What a file's place and size alone say, a row of `FILE_SIGNALS` a file, 0 for the others; `firsts` has one candidate of each."""
    old = paths.old_versions(list(files))
    sides = opposites.sides_of(question.stems)
    roles = [role for role in _ROLES if _WISH_OF_ROLE[role] not in question.wishes]
    rows = []
    for path, facts, first in zip(files, every, firsts, strict=True):
        row = [0.0] * len(FILE_SIGNALS)
        for role in roles:
            if role in facts.roles or (role == "test" and first.is_test):
                row[_FILE_INDEX[role]] = 1.0
        is_old = path in old or first.has_younger_twin
        row[_FILE_INDEX["old version"]] = float(is_old and not _asks_version(question, path))
        row[_FILE_INDEX["foreign"]] = float(is_foreign(question, facts))
        row[_FILE_INDEX["other platform"]] = float(is_other_platform(question, facts))
        row[_FILE_INDEX["named after"]] = max((is_named_after(facts, name) for name in question.names), default=0.0)
        row[_FILE_INDEX["opposite"]] = float(
            bool(sides) and opposites.opposes(sides, (*facts.stem_words, *facts.folder_words))
        )
        row[_FILE_INDEX["core"]] = float(facts.is_core)
        row[_FILE_INDEX["size"]] = min(1.0, math.log1p(first.file_chunks) / 5.0)
        row[_FILE_INDEX["depth"]] = min(1.0, facts.depth / 8.0)
        row[_FILE_INDEX["whole file"]] = float(first.file_chunks == 1)
        rows.append(row)
    return rows


def words_of(text: str) -> tuple[str, ...]:
    """The distinct stems of a name, kept: the same names come again with every key."""
    known = _WORDS.get(text)
    if known is None:
        if len(_WORDS) > 200_000:
            _WORDS.clear()
        known = _WORDS[text] = tuple(dict.fromkeys(words.stems(text)))
    return known


_WORDS: dict[str, tuple[str, ...]] = {}


def defines(question: Question, symbol: str, container: str, exact: frozenset[str] = frozenset()) -> float:
    """1 when the chunk defines the name asked for in its very case, .8 in another case, .6 of that for a name inside a sentence.

    Where the very name (one of `exact`) is defined elsewhere, another case of it is another thing, and counts half.
    """
    if not symbol or not question.names:
        return 0.0
    best = 0.0
    defined = symbol.split(", ")  # small neighbours share a chunk
    folded = {name.lower() for name in defined}
    for name in question.names:
        if name in defined:
            value = 1.0
        elif name.lower() in folded:
            value = 0.4 if name in exact else 0.8
        else:
            continue
        if question.qualifiers and not any(q.lower() in container.lower() for q in question.qualifiers):
            value *= 0.8
        best = max(best, value)
    return best if question.is_symbol_like else 0.6 * best


def is_named_after(facts: paths.PathFacts, name: str) -> float:
    """1 when the file's stem is this name, whatever the case, the separators and the number (`Options.hs` for `Option`)."""
    return float(tuple(sorted(facts.stem_words)) == tuple(sorted(words_of(name))))


def is_other_platform(question: Question, facts: paths.PathFacts) -> bool:
    """Whether the question names platforms and the path others. A posix file serves all its kinds but Windows."""
    if not question.platforms or not facts.platforms:
        return False
    asked = set(question.platforms)
    if asked & POSIX_PLATFORMS:
        asked.add("posix")
    return not asked & facts.platforms


def is_foreign(question: Question, facts: paths.PathFacts, home: str = os.name) -> bool:
    """Whether the path is of the other family of systems (`nt` or `posix`) than this machine's and the question names no platform."""
    if question.platforms:
        return False
    posix = bool(facts.platforms & POSIX_PLATFORMS)
    windows = "windows" in facts.platforms
    return (windows and not posix) if home == "posix" else (posix and not windows)


def _asks_version(question: Question, path: str) -> bool:
    version = paths.facts(path).version
    return version is not None and version[1] in question.versions


def _by_maximum(scores: Sequence[float] | Matrix) -> npt.NDArray[np.float64]:
    values = np.array(scores, np.float64)
    top = float(values.max(initial=0.0))
    return values / top if top > 0 else values


def _between(scores: Sequence[float | None]) -> npt.NDArray[np.float64]:
    """Minimum to maximum as 0 to 1; what has no score yet stands in the middle of the others."""
    known = [score for score in scores if score is not None]
    if not known:
        return np.zeros(len(scores))
    low, high, middle = min(known), max(known), float(np.median(known))
    spread = (high - low) or 1.0
    return np.array([((middle if score is None else score) - low) / spread for score in scores])
