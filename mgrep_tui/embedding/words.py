"""How text becomes words: identifiers split at case, underscore and digits, lower-cased, in NFC, in any script."""

from __future__ import annotations

import re
import unicodedata

# A word with its underscores; marks belong to it, so that scripts with combining vowels are not cut inside a syllable.
IDENTIFIER = re.compile(r"[\w\u0300-\u036f\u0900-\u0963\u0e31-\u0e4e\u3099\u309a]+")
_ASCII_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

MAX_WORD_CHARS = 48  # longer ones are hashes, base64 and the like; their start is enough
MAX_DIGITS = 4  # longer numbers say nothing about meaning


def normalise(text: str) -> str:
    """NFC, at no cost for ASCII."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def split_identifier(identifier: str) -> list[str]:
    """The lower-case words of an identifier or a path: `parseHTTPHeaders_v2` gives parse, http, headers, v, 2."""
    if identifier.isascii():
        parts = _ASCII_PARTS.findall(identifier)
    else:
        parts = [part for run in IDENTIFIER.findall(normalise(identifier)) for part in _split_at_case(run)]
    return [part[:MAX_WORD_CHARS].lower() for part in parts if len(part) <= MAX_DIGITS or not part.isdigit()]


def _split_at_case(run: str) -> list[str]:
    """The parts of one run of word characters in any script, cut where `_ASCII_PARTS` would cut."""
    parts: list[str] = []
    start = 0
    for i in range(1, len(run)):
        before, here = run[i - 1], run[i]
        is_cut = (
            here == "_"
            or before == "_"
            or before.isdigit() != here.isdigit()
            or (here.isupper() and (before.islower() or (i + 1 < len(run) and run[i + 1].islower())))
        )
        if is_cut:
            parts.append(run[start:i])
            start = i
    parts.append(run[start:])
    return [part for part in (part.strip("_") for part in parts) if part]
