"""Texts and patterns for the fuzz tests of the n-gram index, made from a random source so that a seed repeats them.

Patterns come from the texts (whole words, changed case, mutated) and from the grammar of the syntax; texts are made of few words and
letters, so that patterns match often and grams meet in many ways.
"""

from __future__ import annotations

import re
from random import Random

WORDS = [
    "foo", "bar", "foobar", "foo_bar", "needle", "kelvin", "\u212aelvin", "mask", "ma\u017f\u212a", "class", "Class", "return", "self",
    "if (x)",
    "->", "::", "{}", "0x1f", "é", "É", "école", "ÉCOLE", "привет", "ПРИВЕТ", "Straße", "STRASSE", "ẞ", "ſs", "İstanbul", "ısı", "ΣΑΣ",
    "σας",
    "ǆ", "ǅ", "漢字", "\U00010400", "\U00010428", "a", "b", "ab", "ba", "aab", "k", "s", "K", "S", "_", " ", "  ", "\t", ".", "(",
    ")", "[", "]",
    "{", "}", "*", "+", "?", "|", "^", "$", "\\", "µ", "μ", "Å", "\u212b", "å", "ﬅ", "ﬆ", "Ω", "\u2126", "ω", "1", "22", "-", "#", "\u00a0",
]  # fmt: skip
RAW = [
    b"\x00",
    b"\xff",
    b"\xe9",
    b"\xe2\x84",
    b"\xc5",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\x80",
    b"\r",
    b"\x0b",
    b"\x0c",
    b"\xe2\x80\xa8",
]
CLASSES = [
    "[ab]", "[a-c]", "[^a]", "[0-9]", "[0-9a-f]", "[ks]", "[KS]", "[éÉ]", "[α-ω]", "[a\\]b]", "[]a]", "[^]a]", "[\\w-]", "[[:alpha:]_]",
    "[.*]",
    "[\\x61k]", "[a-zA-Z_]", "[\\d.]", "[sſ]", "[-a]", "[a-]", "[\\n]", "[а-п]", "[\\pL]", "[{}]",
]  # fmt: skip
ATOMS = [
    ".", "\\w", "\\d", "\\s", "\\W", "\\D", "\\S", "\\pL", "\\p{Greek}", "\\PL", "\\x61", "\\x{212a}", "\\x{e9}", "\\t", "\\.", "\\(",
    "\\Qfoo_\\E",
    "\\Q.*\\E", "(?:)", "()",
]  # fmt: skip
PLACES = ["^", "$", "\\b", "\\B", "\\A", "\\z"]
QUANTIFIERS = ["?", "*", "+", "??", "*?", "+?", "{2}", "{1,2}", "{2,}", "{0,2}", "{0}", "{3}", "{1}", "{0,1}"]
AROUND = ["(?={})", "(?!{})", "(?<={})", "(?<!{})", "(?>{})", "({})\\1", "(?:{})++"]


def line(rng: Random) -> bytes:
    """One line without its end."""
    out = bytearray()
    for _ in range(rng.choice((0, 1, 2, 4, 8, 16))):
        if rng.random() < 0.06:
            out += rng.choice(RAW)
        elif rng.random() < 0.05:
            out += bytes(rng.choices(range(256), k=3)).replace(b"\n", b"")
        else:
            word = rng.choice(WORDS)
            out += (word.upper() if rng.random() < 0.1 else word).encode()
    return bytes(out)


def text(rng: Random, lines: int = 12) -> bytes:
    """The raw bytes of a file."""
    ending = b"\r\n" if rng.random() < 0.15 else b"\n"
    made = [line(rng) for _ in range(rng.randrange(lines + 1))]
    if made and rng.random() < 0.1:
        place = rng.randrange(len(made))
        made[place] = (made[place] + b" ") * rng.choice((20, 60, 150))
    whole = ending.join(made) + (ending if rng.random() < 0.8 else b"")
    kind = rng.random()
    if kind < 0.05:
        return b"\xef\xbb\xbf" + whole
    if kind < 0.1:
        mark, name = rng.choice([(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
        return mark + whole.decode("utf-8", "ignore").encode(name)
    return whole


def pattern(rng: Random, texts: list[bytes]) -> str:
    """A pattern in RE2's syntax, most of them valid."""
    kind = rng.random()
    if kind < 0.55:
        made = _from_text(rng, rng.choice(texts))
    else:
        made = _grammar(rng, rng.choice((0, 1, 2, 3)))
    if rng.random() < 0.3:
        made = "(?i)" + made
    return made


def backtracking_pattern(rng: Random, texts: list[bytes]) -> str:
    """A pattern with what only the backtracking engine knows."""
    made = pattern(rng, texts)
    flags = "(?i)" if made.startswith("(?i)") else ""
    part = rng.choice(AROUND).replace("{}", _grammar(rng, 1))
    body = made.removeprefix("(?i)")
    return flags + (part + body if rng.random() < 0.5 else body + part)


def unicode_classes(made: str) -> str:
    """The pattern with `\\w` and `\\d` outside of classes as Unicode means them: what is executed may say more than what is planned."""
    return re.sub(
        r"\\Q.*?\\E|\[\^?\]?(?:\\.|\[:|[^\]\\])*\]|\\([\s\S])",
        lambda found: {"w": r"[\pL\pM\pN_]", "d": r"\p{Nd}"}.get(found[1] or "", found[0]),
        made,
    )


def escape(literal: str) -> str:
    return "".join(
        "\\" + char if char.isascii() and not char.isalnum() and char not in "_ \n" else char for char in literal
    )


def _from_text(rng: Random, raw: bytes) -> str:
    decoded = raw.decode("utf-8", "replace").replace("\ufffd", "")
    lines = [found for found in decoded.split("\n") if found]
    if not lines:
        return _grammar(rng, 1)
    chosen = rng.choice(lines)
    size = rng.choice((1, 2, 3, 4, 6, 9, 14, 30))
    start = rng.randrange(max(1, len(chosen) - size))
    cut = chosen[start : start + size]
    if rng.random() < 0.2:
        cut = cut.swapcase()
    parts = [escape(char) for char in cut]
    if rng.random() < 0.1:
        return "\\Q" + cut.replace("\\E", "") + "\\E"
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        _mutate(rng, parts)
    made = "".join(parts)
    if rng.random() < 0.15:
        made = rng.choice(PLACES) + made
    if rng.random() < 0.15:
        made += rng.choice(PLACES)
    return made


def _mutate(rng: Random, parts: list[str]) -> None:
    place = rng.randrange(len(parts))
    kind = rng.randrange(9)
    if kind == 0:
        parts[place] = rng.choice(CLASSES)
    elif kind == 1:
        parts[place] += rng.choice(QUANTIFIERS)
    elif kind == 2:
        parts[place] = rng.choice(ATOMS)
    elif kind == 3:
        stop = min(len(parts), place + rng.randrange(1, 6))
        parts[place] = (
            "("
            + rng.choice(("", "?:", "?i:", "?P<n>"))
            + "".join(parts[place:stop])
            + ")"
            + rng.choice(["", *QUANTIFIERS])
        )
        del parts[place + 1 : stop]
    elif kind == 4:
        parts[place] = f"(?:{parts[place]}|{rng.choice(['', *map(escape, WORDS)])})"
    elif kind == 5:
        parts.insert(place, rng.choice([".*", "\\s*", "\\w+", ".", "(?i)", "(?s:.)", "\\b"]))
    elif kind == 6:
        del parts[place]
        parts.append("")
    elif kind == 7:
        parts.insert(place, escape(rng.choice(WORDS)))
    else:
        parts[place] = f"[{''.join(_in_class(part) for part in parts[place : place + 2])}]"


def _in_class(part: str) -> str:
    char = part[-1:]
    return "\\" + char if char in "\\]^-[" else char


def _grammar(rng: Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(
            (escape(rng.choice(WORDS)), escape(rng.choice(WORDS)), rng.choice(CLASSES), rng.choice(ATOMS))
        )
    parts = [_grammar(rng, depth - 1) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
    if rng.random() < 0.25:
        parts[rng.randrange(len(parts))] = rng.choice(PLACES)
    kind = rng.randrange(6)
    if kind == 0:
        return f"({rng.choice(('', '?:', '?i:', '?-i:', '?s:'))}{'|'.join(parts)})"
    if kind == 1:
        return f"(?:{''.join(parts)}){rng.choice(QUANTIFIERS)}"
    if kind == 2:
        return parts[0] + "".join(f"{part}{rng.choice(['', *QUANTIFIERS])}" for part in map(_wrapped, parts[1:]))
    if kind == 3:
        return "|".join(parts)
    return "".join(parts)


def _wrapped(part: str) -> str:
    return part if len(part) == 1 and part.isalnum() else f"(?:{part})"
