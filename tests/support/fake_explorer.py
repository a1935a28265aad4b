"""An explorer over a few files in memory, deterministic, for tests of the screen. It speaks `explorer.protocol.Explorer`."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.protocol import (
    Chip,
    EditorCommand,
    OnDone,
    Preview,
    SearchOptions,
    Session,
    Variant,
)
from mgrep_tui.model import Health, Hit, IndexState, Mode, Outcome, Signal, Sink, Skip, SkipReason, Span, Symbol
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.text.highlight import Token
from tests.support.fake_project import FILES

_CHIP = re.compile(r'(?<!\S)-?(?:lang|path|file|sym|class|kind|is|case):(?:"[^"]*"|\S+)')
_DEFINITION = re.compile(r"^(\s*)(?:def|class|func|fn|function)\s+(?:\([^)]*\)\s*)?(\w+)|^(#+)\s+(.*)")
_TOKENS = re.compile(
    r"(?P<comment>#.*|//.*)|(?P<string>\"[^\"]*\"|'[^']*')|(?P<number>\b\d[\w.]*)|(?P<decorator>@\w+)"
    r"|(?P<keyword>\b(?:def|class|for|in|try|except|return|import|from|if|else|while|self|func|type|struct|range|raise|not|None|as|go|package|const)\b)"
    r"|(?P<function>\b\w+(?=\())|(?P<type>\b[A-Z]\w+)"
)
_LANGUAGES = {"py": "python", "go": "go", "md": "markdown", "js": "javascript", "toml": "toml"}

READY = Health(
    state=IndexState.READY,
    files_seen=78_255,
    files_total=78_255,
    files_indexed=78_255,
    files_chunked=78_255,
    skipped=(("binary", 312), ("too big", 4)),
    chunks=412_003,
    vectors=412_003,
    regex_ready=True,
    keywords_ready=True,
    watcher="watching",
    checked_at=1_000_000.0,
    branch="master",
    commit="4f3c2b1a9d8e",
    dirty=3,
    generation=12,
    text_bytes=1_300_000_000,
    index_bytes=(("n-grams", 310_000_000), ("vectors", 92_000_000), ("keywords", 41_000_000), ("catalog", 63_000_000)),
    models=(("instant", "static, 256 dimensions"), ("deep", "all-MiniLM-L6-v2, not loaded")),
    events=("src/upload/client.py indexed again", "generation 12 published", "index opened in 14 ms"),
    metrics=(("parsed by a grammar", "97.2 %"), ("by lines", "2.8 %")),
    languages=(("c", 52_000), ("python", 9_100), ("make", 3_000)),
)


def language_of(path: bytes) -> str:
    return _LANGUAGES.get(path.rpartition(b".")[2].decode("ascii", "replace"), "")


@dataclass
class FakeSearch:
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass
class Held:
    """A search that waits for its test to let it go on."""

    text: str
    sink: Sink
    on_done: OnDone
    search: FakeSearch
    run: Callable[[], None]


@dataclass
class FakeExplorer:
    """With `holds` searches wait in `held`; otherwise each runs in a thread and ends by itself."""

    files: dict[bytes, str] = field(default_factory=lambda: dict(FILES))
    root_label: str = "linux"
    state: Health = READY
    holds: bool = False
    past: list[PastQuery] = field(default_factory=list)
    session: Session | None = None
    previews: dict[bytes, Preview] = field(default_factory=dict)
    editor: EditorCommand | MgrepError | None = None
    changed: tuple[bytes, ...] = ()
    outcome: Callable[[Outcome], Outcome] = lambda outcome: outcome
    coverage: float | None = 1.0
    held: list[Held] = field(default_factory=list)
    searched: list[tuple[str, Mode, int, SearchOptions]] = field(default_factory=list)
    opened: list[Sequence[Hit]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    repositories: dict[bytes, str] = field(default_factory=dict)  # labels by the first part of a path
    saved: Session | None = None
    is_started: threading.Event = field(default_factory=threading.Event)
    listeners: list[Callable[[], None]] = field(default_factory=list)
    skips: Sequence[Skip] = (
        Skip(b"assets/film.mp4", SkipReason.TOO_BIG, "120 MB, limit 64 MB"),
        Skip(b"assets/logo.png", SkipReason.BINARY, ""),
        Skip(b"locked/secret.txt", SkipReason.UNREADABLE, "permission denied"),
    )

    # --- life and health

    def start(self) -> None:
        self.is_started.set()

    def close(self) -> None:
        self.calls.append("close")

    def health(self) -> Health:
        return self.state

    def set_health(self, health: Health) -> None:
        self.state = health
        for each in self.listeners:
            each()

    def subscribe(self, callback: Callable[[], None]) -> None:
        self.listeners.append(callback)

    def skipped(self) -> Sequence[Skip]:
        return self.skips

    def pause(self) -> None:
        self.calls.append("pause")
        self.set_health(replace(self.state, state=IndexState.PAUSED))

    def resume(self) -> None:
        self.calls.append("resume")
        self.set_health(replace(self.state, state=IndexState.READY))

    def rebuild(self, part: str) -> None:
        self.calls.append(f"rebuild {part}")

    def log_path(self) -> Path | None:
        return Path("mgrep-tui.log")

    # --- search

    def search(
        self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone
    ) -> FakeSearch:
        self.searched.append((text, mode, epoch, options))
        search = FakeSearch()

        def run() -> None:
            try:
                hits = self.hits(text, mode, options)
            except MgrepError as error:
                on_done(None, error)
                return
            for start in range(0, len(hits), 256):
                sink.batch(hits[start : start + 256])
            outcome = Outcome(
                hits=len(hits),
                files=len({hit.path for hit in hits}),
                searched_files=78_255,
                engine="index" if mode is Mode.REGEX else "words + meaning",
                is_verified=True,
                vector_coverage=self.coverage if mode is Mode.SEMANTIC else None,
                elapsed_ms=12,
            )
            on_done(self.outcome(outcome), None)

        if self.holds:
            self.held.append(Held(text, sink, on_done, search, run))
        else:
            threading.Thread(target=run, daemon=True).start()
        return search

    def hits(self, text: str, mode: Mode, options: SearchOptions) -> list[Hit]:
        chips = self.chips(text, mode)
        bare = text
        for chip in reversed(chips):
            bare = bare[: chip.start] + bare[chip.end :]
        bare = " ".join(bare.split())
        paths = [path for path in self.files if all(self._accepts(chip.label, path) for chip in chips)]
        if mode is Mode.REGEX:
            return self._regex_hits(bare, paths, options)
        if options.like is not None:
            bare = options.like.symbol
        return self._semantic_hits(bare, paths)

    def _accepts(self, label: str, path: bytes) -> bool:
        is_not = label.startswith("-")
        name, _, value = label.lstrip("-").partition(":")
        value = value.strip('"')
        if name == "lang":
            answer = language_of(path) == value
        elif name in ("path", "file"):
            answer = value.rstrip("*").encode() in path
        elif name == "is":
            answer = value in self.flags_of(path) or (value == "dirty" and "changed" in self.flags_of(path))
        else:
            answer = True
        return answer != is_not

    def _regex_hits(self, pattern: str, paths: Sequence[bytes], options: SearchOptions) -> list[Hit]:
        source = re.escape(pattern) if options.literal else pattern
        if options.word:
            source = rf"\b(?:{source})\b"
        is_folded = options.case == "no" or (options.case == "smart" and pattern == pattern.lower())
        try:
            compiled = re.compile(source, re.IGNORECASE if is_folded else 0)
        except re.error as error:
            raise QueryError(f"{error.msg}: {pattern}", error.pos) from error
        hits = []
        for path in sorted(paths) if options.sort == "path" else paths:
            for number, line in enumerate(self.files[path].split("\n")):
                spans = tuple(Span(*found.span()) for found in compiled.finditer(line) if found.group())
                if spans:
                    hits.append(
                        Hit(
                            path,
                            number,
                            spans[0].start,
                            line,
                            spans,
                            number,
                            number,
                            language=language_of(path),
                        )
                    )
        return hits

    def _semantic_hits(self, bare: str, paths: Sequence[bytes]) -> list[Hit]:
        words = [word for word in re.findall(r"\w+", bare.lower()) if len(word) > 2]
        hits = []
        for path in paths:
            for number, symbol in enumerate(self.symbols(path)):
                lines = self.files[path].split("\n")[symbol.first_line : symbol.last_line + 1]
                scores = [sum(line.lower().count(word) for word in words) for line in lines]
                total = sum(scores) + 3 * sum(word in symbol.name.lower() for word in words)
                if words and not total:
                    continue
                best = scores.index(max(scores))
                text = lines[best]
                spans = tuple(
                    Span(found.start(), found.end())
                    for word in words
                    for found in re.finditer(re.escape(word), text.lower())
                )
                hits.append(
                    Hit(
                        path,
                        symbol.first_line + best,
                        spans[0].start if spans else 0,
                        text,
                        tuple(sorted(spans, key=lambda span: span.start)),
                        symbol.first_line,
                        symbol.last_line,
                        score=round(total / (total + 2.0), 4),
                        symbol=symbol.name,
                        container=symbol.container,
                        kind=symbol.kind,
                        language=language_of(path),
                        signals=(
                            Signal("meaning", 0.5 + 0.01 * number),
                            Signal("words", float(total) / 10),
                            *(
                                (Signal("definition", 1.0),)
                                if any(word in symbol.name.lower() for word in words)
                                else ()
                            ),
                        ),
                        chunk_id=len(hits),
                    )
                )
        return sorted(hits, key=lambda hit: -hit.score)[:100]

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        return tuple(Chip(found.group(), found.start(), found.end()) for found in _CHIP.finditer(text))

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        return tuple(re.findall(r"\w{3,}", _CHIP.sub("", text))) if mode is Mode.SEMANTIC else ()

    def completions(self, prefix: str) -> tuple[str, ...]:
        name, _, value = prefix.lstrip("-").partition(":")
        known = {
            "lang": ("c", "go", "javascript", "markdown", "python"),
            "path": ("assets/**", "docs/**", "src/queue/**", "src/upload/**", "tests/**"),
            "sym": ("Uploader", "requeueWithDelay", "retry"),
            "is": ("dirty", "generated", "test", "untracked"),
            "kind": ("class", "function", "method", "section"),
            "case": ("auto", "no", "yes"),
        }
        sign = "-" if prefix.startswith("-") else ""
        return tuple(f"{sign}{name}:{each}" for each in known.get(name, ()) if each.lower().startswith(value.lower()))

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        found = []
        for chip in reversed(self.chips(text, mode)):
            shorter = " ".join((text[: chip.start] + text[chip.end :]).split())
            found.append(Variant(f"without {chip.label}", shorter, mode, options))
        if options.case != "no":
            found.append(Variant("in any case", text, mode, replace(options, case="no")))
        other = Mode.REGEX if mode is Mode.SEMANTIC else Mode.SEMANTIC
        found.append(
            Variant("by meaning" if other is Mode.SEMANTIC else "as a regular expression", text, other, options)
        )
        counted = []
        for each in found:
            try:
                counted.append(replace(each, hits=len(self.hits(each.text, each.mode, each.options))))
            except MgrepError:
                continue
        return tuple(counted)

    def recent_changes(self) -> Sequence[bytes]:
        return self.changed

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        flags = []
        if path in (b"src/upload/client.py", b"docs/retrying.md"):
            flags.append("changed")
        if path == b"src/upload/backoff.py":
            flags.append("untracked")
        if b"test" in path:
            flags.append("test")
        return tuple(flags)

    def repository_of(self, path: bytes) -> str:
        return self.repositories.get(path.partition(b"/")[0], "")

    # --- one file, one hit

    def symbols(self, path: bytes) -> tuple[Symbol, ...]:
        lines = self.files[path].split("\n")
        found: list[tuple[int, int, str, str]] = []
        for number, line in enumerate(lines):
            match = _DEFINITION.match(line)
            if match:
                is_section = match.group(3) is not None
                kind = "section" if is_section else "class" if "class " in line else "function"
                found.append((number, len(match.group(1) or ""), match.group(4) or match.group(2), kind))
        symbols = []
        container, container_indent = "", 0
        for number, (first, indent, name, kind) in enumerate(found):
            last = (found[number + 1][0] if number + 1 < len(found) else len(lines)) - 1
            while last > first and not lines[last].strip():
                last -= 1
            if indent <= container_indent and kind != "class":
                container = container if indent > container_indent else ("" if indent == 0 else container)
            symbols.append(
                Symbol(name, "method" if container and indent else kind, container if indent else "", first, last)
            )
            if kind == "class":
                container, container_indent = name, indent
        return tuple(symbols)

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        if path in self.previews:
            return self.previews[path]
        if path not in self.files:
            return Preview(path, notice="The file is gone. It was there when it was indexed.", is_gone=True)
        lines = self.files[path].split("\n")
        first = max(0, line - height // 2)
        shown = tuple(lines[first : first + height])
        if not is_coloured:
            return Preview(path, first, shown, total_lines=len(lines), language=language_of(path))
        symbols = self.symbols(path)
        around = [symbol for symbol in symbols if symbol.first_line <= line <= symbol.last_line]
        crumb = tuple(part for symbol in around[-1:] for part in (*symbol.container.split("."), symbol.name) if part)
        tokens = tuple(
            tuple(Token(found.start(), found.end(), found.lastgroup or "") for found in _TOKENS.finditer(text))
            for text in shown
        )
        changes = {}
        if "changed" in self.flags_of(path):
            changes = {line: "changed", line + 1: "added", line + 4: "removed"}
        return Preview(
            path,
            first,
            shown,
            tokens,
            len(lines),
            language=language_of(path),
            changes=changes,
            breadcrumb=crumb,
            symbols=symbols,
        )

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        if isinstance(self.editor, MgrepError):
            raise self.editor
        self.opened.append(hits)
        return self.editor or EditorCommand(("true",), False, "true")

    def permalink(self, hit: Hit) -> str:
        return f"https://example.org/blob/4f3c2b1a/{hit.path.decode()}#L{hit.line + 1}"

    def snippet(self, hit: Hit) -> str:
        lines = self.files[hit.path].split("\n")
        return "\n".join(lines[hit.first_line : hit.last_line + 1])

    def absolute(self, path: bytes) -> str:
        return "/home/ada/linux/" + path.decode("utf-8", "surrogateescape")

    # --- kept between runs

    def history(self) -> Sequence[PastQuery]:
        return tuple(self.past)

    def remember(self, query: PastQuery) -> None:
        if not self.past or self.past[-1] != query:
            self.past.append(query)

    def is_first_start(self) -> bool:
        return not self.past and self.session is None

    def load_session(self) -> Session | None:
        return self.session

    def save_session(self, session: Session) -> None:
        self.saved = session
