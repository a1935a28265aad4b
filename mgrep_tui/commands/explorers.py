"""Explorers for the places of a command: one for a folder or a repository, one made of several for more.

What a single folder does not need (repositories, several roots) is imported where it is used: the first paint waits for it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from mgrep_tui.commands.common import Context, with_targets
from mgrep_tui.commands.targets import Target, Targets
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.settings.config import Settings
from mgrep_tui.text.sanitize import sanitize

if TYPE_CHECKING:
    from mgrep_tui.explorer.arriving import ArrivingExplorer
    from mgrep_tui.explorer.several import Member, SeveralExplorer
    from mgrep_tui.repositories.arrival import Arrivals
    from mgrep_tui.repositories.store import Kept, Store

REDRAW_S = 0.2


class Explorers:
    """Makes the explorers of one command; they share what can be shared."""

    def __init__(self, context: Context, *, semantic: bool = True, watch: bool = True) -> None:
        self._context = context
        self._semantic = semantic
        self._watch = watch
        self._shared = SharedModels(context.settings, context.folders)

    @cached_property
    def store(self) -> Store:
        from mgrep_tui.repositories.store import Store

        return Store(self._context.folders)

    @cached_property
    def arrivals(self) -> Arrivals:
        from mgrep_tui.repositories.arrival import Arrivals

        return Arrivals(self.store, self._context.settings.repositories, os.environ)

    def all(self) -> LocalExplorer | ArrivingExplorer | SeveralExplorer:
        """One explorer for all places of the command."""
        places = self._context.targets.places
        if len(places) == 1:
            return self._one(places[0], self._context.settings)
        return self.several([self._one(place, None) for place in places])

    def several(self, members: Sequence[Member]) -> SeveralExplorer:
        from mgrep_tui.explorer.several import SeveralExplorer

        context = self._context
        return SeveralExplorer(members, context.settings, context.folders, os.environ, title=context.targets.title)

    def local(self, place: Target) -> LocalExplorer:
        """The explorer of a folder that is here."""
        assert place.root is not None
        return self._of_root(place, None)

    def as_it_is(self, place: Target) -> LocalExplorer:
        """The explorer of a place without bringing anything. Raises `MgrepError` when a repository is not in the cache."""
        if place.address is None:
            return self.local(place)
        kept = self.store.get(place.address)
        if kept is None:
            raise MgrepError(f"{place.address} is not in the cache.")
        return self.of_repository(kept)

    def _one(self, place: Target, settings: Settings | None) -> LocalExplorer | ArrivingExplorer:
        if place.address is not None:
            from mgrep_tui.explorer.arriving import ArrivingExplorer

            address = place.address
            return ArrivingExplorer(
                address, self.store.tree_of(address), self.arrivals, self._context.folders, self.of_repository
            )
        return self._of_root(place, settings)

    def _of_root(self, place: Target, settings: Settings | None) -> LocalExplorer:
        assert place.root is not None
        context = self._context
        if place.root.path.is_relative_to(context.folders.cache) and (kept := self.store.of_tree(place.root.path)):
            return self.of_repository(kept)
        settings = settings or context.settings_for(place.root.path).settings
        return LocalExplorer(
            place.root, settings, context.folders, os.environ,
            semantic=self._semantic, watch=self._watch, shared=self._shared,
        )  # fmt: skip

    def of_repository(self, kept: Kept) -> LocalExplorer:
        """The explorer of a repository in the cache. Everything in an archive is tracked, so no ignore rule of git's leaves it out."""
        from mgrep_tui.explorer.permalink import Origin
        from mgrep_tui.repositories.store import ARCHIVE, names_of

        context = self._context
        settings = context.settings_for(kept.tree).settings
        origin = None
        if kept.record.way == ARCHIVE:
            settings = replace(settings, corpus=replace(settings.corpus, use_gitignore=False))
            origin = Origin(kept.record.url, kept.record.commit)
        return LocalExplorer(
            open_root(kept.tree), settings, context.folders, os.environ,
            semantic=self._semantic, watch=self._watch, names=names_of(kept)[:3], shared=self._shared, origin=origin,
        )  # fmt: skip


def bring_all(context: Context, cancel: CancelToken) -> Context:
    """The same command with every repository here and refreshed: a line of progress on a terminal, troubles on stderr.

    Raises `MgrepError` when nothing is left to work on.
    """
    if all(place.address is None for place in context.targets.places):
        return context
    explorers = Explorers(context)
    places: list[Target] = []
    troubles = list(context.targets.troubles)
    for place in context.targets.places:
        if place.address is None:
            places.append(place)
            continue
        try:
            kept = _brought(explorers.arrivals, place.address, cancel)
        except MgrepError as error:
            if len(context.targets.places) == 1:
                raise
            troubles.append(str(error))
            print(f"mgrep-tui: {sanitize(str(error))}", file=sys.stderr)
            continue
        places.append(Target(os.fspath(kept.tree), root=open_root(kept.tree)))
    if not places:
        raise MgrepError("None of the repositories could be brought.")
    return with_targets(context, Targets(tuple(places), tuple(troubles), context.targets.title))


def _brought(arrivals: Arrivals, address: Address, cancel: CancelToken) -> Kept:
    line = ProgressLine()
    try:
        kept = arrivals.bring(address, cancel, lambda phrase: line.show(f"{address}: {phrase}"))
        if not arrivals.is_fresh(kept, address):
            done = arrivals.refresh(kept, address, cancel, lambda phrase: line.show(f"{address}: {phrase}"))
            kept = done.kept
            if done.note:
                line.clear()
                print(f"mgrep-tui: {sanitize(done.note)}", file=sys.stderr)
    finally:
        line.clear()
    return kept


class ProgressLine:
    """One line on a terminal's stderr that is written over; nothing anywhere else."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = 0.0

    def show(self, text: str) -> None:
        now = time.monotonic()
        if self._is_terminal and now - self._last >= REDRAW_S:
            self._last = now
            sys.stderr.write("\r\x1b[K" + sanitize(text))
            sys.stderr.flush()

    def clear(self) -> None:
        if self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._last = 0.0
