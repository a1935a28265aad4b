"""The long run of the regex engine's fuzz: whole searches against a naive scan, in several processes, repeatable by seed.

    python -m tests.property.fuzz_engine_long [--pairs 5_000_000] [--processes 2] [--seed 0]

Each round makes a tree of small files (UTF-16, CRLF, broken bytes, NULs, very long lines among them) with blocks of a few lines, and
indexes it. Some rounds then edit it: files the snapshot knows as changed, new ones, and ones that change behind its back or are gone.
Random patterns are asked with and without the second process, for hits and for printed lines, and each answer must be the one that one
gets by taking every file as it is on the disk, line by line: the same files, lines, columns and spans.
Prints the searches that failed and exits with 1 when there are any.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.errors import QueryError
from mgrep_tui.index.results import CheckResult
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Progress
from mgrep_tui.ngram.snapshot import Snapshot, make_snapshot
from mgrep_tui.search import matcher as matching
from mgrep_tui.search import work
from mgrep_tui.search.buffers import by_first_line
from mgrep_tui.search.hits import LONG_BYTES
from mgrep_tui.search.matcher import Matcher, compile_pattern
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.search.second import SECOND
from mgrep_tui.settings.config import Settings
from tests.support import ngram_cases as cases
from tests.support import ngram_world as worlds
from tests.support.long_run import Tally, main

FILES = 120
PATTERNS = 400

Found = dict[bytes, list[tuple[int, list[tuple[int, int]]]]]
"""By path the lines and their spans, in characters."""


@dataclass
class Lines:
    """A sink for hits and for printed lines."""

    prefix: bytes = b""
    hits: list[Hit] = field(default_factory=list)
    printed: list[bytes] = field(default_factory=list)

    def batch(self, hits: Sequence[Hit]) -> None:
        self.hits.extend(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self.hits = list(hits)

    def lines(self, text: bytes, count: int) -> None:
        self.printed.append(text)
        assert text.count(b"\n") == count

    def progress(self, progress: Progress) -> None:
        return None


def play(seed: int) -> Tally:
    """One round."""
    rng = Random(seed)
    files = {b"d%d/f%03d.%s" % (n % 7, n, rng.choice((b"c", b"py"))): cases.text(rng) for n in range(FILES)}
    with (
        tempfile.TemporaryDirectory() as folder,
        worlds.small_blocks(rng.choice((16, 48, 300, 4000)), 256),
        _marked_once(),
    ):
        world = worlds.World.make(Path(folder), files)
        root = open_root(Path(folder) / "tree")
        snapshot: Snapshot | None = world.snapshot
        checked = CheckResult()
        if rng.random() < 0.6:
            snapshot, files, checked = _edited(rng, root, world.snapshot, files)
        if rng.random() < 0.15:
            snapshot = None
        has_second = rng.random() < 0.5
        if has_second:
            work.SECOND_FROM = 8
            os.cpu_count = lambda: 2  # also where the machine has one
            SECOND.start()
        try:
            return _ask(rng, seed, root, snapshot, files, checked)
        finally:
            if has_second:
                SECOND.stop()


def _edited(
    rng: Random, root: Root, snapshot: Snapshot, files: dict[bytes, bytes]
) -> tuple[Snapshot, dict[bytes, bytes], CheckResult]:
    files = dict(files)
    known = {path: cases.text(rng) for path in [*rng.sample(sorted(files), 6), b"new/a", b"new/b.py"]}
    behind = {path: cases.text(rng) + b"\n" for path in rng.sample(sorted(files), 4)}
    worlds.write_files(root.path, known | behind)
    files |= known | behind
    gone = rng.sample(sorted(set(files) - known.keys() - behind.keys()), 3)
    for path in gone:
        os.unlink(root.absolute(path))
        del files[path]
    check = CheckResult(changed=tuple(behind), deleted=frozenset(gone))
    return make_snapshot(snapshot.segments, extra=known, covers=True), files, check


def naive(matcher: Matcher, texts: dict[bytes, tuple[bytes, list[bytes]]]) -> Found:
    """What a match is, line by line; `texts` by path, each with its lines."""
    found: Found = {}
    for path, (content, lines) in texts.items():
        own = []
        if matcher.is_multiline:
            content = matcher.text_of(content)
            spans = matcher.spans(content, starts_file=True, ends_file=True)
            for line, begin, end, some in by_first_line(content, spans, 1 << 60):
                shown = content[begin:end].removesuffix(b"\r")
                own.append((line, _in_chars(shown, [(a - begin, min(b, end) - begin) for a, b in some])))
        else:
            for number, whole in enumerate(lines):
                shown = whole.removesuffix(b"\r")
                text = whole if matcher._keeps_return else shown
                spans = matcher.spans(text, starts_file=not number, ends_file=number == len(lines) - 1)
                if spans:
                    own.append((number, _in_chars(shown, spans)))
        if own:
            found[path] = own
    return found


def texts_of(files: dict[bytes, bytes]) -> dict[bytes, tuple[bytes, list[bytes]]]:
    """The texts that are searched, by path, and their lines."""
    found = {}
    for path, raw in files.items():
        text = searchable(raw)
        if text is not None and text.data:
            lines = text.data.split(b"\n")
            found[path] = text.data, lines[:-1] if lines[-1] == b"" else lines
    return found


@contextlib.contextmanager
def _marked_once() -> Iterator[None]:
    """The same lines are asked for each pattern: their marked form, which is the greater part of the time, is made once."""
    made = matching.MarkedText
    matching.MarkedText = functools.lru_cache(maxsize=None)(made)  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        matching.MarkedText = made  # type: ignore[misc]


def _in_chars(line: bytes, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    if line.isascii() and len(line) <= LONG_BYTES:
        return [(start, min(end, len(line))) for start, end in spans if start < min(end, len(line))]

    if len(line) > LONG_BYTES:
        return [(_chars(line, spans[0][0]), -1)]  # of such a line a window is shown; the column remains
    return [(first, last) for start, end in spans if (first := _chars(line, start)) < (last := _chars(line, end))]


@functools.lru_cache(maxsize=1 << 18)
def _chars(line: bytes, size: int) -> int:
    return len(line[:size].decode("utf-8", "replace"))


def _told(hits: Sequence[Hit], long: set[tuple[bytes, int]]) -> Found:
    found: Found = {}
    for hit in sorted(hits, key=lambda hit: (hit.path, hit.line)):
        spans = [(span.start, span.end) for span in hit.spans]
        if (hit.path, hit.line) in long:
            spans = [(hit.column, -1)]
        found.setdefault(hit.path, []).append((hit.line, spans))
    return found


def _ask(
    rng: Random, seed: int, root: Root, snapshot: Snapshot | None, files: dict[bytes, bytes], checked: CheckResult
) -> Tally:
    tally = Tally()
    engine = RegexEngine(root, Settings())
    raws, texts = list(files.values()), texts_of(files)
    for _ in range(PATTERNS):
        made = cases.pattern(rng, raws).replace("/", ".")
        case = rng.choice(("smart", "yes", "no"))
        is_word = rng.random() < 0.1
        try:
            query = parse(f"/{made}/", Mode.REGEX, case=case, is_word=is_word)
            matcher = compile_pattern(query.pattern, case=query.case, is_word=is_word)
        except QueryError:
            tally.refused += 1
            continue
        if matcher._is_edge or not query.pattern:
            continue
        expected = naive(matcher, texts)
        long = {(path, line) for path, own in expected.items() for line, spans in own if spans and spans[0][1] == -1}
        sink = Lines()
        engine.search(query, snapshot, lambda _: checked, sink, CancelToken())
        told = _told(sink.hits, long)
        tally.patterns += 1
        tally.pairs += len(files)
        tally.matching += sum(map(len, expected.values()))
        if told != expected:
            tally.failures += (f"seed {seed}: {made!r} case {case} word {is_word}: {_difference(told, expected)}",)
        if rng.random() < 0.3:
            printed = Lines()
            engine.search(query, snapshot, lambda _: checked, printed, CancelToken(), is_exhaustive=True)
            places = [line.split(b":", 3)[:3] for line in b"".join(printed.printed).split(b"\n")[:-1]]
            wanted = [[path, b"%d" % (line + 1)] for path in sorted(expected) for line, _ in expected[path]]
            if [place[:2] for place in places] != wanted:
                tally.failures += (f"seed {seed}: {made!r} case {case} word {is_word}: printed lines differ",)
    return tally


def _difference(told: Found, expected: Found) -> str:
    for path in sorted({*told, *expected}):
        if told.get(path) != expected.get(path):
            return f"{path!r}: {str(told.get(path))[:200]} instead of {str(expected.get(path))[:200]}"
    return ""


if __name__ == "__main__":
    raise SystemExit(main(play, __doc__ or "", sys.argv[1:]))
