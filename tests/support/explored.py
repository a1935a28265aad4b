"""The whole explorer over small trees, the three ways in which a file can be found: indexed, only dirty, and with the index off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.index import grams
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.ngram import build
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from tests.support.index_world import InlineJob, wait_until
from tests.support.regex_ways import KERNEL_CACHE, WAYS, Answer, Collected, write_tree

__all__ = ["WAYS", "Explored", "index_small_trees"]

Files = Mapping[str | bytes, bytes | str]


def index_small_trees(patch: pytest.MonkeyPatch) -> None:
    """Segments already for a handful of files, built in this process and without waiting for the clock."""
    patch.setattr(grams, "STALE_FILES", 3)
    patch.setattr(grams, "REBUILD_FILES", 8)
    patch.setattr(grams, "SegmentJob", InlineJob)
    patch.setattr(grams, "SETTLE_NS", 20_000_000)
    patch.setattr(build, "build_segment", partial(build.build_segment, kernel_cache=KERNEL_CACHE))

    def settled(stat: Any, taken_ns: int) -> bool:
        return bool(stat.ctime_ns < taken_ns - 20_000_000)

    patch.setattr("mgrep_tui.index.coverage.is_settled", settled)
    patch.setattr("mgrep_tui.index.grams.is_settled", settled)


class Explored:
    """A tree at `folder/tree` and an explorer over it whose indexes lie in `folder/home`."""

    def __init__(self, folder: Path, *, settings: Settings | None = None, root: Path | None = None) -> None:
        self.path = root or folder / "tree"
        self.path.mkdir(parents=True, exist_ok=True)
        self.home = folder / "home"
        self.settings = settings or Settings()
        self._explorers: list[LocalExplorer] = []

    def write(self, files: Files) -> Explored:
        write_tree(self.path, files)
        return self

    def open(self, *, semantic: bool = False, watch: bool = False, works: bool = True) -> LocalExplorer:
        """An explorer of its own; with `works` everything is up to date when this returns."""
        folders = user_folders({"MGREP_TUI_HOME": os.fspath(self.home)})
        made = LocalExplorer(open_root(self.path), self.settings, folders, {}, semantic=semantic, watch=watch)
        self._explorers.append(made)
        if works:
            made.start()
            made.wait(CancelToken(), needs_vectors=semantic)
        else:
            made.open_as_is()
        return made

    def found_by(self, way: str, files: Files) -> LocalExplorer:
        """Write the files, such that they are found in this way."""
        if way == "indexed":
            self.write(files)
            made = self.open()
            worker = made._parts()._worker
            assert worker is not None
            wait_until(lambda: worker.snapshot().segments and not worker.snapshot().extra, "an index of every file")
            return made
        if way == "dirty":
            made = self.open()
            self.write(files)
            return made
        self.write(files)
        return self.open(works=False)

    def close(self) -> None:
        while self._explorers:
            self._explorers.pop().close()


def ask(
    explorer: LocalExplorer, text: str, mode: Mode = Mode.REGEX, *, limit: int | None = None, **options: Any
) -> Answer:
    sink = Collected()
    outcome = explorer.answer(text, mode, SearchOptions(**options), sink, CancelToken(), limit=limit)
    return Answer(sink.hits, outcome, sink)
