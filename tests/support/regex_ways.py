"""Regex searches over small trees, the three ways in which a file can be found: indexed, only dirty, and with the index off."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.index.results import CheckResult
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Outcome, Progress
from mgrep_tui.ngram.build import build_segment
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import Snapshot, make_snapshot
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.settings.config import Settings

WAYS = ("indexed", "dirty", "off")
KERNEL_CACHE = Path(tempfile.gettempdir()) / f"mgrep-tui-test-kernels-{os.getuid() if hasattr(os, 'getuid') else 0}"


@dataclass
class Collected:
    """A sink that keeps what it was given."""

    hits: list[Hit] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    replaced: int = 0

    def batch(self, hits: Sequence[Hit]) -> None:
        self.batches.append(len(hits))
        self.hits.extend(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self.replaced += 1
        self.hits = list(hits)

    def progress(self, progress: Progress) -> None:
        assert progress.searched <= progress.total


@dataclass
class Answer:
    hits: list[Hit]
    outcome: Outcome
    sink: Collected

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """(path, line, column), both from 1, by path and line."""
        return sorted((os.fsdecode(hit.path), hit.line + 1, hit.column + 1) for hit in self.hits)

    @property
    def lines(self) -> list[tuple[str, int]]:
        return [(path, line) for path, line, _ in self.places]


def write_tree(folder: Path, files: Mapping[str | bytes, bytes | str]) -> Root:
    for name, content in files.items():
        path = Path(os.fsdecode(os.path.join(os.fsencode(folder), os.fsencode(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_root(folder)


def index_tree(root: Root, folder: Path, settings: Settings | None = None) -> Segment:
    """One segment over all files of the tree."""
    entries = list_files(root, (settings or Settings()).corpus, CancelToken()).entries
    folder.mkdir(parents=True, exist_ok=True)
    name = folder / f"segment{len(list(folder.iterdir()))}"
    summary = build_segment(root, entries, name, kernel_cache=KERNEL_CACHE, threads=1)
    return Segment.open(name, summary.checksum)


def snapshot_of(root: Root, folder: Path, way: str) -> Snapshot | None:
    if way == "indexed":
        return make_snapshot([index_tree(root, folder)], covers=True)
    if way == "dirty":
        entries = list_files(root, Settings().corpus, CancelToken()).entries
        return Snapshot(extra=tuple(entry.path for entry in entries), covers=True)
    return None


def ask(
    root: Root,
    text: str,
    snapshot: Snapshot | None,
    *,
    settings: Settings | None = None,
    check: Callable[[CancelToken], CheckResult] | None = None,
    cancel: CancelToken | None = None,
    case: str = "smart",
    is_literal: bool = False,
    is_word: bool = False,
    is_multiline: bool = False,
    **options: object,
) -> Answer:
    sink = Collected()
    query = parse(text, Mode.REGEX, case=case, is_literal=is_literal, is_word=is_word, is_multiline=is_multiline)
    engine = RegexEngine(root, settings or Settings())
    outcome = engine.search(query, snapshot, check, sink, cancel or CancelToken(), **options)  # type: ignore[arg-type]
    return Answer(sink.hits, outcome, sink)
