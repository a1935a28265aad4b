"""Several roots behind the one protocol: searched together, one list, each at its own pace.

The roots are seen as folders of one large tree: a path begins with the label of its root. Each root keeps its own index and answers for
itself; what belongs to a root that lies within another is answered by the inner one alone. A root that is slow, broken or not there yet
never holds up the others: what is wrong with it is a note of the outcome.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mgrep_tui.editor.presets import Place as EditorPlace
from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.labels import labels_of, title_of
from mgrep_tui.explorer.local import Place
from mgrep_tui.explorer.memory import Memory, Remembering
from mgrep_tui.explorer.opening import editor_command
from mgrep_tui.explorer.protocol import Chip, EditorCommand, Explorer, OnDone, Preview, SearchOptions, Variant
from mgrep_tui.explorer.searches import Running, Searches
from mgrep_tui.explorer.united_health import united_health
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, Hit, Mode, Outcome, Sink, Skip
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

if TYPE_CHECKING:
    from mgrep_tui.explorer.engines import Engines

log = logging.getLogger(__name__)

PATIENCE_S = 1.0  # for a root that is just being opened
RECENT = 20


class Member(Explorer, Protocol):
    """A root as several are made of: an explorer whose engines can be asked for."""

    names: tuple[str, ...]  # what it is called besides its folder's name
    place: Place

    @property
    def folder(self) -> Path:
        """Where its files are, or will be; resolved."""

    def engines(self, cancel: CancelToken, patience_s: float) -> Engines:
        """What answers, waiting for it so long. Raises `MgrepError` with what is wrong, and `Cancelled`."""


class SeveralExplorer(Remembering):
    """At least two roots, none of which is another. See `protocol.Explorer` for what the methods promise."""

    def __init__(
        self,
        members: Sequence[Member],
        settings: Settings,
        folders: Folders,
        environ: Mapping[str, str],
        *,
        title: str = "",
    ) -> None:
        """`settings` are those of the person: what a project's file says holds for its own root. `title` names the workspace."""
        self.members = tuple(members)
        self.labels = labels_of([(member.folder, member.names) for member in members])
        self.root_label = title or title_of(self.labels)
        self._settings = settings
        self._folders = folders
        self._environ = environ
        self._memory = Memory(folders.state / "history.jsonl", _session_file(folders, members))
        self._callbacks: list[Callable[[], None]] = []
        self._searches = Searches()
        callings = _callings(self.labels, members)
        known = frozenset(name.lower() for names in callings for name in names)
        self._nested: list[bool] = []
        for number, (label, member) in enumerate(zip(self.labels, members, strict=True)):
            inside = [
                os.fsencode(other.folder.relative_to(member.folder).as_posix()) + b"/"
                for place, other in enumerate(members)
                if place != number and other.folder.is_relative_to(member.folder)
            ]
            member.names = callings[number]
            member.place = Place(known, os.fsencode(label) + b"/", tuple(inside))
            self._nested.append(any(one is not member and member.folder.is_relative_to(one.folder) for one in members))
            member.subscribe(self._changed)

    # --- life

    def start(self) -> None:
        for member in self.members:
            member.start()

    def close(self) -> None:
        self._searches.cancel()
        endings = [
            threading.Thread(target=member.close, name=f"closing {member.root_label}", daemon=True)
            for member in self.members
        ]
        for ending in endings:
            ending.start()
        for ending in endings:
            ending.join(0.4)

    # --- health

    def health(self) -> Health:
        return united_health(self.labels, [member.health() for member in self.members], self._nested)

    def subscribe(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def _changed(self) -> None:
        for callback in tuple(self._callbacks):
            callback()

    def skipped(self) -> Sequence[Skip]:
        found: list[Skip] = []
        for label, member in zip(self.labels, self.members, strict=True):
            try:
                skips = member.skipped()
            except MgrepError:
                continue
            found += [replace(skip, path=os.fsencode(label) + b"/" + skip.path) for skip in skips]
        return found

    def pause(self) -> None:
        self._each(lambda member: member.pause())

    def resume(self) -> None:
        self._each(lambda member: member.resume())

    def rebuild(self, part: str) -> None:
        self._each(lambda member: member.rebuild(part))

    def _each(self, act: Callable[[Member], None]) -> None:
        """Do something to every root that is open."""
        for member in self.members:
            try:
                act(member)
            except MgrepError as error:
                log.warning("%s: %s", member.root_label, error)

    def log_path(self) -> Path | None:
        return self._folders.log_file

    # --- search

    def search(self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone) -> Running:
        return self._searches.start(
            lambda cancel: self.answer(text, mode, options, sink, cancel, tier=self._tier()), epoch, mode, on_done
        )

    def _tier(self) -> str:
        return "instant" if self._settings.semantic.deep == "off" else "deep"

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
    ) -> Outcome:
        """Search in the calling thread. Raises `QueryError` and `Cancelled`; what goes wrong in one root is a note."""
        if mode is Mode.REGEX and options.like is None:
            from mgrep_tui.explorer.finding import find_in_several

            return find_in_several(
                text, options, sink, cancel, self.labels, self.members, self._settings.regex, limit=limit
            )
        from mgrep_tui.search.semantic_several import Like, Part, search_several

        if options.like is not None:
            owner, path = self.locate(options.like.path)
            options = replace(options, like=replace(options.like, path=path))
        else:
            owner = -1
        parts: list[Part] = []
        notes: list[str] = []
        deep = None
        like: Like | None = None
        until = time.monotonic() + PATIENCE_S
        for number, (label, member) in enumerate(zip(self.labels, self.members, strict=True)):
            try:
                engines = member.engines(cancel, max(0.0, until - time.monotonic()))
                part = engines.part(text, options, label)
            except QueryError:
                raise
            except MgrepError as error:
                notes.append(f"{label}: {error.message}")
                continue
            if part is None:
                continue
            if number == owner and options.like is not None and options.like.chunk_id is not None:
                like = Like(len(parts), options.like.chunk_id)
            deep = engines.deep if deep is None else deep
            parts.append(part)
        if options.like is not None and like is None:
            return Outcome(is_partial=True, notes=("That place cannot be looked up now; search again.", *notes))
        outcome = search_several(
            parts,
            sink,
            cancel,
            ratio=options.ratio,
            limit=limit or self._settings.semantic.top_k,
            deep=deep if tier == "deep" and options.ratio > 0 else None,
            like=like,
        )
        return replace(outcome, notes=(*outcome.notes, *notes), is_partial=outcome.is_partial or bool(notes))

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        from mgrep_tui.explorer.queries import chips_of

        return chips_of(text, mode)

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        from mgrep_tui.explorer.queries import words_of

        return words_of(text, mode)

    def completions(self, prefix: str) -> tuple[str, ...]:
        from mgrep_tui.explorer.completions import united_completions

        return united_completions(prefix, self.labels, [self._completions_of(member) for member in self.members])

    def _completions_of(self, member: Member) -> Callable[[str], tuple[str, ...]]:
        def ask(prefix: str) -> tuple[str, ...]:
            try:
                return member.completions(prefix)
            except MgrepError:
                return ()

        return ask

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        from mgrep_tui.explorer.variants import variants_of

        found = self._open_engines()

        def count(text: str, mode: Mode, options: SearchOptions) -> tuple[int, bool] | None:
            counts = [engines.count(text, mode, options) for engines in found]
            known = [each for each in counts if each is not None]
            hits = sum(number for number, _ in known)
            return (hits, any(more for _, more in known)) if hits or len(known) == len(counts) else None

        def nearest(word: str) -> str:
            return next((name for engines in found if (name := engines.nearest_symbol(word))), "")

        return variants_of(text, mode, options, self.chips(text, mode), count, nearest)

    def _open_engines(self) -> list[Engines]:
        found = []
        for member in self.members:
            try:
                found.append(member.engines(CancelToken(), 0.0))
            except MgrepError:
                continue
        return found

    def recent_changes(self) -> Sequence[bytes]:
        found: list[tuple[float, bytes]] = []
        for label, member in zip(self.labels, self.members, strict=True):
            try:
                paths = member.recent_changes()
            except MgrepError:
                continue
            for path in paths:
                try:
                    changed = os.lstat(os.path.join(os.fsencode(member.folder), path)).st_mtime
                except OSError:
                    continue
                found.append((changed, os.fsencode(label) + b"/" + path))
        return [path for _, path in sorted(found, key=lambda one: (-one[0], one[1]))[:RECENT]]

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        number, own = self.locate(path)
        return self.members[number].flags_of(own)

    def repository_of(self, path: bytes) -> str:
        label = os.fsdecode(path.partition(b"/")[0])
        return label if label in self.labels else ""

    # --- one file, one hit

    def locate(self, path: bytes) -> tuple[int, bytes]:
        """Which root a path belongs to, by its place among the members, and the path as that root has it. Raises `MgrepError`."""
        label, slash, own = path.partition(b"/")
        for number, name in enumerate(self.labels):
            if slash and os.fsencode(name) == label:
                return number, own
        raise MgrepError("This path belongs to no root that is open.")

    def _own(self, hit: Hit) -> tuple[Member, Hit]:
        number, path = self.locate(hit.path)
        return self.members[number], replace(hit, path=path)

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        try:
            number, own = self.locate(path)
        except MgrepError as error:
            return Preview(path, notice=str(error), is_gone=True)
        found = self.members[number].preview(own, line, column, height, width, is_coloured=is_coloured)
        return replace(found, path=path)

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        places = []
        for hit in hits:
            member, own = self._own(hit)
            places.append(EditorPlace(os.fsencode(member.absolute(own.path)), hit.line + 1, hit.column + 1))
        first, _ = self._own(hits[0])
        return editor_command(places, self._settings, self._environ, first.folder)

    def permalink(self, hit: Hit) -> str:
        member, own = self._own(hit)
        return member.permalink(own)

    def snippet(self, hit: Hit) -> str:
        member, own = self._own(hit)
        return member.snippet(own)

    def absolute(self, path: bytes) -> str:
        number, own = self.locate(path)
        return self.members[number].absolute(own)


def _callings(labels: Sequence[str], members: Sequence[Member]) -> list[tuple[str, ...]]:
    """What `repo:` may call each root: its label, which is its alone, and what it is called anyway."""
    taken = {label.lower() for label in labels}
    return [
        (label, *dict.fromkeys(name for name in member.names or (member.root_label,) if name.lower() not in taken))
        for label, member in zip(labels, members, strict=True)
    ]


def _session_file(folders: Folders, members: Sequence[Member]) -> Path:
    """The session belongs to these roots together, in whatever order."""
    digest = hashlib.blake2b(digest_size=8)
    for folder in sorted(os.fsencode(member.folder) for member in members):
        digest.update(folder + b"\0")
    return folders.state / "sessions" / f"several-{digest.hexdigest()}.json"
