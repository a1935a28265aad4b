"""Makes a question out of a comment: markers and tags away, the first sentences, nothing that is not prose."""

from __future__ import annotations

import re

_MAX_CHARS = 240
_MIN_WORDS = 3
_NOT_PROSE = re.compile(
    r"copyright|licen[cs]e|all rights reserved|auto-?generated|do not edit|eslint|@ts-|prettier-ignore|pylint|noqa|inheritdoc|istanbul"
    r"|\bTODO\b|\bFIXME\b|\bXXX\b|=====|-----|\*\*\*\*\*|\bDEPRECATED\b|webpack|sourceMapping",
    re.IGNORECASE,
)
_QUOTES = re.compile(r'^[rRbBuUfF]*("""|\'\'\'|"|\'|~[sS]"""|\()|("""|\'\'\'|"|\'|\))$')
_MARKERS = re.compile(
    r"(?m)^[ \t]*(/\*+!?|\*+/|\*+|//+[!/]?|#+!?|--+[ \t]*[|^]?|;+|%+|\{-+\|?|\(\*+)[ \t]?|[ \t]*(\*+/|-\}|\*+\))[ \t]*$"
)
_TAG = re.compile(
    r"(?m)^[ \t]*([@\\](?!brief|summary|short|description|details|code|link)[a-z]+|:\w+[^:\n]*:"
    r"|(Args|Arguments|Parameters?|Returns?|Raises|Examples?|Usage|Notes?|References|See Also|Attributes|Yields|# \w+|Panics|Errors|Safety)"
    r"[ \t]*:?[ \t]*$|>>>|```|\.\. )"
)
_INLINE = re.compile(
    r"\{@\w+[ \t]+([^}]*)\}|`+([^`]*)`+|</?\w+[^>]*>|\[([^\]]*)\]\([^)]*\)"
    r"|[@\\](?:brief|summary|short|description|details)\b|:\w+:`?~?([\w.]*)`?"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\s*\n")


def clean_comment(comment: str) -> str:
    """The prose of a comment or docstring, up to its first tag or section."""
    text = _QUOTES.sub("", comment.strip())
    text = _MARKERS.sub("", text).strip()
    tag = _TAG.search(text)
    if tag is not None:
        text = text[: tag.start()]
    return _INLINE.sub(lambda found: next((group for group in found.groups() if group), " "), text).strip()


def first_words(prose: str, symbol: str) -> str:
    """The first sentence, with the second when the first is short; empty when this is no description in English words.

    A leading name of the thing itself (Go's style) is taken off, since it would answer the question.
    """
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE_END.split(prose)]
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        return ""
    text = sentences[0]
    if len(text) < 40 and len(sentences) > 1:
        text = f"{text} {sentences[1]}"
    if symbol and re.match(rf"{re.escape(symbol)}\b", text):
        text = text[len(symbol) :].lstrip(" :-(),.")
    words = re.findall(r"[A-Za-z]{2,}", text)
    letters = sum(character.isalpha() or character == " " for character in text)
    if len(words) < _MIN_WORDS or letters < 0.8 * len(text) or not text.isascii() or _NOT_PROSE.search(prose):
        return ""
    return text[:_MAX_CHARS].rstrip()
