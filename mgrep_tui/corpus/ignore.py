"""Whether an ignore file's rules leave a path out: git's pattern language, compiled to regular expressions.

Semantics as in git's dir.c and wildmatch.c (gitignore(5)): the last matching rule of a file wins; a pattern with a slash before its end
is anchored at the file's folder, one without matches the last part of a path at any depth; a slash at the end means folders only; `**`
crosses folders only as a whole part. That nothing below a left-out folder can come back is the walker's doing: it does not enter it.

Tested against git itself, pattern by pattern.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

# A pattern that can match nothing, for what git accepts in silence and never matches (an unclosed bracket, a backslash at the end).
_NEVER = b"(?!)"
_SPECIAL = re.compile(rb"[*?\[\\]")
_POSIX_CLASSES = {
    b"alnum": b"a-zA-Z0-9",
    b"alpha": b"a-zA-Z",
    b"blank": b" \\t",
    b"cntrl": b"\\x00-\\x1f\\x7f",
    b"digit": b"0-9",
    b"graph": b"\\x21-\\x7e",
    b"lower": b"a-z",
    b"print": b"\\x20-\\x7e",
    b"punct": b"!-/:-@\\[-`{-~",
    b"space": b" \\t\\n\\r\\f\\v",
    b"upper": b"A-Z",
    b"xdigit": b"0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file. `line` is 0-based, `is_anchored` means matched against the whole path below the file's folder."""

    pattern: bytes
    is_negated: bool
    is_folder_only: bool
    is_anchored: bool
    line: int


def parse(content: bytes) -> list[Rule]:
    """The rules of an ignore file, in its order."""
    rules = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n")):
        text = _without_trailing_spaces(line.removesuffix(b"\r"))
        if not text or text.startswith(b"#"):
            continue
        is_negated = text.startswith(b"!")
        text = text[is_negated:]
        is_folder_only = text.endswith(b"/")
        text = text[: len(text) - is_folder_only]
        if not text:
            continue
        rules.append(Rule(text.removeprefix(b"/"), is_negated, is_folder_only, b"/" in text, number))
    return rules


def _without_trailing_spaces(line: bytes) -> bytes:
    """Spaces at the end do not count, unless the first of them is escaped."""
    bare = line.rstrip(b" ")
    if bare == line:
        return line
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if backslashes % 2 else bare


_STAR = b"[^/]*"
_LAZY_STAR = b"[^/]*?"
_FOLDERS = b"(?:.*/)?"
_LAZY_FOLDERS = b"(?:.*?/)??"
_ANYTHING = b".*"


def translate(pattern: bytes) -> bytes:
    """A pattern as the source of a bytes regular expression for the whole of what it is matched with (to be used with DOTALL).

    A hostile `*a*a*a*a*a*b` must not cost a power of the length: a star and the fixed text up to the next star become an atomic group that
    takes the first place that fits, since what follows fits behind a later place only if it fits behind the first. In the same way
    `**/` takes the first whole parts that fit what stands before the next `**`.
    """
    tokens = _tokens(pattern)
    crossings = [index for index, token in enumerate(tokens) if token in (_FOLDERS, _ANYTHING)]
    out = _calm_stars(tokens[: crossings[0] if crossings else None])
    for index, following in zip(crossings, [*crossings[1:], None], strict=False):
        unit = _calm_stars(tokens[index + 1 : following])
        if following is None:
            out += [tokens[index], *unit]
        else:
            out += [b"(?>", _LAZY_FOLDERS, *unit, b")"]
    return b"".join(out)


def _calm_stars(tokens: list[bytes]) -> list[bytes]:
    """Tokens without `**`, every star but the last in an atomic group with the text behind it."""
    stars = [index for index, token in enumerate(tokens) if token == _STAR]
    if len(stars) < 2:
        return tokens
    out = tokens[: stars[0]]
    for star, following in itertools.pairwise(stars):
        out += [b"(?>", _LAZY_STAR, *tokens[star + 1 : following], b")"]
    return [*out, *tokens[stars[-1] :]]


def _tokens(pattern: bytes) -> list[bytes]:
    """The pieces of the expression: wildcards of unknown length as one of the constants above, everything else fixed."""
    out: list[bytes] = []
    position = 0
    length = len(pattern)
    while position < length:
        character = pattern[position : position + 1]
        if character == b"*":
            end = position
            while pattern[end : end + 1] == b"*":
                end += 1
            is_whole_part = (
                end - position == 2
                and (position == 0 or pattern[position - 1 : position] == b"/")
                and pattern[end : end + 1] in (b"", b"/")
            )
            if not is_whole_part:
                out.append(_STAR)
                position = end
            elif end == length:
                out.append(_ANYTHING)
                position = end
            else:
                out.append(_FOLDERS)
                position = end + 1
        elif character == b"?":
            out.append(b"[^/]")
            position += 1
        elif character == b"[":
            source, position = _translate_class(pattern, position)
            out.append(source)
        elif character == b"\\":
            if position + 1 == length:
                return [_NEVER]
            out.append(re.escape(pattern[position + 1 : position + 2]))
            position += 2
        else:
            out.append(re.escape(character))
            position += 1
    return out


def _translate_class(pattern: bytes, start: int) -> tuple[bytes, int]:
    """The bracket expression at `start`, and where it ends. It never matches a slash."""
    position = start + 1
    is_negated = pattern[position : position + 1] in (b"!", b"^")
    position += is_negated
    members: list[bytes] = []
    is_first = True
    previous: int | None = None  # the last single character, which a dash may make a range of
    while True:
        character = pattern[position : position + 1]
        if not character:
            return _NEVER, len(pattern)
        if character == b"]" and not is_first:
            position += 1
            break
        is_first = False
        if character == b"[" and pattern[position + 1 : position + 2] == b":":
            end = pattern.find(b"]", position + 2)
            if end < 0:
                return _NEVER, len(pattern)
            if pattern[end - 1 : end] != b":" or end - 1 < position + 2:
                members.append(b"\\[")  # not a class after all: the bracket stands for itself
                previous = 0x5B
                position += 1
                continue
            named = _POSIX_CLASSES.get(pattern[position + 2 : end - 1])
            if named is None:
                return _NEVER, len(pattern)
            members.append(named)
            previous = None
            position = end + 1
            continue
        following = pattern[position + 1 : position + 2]
        if character == b"-" and previous is not None and following and following != b"]":
            position += 1
            if following == b"\\":
                position += 1
                following = pattern[position : position + 1]
                if not following:
                    return _NEVER, len(pattern)
            if previous <= following[0]:
                members.append(b"\\x%02x-\\x%02x" % (previous, following[0]))
            previous = None
            position += 1
            continue
        if character == b"\\":
            position += 1
            character = pattern[position : position + 1]
            if not character:
                return _NEVER, len(pattern)
        members.append(b"\\x%02x" % character[0])
        previous = character[0]
        position += 1
    body = b"".join(members)
    if is_negated:
        return b"[^/" + body + b"]", position
    return (b"(?!/)[" + body + b"]" if body else _NEVER), position


def _alternatives(rules: Iterable[tuple[int, Rule]]) -> tuple[re.Pattern[bytes] | None, tuple[int, ...]]:
    """One expression that finds the last matching of `rules`: alternatives in reverse order, the first that matches wins."""
    ordered = sorted(rules, key=lambda item: -item[0])
    if not ordered:
        return None, ()
    source = b"|".join(b"(" + translate(rule.pattern) + b")" for _, rule in ordered)
    return re.compile(source, re.DOTALL), tuple(number for number, _ in ordered)


@dataclass(slots=True)
class _Matcher:
    """The last matching rule for one kind of path (folders, or everything else)."""

    names: dict[bytes, int] = field(default_factory=dict)
    endings: dict[bytes, int] = field(default_factory=dict)
    name_pattern: re.Pattern[bytes] | None = None
    name_numbers: tuple[int, ...] = ()
    path_pattern: re.Pattern[bytes] | None = None
    path_numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, rules: Iterable[tuple[int, Rule]]) -> _Matcher:
        matcher = cls()
        by_name = []
        by_path = []
        for number, rule in rules:
            pattern = rule.pattern
            if rule.is_anchored:
                by_path.append((number, rule))
            elif not _SPECIAL.search(pattern):
                matcher.names[pattern] = number
            elif pattern.startswith(b"*.") and not _SPECIAL.search(pattern, 1) and b"." not in pattern[2:]:
                matcher.endings[pattern[1:]] = number
            else:
                by_name.append((number, rule))
        matcher.name_pattern, matcher.name_numbers = _alternatives(by_name)
        matcher.path_pattern, matcher.path_numbers = _alternatives(by_path)
        return matcher

    def last(self, path: bytes, name: bytes) -> int:
        """The number of the last rule that matches, or -1."""
        best = self.names.get(name, -1)
        if self.endings:
            dot = name.rfind(b".")
            if dot >= 0:
                best = max(best, self.endings.get(name[dot:], -1))
        if self.name_pattern is not None:
            found = self.name_pattern.fullmatch(name)
            if found is not None and found.lastindex is not None:
                best = max(best, self.name_numbers[found.lastindex - 1])
        if self.path_pattern is not None:
            found = self.path_pattern.fullmatch(path)
            if found is not None and found.lastindex is not None:
                best = max(best, self.path_numbers[found.lastindex - 1])
        return best


class RuleSet:
    """The rules of one ignore file, for the paths below `base` (empty, or the folder's path with a slash at its end)."""

    __slots__ = ("_files", "_folders", "base", "rules", "source")

    def __init__(self, content: bytes, base: bytes = b"", source: bytes = b"") -> None:
        """`source` names the file, for people."""
        self.base = base
        self.source = source
        self.rules = parse(content)
        numbered = list(enumerate(self.rules))
        self._folders = _Matcher.of(numbered)
        self._files = _Matcher.of((number, rule) for number, rule in numbered if not rule.is_folder_only)

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def has_negations(self) -> bool:
        return any(rule.is_negated for rule in self.rules)

    def match(self, path: bytes, is_folder: bool) -> Rule | None:
        """The rule that decides about `path` (relative to the root, below `base`), or None when no rule speaks of it."""
        below = path[len(self.base) :]
        matcher = self._folders if is_folder else self._files
        number = matcher.last(below, below[below.rfind(b"/") + 1 :])
        return None if number < 0 else self.rules[number]
