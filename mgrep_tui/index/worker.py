"""The index of one root: opened, kept true and told about, by one thread of its own.

The first copy of the program on a root holds the lock and writes; every other one reads what is published, follows it, and takes over when
the first is gone. Where the folder cannot be written an index that is there is read, else one is made in a temporary folder.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import Listing, list_files
from mgrep_tui.embedding.static import StaticModel, shared_static
from mgrep_tui.errors import IndexDamagedError, MgrepError, ModelError
from mgrep_tui.index import generations
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.as_is import to_skip
from mgrep_tui.index.context import Context
from mgrep_tui.index.coverage import Coverage
from mgrep_tui.index.health import Board
from mgrep_tui.index.lock import Access, WriterLock
from mgrep_tui.index.manifest import Manifest
from mgrep_tui.index.own_folders import leave_out
from mgrep_tui.index.reader import Reading
from mgrep_tui.index.results import CheckResult, SemanticView
from mgrep_tui.index.status import Teller
from mgrep_tui.index.sweep import Sweeper
from mgrep_tui.index.tending import Tending
from mgrep_tui.index.vigil import Baseline
from mgrep_tui.index.writer import Writing
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.loop import Loop
from mgrep_tui.model import Health, IndexState, Skip
from mgrep_tui.ngram.snapshot import Snapshot
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

Until = Literal["regex", "semantic", "complete"]

FOLLOW_S = 2.0  # how often a reading copy looks for a new generation and for the lock
PATIENCE_S = 60.0  # how long a reading copy waits for a writer that publishes nothing
BUILD_TELL_S = 0.5
LOOK_S = 0.05
STOP_S = 0.25
TOLD_S = 1.0

log = logging.getLogger(__name__)


class IndexWorker:
    """See `mgrep_tui.index` for what each method promises. All public methods may be called from any thread."""

    def __init__(
        self, root: Root, settings: Settings, folders: Folders, *, semantic: bool = True, watch: bool | None = None
    ) -> None:
        self.root = root
        self._settings = settings
        self._folders = folders
        self._semantic = semantic
        self._watch = settings.index.watch if watch is None else watch
        self.folder = folders.index_of(root.path)
        self._temporary: Path | None = None
        self._cancel = CancelToken()
        self._loop = Loop("index", self._broke)
        self._coverage = Coverage()
        self._board = Board(str(root.path))
        self._previous: Listing | None = None
        self._sweeper = Sweeper(self._walk, self._absorb)
        self._lock = WriterLock(self.folder)
        self._side: Writing | Reading | None = None
        self._model: StaticModel | None = None
        self._opened = threading.Event()
        self._changed_state = threading.Condition()
        self._is_paused = False
        self._is_listed = False
        self._context = self._context_for(self.folder)
        self._teller = Teller(self._context)
        self._tending = Tending(self._context, self._news)
        self._baseline: Baseline | None = None  # of the listing that is running

    def _context_for(self, folder: Path) -> Context:
        return Context(
            self.root, self._settings, self._folders, folder, self._loop, self._cancel, self._board,
            self._coverage, self._sweeper, self._publish, self._moved,
        )  # fmt: skip

    # --- the thread

    def start(self) -> None:
        """Begin; returns at once."""
        self._loop.post(self._open)
        self._loop.start()

    def stop(self, timeout_s: float = STOP_S) -> bool:
        """End: children are killed, what is not published is made again the next time. Whether the thread ended in time."""
        self._cancel.cancel()
        if not self._loop.is_running:
            return True
        self._tending.stop()
        ended = threading.Event()

        def finish() -> None:
            try:
                self._close()
            finally:
                ended.set()

        self._loop.post(finish)
        is_in_time = ended.wait(timeout_s)
        self._loop.stop(0.05)
        with self._changed_state:
            self._changed_state.notify_all()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        return is_in_time

    def _close(self) -> None:
        side, self._side = self._side, None
        try:
            if side is not None:
                side.close()
        finally:
            self._lock.release()

    def _open(self) -> None:
        """Answer from what is published before anything else is looked at."""
        manifest = Manifest()
        parts = []
        try:
            manifest = manifests.load(self.folder) or manifest
            segments, disposition = generations.open_segments(self.folder, manifest)
            if segments:
                self._coverage.restore(segments, disposition)
                parts = list(manifest.segments)
        except IndexDamagedError as error:
            self._board.say(f"{error.message} It is built anew.")
        finally:
            self._opened.set()
        self._moved()
        if self._watch:
            self._tending.start()
        if self._semantic:
            try:
                self._model = shared_static()
            except ModelError as error:
                self._board.fail(str(error))
        access = self._lock.acquire()
        leave_out(self.root.path, self._folders)
        if access is Access.WRITER:
            self._write(manifest, parts)
        elif access is Access.READER:
            self._board.say("Another copy of the program writes this index; this one reads it.")
            self._read()
        elif manifest.generation:
            self._board.fail(
                f"The index in {self.folder} cannot be written ({self._lock.detail}); it is read as it is."
            )
            self._read()
        else:
            self._write_elsewhere()

    def _write(self, manifest: Manifest, parts: Iterable[manifests.SegmentPart]) -> None:
        side = Writing(self._context, manifest, semantic=self._semantic, model=self._model)
        self._side = side
        side.open(parts)
        self._list_then(side.begin)

    def _write_elsewhere(self) -> None:
        """No index and no place for one: a temporary folder serves until we end."""
        self._board.fail(
            f"The index folder {self.folder} cannot be made ({self._lock.detail}); a temporary one is used until you quit."
        )
        try:
            self._temporary = Path(tempfile.mkdtemp(prefix="mgrep-tui-"))
        except OSError as error:
            self._board.fail(f"No index can be kept: {error.strerror}. Every search reads the files.")
            self._board.put(state=IndexState.READ_ONLY)
            self._list_then(lambda: None)
            return
        self.folder = self._temporary
        self._context = self._context_for(self.folder)
        self._teller = Teller(self._context)
        self._lock = WriterLock(self.folder)
        self._lock.acquire()
        self._write(Manifest(), ())

    def _read(self) -> None:
        side = Reading(self._context, semantic=self._semantic, model=self._model)
        self._side = side
        side.follow()
        self._list_then(lambda: self._loop.at("follow", FOLLOW_S, self._follow))

    def _follow(self) -> None:
        """Look for a new generation, and whether the writer has gone."""
        side = self._side
        if not isinstance(side, Reading) or self._cancel.is_cancelled:
            return
        if self._lock.acquire() is Access.WRITER:
            self._take_over(side)
            return
        if side.follow():
            side.followed_at = time.monotonic()
            self._tending.sweep()
        self._moved()
        self._loop.at("follow", FOLLOW_S, self._follow)

    def _take_over(self, side: Reading) -> None:
        side.close()
        self._board.say("The other copy has ended; this one writes the index now.")
        manifest, parts = Manifest(), []
        try:
            manifest = manifests.load(self.folder) or manifest
            segments, disposition = generations.open_segments(self.folder, manifest)
            if segments:
                self._coverage.restore(segments, disposition)
                parts = list(manifest.segments)
            else:
                self._coverage.clear()
        except IndexDamagedError as error:
            self._coverage.clear()
            self._board.say(f"{error.message} It is built anew.")
        self._write(manifest, parts)

    def _list_then(self, begin: Callable[[], None]) -> None:
        """List the tree, again and again until it can be, then go on."""
        if self._cancel.is_cancelled:
            return
        if self._tending.sweep():
            self._is_listed = True
            begin()
            self._moved()
        else:
            self._loop.at("list", 5.0, lambda: self._list_then(begin))

    # --- what happens

    def _walk(self, cancel: CancelToken) -> Listing:
        self._baseline = self._tending.before_listing(cancel)
        return list_files(self.root, self._settings.corpus, cancel, previous=self._previous)

    def _absorb(self, listing: Listing) -> list[bytes]:
        self._previous = listing
        self._teller.listing = listing
        news = self._coverage.reconcile(listing)
        self._tending.after_listing(listing, self._baseline)
        if news:
            self._loop.post(lambda: self._news(news))
        return news

    def _news(self, paths: Iterable[bytes]) -> None:
        side = self._side
        if isinstance(side, Writing) and self._is_listed:
            side.changed(paths)
        self._moved()

    def _publish(self, delay_s: float) -> None:
        if isinstance(self._side, Writing):
            self._side.publish(delay_s)

    def _moved(self) -> None:
        self._loop.at("tell", 0.1, self._tell)

    def _tell(self) -> None:
        if self._cancel.is_cancelled:
            return
        side = self._side
        if isinstance(side, Writing):
            side.publish_if_complete()
        again = self._teller.tell(side, self._tending.state, paused=self._is_paused)
        if isinstance(side, Writing) and side.grams.job is not None:
            again = max(again, BUILD_TELL_S)  # nothing else says how far a build is
        if again > 0:
            self._loop.at("tell", again, self._tell)
        with self._changed_state:
            self._changed_state.notify_all()

    def _broke(self, error: BaseException) -> None:
        """Something that nobody foresaw. The log has it all; search goes on."""
        if self._cancel.is_cancelled:
            return
        log.error("the index worker met an error", exc_info=error)
        what = error.message if isinstance(error, MgrepError) else f"{type(error).__name__}: {error}"
        self._board.fail(f"The index met an error ({what}). Search goes on; the log has the details.")
        self._moved()

    # --- asked by others

    def health(self) -> Health:
        return self._board.health()

    def subscribe(self, callback: Callable[[], None]) -> None:
        self._board.subscribe(callback)

    def snapshot(self) -> Snapshot:
        return self._coverage.snapshot()

    def check(self, cancel: CancelToken, since: Snapshot | None = None) -> CheckResult:
        began = time.monotonic()
        while not self._opened.wait(LOOK_S):
            cancel.check()
        version = self._coverage.snapshot().version if since is None else since.version
        if self._tending.is_current(cancel):
            self._sweeper.note_checked()
        else:
            self._sweeper.sweep(cancel)
        found = self._coverage.since(version)
        self._loop.post(self._moved)
        return CheckResult(
            found.changed,
            found.deleted,
            found.is_complete,
            len(self._coverage.known()),
            (time.monotonic() - began) * 1e3,
        )

    def semantic(self) -> SemanticView:
        side = self._side
        return SemanticView(notice="The index is being opened.") if side is None else side.view()

    def wait_complete(self, cancel: CancelToken, until: Until = "complete") -> bool:
        answer = self._wait(cancel, until)
        told = threading.Event()

        def tell_all() -> None:
            self._teller.tell(self._side, self._tending.state, paused=self._is_paused, final=True)
            told.set()

        self._loop.post(tell_all)
        told.wait(TOLD_S)
        return answer

    def _wait(self, cancel: CancelToken, until: Until) -> bool:
        heard = threading.Event()
        self._loop.post(
            heard.set
        )  # what was found on the disk before this call is known to the worker when this comes through
        while not heard.wait(LOOK_S):
            cancel.check()
            if self._cancel.is_cancelled:
                return False
        patience = time.monotonic() + PATIENCE_S
        while True:
            cancel.check()
            if self._cancel.is_cancelled:
                return False
            side = self._side
            if self._is_listed:
                if until == "regex" and self._coverage.covers:
                    return True
                if isinstance(side, Writing) and (
                    side.is_published or (until == "semantic" and side.is_semantic_published)
                ):
                    return True
                if isinstance(side, Reading):
                    if side.is_complete:
                        return True
                    if time.monotonic() > max(patience, side.followed_at + PATIENCE_S):
                        return False
                if side is None or (isinstance(side, Writing) and side.is_broken):
                    return False
            with self._changed_state:
                self._changed_state.wait(LOOK_S)

    def pause(self) -> None:
        self._loop.post(lambda: self._set_paused(True))

    def resume(self) -> None:
        self._loop.post(lambda: self._set_paused(False))

    def _set_paused(self, is_paused: bool) -> None:
        self._is_paused = is_paused
        meaning = self._side.meaning if isinstance(self._side, Writing) else None
        if meaning is not None:
            (meaning.pause if is_paused else meaning.resume)()
        self._moved()

    def rebuild(self, part: str) -> None:
        def act() -> None:
            if isinstance(self._side, Writing):
                self._side.rebuild(part)

        self._loop.post(act)

    def skipped(self) -> list[Skip]:
        listing = self._previous
        found = list(listing.skips) if listing is not None else []
        catalog = self.semantic().catalog
        if catalog is not None:
            with contextlib.suppress(IndexDamagedError):
                found += [to_skip(*row) for row in catalog.skipped()]
        return sorted(found, key=lambda skip: skip.path)
