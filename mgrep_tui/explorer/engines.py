"""The parts behind an open explorer, joined: the index worker, the regex engine, the semantic engine and the deep tier.

Imported late, by the thread that opens the index: numpy, re2 and the index come along.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from mgrep_tui.corpus.gitstate import GitState, work_tree_state
from mgrep_tui.corpus.root import Root, check_readable
from mgrep_tui.errors import Cancelled, IndexDamagedError, MgrepError
from mgrep_tui.explorer.completions import completions_of, nearest_symbol
from mgrep_tui.explorer.opened import opened_view
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.quoted import files_with
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.explorer.sinks import Collected, Noting
from mgrep_tui.index.results import CheckResult, SemanticView
from mgrep_tui.index.worker import IndexWorker
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat, Health, Mode, Outcome, Sink, Skip, Symbol
from mgrep_tui.search.facts import facts_of_path
from mgrep_tui.search.filters import ChunkFacts, FileFacts, HasText
from mgrep_tui.search.query import Query, parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.search.scope import Scope, scoped
from mgrep_tui.search.work import Lines
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

if TYPE_CHECKING:
    # What regex mode does not need is imported where it is used.
    from mgrep_tui.embedding.deep import DeepTier
    from mgrep_tui.search.semantic import SemanticEngine
    from mgrep_tui.search.semantic_filling import Filling
    from mgrep_tui.search.semantic_several import Part

# A variant of a query is counted up to here, and not for longer: it is an offer, not an answer.
COUNT_LIMIT = 999
COUNT_S = 0.4
# The state against git is asked again when it is older than this and somebody looks.
GIT_STATE_S = 5.0


class OpenIndex(Protocol):
    """What is asked of an index, whether it is being kept true or only looked at."""

    def semantic(self) -> SemanticView: ...

    def health(self) -> Health: ...

    def skipped(self) -> Sequence[Skip]: ...


class Engines:
    """Everything of one root that is open. Methods may be called from any thread unless they say otherwise."""

    def __init__(
        self,
        root: Root,
        settings: Settings,
        folders: Folders,
        *,
        semantic: bool,
        watch: bool,
        scope: Scope,
        shared: SharedModels,
    ) -> None:
        self._root = root
        self._scope = scope
        self._shared = shared
        self._settings = settings
        self._folders = folders
        self._semantic_wanted = semantic
        self._watch = watch
        self._index: OpenIndex | None = None
        self._worker: IndexWorker | None = None
        self._regex = RegexEngine(root, settings)
        self._deep: DeepTier | None = None
        self._meaning: SemanticEngine | None = None
        self._filling: Filling | None = None
        self._on_change: Callable[[], None] = lambda: None
        self._git = GitState()
        self._git_at = 0.0
        self._git_lock = threading.Lock()
        self._closed = CancelToken()
        if semantic:
            self._make_semantic()

    def _make_semantic(self) -> SemanticEngine:
        from mgrep_tui.search.semantic import SemanticEngine

        self._deep = self._shared.deep(self._announce, str(self._root.path))
        self._meaning = SemanticEngine(self._root, self._settings, self._deep, self._git_sets, self._files_with)
        return self._meaning

    # --- life

    def open(self, *, works: bool, on_change: Callable[[], None]) -> None:
        """Open what is there; with `works` also keep it true from now on. Call once."""
        self._on_change = on_change
        if not works:
            from mgrep_tui.index.as_is import open_as_is

            self._index = open_as_is(self._root, self._folders, semantic=self._semantic_wanted)
            return
        worker = IndexWorker(
            self._root, self._settings, self._folders, semantic=self._semantic_wanted, watch=self._watch
        )
        worker.subscribe(on_change)
        worker.start()
        self._index = self._worker = worker
        if self._deep is not None and self._settings.semantic.deep == "background" and self._watch:
            self._fill(self._deep, worker)
        if self._watch:
            self._regex.warm()  # it stays, and is asked again and again

    def _fill(self, deep: DeepTier, worker: IndexWorker) -> None:
        """Have the deep model see every chunk in the background, from now on."""
        from mgrep_tui.search.semantic_filling import Filling

        filling = Filling(
            self._root, self._settings.chunking.max_file_bytes, deep, worker.semantic, on_change=self._announce
        )
        worker.subscribe(filling.wake)
        filling.start()
        self._filling = filling

    def close(self) -> None:
        """Stop everything, within a quarter of a second."""
        self._closed.cancel()
        if self._filling is not None:
            self._filling.stop()
        self._regex.close()
        if self._deep is not None:
            self._shared.leave(self._announce)
        if self._worker is not None:
            self._worker.stop()

    def _announce(self) -> None:
        self._on_change()

    def wait(self, cancel: CancelToken, *, needs_vectors: bool) -> None:
        if self._worker is not None:
            self._worker.wait_complete(cancel, "complete" if needs_vectors else "regex")

    # --- health

    def health(self) -> Health:
        health = self._opened.health()
        # What the header shows is git's view, from memory; how many files the n-gram index lacks is `files_pending` there.
        models = health.models
        deep, filling = self._deep, self._filling
        if deep is not None:
            said = [deep.state, filling.state if filling is not None else "", deep.notice]
            if deep.notice or deep.asks:
                said.append(deep.expense(health.chunks, health.chunked_bytes))
            models = (*models, ("deep", " · ".join(phrase for phrase in said if phrase)))
        done = filling.done if filling is not None else 0
        return replace(health, dirty=len(self._git.dirty), models=models, deep_vectors=min(done, health.chunks))

    def skipped(self) -> Sequence[Skip]:
        return self._opened.skipped()

    def pause(self) -> None:
        if self._worker is not None:
            self._worker.pause()
        if self._filling is not None:
            self._filling.pause()

    def resume(self) -> None:
        if self._worker is not None:
            self._worker.resume()
        if self._filling is not None:
            self._filling.resume()

    def rebuild(self, part: str) -> None:
        if self._worker is not None:
            self._worker.rebuild(part)

    # --- search

    def answer(
        self,
        text: str,
        mode: Mode,
        options: SearchOptions,
        sink: Sink,
        cancel: CancelToken,
        *,
        limit: int | None,
        tier: str,
        is_exhaustive: bool,
        checks_disk: bool = True,
    ) -> Outcome:
        """Search in the calling thread. Without `checks_disk` the index is believed as it is now. Raises `MgrepError` and `Cancelled`."""
        whole = parse(text, mode, case=options.case, is_literal=options.literal, is_word=options.word)
        query = scoped(whole, self._scope)
        if query is None:
            return Outcome(engine="index", is_verified=True)
        check_readable(self._root)
        if self._filling is not None and not is_exhaustive:
            sink = Noting(sink, self._filling.look_at)
        if mode is Mode.REGEX and options.like is None:
            return self._find(query, options, sink, cancel, limit, is_exhaustive, checks_disk)
        view = self._opened.semantic() if self._worker is None else opened_view(self._worker, cancel)
        most = limit or self._settings.semantic.top_k
        meaning = self._meaning or self._make_semantic()
        if options.like is not None and options.like.chunk_id is not None:
            return meaning.like(options.like.chunk_id, query, view, sink, cancel, limit=most)
        return meaning.search(query, view, sink, cancel, ratio=options.ratio, tier=tier, limit=most)

    def part(self, text: str, options: SearchOptions, label: str) -> Part | None:
        """This root for a search by meaning over several; None when the query leaves it out. Raises `MgrepError`."""
        from mgrep_tui.search.semantic_several import Part

        query = scoped(parse(text, Mode.SEMANTIC, case=options.case), self._scope)
        if query is None:
            return None
        check_readable(self._root)
        return Part(label, self._meaning or self._make_semantic(), query, self._opened.semantic())

    @property
    def deep(self) -> DeepTier | None:
        return self._deep

    def _find(
        self,
        query: Query,
        options: SearchOptions,
        sink: Sink,
        cancel: CancelToken,
        limit: int | None,
        is_exhaustive: bool,
        checks_disk: bool,
    ) -> Outcome:
        worker = self._worker
        # What the index leaves out is listed and scanned.
        is_wider = options.hidden or options.ignored
        engine = RegexEngine(self._root, self._wider(options)) if is_wider else self._regex
        facts_of = self._facts_of if query.filters.needs_git else facts_of_path
        lines_of = self._lines_of if query.filters.needs_chunk else None

        def run(into: Sink) -> tuple[Outcome, bool]:
            """The outcome, and whether the snapshot was recent enough to be compared with the disk."""
            snapshot = worker.snapshot() if worker is not None else None
            checked = CheckResult()

            def check(token: CancelToken) -> CheckResult:
                nonlocal checked
                assert worker is not None
                checked = worker.check(token, snapshot)
                return checked

            outcome = engine.search(
                query,
                replace(snapshot, covers=False) if snapshot is not None and is_wider else snapshot,
                check if worker is not None and checks_disk else None,
                into,
                cancel,
                facts_of=facts_of,
                lines_of=lines_of,
                symbols_of=self._symbols_now if self._watch and limit is None else None,
                sort=options.sort,
                is_exhaustive=is_exhaustive,
                limit=limit,
            )
            return outcome, checked.is_complete

        outcome, is_comparable = run(sink)
        if is_comparable or is_exhaustive:
            return outcome
        # The index was published anew more often than it remembers, while this ran: once more, on what it is now.
        again = Collected()
        outcome, _ = run(again)
        sink.replace(again.hits)
        return outcome

    def _wider(self, options: SearchOptions) -> Settings:
        """The settings with hidden or ignored files let in."""
        corpus = self._settings.corpus
        if options.hidden:
            corpus = replace(corpus, hidden=True)
        if options.ignored:
            corpus = replace(corpus, use_gitignore=False, ignore_files=())
        return replace(self._settings, corpus=corpus)

    def _files_with(self, texts: Sequence[HasText]) -> Collection[bytes] | None:
        return None if self._worker is None else files_with(self._worker.snapshot(), texts)

    @property
    def _opened(self) -> OpenIndex:
        if self._index is None:
            raise MgrepError("The index is not open.")
        return self._index

    def _facts_of(self, path: bytes) -> FileFacts:
        dirty, untracked = self._git_sets()
        return replace(facts_of_path(path), is_dirty=path in dirty, is_untracked=path in untracked)

    def _lines_of(self, path: bytes, facts: FileFacts) -> list[Lines] | None:
        catalog = self._opened.semantic().catalog
        if catalog is None or catalog.file(path) is None:
            return None
        return [
            Lines(row.first_line, row.last_line, ChunkFacts(facts, row.kind, row.name, row.container))
            for row in catalog.symbols_of(path)
        ]

    def count(self, text: str, mode: Mode, options: SearchOptions) -> tuple[int, bool] | None:
        """How many hits a query has, and whether there are more; None when that could not be told in time."""
        counter = Collected()
        cancel = CancelToken()
        timer = threading.Timer(COUNT_S, cancel.cancel)
        timer.daemon = True
        timer.start()
        try:
            outcome = self.answer(
                text, mode, options, counter, cancel, limit=COUNT_LIMIT, tier="instant", is_exhaustive=False
            )
        except Cancelled:
            return (len(counter.hits), True) if counter.hits else None
        except MgrepError:
            return (0, False)
        finally:
            timer.cancel()
        return outcome.hits, outcome.is_capped

    # --- from the catalog

    def symbols_of(self, path: bytes) -> tuple[Symbol, ...]:
        catalog = self._opened.semantic().catalog
        if catalog is None:
            return ()
        try:
            rows = catalog.symbols_of(path)
        except IndexDamagedError:
            return ()
        return tuple(Symbol(row.name, row.kind, row.container, row.first_line, row.last_line) for row in rows)

    def _symbols_now(self, path: bytes) -> Sequence[Symbol]:
        """The symbols of a file if it is still what the catalog knows."""
        catalog = self._opened.semantic().catalog
        try:
            row = catalog.file(path) if catalog is not None else None
            if row is None or row.stat != FileStat.of(os.lstat(self._root.absolute(path))):
                return ()
        except (IndexDamagedError, OSError):
            return ()
        return self.symbols_of(path)

    def completions(self, prefix: str) -> tuple[str, ...]:
        return completions_of(prefix, self._opened.semantic().catalog, self._scope.names)

    def nearest_symbol(self, word: str) -> str:
        return nearest_symbol(word, self._opened.semantic().catalog)

    def recent_changes(self) -> Sequence[bytes]:
        catalog = self._opened.semantic().catalog
        if catalog is None:
            return ()
        try:
            newest = sorted(catalog.files(), key=lambda row: row.stat.mtime_ns, reverse=True)[:20]
        except IndexDamagedError:
            return ()
        return tuple(row.path for row in newest)

    # --- git

    def _git_sets(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Files that differ from HEAD, and those that git does not track; at most `GIT_STATE_S` old. May block."""
        with self._git_lock:
            if time.monotonic() - self._git_at > GIT_STATE_S:
                self._git = work_tree_state(self._root, self._closed)
                self._git_at = time.monotonic()
            return self._git.dirty, self._git.untracked

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        """What is special about a file, from memory. The state against git is looked up in the background."""
        if time.monotonic() - self._git_at > GIT_STATE_S and self._git_lock.acquire(blocking=False):
            self._git_lock.release()
            threading.Thread(target=self._refresh_git, name="git-state", daemon=True).start()
        facts = facts_of_path(path)
        state = "untracked" if path in self._git.untracked else "changed" if path in self._git.dirty else ""
        special = (("test", facts.is_test), ("generated", facts.is_generated), ("vendored", facts.is_vendored))
        return tuple(name for name in (state, *(name for name, holds in special if holds)) if name)

    def _refresh_git(self) -> None:
        try:
            self._git_sets()
        except Cancelled:
            return
