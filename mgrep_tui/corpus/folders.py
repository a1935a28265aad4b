"""What the folders of a list of paths say about it: which are no folders any more, and what their own ignore files leave out.

Used on git's list, which holds names only: git's index names files below a folder that has since become a link, and git does not know
`.ignore` and `.mgrepignore`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mgrep_tui.corpus.plain import folder_rules
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.rules import Layers
from mgrep_tui.corpus.settled import is_settled
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import FileStat

_FOLDERS_A_LOOK = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Folders that held no ignore file of ours when an earlier listing looked, at `taken_ns`, with their stat: while that is the same,
    nothing was made in them, and there is no need to look again. Saves two of three calls for a folder."""

    taken_ns: int = 0
    names: tuple[bytes, ...] = ()
    bare: dict[bytes, FileStat] = field(default_factory=dict)


class Folders:
    """Looks at each folder once. One listing, one thread."""

    def __init__(self, root: Root, names: tuple[bytes, ...], layers: Layers, memory: Memory, taken_ns: int) -> None:
        """`names` are the ignore files to honour, the strongest first; `layers` has as many layers and holds what is above the root.

        `taken_ns` is the time (`time.time_ns()`) before this listing looks at anything.
        """
        self._root = root
        self._names = names
        self._base = os.path.join(os.fsencode(root.path), b"")
        self._old = memory if memory.names == names else Memory()
        self._prefix = root.prefix
        self.memory = Memory(taken_ns, names)
        # The rules in force in a folder (its path with a slash at its end), None when nothing below it counts.
        self._layers: dict[bytes, Layers | None] = {b"": self._with_own(b"", layers)}

    @property
    def has_negations(self) -> bool:
        return any(layers is not None and layers.has_negations for layers in self._layers.values())

    def admitted(self, paths: Sequence[bytes], cancel: CancelToken | None = None) -> Sequence[bytes]:
        """The paths of files that lie in real folders and that no own rule leaves out, in the order given."""
        folders = {path[: path.rfind(b"/") + 1] for path in paths}
        is_free = True
        for number, folder in enumerate(sorted(folders)):
            if cancel is not None and number % _FOLDERS_A_LOOK == 0:
                cancel.check()
            layers = self._layers_of(folder)
            is_free = is_free and layers is not None and layers.is_empty
        if is_free:
            return paths
        known, prefix = self._layers, self._prefix
        return [
            path
            for path in paths
            if (layers := known[path[: path.rfind(b"/") + 1]]) is not None
            and (layers.is_empty or not layers.is_ignored(prefix + path, False))
        ]

    def _layers_of(self, folder: bytes) -> Layers | None:
        return self._layers[folder] if folder in self._layers else self._look(folder)

    def look_into(self, folders: Iterable[bytes]) -> None:
        """Read the rules of folders (with a slash at the end) in which there may be no file yet."""
        for folder in folders:
            self._layers_of(folder)

    def enters(self, folder: bytes) -> bool:
        """Whether `folder` (without a slash at its end) is a real folder that no own rule leaves out."""
        return self._layers_of(folder + b"/") is not None

    def _look(self, folder: bytes) -> Layers | None:
        name = folder[:-1]
        parent = name[: name.rfind(b"/") + 1]
        above = self._layers_of(parent)
        found: Layers | None = None
        if above is not None:
            status = self._status(name)
            if status is not None and not above.is_ignored(self._prefix + name, True):
                found = above if self._is_known_bare(folder, status) else self._with_own(folder, above, status)
        self._layers[folder] = found
        return found

    def _status(self, path: bytes) -> FileStat | None:
        """The stat of a real folder, None when it is none (any more)."""
        try:
            status = os.lstat(self._base + path)
        except OSError:
            return None
        return FileStat.of(status) if stat.S_ISDIR(status.st_mode) else None

    def _is_known_bare(self, folder: bytes, status: FileStat) -> bool:
        if self._old.bare.get(folder) != status or not is_settled(status, self._old.taken_ns):
            return False
        self.memory.bare[folder] = status
        return True

    def _with_own(self, folder: bytes, above: Layers, status: FileStat | None = None) -> Layers:
        exists = os.path.lexists
        if not any(exists(self._base + folder + name) for name in self._names):
            if status is not None:
                self.memory.bare[folder] = status
            return above
        return above.extended(folder_rules(self._root, folder, self._prefix, self._names))
