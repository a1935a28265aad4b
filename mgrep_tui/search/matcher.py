r"""A pattern that is ready to run over bytes, in linear time and without holding the interpreter's lock.

What counts as a match, whatever the buffer:

- A line is what stands between two `\n`, without a `\r` at its end, and is matched as a text of its own: `$` stands before the `\r`, and
  nothing crosses a line unless the pattern names the newline or multi-line was asked for; then the file is the text, with its `\r\n`
  read as `\n`. A pattern that names `\r` sees it.
- A match takes at least one character: what matches nothing is no hit, but for `\A` and `\z` alone.
- `\w` is what Unicode calls alphabetic, marks, decimal digits, connecting punctuation and joiners; `\d` its decimal digits; `\s` its white
  space; `\b` the border between a `\w` and anything else. `\A` and `\z` are the file's ends.
- Bytes that are not UTF-8 match nothing, not even `.`.

A buffer that is ASCII without `\r`, which is nearly every one, is matched by RE2 alone. Any other is first matched by a pattern that is
wider than meant, and each line that this finds is looked at again by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from re2 import _re2

from mgrep_tui.errors import QueryError
from mgrep_tui.search.buffers import (
    MAX_SPANS,
    UNANCHORED,
    Buffer,
    FoundLines,
    LineMatch,
    Span,
    Text,
    all_spans,
    by_first_line,
    compile_re2,
    each_span,
    find_any_text,
    find_by_texts,
    find_pattern,
    find_text,
    numbered,
)
from mgrep_tui.search.marks import MarkedText, copies_needed, marked_pattern
from mgrep_tui.search.pattern_parser import Parsed, literal_pattern, parse_pattern
from mgrep_tui.search.pattern_printer import WORD_ITEMS, Purpose, print_tree
from mgrep_tui.search.pattern_tree import (
    RETURN,
    Assertion,
    Char,
    CharSet,
    Dot,
    Named,
    Node,
    Place,
    file_edges,
    folded_literal_of,
    inner_texts,
    literal_of,
    literals_of,
    sequence,
    walk,
    without_empty,
)
from mgrep_tui.search.window import Window

SHORT_BYTES = 4
"""Up to this length, looking for a text byte by byte in a whole window costs less than a call for each place."""
_FOLDED_BEYOND_ASCII = frozenset(b"ks")
MAX_MARKED_BYTES = 4_000_000
"""A longer line (or file, in multi-line) is taken as found when only `\b` beside non-ASCII letters could decide otherwise."""


class Matcher:
    """Made by `compile_pattern`. Its methods are pure and may be called from several threads at once."""

    is_serial = False
    lists_chunks = False

    def __init__(
        self, tree: Node, *, folds: bool, is_multiline: bool, keeps_return: bool, is_edge: bool = False
    ) -> None:
        self._tree = tree
        self._is_edge = is_edge
        self._folds = folds
        self._keeps_return = keeps_return
        self.is_multiline = is_multiline
        self.ignores_case = folds
        self.plan_pattern = print_tree(tree, Purpose.PLAN, folds=folds)[0]
        text = literal_of(tree)
        self.literal = text.encode() if text and not is_multiline else None
        folded = folded_literal_of(tree)
        self.folded_literal = folded.encode() if folded and not is_multiline else None
        raw = self.literal or self.folded_literal or b""
        self._is_text = bool(raw) and not is_edge
        self._is_text_anywhere = (
            self._is_text
            and raw.isascii()
            and b"\r" not in raw
            and (self.literal is not None or not set(raw) & _FOLDED_BEYOND_ASCII)
        )
        self._may_take_return = any(_takes_return(node) for node in walk(tree))
        self._places = {node.place for node in walk(tree) if isinstance(node, Assertion)}
        source, self._is_plain_exact = print_tree(tree, Purpose.EXACT_ASCII, folds=folds, keeps_return=keeps_return)
        # Latin-1 also where it cannot be used (see `lines`): compiling tells whether RE2 understands the pattern.
        self.plain = compile_re2(source, self._folds, self.is_multiline, is_ascii=True)

        texts, self._has_folded_texts = inner_texts(tree) or ((), False)
        self._texts = [Text(text.encode(), self._has_folded_texts) for text in texts]
        self._text = Text(raw, self.literal is None) if self._is_text else None
        self._choices = [Text(text.encode(), False) for text in literals_of(tree)] if not is_multiline else []

    def _compile(self, source: str) -> _re2.RE2:
        return compile_re2(source, self._folds, self.is_multiline)

    @functools.cached_property
    def _loose(self) -> tuple[_re2.RE2, bool]:
        source, is_whole = print_tree(self._tree, Purpose.LOOSE, folds=self._folds, keeps_return=self._keeps_return)
        return self._compile(source), is_whole

    @functools.cached_property
    def _exact(self) -> _re2.RE2 | None:
        source, is_whole = print_tree(self._tree, Purpose.EXACT, folds=self._folds, keeps_return=self._keeps_return)
        return self._compile(source) if is_whole else None

    @functools.cached_property
    def _marked(self) -> tuple[_re2.RE2, int]:
        return compile_re2(marked_pattern(self._tree, folds=self._folds), self._folds, True), copies_needed(self._tree)

    # --- buffers of whole lines

    def lines(
        self,
        buffer: bytes,
        *,
        first_line: int = 0,
        starts_file: bool = True,
        ends_file: bool = True,
        limit: int = 1 << 60,
    ) -> list[LineMatch]:
        """The lines that match, in order, at most `limit`. The buffer holds whole lines; only the file's last may lack its `\\n`.

        In multi-line the buffer must be the whole file with `\\r\\n` made `\\n` (see `text_of`); a match is one `LineMatch` of its first
        line, whose span may reach beyond the line's end.
        """
        if self._is_edge:
            return self._edges(buffer, first_line, starts_file, ends_file)
        if self.is_multiline:
            return self._across_lines(buffer, limit)
        found = self.lines_in(buffer, len(buffer), is_ascii=buffer.isascii(), limit=limit)
        if found is not None:
            return numbered(buffer, first_line, found)
        return list(self._checked(self._loose[0], buffer, first_line, starts_file, ends_file, limit))

    @property
    def can_join(self) -> bool:
        """Whether lines can be matched without knowing what stands around them: `lines_in` may answer."""
        return not self._is_edge and not self.is_multiline

    def places_in(self, window: Window) -> npt.NDArray[np.int64] | None:
        """Places of matches, ascending, the first of each line that matches among them; None as for `lines_in`."""
        buffer, length, is_ascii = window.buffer, window.length, window.is_ascii
        text = self._text
        is_short = text is not None and len(text.raw) <= SHORT_BYTES and not text.folds
        if is_short and (self._is_text_anywhere or self._is_plain_in(buffer, length, is_ascii)):
            assert text is not None
            return window.places_of_short(text.raw)
        found = self.lines_in(buffer, length, is_ascii=is_ascii, most_spans=1)
        return None if found is None else np.array([spans[0][0] for spans in found.spans], np.int64)

    def _is_plain_in(self, buffer: Buffer, length: int, is_ascii: bool) -> bool:
        return self._is_plain_exact and is_ascii and (not self._sees_return or buffer.find(b"\r", 0, length) < 0)

    def lines_in(
        self, buffer: Buffer, length: int, *, is_ascii: bool, limit: int = 1 << 60, most_spans: int = MAX_SPANS
    ) -> FoundLines | None:
        """The lines that match in the first `length` bytes, by few calls; None when each line has to be looked at by itself. Of each
        line no more than `most_spans` spans are needed.

        `is_ascii` is about these bytes. For bytes of ASCII without a `\\r` nearly every pattern has an answer.
        """
        is_plain = self._is_plain_in(buffer, length, is_ascii)
        if self._text is not None and (self._is_text_anywhere or is_plain):
            return find_text(self._text, buffer, length, limit, most_spans)
        if self._choices:
            return find_any_text(self._choices, buffer, length, limit, most_spans)
        if is_plain:
            if self._texts:
                return find_by_texts(self.plain, self._texts, buffer, length, limit, most_spans)
            return find_pattern(self.plain, buffer, length, limit, most_spans)
        loose, is_whole = self._loose
        if not is_whole or (self._may_take_return and not self._keeps_return and buffer.find(b"\r", 0, length) >= 0):
            return None
        if self._texts and not self._has_folded_texts:
            return find_by_texts(loose, self._texts, buffer, length, limit, most_spans)
        return find_pattern(loose, buffer, length, limit, most_spans)

    def _edges(self, buffer: bytes, line: int, starts_file: bool, ends_file: bool) -> list[LineMatch]:
        """The first or last line of the file, where a pattern such as `\\z` holds."""
        pattern, copies = self._marked
        content_end = len(buffer) - buffer.endswith(b"\n")
        first = (0, buffer.find(b"\n", 0, content_end) if b"\n" in buffer[:content_end] else content_end)
        last = (buffer.rfind(b"\n", 0, content_end) + 1, content_end)
        found: list[LineMatch] = []
        for begin, end in dict.fromkeys([first, last]):
            if not buffer or not ((begin == 0 and starts_file) or (end == content_end and ends_file)):
                continue
            marked = MarkedText(
                buffer[begin:end].removesuffix(b"\r"),
                copies,
                starts_file=starts_file and begin == 0,
                ends_file=ends_file and end == content_end,
                is_word=_is_word,
            )
            place = pattern.Match(UNANCHORED, marked.data, 0, len(marked.data))[0][0]
            if place >= 0:
                at = begin if place == 0 else end
                found.append((line + buffer.count(b"\n", 0, begin), begin, end, [(at, at)]))
        return found

    @functools.cached_property
    def _sees_return(self) -> bool:
        return not self._keeps_return and (self._may_take_return or Place.LINE_END in self._places)

    def _checked(
        self, loose: _re2.RE2, buffer: bytes, line: int, starts_file: bool, ends_file: bool, limit: int
    ) -> Iterator[LineMatch]:
        match = loose.Match
        length = len(buffer)
        position = 0
        while position < length and limit > 0:
            start = match(UNANCHORED, buffer, position, length)[0][0]
            if start < 0:
                return
            begin = buffer.rfind(b"\n", position, start) + 1 or position
            end = buffer.find(b"\n", start)
            if end < 0:
                end = length
            line += buffer.count(b"\n", position, begin)
            content_end = end - 1 if not self._keeps_return and end > begin and buffer[end - 1] == RETURN else end
            spans = self.spans(
                buffer[begin:content_end],
                starts_file=starts_file and begin == 0,
                ends_file=ends_file and end + 1 >= length,
            )
            if spans:
                limit -= 1
                yield line, begin, end, [(begin + first, begin + last) for first, last in spans]
            line += 1
            position = end + 1

    def spans(self, text: bytes, *, starts_file: bool, ends_file: bool) -> list[Span]:
        """The matches in one line (without its end), or in multi-line in one file. This is the meaning of the pattern."""
        most = len(text) if self.is_multiline else MAX_SPANS
        if self._is_plain_exact and text.isascii():
            return all_spans(self.plain, text, most)
        if self._exact is not None:
            return all_spans(self._exact, text, most)
        if len(text) > MAX_MARKED_BYTES:
            return all_spans(self._loose[0], text, most)
        pattern, copies = self._marked
        marked = MarkedText(text, copies, starts_file=starts_file, ends_file=ends_file, is_word=_is_word)
        return marked.spans_of(all_spans(pattern, marked.data, most))

    def text_of(self, content: bytes) -> bytes:
        """A file's content as this pattern sees it."""
        if self.is_multiline and not self._keeps_return and b"\r" in content:
            return content.replace(b"\r\n", b"\n")
        return content

    def _across_lines(self, text: bytes, limit: int) -> list[LineMatch]:
        if self._is_plain_exact and text.isascii():
            pattern = self.plain
        else:
            pattern, is_whole = self._loose
            if not is_whole:
                if pattern.Match(UNANCHORED, text, 0, len(text))[0][0] < 0:
                    return []
                return by_first_line(text, self.spans(text, starts_file=True, ends_file=True), limit)
        return by_first_line(text, each_span(pattern, text), limit)

    def is_in(self, text: bytes) -> bool:
        """Whether any line of the text matches."""
        return bool(self.lines(self.text_of(text), limit=1))

    def is_in_path(self, path: bytes) -> bool:
        """Whether the pattern matches a path."""
        if self._is_text_anywhere and self.literal is not None:
            return self.literal in path
        pattern = self.plain if path.isascii() else self._loose[0]
        return bool(pattern.Match(UNANCHORED, path, 0, len(path))[0][0] >= 0)


@functools.lru_cache(maxsize=64)
def compile_pattern(
    pattern: str, *, case: str = "smart", is_literal: bool = False, is_word: bool = False, is_multiline: bool = False
) -> Matcher:
    """Make a pattern ready. `case` is smart, yes or no. Raises `QueryError` with the place in `pattern`, also for what RE2 cannot do."""
    parsed, folds = read_pattern(pattern, case=case, is_literal=is_literal)
    if parsed.beyond:
        raise QueryError(f"{parsed.beyond[0].upper()}{parsed.beyond[1:]} is not possible here.", 0)
    edges = file_edges(parsed.tree)
    tree = without_empty(parsed.tree) if edges is None else edges
    if tree is None:
        raise QueryError("This pattern matches only the empty text.", 0, "Go on typing.")
    if is_word and edges is None:
        tree = sequence([Assertion(Place.AFTER_NO_WORD), tree, Assertion(Place.BEFORE_NO_WORD)])
    try:
        return Matcher(
            tree,
            folds=folds,
            is_multiline=is_multiline or parsed.has_newline,
            keeps_return=parsed.has_return,
            is_edge=edges is not None,
        )
    except QueryError as error:
        raise QueryError(error.message, _place_of(error, pattern), error.hint) from error


@functools.lru_cache(maxsize=64)
def read_pattern(pattern: str, *, case: str, is_literal: bool) -> tuple[Parsed, bool]:
    """The pattern's tree, and whether case is ignored: with smart case when some characters stand for themselves, and
    none of them is a capital."""
    read = literal_pattern if is_literal else parse_pattern
    for index, char in enumerate(pattern):
        if "\ud800" <= char < "\ue000":
            raise QueryError("This is not a character.", index)
    parsed = read(pattern)
    folds = case == "no" or (case == "smart" and parsed.has_literal and not parsed.has_capital)
    return (read(pattern, folds=True) if folds else parsed), folds


def _place_of(error: QueryError, pattern: str) -> int:
    """RE2 names what it does not like; `hint` holds that fragment until here."""
    return max(0, pattern.find(error.hint)) if error.hint else 0


@functools.lru_cache(maxsize=4096)
def _is_word(char: str) -> bool:
    if "\ud800" <= char < "\ue000":
        return False
    raw = char.encode()
    return bool(compile_re2(f"[{WORD_ITEMS}]", False, False).Match(UNANCHORED, raw, 0, len(raw))[0][0] == 0)


def _takes_return(node: Node) -> bool:
    match node:
        case Dot():
            return True
        case Char(code, _):
            return code == RETURN
        case CharSet(items, is_negated, _):
            return is_negated or any(
                item.is_negated or item.name not in ("w", "d")
                if isinstance(item, Named)
                else item.low <= RETURN <= item.high
                for item in items
            )
        case _:
            return False
