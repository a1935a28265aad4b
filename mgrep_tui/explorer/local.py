"""The explorer of one local root: what both fronts talk to.

Making one is cheap and imports nothing heavy, so that the screen can be painted first; `start` does the rest in a thread of its own. A
search that comes before that is done waits for it. Every search has its own thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mgrep_tui.corpus.root import Root
from mgrep_tui.editor import presets
from mgrep_tui.errors import IndexDamagedError, MgrepError
from mgrep_tui.explorer.memory import Memory, Remembering
from mgrep_tui.explorer.opening import editor_command
from mgrep_tui.explorer.protocol import Chip, EditorCommand, OnDone, Preview, SearchOptions, Variant
from mgrep_tui.explorer.searches import Running, Searches
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, Hit, IndexState, Mode, Outcome, Sink, Skip
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

if TYPE_CHECKING:
    from mgrep_tui.explorer.engines import Engines
    from mgrep_tui.explorer.permalink import Origin

log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 30.0
LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Place:
    """Where a root stands among several: see `search.scope.Scope`, whose words these are."""

    known: frozenset[str] = frozenset()
    prefix: bytes = b""
    nested: tuple[bytes, ...] = ()


class LocalExplorer(Remembering):
    """One root on this machine. `semantic=False` leaves chunks, keywords and vectors alone."""

    def __init__(
        self,
        root: Root,
        settings: Settings,
        folders: Folders,
        environ: Mapping[str, str],
        *,
        semantic: bool = True,
        watch: bool = True,
        names: Sequence[str] = (),
        shared: SharedModels | None = None,
        origin: Origin | None = None,
    ) -> None:
        """`names` are what `repo:` may call this root, when that is more than the folder's name; the first is its label. `origin` tells
        where a tree without git came from."""
        self._origin = origin
        self.root_label = names[0] if names else root.path.name or str(root.path)
        self.names = tuple(names)
        self.folder = root.path
        self.place = Place()
        self._shared = shared or SharedModels(settings, folders)
        self._root = root
        self._settings = settings
        self._folders = folders
        self._environ = environ
        self._semantic = semantic
        self._watch = watch and settings.index.watch
        self._memory = Memory(folders.state / "history.jsonl", folders.session_of(root.path))
        self._closed = CancelToken()
        self._opened = threading.Event()
        self._engines: Engines | None = None
        self._failure: MgrepError | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._searches = Searches()
        self._ending = threading.Lock()
        self._is_closed = False

    # --- life

    def start(self) -> None:
        """Open the index and begin to work on it, in the background. Returns at once."""
        threading.Thread(target=self._open, args=(True,), name="opening", daemon=True).start()

    def open_as_is(self) -> None:
        """Open what is there without refreshing it."""
        self._open(False)

    def is_indexed(self) -> bool:
        """Whether something was published that regex mode can use. Reads one small file; before or after opening."""
        from mgrep_tui.index import manifest

        try:
            found = manifest.load(self._folders.index_of(self._root.path))
        except IndexDamagedError:
            return False
        return found is not None and found.dispositions is not None

    def _open(self, works: bool) -> None:
        try:
            # Here, not at the top: these bring numpy, re2 and the index along, and the first paint comes before them.
            from mgrep_tui.explorer.engines import Engines
            from mgrep_tui.search.scope import Scope

            engines = Engines(
                self._root,
                self._settings,
                self._folders,
                semantic=self._semantic,
                watch=self._watch,
                scope=Scope(self.names or (self.root_label,), self.place.known, self.place.prefix, self.place.nested),
                shared=self._shared,
            )
            engines.open(works=works, on_change=self._changed)
            self._engines = engines
        except MgrepError as error:
            self._failure = error
        except Exception:
            log.exception("the index could not be opened")
            self._failure = MgrepError("The index could not be opened.", "The log has the details.")
        self._opened.set()
        if self._closed.is_cancelled:
            self.close()
        self._changed()

    def close(self) -> None:
        """Stop everything; returns within 200 ms or so, and every further time once the first has. May be called from any thread.

        What was searching learns that it is not wanted any more.
        """
        self._closed.cancel()
        self._searches.cancel()
        with self._ending:
            if self._engines is not None and not self._is_closed:
                self._is_closed = True
                self._engines.close()

    def engines(self, cancel: CancelToken, patience_s: float) -> Engines:
        """What is behind it, waiting for it so long. Raises `MgrepError` and `Cancelled`."""
        until = time.monotonic() + patience_s
        while not self._opened.wait(LOOK_S) and time.monotonic() < until:
            cancel.check()
        if not self._opened.is_set():
            raise MgrepError("it is still being opened.")
        return self._parts()

    def _parts(self) -> Engines:
        if not self._opened.wait(OPEN_TIMEOUT_S):
            raise MgrepError("The index is still being opened.", "Try again in a moment.")
        if self._engines is None:
            raise self._failure or MgrepError("The index is not open.")
        return self._engines

    def wait(self, cancel: CancelToken, *, needs_vectors: bool) -> None:
        """Block until the regex part, and with `needs_vectors` everything, is up to date with the disk. Raises `MgrepError`."""
        self._parts().wait(cancel, needs_vectors=needs_vectors)

    # --- health

    def health(self) -> Health:
        if self._engines is not None:
            return self._engines.health()
        if self._failure is not None:
            return Health(state=IndexState.BROKEN, root=str(self._root.path), last_error=str(self._failure))
        return Health(state=IndexState.OPENING, phase="opening the index", root=str(self._root.path))

    def subscribe(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def _changed(self) -> None:
        for callback in tuple(self._callbacks):
            callback()

    def skipped(self) -> Sequence[Skip]:
        return self._parts().skipped()

    def pause(self) -> None:
        self._parts().pause()

    def resume(self) -> None:
        self._parts().resume()

    def rebuild(self, part: str) -> None:
        self._parts().rebuild(part)

    def log_path(self) -> Path | None:
        return self._folders.log_file

    # --- search

    def search(self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone) -> Running:
        return self._searches.start(
            lambda cancel: self.answer(text, mode, options, sink, cancel, tier=self._tier()), epoch, mode, on_done
        )

    def answer(
        self,
        text: str,
        mode: Mode,
        options: SearchOptions,
        sink: Sink,
        cancel: CancelToken,
        *,
        limit: int | None = None,
        tier: str = "instant",
        is_exhaustive: bool = False,
        checks_disk: bool = True,
    ) -> Outcome:
        """Search in the calling thread. Raises `MgrepError` (a `QueryError` where the query is at fault) and `Cancelled`.

        `checks_disk=False` is for a caller that has just waited for the index to be up to date.
        """
        return self._parts().answer(
            text,
            mode,
            options,
            sink,
            cancel,
            limit=limit,
            tier=tier,
            is_exhaustive=is_exhaustive,
            checks_disk=checks_disk,
        )

    def _tier(self) -> str:
        return "instant" if self._settings.semantic.deep == "off" else "deep"

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        from mgrep_tui.explorer.queries import chips_of

        return chips_of(text, mode)

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        from mgrep_tui.explorer.queries import words_of

        return words_of(text, mode)

    def completions(self, prefix: str) -> tuple[str, ...]:
        return self._parts().completions(prefix)

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        from mgrep_tui.explorer.variants import variants_of

        engines = self._parts()
        return variants_of(text, mode, options, self.chips(text, mode), engines.count, engines.nearest_symbol)

    def recent_changes(self) -> Sequence[bytes]:
        return self._parts().recent_changes()

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        return self._engines.flags_of(path) if self._engines is not None else ()

    def repository_of(self, path: bytes) -> str:
        return ""

    # --- one file, one hit

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        from mgrep_tui.explorer.preview import plain_preview, rich_preview

        plain = plain_preview(self._root, path, line, column, height, width)
        if not is_coloured or not plain.lines:
            return plain
        symbols = self._engines.symbols_of(path) if self._engines is not None else ()
        return rich_preview(self._root, plain, line, symbols)

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        places = [presets.Place(self._root.absolute(hit.path), hit.line + 1, hit.column + 1) for hit in hits]
        return editor_command(places, self._settings, self._environ, self._root.path)

    def permalink(self, hit: Hit) -> str:
        from mgrep_tui.explorer.permalink import permalink

        return permalink(self._root, hit, self._origin)

    def snippet(self, hit: Hit) -> str:
        from mgrep_tui.explorer.preview import lines_of

        return lines_of(self._root, hit.path, hit.first_line, hit.last_line)

    def absolute(self, path: bytes) -> str:
        return self._root.absolute(path).decode("utf-8", "surrogateescape")
