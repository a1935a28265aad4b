"""How text becomes search words: identifiers split, lower case, stemmed; in any script.

The splitting runs inside tantivy (Python took 28 s for 160 MB of C): a regex tokenizer cuts `getUserName2` into get, user, name, 2. Its
regex dialect has no look-ahead, so the one border that needs it, the end of an acronym (`HTTPServer`), is marked beforehand by `spaced`.
The same analyzer reads the query, so both sides always agree. A second analyzer keeps whole identifiers.
"""

from __future__ import annotations

import re
import threading
import unicodedata

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

WORD = r"\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+|\p{Han}|[\p{Lo}\p{Lm}\p{Lt}\p{M}]+"
NAME = r"[\p{L}_$][\p{L}\p{M}\p{N}_$]*"
LONGEST_WORD = 40  # bytes; longer ones are base64 and hashes
LONGEST_NAME = 100  # bytes

_SURROGATE = re.compile("[\ud800-\udfff]")
# The last capital of a run belongs to the word that follows (HTTPServer), except for a plural (URLs).
_ACRONYM_END = re.compile(r"(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))")

# Words that carry the grammar of a question and say nothing about code.
_STOP_WORDS = (
    "a about after all also an and any are as at be been before being between both but by can could did do does doing done each "
    "for from had has have having here how i if in into is it its itself may me might more most must my no nor not of on once "
    "only or other our out over own same shall she should so some such than that the their them then there these they this those "
    "through to too under until up us used uses using very was we were what when where whether which while who whom whose why "
    "will with within without would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def spaced(text: str) -> str:
    """Composed, with a space at the end of each acronym."""
    return _ACRONYM_END.sub(" ", composed(text))


def composed(text: str) -> str:
    """NFC, and without lone surrogates, which tantivy refuses."""
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return _SURROGATE.sub("\ufffd", text)


def word_analyzer() -> TextAnalyzer:
    """Identifiers split, lower case, English stems."""
    tokens = (
        TextAnalyzerBuilder(Tokenizer.regex(WORD)).filter(Filter.remove_long(LONGEST_WORD)).filter(Filter.lowercase())
    )
    return tokens.filter(Filter.stemmer("english")).build()


def name_analyzer() -> TextAnalyzer:
    """Whole identifiers, lower case."""
    return (
        TextAnalyzerBuilder(Tokenizer.regex(NAME))
        .filter(Filter.remove_long(LONGEST_NAME))
        .filter(Filter.lowercase())
        .build()
    )


_local = threading.local()


def _analyzer(kind: str) -> TextAnalyzer:
    analyzer: TextAnalyzer | None = getattr(_local, kind, None)
    if analyzer is None:
        analyzer = word_analyzer() if kind == "words" else name_analyzer()
        setattr(_local, kind, analyzer)
    return analyzer


def stems(text: str) -> list[str]:
    """The search words of `text` in order, repeated ones too: `HTTPServer parses` → http, server, pars."""
    words: list[str] = _analyzer("words").analyze(spaced(text))
    return words


def names(text: str) -> list[str]:
    """The whole identifiers of `text`, in lower case."""
    found: list[str] = _analyzer("names").analyze(composed(text))
    return found


_PLAIN = re.compile(r"[^\W_]+", re.UNICODE)


def question_stems(text: str) -> list[str]:
    """The distinct stems of a question without its stop words; with them, when nothing else is left."""
    kept = " ".join(word for word in spaced(text).split() if "".join(_PLAIN.findall(word)).lower() not in STOP_WORDS)
    return list(dict.fromkeys(stems(kept) or stems(text)))
