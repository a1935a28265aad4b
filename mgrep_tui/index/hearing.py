"""What the kernel's events mean: files to look at, folders to watch, or that only a listing can tell.

Events of one queue come in order. A folder that arrives is watched before it is listed, with everything in it; one that moves away loses
its watches. Names that start with a dot are of no matter unless they are searched or decide what is.
"""

from __future__ import annotations

from mgrep_tui.corpus.plain import layer_names
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.watchable import left_out_below, visit_folders
from mgrep_tui.index.inotify import (
    ATTRIB,
    CREATE,
    DELETE_SELF,
    IGNORED,
    IS_FOLDER,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOW,
    UNMOUNT,
    Event,
)
from mgrep_tui.index.watched import Watched
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import CorpusSettings

_GIT_FILES = frozenset((b"HEAD", b"index", b"config", b"config.worktree"))
_GIT = b".git"


class Hearing:
    """What was heard of since it was last asked. One thread at a time."""

    def __init__(self, root: Root, settings: CorpusSettings, watched: Watched) -> None:
        self._root = root
        self._settings = settings
        self._watched = watched
        self._rule_names = frozenset(layer_names(settings)) | {_GIT}
        self.git_folders: set[bytes] = set()
        # Where there is nothing now that git tracks: when such a folder comes back its files are searched, whatever the rules say.
        self.awaited: set[bytes] = set()
        self.touched: set[bytes] = set()
        self.wants_listing = False
        self.wants_anew = False  # every folder has to be watched again
        self.is_lost = False
        self.has_git_moved = False

    def take_in(self, cancel: CancelToken) -> None:
        """Everything in the queue. Raises Cancelled, after which `wants_anew` is set."""
        events = self._watched.queue.read()
        for number, event in enumerate(events):
            if number and event == events[number - 1]:
                continue
            try:
                self._take(event, cancel)
            except BaseException:
                self.wants_anew = True
                raise

    def _take(self, event: Event, cancel: CancelToken) -> None:
        mask = event.mask
        if mask & (OVERFLOW | UNMOUNT):
            self.is_lost = self.is_lost or bool(mask & OVERFLOW)
            self.wants_anew = True
            return
        folder = self._watched.folder_of(event.watch)
        if folder is None:
            return
        if mask & IGNORED:
            self._watched.forget(event.watch)
        if mask & (IGNORED | DELETE_SELF | MOVE_SELF):
            self.wants_anew = (
                self.wants_anew or not folder
            )  # the root itself; other folders are reported by the one above
            return
        if folder in self.git_folders:
            self.has_git_moved = self.has_git_moved or event.name in _GIT_FILES
            return
        if not event.name:
            self.wants_listing = True  # the folder's own permissions
            return
        if event.name in self._rule_names:
            self.wants_anew = True
            return
        if event.name.startswith(b".") and not self._settings.hidden:
            return
        path = folder + b"/" + event.name if folder else event.name
        if mask & IS_FOLDER:
            self._take_folder(path, mask, cancel)
        else:
            self.touched.add(path)

    def _take_folder(self, path: bytes, mask: int, cancel: CancelToken) -> None:
        if mask & MOVED_FROM:
            self._watched.drop_below(path)
        elif mask & (CREATE | MOVED_TO | ATTRIB):
            if path not in self.awaited and left_out_below(self._root, (path,), self._settings):
                return
            met = visit_folders(self._root, self._settings, self._watched.add, cancel, start=path)
            self.wants_anew = self.wants_anew or bool(met.repositories)
        self.wants_listing = True
