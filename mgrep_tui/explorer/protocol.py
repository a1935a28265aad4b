"""What the screen asks of the explorer behind it, and the values that pass between the two.

Nothing in here knows Textual. Unless a method says otherwise it returns at once and may be called from the screen's thread; those that
say "may block" are called from a background thread of the screen. All of them may raise `MgrepError`, which the screen shows as one
sentence. Text is as decoded, never sanitised: the screen does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Health, Hit, Mode, Outcome, Sink, Skip, Symbol
from mgrep_tui.settings.state import PastQuery

if TYPE_CHECKING:
    from mgrep_tui.text.highlight import Token


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a query is to be answered, besides its words.

    `ratio` is the share of meaning against words, 0 to 1. `case` is `smart`, `yes` or `no`. `sort` is `rank` or `path`. With `like` the
    search is for chunks that resemble that hit's chunk; the text's filters still hold. `hidden` and `ignored`: regex mode also looks into
    files whose name starts with a dot, and into what git ignores, whatever the configuration says.
    """

    ratio: float = 0.5
    case: str = "smart"
    literal: bool = False
    word: bool = False
    sort: str = "rank"
    hidden: bool = False
    ignored: bool = False
    like: Hit | None = None


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter found in the query's text: `text[start:end]`, as `label` says it."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Preview:
    """A window of a file around one line. Lines are 0-based.

    `lines[i]` is line `first_line + i` without its end; of a very long line only a window, which starts `offsets[i]` characters into the
    line (an empty `offsets` means that every line is from its start) and which goes on when `is_cut(i)`. `tokens[i]` are its colours; empty
    when the file is not coloured, or not yet. `changes` maps a line to `added`, `changed` or `removed` (removed: lines are missing before
    it). `breadcrumb` names what encloses the asked line, outermost first, without the path. `symbols` is the file's outline in order of
    lines. `notice` is one sentence: alone when there is nothing to show (binary, gone, unreadable), else above the text (huge, window).
    `is_gone` says that the file was not there.
    """

    path: bytes
    first_line: int = 0
    lines: tuple[str, ...] = ()
    tokens: tuple[Sequence[Token], ...] = ()
    total_lines: int | None = None
    notice: str = ""
    language: str = ""
    offsets: tuple[int, ...] = ()
    cut_lines: frozenset[int] = frozenset()
    changes: Mapping[int, str] = field(default_factory=dict)
    breadcrumb: tuple[str, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    is_gone: bool = False

    def offset_of(self, index: int) -> int:
        """How many characters of `lines[index]` are left out at its start."""
        return self.offsets[index] if self.offsets else 0

    def is_cut(self, index: int) -> bool:
        """Whether `lines[index]` goes on after what is here."""
        return index in self.cut_lines


@dataclass(frozen=True, slots=True)
class EditorCommand:
    """A program to start on some hits. A program in the terminal takes the screen until it ends; any other is started and left alone."""

    argv: tuple[str | bytes, ...]
    is_terminal: bool
    title: str
    cwd: Path | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """Another query to offer when one has no hits. `label` says it: `without lang:python`; `hits` is None when not counted."""

    label: str
    text: str
    mode: Mode
    options: SearchOptions
    hits: int | None = None
    is_more: bool = False  # `hits` is a lower bound


@dataclass(frozen=True, slots=True)
class Configured:
    """What the configuration says of things that a session remembers too: a value that was changed there since wins over the session."""

    ratio: float = 0.5
    case: str = "smart"
    theme: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """What is restored the next time on the same root."""

    text: str = ""
    mode: Mode = Mode.SEMANTIC
    options: SearchOptions = SearchOptions()
    cursor_path: bytes = b""
    cursor_line: int = 0
    list_share: float = 0.45
    list_height_share: float = 0.64
    has_preview: bool = True
    wraps: bool = False
    theme: str = ""
    configured: Configured | None = None  # what the configuration said then


class Search(Protocol):
    """A running search."""

    def cancel(self) -> None:
        """Nobody wants its hits any more; `on_done` may still come and is then ignored."""


OnDone = Callable[[Outcome | None, MgrepError | None], None]


class Explorer(Protocol):
    """One root, its index and its searches."""

    root_label: str  # the folder's name, for the title line

    def start(self) -> None:
        """Begin to open the index and to work on it in the background. Called right after the first paint."""

    def close(self) -> None:
        """Stop everything; returns within 200 ms."""

    # --- health

    def health(self) -> Health: ...

    def subscribe(self, callback: Callable[[], None]) -> None:
        """`callback` is called from any thread when the health has changed, at most five times a second."""

    def skipped(self) -> Sequence[Skip]:
        """What is not searched, and why. May block."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def rebuild(self, part: str) -> None:
        """Build a part anew in the background: `ngrams`, `keywords`, `vectors` or `all`."""

    def log_path(self) -> Path | None: ...

    # --- search

    def search(self, text: str, mode: Mode, epoch: int, sink: Sink, options: SearchOptions, on_done: OnDone) -> Search:
        """Run a search in its own thread. `on_done` is called once, at last, from that thread, with an outcome or an error."""

    def chips(self, text: str, mode: Mode) -> tuple[Chip, ...]:
        """The filters of a query, in order; none when it cannot be parsed. Quick and pure: called at every key."""

    def words(self, text: str, mode: Mode) -> tuple[str, ...]:
        """The bare words of a query, to light in the preview. Quick and pure."""

    def completions(self, prefix: str) -> tuple[str, ...]:
        """Whole words for a half-typed filter: `lang:py` → `lang:python`, … At most 50, best first. May block."""

    def variants(self, text: str, mode: Mode, options: SearchOptions) -> tuple[Variant, ...]:
        """What to try when a query has no hits, best first: one filter less, other case, other spelling, other mode. May block."""

    def recent_changes(self) -> Sequence[bytes]:
        """Files changed last, newest first, at most 20. May block."""

    def flags_of(self, path: bytes) -> tuple[str, ...]:
        """What is special about a file: `changed` or `untracked` against git; `test`, `generated`, `vendored`. Quick: from memory."""

    def repository_of(self, path: bytes) -> str:
        """The label of the root that a path belongs to, which begins the path; empty where a single root is open. Quick."""

    # --- one file, one hit

    def preview(self, path: bytes, line: int, column: int, height: int, width: int, *, is_coloured: bool) -> Preview:
        """The window of at least `height` lines around a place. Without `is_coloured` as quick as can be: no tokens, changes or symbols.

        May block. Never raises for what is wrong with the file: that is the preview's `notice`.
        """

    def open_command(self, hits: Sequence[Hit]) -> EditorCommand:
        """How to open these hits; raises `MgrepError` when the editor is missing."""

    def permalink(self, hit: Hit) -> str:
        """The address of the hit at the remote, by commit. May block; raises `MgrepError` when there is none."""

    def snippet(self, hit: Hit) -> str:
        """The text of the hit's lines. May block."""

    def absolute(self, path: bytes) -> str:
        """The whole path of a file, with undecodable bytes as surrogates."""

    # --- kept between runs

    def history(self) -> Sequence[PastQuery]:
        """Queries of this and former runs, oldest first, no two equal neighbours."""

    def remember(self, query: PastQuery) -> None: ...

    def is_first_start(self) -> bool:
        """Whether this person has never used the program: nothing is remembered, of no root."""

    def load_session(self) -> Session | None: ...

    def save_session(self, session: Session) -> None: ...
