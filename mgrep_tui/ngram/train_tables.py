"""Make `tables.bin` from the source trees that are named on the command line: `python -m mgrep_tui.ngram.train_tables TREE …`

Weights: bigrams of the folded text, ranked by how often they occur, the most frequent lightest, so that grams begin and end at rare
bigrams. The trees only decide how good the grams are, never whether an answer is right.

Folds: characters are equal when any of Python's simple case mappings or one of the engines joins them (each knows another version of
Unicode). This is coarser than Unicode's simple case folding (it also joins the dotted and dotless i), and coarser is always sound: it
can only add candidates.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterable

import numpy as np
import re2
import regex

from mgrep_tui.ngram.kernels import fold
from mgrep_tui.ngram.tables import BIGRAMS, TABLES_PATH, pack

_MAX_FILE_BYTES = 1 << 20
_UNCASED = range(0x3400, 0xA000), range(0xAC00, 0xE000), range(0xE000, 0xF900)
_LAST_CASED = 0x20000

Join = Callable[[int, int], None]


def cased_range() -> list[int]:
    """All characters that can have case: without ideographs, syllables of Hangul, surrogates, private use and the upper planes."""
    return [char for char in range(_LAST_CASED) if not any(char in spared for spared in _UNCASED)]


def join_python(join: Join) -> None:
    for char in cased_range():
        text = chr(char)
        for other in (text.lower(), text.upper(), text.title(), text.casefold()):
            if len(other) == 1 and other != text:
                join(char, ord(other))


def join_re2(join: Join) -> None:
    """What RE2 finds when it looks for each character without regard to case in a text of all; 10 s."""
    options = re2.Options()
    options.log_errors = False
    everything = "".join(map(chr, cased_range())).encode()
    for char in cased_range():
        for found in re2.compile(f"(?i)\\x{{{char:x}}}", options).findall(everything):
            join(char, ord(found.decode()))


def join_regex(join: Join) -> None:
    """The same for the backtracking engine; 60 s."""
    everything = "".join(map(chr, cased_range()))
    for char in cased_range():
        for found in regex.compile(regex.escape(chr(char)), regex.IGNORECASE).findall(everything):
            join(char, ord(found))


def equal_characters() -> dict[int, int]:
    """Each character that case joins to others, and the one that stands for them: the one with the shortest UTF-8, then the least."""
    parent: dict[int, int] = {}

    def root_of(char: int) -> int:
        while (up := parent.get(char, char)) != char:
            char = up
        return char

    def join(char: int, other: int) -> None:
        if char != other:
            parent.setdefault(char, char)
            parent.setdefault(other, other)
            parent[root_of(char)] = root_of(other)

    join_python(join)
    join_re2(join)
    join_regex(join)
    classes: dict[int, list[int]] = {}
    for char in parent:
        classes.setdefault(root_of(char), []).append(char)
    folds: dict[int, int] = {}
    for members in classes.values():
        letters = [char for char in members if ord("a") <= char <= ord("z")]
        chosen = letters[0] if letters else min(members, key=lambda char: (len(chr(char).encode()), char))
        folds.update((char, chosen) for char in members if char != chosen)
    return folds


def dense(folds: dict[int, int]) -> np.ndarray:
    """The folds as an array to be indexed by character."""
    table = np.arange(max(folds) + 1, dtype=np.uint32)
    table[list(folds)] = list(folds.values())
    return table


def count_bigrams(trees: Iterable[str], folds: np.ndarray) -> np.ndarray:
    """How often each bigram occurs in the text files under `trees`, hidden folders left out."""
    counts = np.zeros(BIGRAMS, np.int64)
    for tree in trees:
        for folder, folders, names in os.walk(tree):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.islink(path) or not 1 < os.path.getsize(path) <= _MAX_FILE_BYTES:
                    continue
                with open(path, "rb") as file:
                    text = file.read()
                if b"\0" in text[:8192]:
                    continue
                folded = np.empty(len(text), np.uint8)
                size = fold(np.frombuffer(text, np.uint8), 0, len(text), folds, folded)
                pairs = folded[: size - 1].astype(np.uint32) << 8 | folded[1:size]
                counts += np.bincount(pairs, minlength=BIGRAMS)
    return counts


def rank(counts: np.ndarray) -> bytes:
    """The weights: 65,535 for the rarest. Equal counts (most bigrams never occur) are ordered by a hash, so that they lie spread out."""
    spread = np.array([zlib.crc32(bytes(divmod(pair, 256))) for pair in range(BIGRAMS)], np.uint32)
    weights = np.empty(BIGRAMS, np.uint16)
    weights[np.lexsort((spread, -counts))] = np.arange(BIGRAMS)
    return weights.astype("<u2").tobytes()


def main(trees: list[str]) -> int:
    if not trees:
        print(__doc__, file=sys.stderr)
        return 2
    folds = equal_characters()
    counts = count_bigrams(trees, dense(folds))
    content = pack(rank(counts), folds)
    TABLES_PATH.write_bytes(content)
    print(
        f"{int(counts.sum()):,} bigrams of {np.count_nonzero(counts):,} kinds, {len(folds):,} folds, {len(content):,} bytes"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
