"""The explorer of a shared engine: the same screen, query language and ranking over what is published, with the tree at hand on top.

With a tree, hits of its repository come from the published commit nearest to it, and every file that differs here from the disk. Without
one, every repository's searched commit is looked at, and paths begin with the repository's name.
"""

from __future__ import annotations

import difflib
import hashlib
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mgrep_tui.clickhouse.address import Address
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.heads import Published
from mgrep_tui.clickhouse.names import completions, nearest_name
from mgrep_tui.clickhouse.opened import Opened
from mgrep_tui.corpus.root import Root
from mgrep_tui.editor.presets import Place as EditorPlace
from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.explorer.memory import Memory, Remembering
from mgrep_tui.explorer.opening import editor_command
from mgrep_tui.explorer.permalink import address as forge_address
from mgrep_tui.explorer.preview import lines_of, plain_preview, rich_preview
from mgrep_tui.explorer.protocol import Chip, EditorCommand, OnDone, Preview, SearchOptions, Variant
from mgrep_tui.explorer.queries import chips_of, words_of
from mgrep_tui.explorer.searches import Running, Searches
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.explorer.variants import variants_of
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, Hit, IndexState, Mode, Outcome, Sink, Skip, Symbol
from mgrep_tui.search.facts import facts_of_path
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 60.0
COUNT_LIMIT = 999
COUNT_S = 0.6


class EngineExplorer(Remembering):
    """See `explorer.protocol.Explorer` for what the methods promise."""

    def __init__(
        self,
        address: Address,
        settings: Settings,
        folders: Folders,
        environ: Mapping[str, str],
        *,
        root: Root | None = None,
        name: str = "",
    ) -> None:
        """`root` is a tree on this disk that lies over what is published of its repository, which `name` names when its remote does not."""
        self.root_label = address.label if root is None else f"{root.path.name or root.path} @ {address.label}"
        self._address = address
        self._settings = settings
        self._folders = folders
        self._environ = environ
        self._root = root
        self._name = name
        digest = hashlib.blake2b(f"{address!r} {root!r}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._memory = Memory(folders.state / "history.jsonl", folders.state / "sessions" / f"engine-{digest}.json")
        self._copies = folders.cache / "engine" / digest
        self._models = SharedModels(settings, folders)
        self._subjects = [f"engine {address.label}", *([] if root is None else [str(root.path)])]
        self._opened = threading.Event()
        self._closed = CancelToken()
        self._lock = threading.Lock()
        self._searches = Searches()
        self._callbacks: list[Callable[[], None]] = []
        self._parts: Opened | None = None
        self._failure: MgrepError | None = None

    # --- life

    def start(self) -> None:
        threading.Thread(target=self.open, name="opening the engine", daemon=True).start()

    def open(self) -> None:
        """Connect, in the calling thread. What is wrong is told by whatever is asked next."""
        try:
            self._parts = Opened(
                self._address,
                self._settings,
                self._environ,
                self._folders.config / "queries",
                self._root,
                self._name,
                None if self._settings.semantic.deep == "off" else self._models.deep(self._changed, *self._subjects),
            )
        except MgrepError as error:
            self._failure = error
        except Exception:
            log.exception("the engine could not be opened")
            self._failure = MgrepError("The engine could not be opened.", "The log has the details.")
        self._opened.set()
        if self._closed.is_cancelled:
            self.close()
        self._changed()

    def close(self) -> None:
        self._closed.cancel()
        self._searches.cancel()
        with self._lock:
            parts, self._parts = self._parts, None
        if parts is not None:
            parts.close()
        self._models.leave(self._changed)

    def _open(self) -> Opened:
        if not self._opened.wait(OPEN_TIMEOUT_S):
            raise EngineError("The engine is still being opened.", "Try again in a moment.")
        parts = self._parts
        if self._failure is not None or parts is None:
            raise self._failure or EngineError("The engine is closed.")
        return parts

    # --- health

    def health(self) -> Health:
        if not self._opened.is_set():
            return Health(state=IndexState.OPENING, phase="connecting to the engine", root=self._address.label)
        if self._failure is not None:
            return Health(state=IndexState.BROKEN, root=self._address.label, last_error=str(self._failure))
        parts = self._parts
        every = parts.every if parts is not None else []
        base = parts.base if parts is not None else None
        searched = [one for one in every if one.is_searched] if base is None else [base]
        files, chunks = sum(one.files for one in searched), sum(one.chunks for one in searched)
        newest = max((one.at_us for one in searched), default=0) / 1e6
        return Health(
            state=IndexState.READY,
            root=self._address.label,
            files_seen=files,
            files_total=files,
            files_indexed=files,
            files_chunked=files,
            chunks=chunks,
            vectors=sum(one.chunks for one in searched if one.model),
            regex_ready=True,
            keywords_ready=True,
            watcher="the engine is asked" if self._root is None else "the disk is checked when a search runs",
            checked_at=newest or None,
            is_shared=True,
            branch=base.branch if base is not None else "",
            commit=base.commit if base is not None else "",
            text_bytes=sum(one.text_bytes for one in searched),
            metrics=(
                ("repositories", f"{len({one.repository for one in every}):,}"),
                ("commits", f"{len(every):,}"),
            ),
        )

    def subscribe(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def _changed(self) -> None:
        for callback in tuple(self._callbacks):
            callback()

    def skipped(self) -> Sequence[Skip]:
        return ()

    def pause(self) -> None:
        return None

    def resume(self) -> None:
        return None

    def rebuild(self, part: str) -> None:
        return None

    def log_path(self) -> Path | None:
        return self._folders.log_file

    # --- search

    def search(self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone) -> Running:
        tier = "instant" if self._settings.semantic.deep == "off" else "deep"
        return self._searches.start(
            lambda cancel: self.answer(text, mode, options, sink, cancel, tier=tier), epoch, mode, on_done
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
    ) -> Outcome:
        """Search in the calling thread. Raises `MgrepError` (a `QueryError` where the query is at fault) and `Cancelled`."""
        query = parse(text, mode, case=options.case, is_literal=options.literal, is_word=options.word)
        parts = self._open()
        heads, overlay = parts.heads_for(query), parts.overlay(cancel)
        if mode is Mode.REGEX and options.like is None:
            return parts.lines.search(
                query, heads, overlay, sink, cancel, sort=options.sort, is_exhaustive=is_exhaustive, limit=limit
            )
        most = limit or self._settings.semantic.top_k
        if options.like is not None and options.like.chunk_id is not None:
            return parts.meaning.like(options.like.chunk_id, query, heads, sink, cancel, limit=most)
        return parts.meaning.search(
            query, heads, sink, cancel, overlay=overlay, ratio=options.ratio, tier=tier, limit=most
        )

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        return chips_of(text, mode)

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        return words_of(text, mode)

    def completions(self, prefix: str) -> tuple[str, ...]:
        parts = self._open()
        return completions(prefix, parts.connection, parts.heads(), parts.every)

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        return variants_of(text, mode, options, self.chips(text, mode), self._count, self._nearest)

    def _count(self, text: str, mode: Mode, options: SearchOptions) -> tuple[int, bool] | None:
        counter = Collected()
        cancel = CancelToken()
        timer = threading.Timer(COUNT_S, cancel.cancel)
        timer.daemon = True
        timer.start()
        try:
            outcome = self.answer(text, mode, options, counter, cancel, limit=COUNT_LIMIT)
        except Cancelled:
            return (len(counter.hits), True) if counter.hits else None
        except MgrepError:
            return (0, False)
        finally:
            timer.cancel()
        return outcome.hits, outcome.is_capped

    def _nearest(self, word: str) -> str:
        near = nearest_name(word, self._open().connection)
        found = difflib.get_close_matches(word, near, 1, 0.75)
        return found[0] if found and word not in near else ""

    def recent_changes(self) -> Sequence[bytes]:
        overlay = self._open().overlay(self._closed)
        return overlay.changed[:20] if overlay is not None else ()

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        parts = self._parts
        facts = facts_of_path(path)
        state = "changed" if parts is not None and parts.is_changed(path) else ""
        special = (("test", facts.is_test), ("generated", facts.is_generated), ("vendored", facts.is_vendored))
        return tuple(name for name in (state, *(name for name, holds in special if holds)) if name)

    def repository_of(self, path: bytes) -> str:
        parts = self._parts
        found = None if parts is None or parts.base is not None else parts.place_of(path)
        return found[0].repository if found is not None else ""

    # --- one file, one hit

    def _place(self, path: bytes) -> tuple[Published, bytes]:
        found = self._open().place_of(path)
        if found is None:
            raise MgrepError("No published repository has that file.")
        return found

    def _is_local(self, path: bytes) -> bool:
        """Whether the file of a hit is on this disk: then the disk is shown and opened."""
        return self._root is not None and os.path.isfile(self._root.absolute(path))

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        try:
            if self._root is not None and self._is_local(path):
                plain = plain_preview(self._root, path, line, column, height, width)
                if not is_coloured or not plain.lines:
                    return plain
                return rich_preview(self._root, plain, line, self._symbols_of(path))
            one, inner = self._place(path)
            return self._open().files.preview(one, inner, path, line, column, height, width, is_coloured=is_coloured)
        except MgrepError as error:
            return Preview(path, notice=str(error))

    def _symbols_of(self, path: bytes) -> tuple[Symbol, ...]:
        try:
            parts = self._open()
            if parts.is_changed(path):
                return ()
            one, inner = self._place(path)
            return parts.files.symbols_of(one.state, inner)
        except MgrepError:
            return ()

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        places = [EditorPlace(os.fsencode(self._file_of(hit.path)), hit.line + 1, hit.column + 1) for hit in hits]
        folder = self._root.path if self._root is not None else self._copies
        return editor_command(places, self._settings, self._environ, folder if folder.is_dir() else Path.cwd())

    def _file_of(self, path: bytes) -> Path:
        """A file on this disk with the hit's text."""
        if self._root is not None and self._is_local(path):
            return Path(os.fsdecode(self._root.absolute(path)))
        one, inner = self._place(path)
        return self._open().files.copy_of(one, inner, self._copies)

    def permalink(self, hit: Hit) -> str:
        one, inner = self._place(hit.path)
        if not one.remote:
            raise MgrepError("That repository was published without the address of a forge.")
        return forge_address(one.remote, one.commit, inner, hit.first_line + 1, hit.last_line + 1)

    def snippet(self, hit: Hit) -> str:
        if self._root is not None and self._is_local(hit.path):
            return lines_of(self._root, hit.path, hit.first_line, hit.last_line)
        one, inner = self._place(hit.path)
        return self._open().files.snippet(one.state, inner, hit.first_line, hit.last_line)

    def absolute(self, path: bytes) -> str:
        if self._root is not None:
            return os.fsdecode(self._root.absolute(path))
        return os.fsdecode(path)
