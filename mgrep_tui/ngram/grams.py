"""What the grams of a text are, in plain Python: the query side uses it as it is, and the compiled kernel must equal it.

A text is folded first (see `fold`). The bigram at i is the bytes i and i + 1; w[i] is its weight. For i < j the bytes i … j + 1
are a gram when

    min(w[i], w[j]) > max(w[i + 1 … j - 1])    (always true for j = i + 1, the trigram)
    it has at most `CAP` bytes, and none of them is a newline.

Whether some bytes are a gram depends on these bytes alone, so each gram of a literal is a gram of every text that holds the literal.
The definition is that of GitHub's code search ("The technology behind GitHub's new code search", 2023).
"""

from __future__ import annotations

from collections.abc import Iterator

from mgrep_tui.ngram.tables import tables

CAP = 6
"""Longest gram in bytes. Measured together with the size of blocks, on Linux: 8 with blocks of 16 KB takes as much room as 6 with blocks
of 6 KB, which leave as many files and half the bytes to read."""

KEY_BITS = 24
"""Bits of a gram's key. Two grams with one key make a superset of candidates, never a loss; 22 bits were measured to cost 0.3 % more
candidates on 1.3 GB than 32, and 24 bits let the build sort a bucket in one pass."""

MULTIPLIER = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4)."""

_MASK64 = (1 << 64) - 1
_NEWLINE = 10


def key_of(gram: bytes) -> int:
    """The key of a gram of at most 8 bytes: the top `KEY_BITS` bits of its big-endian number times `MULTIPLIER`."""
    return ((int.from_bytes(gram, "big") * MULTIPLIER) & _MASK64) >> (64 - KEY_BITS)


def fold_text(text: str) -> bytes:
    """The folded UTF-8 of a literal; raises `UnicodeEncodeError` for a surrogate."""
    return text.translate(tables().folds).encode()


def fold(text: bytes) -> bytes:
    """The folded form of a file's bytes: each well-formed character becomes the one that its case variants share, each other byte stays."""
    folds = tables().folds
    out = bytearray()
    at = 0
    while at < len(text):
        length, char = _char_at(text, at)
        folded = folds.get(char)
        if folded is None:
            out += text[at : at + 1]
            at += 1
        else:
            out += chr(folded).encode()
            at += length
    return bytes(out)


def _char_at(text: bytes, at: int) -> tuple[int, int]:
    """Length and number of the shortest-form UTF-8 character at `at`; (1, the byte itself or -1) where there is none."""
    lead = text[at]
    if lead < 0x80:
        return 1, lead
    length = 2 if 0xC2 <= lead <= 0xDF else 3 if 0xE0 <= lead <= 0xEF else 4 if 0xF0 <= lead <= 0xF4 else 0
    rest = text[at + 1 : at + length]
    if not length or len(rest) < length - 1 or any(byte & 0xC0 != 0x80 for byte in rest):
        return 1, -1
    char = lead & (0x7F >> length)
    for byte in rest:
        char = char << 6 | byte & 0x3F
    return (length, char) if char >= (0, 0, 0x80, 0x800, 0x10000)[length] else (1, -1)


def spans_of(folded: bytes) -> Iterator[tuple[int, int]]:
    """The half-open byte ranges of all grams of a folded text, by ascending end and then descending start."""
    weights = tables().weights
    stack: list[tuple[int, int]] = []
    for at in range(len(folded) - 1):
        first, second = folded[at], folded[at + 1]
        if first == _NEWLINE or second == _NEWLINE:
            stack.clear()
            continue
        weight = weights[first << 8 | second]
        end = at + 2
        while stack:
            start, other = stack[-1]
            if end - start > CAP:
                stack.clear()
                break
            yield start, end
            if other > weight:
                break
            stack.pop()
            if other == weight:
                break
        stack.append((at, weight))


def grams_of(folded: bytes) -> set[bytes]:
    """All grams of a folded text."""
    return {folded[start:end] for start, end in spans_of(folded)}


def maximal_grams(folded: bytes) -> list[bytes]:
    """The grams of a folded literal that no other gram of it contains, each once, in the order of the text.

    A block that holds a gram holds all grams inside it, so these say as much as all grams do, with three to four times fewer lookups.
    """
    ranges = sorted(spans_of(folded), key=lambda span: (span[0], -span[1]))
    found: dict[bytes, None] = {}
    reach = 0
    for start, end in ranges:
        if end > reach:
            found[folded[start:end]] = None
            reach = end
    return list(found)
