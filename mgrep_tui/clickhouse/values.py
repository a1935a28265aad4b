"""Values on their way into a statement: the text of a parameter, as the engine reads it for `{name:Type}`.

A statement is always one of ours, word for word; what comes from a person, a file or a repository goes beside it as a parameter. The engine
unescapes a text, and the quoted texts in an array. What need not be text (paths, hashes) goes in hexadecimal and is undone by `unhex`,
which no byte can break.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Value = str | int | float | Sequence[str] | Sequence[int] | Sequence[float]
Parameters = Mapping[str, Value]

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\f": "\\f", "'": "\\'"}
)


def texts(parameters: Parameters) -> dict[str, str]:
    """Every parameter as text."""
    return {name: text_of(value) for name, value in parameters.items()}


def text_of(value: Value) -> str:
    """One value as text. Lone surrogates, which no engine takes, become U+FFFD."""
    if isinstance(value, str):
        return _escaped(value)
    if isinstance(value, int | float):
        return repr(value)
    return "[" + ",".join(_item(item) for item in value) + "]"


def _item(value: str | int | float) -> str:
    return f"'{_escaped(value)}'" if isinstance(value, str) else repr(value)


def _escaped(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").translate(_ESCAPES)
