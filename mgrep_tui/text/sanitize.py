"""Makes text from outside safe for a terminal: every character that could steer it, hide or reorder text becomes one visible stand-in.

Replaced are C0 controls but the tab, DEL, C1, line and paragraph separators, bidirectional controls, zero-width and other invisible
characters (variation selectors and tags among them: they have been used to hide code), and lone surrogates. Each becomes exactly one
character that takes one cell, so offsets into the text stay right. Combining marks that belong to a script stay.
"""

from __future__ import annotations

import re

# Visible, one cell wide in every terminal, and in the fonts that terminals use.
_INVISIBLE = "⋅"
_DIRECTION = "⇄"
_LINE_END = "⏎"
_UNKNOWN = "\ufffd"

_DIRECTION_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINE_SEPARATORS = "\u2028\u2029"
# Default-ignorable and other characters that draw nothing: soft hyphen, joiners, Hangul and Khmer fillers, Mongolian selectors, word
# joiner and invisible operators, variation selectors, byte order mark, annotation, hieroglyph, shorthand and musical controls, tags.
_INVISIBLES = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0a-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"

_UNSAFE = re.compile(f"[{_CONTROLS}{_INVISIBLES}{_DIRECTION_CONTROLS}{_LINE_SEPARATORS}{_SURROGATES}]")
_IS_DIRECTION = re.compile(f"[{_DIRECTION_CONTROLS}]")
_IS_INVISIBLE = re.compile(f"[{_INVISIBLES}]")


def _stand_in(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the picture of that control: ␀ to ␟
    if code == 0x7F:
        return "␡"
    if character in _LINE_SEPARATORS:
        return _LINE_END
    if _IS_DIRECTION.match(character):
        return _DIRECTION
    if _IS_INVISIBLE.match(character):
        return _INVISIBLE
    return _UNKNOWN


def is_clean(text: str) -> bool:
    """Whether `sanitize` would leave `text` as it is."""
    return _UNSAFE.search(text) is None


def sanitize(text: str) -> str:
    """`text` with every unsafe character replaced by one visible one-cell character; the length is kept, tabs stay.

    Line feeds are replaced too: split into lines before. Searching first keeps the common case, clean text, at about a millisecond per
    200 kB.
    """
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(_stand_in, text)


def display_path(path: bytes) -> str:
    """A path as a person sees it: bytes that are not UTF-8 as `\\xe9`, unsafe characters and tabs replaced. For display only."""
    return sanitize(path.decode("utf-8", "backslashreplace")).replace("\t", "␉")
