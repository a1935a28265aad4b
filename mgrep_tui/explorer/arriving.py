"""A repository that is opened by its address: an explorer at once, the files when they have come.

What is in the cache opens as any folder and is refreshed behind the screen. What is not is brought first: until then the health says how
far that is, and a search answers that nothing is here yet; it is asked again by the screen when that changes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.explorer.local import LocalExplorer, Place
from mgrep_tui.explorer.memory import Memory, Remembering
from mgrep_tui.explorer.protocol import Chip, EditorCommand, OnDone, Preview, SearchOptions, Variant
from mgrep_tui.explorer.searches import Running
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, Hit, IndexState, Mode, Outcome, Sink, Skip
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.repositories.arrival import Arrivals
from mgrep_tui.repositories.store import Kept
from mgrep_tui.settings.paths import Folders

if TYPE_CHECKING:
    from mgrep_tui.explorer.engines import Engines

log = logging.getLogger(__name__)

TELL_S = 0.2
CLOSE_S = 0.2


class ArrivingExplorer(Remembering):
    """See `protocol.Explorer`; `make` opens the tree once it is there."""

    def __init__(
        self, address: Address, tree: Path, arrivals: Arrivals, folders: Folders, make: Callable[[Kept], LocalExplorer]
    ) -> None:
        """`tree` is where the files will be."""
        self.names = address.names
        self.root_label = address.names[0]
        self.place = Place()
        self.folder = tree
        self._address = address
        self._arrivals = arrivals
        self._folders = folders
        self._make = make
        self._memory = Memory(folders.state / "history.jsonl", folders.session_of(tree))
        self._cancel = CancelToken()
        self._lock = threading.Lock()
        self._inner: LocalExplorer | None = None
        self._failure: MgrepError | None = None
        self._phase = "connecting"
        self._note = ""
        self._told = 0.0
        self._callbacks: list[Callable[[], None]] = []
        self._working = threading.Event()
        self._ended = threading.Event()

    # --- life

    def start(self) -> None:
        self._working.set()
        threading.Thread(target=self._arrive, name="arriving", daemon=True).start()

    def _arrive(self) -> None:
        try:
            kept = self._arrivals.bring(self._address, self._cancel, self._report)
            is_old = not self._arrivals.is_fresh(kept, self._address)
            self._open(kept)
            if is_old:
                done = self._arrivals.refresh(kept, self._address, self._cancel, lambda phrase: None)
                self._note = done.note
                if done.is_moved:
                    self._open(done.kept)  # the tree has changed places, and whoever watches it watches the old one
                self._changed()
        except Cancelled:
            return
        except MgrepError as error:
            self._failure = error
            self._changed()
        except Exception:
            log.exception("a repository could not be brought")
            self._failure = MgrepError("The repository could not be opened.", "The log has the details.")
            self._changed()
        finally:
            self._ended.set()

    def _open(self, kept: Kept) -> None:
        inner = self._make(kept)
        inner.names, inner.place = self.names, self.place
        inner.subscribe(self._changed)
        with self._lock:
            self._cancel.check()
            old, self._inner = self._inner, inner
            inner.start()
        if old is not None:
            old.close()
        self._changed()

    def _report(self, phrase: str) -> None:
        self._phase = phrase
        now = time.monotonic()
        if now - self._told > TELL_S:
            self._told = now
            self._changed()

    def close(self) -> None:
        self._cancel.cancel()
        with self._lock:
            inner = self._inner
        if inner is not None:
            inner.close()
        if self._working.is_set():
            # So that what is half brought is gone before the process ends; a killed git takes no longer.
            self._ended.wait(CLOSE_S)

    def _here(self) -> LocalExplorer:
        if self._inner is not None:
            return self._inner
        if self._failure is not None:
            raise self._failure
        raise MgrepError(f"{self._address} is on its way: {self._phase}.")

    def engines(self, cancel: CancelToken, patience_s: float) -> Engines:
        return self._here().engines(cancel, patience_s)

    # --- health

    def health(self) -> Health:
        root = str(self._address)
        if self._inner is not None:
            health = self._inner.health()
            return replace(health, events=(self._note, *health.events)) if self._note else health
        if self._failure is not None:
            return Health(IndexState.BROKEN, f"{root} is not here", root=root, last_error=str(self._failure))
        return Health(IndexState.OPENING, f"bringing {root}: {self._phase}", root=root)

    def subscribe(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def _changed(self) -> None:
        for callback in tuple(self._callbacks):
            callback()

    def skipped(self) -> Sequence[Skip]:
        return self._here().skipped()

    def pause(self) -> None:
        self._here().pause()

    def resume(self) -> None:
        self._here().resume()

    def rebuild(self, part: str) -> None:
        self._here().rebuild(part)

    def log_path(self) -> Path | None:
        return self._folders.log_file

    # --- search

    def search(self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone) -> Running:
        inner = self._inner
        if inner is not None:
            note = self._note

            def done(outcome: Outcome | None, error: MgrepError | None) -> None:
                if outcome is not None and note:
                    outcome = replace(outcome, notes=(*outcome.notes, note))
                on_done(outcome, error)

            return inner.search(text, mode, epoch, sink, options, done)

        def answer() -> None:
            try:
                self._here()
                on_done(Outcome(is_partial=True), None)
            except MgrepError as error:
                on_done(Outcome(is_partial=True, notes=(str(error),)), None)

        threading.Thread(target=answer, name=f"search-{epoch}", daemon=True).start()
        return Running(CancelToken())

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        from mgrep_tui.explorer.queries import chips_of

        return chips_of(text, mode)

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        from mgrep_tui.explorer.queries import words_of

        return words_of(text, mode)

    def completions(self, prefix: str) -> tuple[str, ...]:
        return self._here().completions(prefix)

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        return self._here().variants(text, mode, options)

    def recent_changes(self) -> Sequence[bytes]:
        return self._here().recent_changes()

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        return self._inner.flags_of(path) if self._inner is not None else ()

    def repository_of(self, path: bytes) -> str:
        return ""

    # --- one file, one hit

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        if self._inner is None:
            return Preview(path, notice="The repository is not here yet.")
        return self._inner.preview(path, line, column, height, width, is_coloured=is_coloured)

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        return self._here().open_command(hits)

    def permalink(self, hit: Hit) -> str:
        return self._here().permalink(hit)

    def snippet(self, hit: Hit) -> str:
        return self._here().snippet(hit)

    def absolute(self, path: bytes) -> str:
        return self._here().absolute(path)
