"""A picture of each state of the screen at three sizes. A picture shows a state, not a journey; logic is tested elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest
from textual.pilot import Pilot

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Health, Hit, IndexState, Mode, Span
from mgrep_tui.settings.state import PastQuery
from tests.support.fake_explorer import READY, FakeExplorer
from tests.support.screen import SIZES, make_app, settle, until

QUERY = "retry a failed upload with growing delay"
PAST = [
    PastQuery("parse url", Mode.SEMANTIC),
    PastQuery("TODO|FIXME", Mode.REGEX),
    PastQuery("retry lang:python", Mode.SEMANTIC),
    PastQuery("arr[i] = [/b][red]", Mode.REGEX),
]
FIRST = Health(
    state=IndexState.INDEXING,
    phase="building the n-gram index",
    files_seen=78_255,
    files_total=78_255,
    files_indexed=28_255,
    files_chunked=20_000,
    files_pending=50_000,
    chunks=100_000,
    vectors=12_000,
    rate_per_s=3_120,
    eta_s=14,
    watcher="watching",
    branch="master",
)
ABLE = replace(FIRST, regex_ready=True, keywords_ready=True, phase="making vectors", files_pending=0, eta_s=95)

Step = Callable[[Pilot], Awaitable[None]]


def presses(*keys: str) -> Step:
    async def run(pilot: Pilot) -> None:
        for key in keys:
            await pilot.press(key)
            await settle(pilot)

    return run


async def nothing(pilot: Pilot) -> None:
    pass


@dataclass(frozen=True)
class State:
    explorer: Callable[[], FakeExplorer] = FakeExplorer
    text: str = QUERY
    mode: Mode = Mode.SEMANTIC
    step: Step = field(default=nothing)
    theme: str = "mgrep-dark"
    waits: bool = True


def many() -> FakeExplorer:
    line = "    return [entry for entry in entries if entry.is_ready]\n"
    explorer = FakeExplorer(files={b"src/module_%03d.py" % number: line * 40 for number in range(60)})
    explorer.outcome = lambda outcome: replace(outcome, hits=20_000, is_capped=True, elapsed_ms=41)
    return explorer


def partial() -> FakeExplorer:
    note = "Stopped after 10 s: the pattern is slow on long lines."
    explorer = FakeExplorer()
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True, elapsed_ms=10_003, notes=(note,))
    return explorer


def shown(preview: Preview) -> Callable[[], FakeExplorer]:
    return lambda: FakeExplorer(previews={b"src/upload/client.py": preview})


async def typed_while_held(pilot: Pilot) -> None:
    """Old hits, a new query that takes its time."""
    pilot.app.explorer.holds = True
    await pilot.press("x")
    await until(pilot, lambda: pilot.app.main.flow.is_slow)


async def half_typed(pilot: Pilot) -> None:
    await pilot.press("left_parenthesis")
    await settle(pilot)


async def refining(pilot: Pilot) -> None:
    """The instant answer stands, the deep tier has not answered yet."""
    held = pilot.app.explorer
    held.holds = True
    await pilot.press("f5")
    await until(pilot, lambda: bool(held.held))
    held.held[-1].sink.batch(held.hits(QUERY, Mode.SEMANTIC, pilot.app.main.flow.ask.options))
    await until(pilot, lambda: pilot.app.main.flow.is_slow)


async def typing_a_filter(pilot: Pilot) -> None:
    await pilot.press("space", *"path", "colon")
    await settle(pilot)
    await until(pilot, lambda: pilot.app.main.completions.is_open)


def no_editor() -> FakeExplorer:
    explorer = FakeExplorer()
    explorer.editor = MgrepError("The editor 'hx' was not found.", "Set $VISUAL, $EDITOR or `editor.command`.")
    return explorer


ONE_LINE = Preview(
    b"src/upload/client.py",
    lines=("x" * 400 + "needle" + "y" * 1_000,),
    total_lines=1,
    notice="Long lines are shown in part.",
    offsets=(18_999_600,),
    cut_lines=frozenset({0}),
)


def one_line_file() -> FakeExplorer:
    explorer = FakeExplorer(previews={b"dist/a.min.js": ONE_LINE})
    hit = Hit(
        b"dist/a.min.js", 0, 19_000_000, "x" * 100 + "needle" + "y" * 100, (Span(100, 106),), text_offset=18_999_900
    )
    explorer.hits = lambda text, mode, options: [hit]  # type: ignore[method-assign]
    return explorer


HOSTILE_LINE = "A\x1b]0;PWNED\x07\x1b[2J\x1b[31mB retry \u202e\u200b\x9b [/b] [red] [@click=app.quit] x[0]"
HOSTILE = {b"src/[id]/[/b] caf\xe9.py": f"{HOSTILE_LINE}\n\tretry\ttab 漢字 retry\n"}

STATES: dict[str, State] = {
    "first_start": State(lambda: FakeExplorer(state=FIRST), ""),
    "empty_query": State(
        lambda: FakeExplorer(past=list(PAST), changed=(b"src/upload/client.py", b"docs/retrying.md")), ""
    ),
    "hits_semantic": State(step=presses("down", "down")),
    "hits_regex": State(text="retr\\w+", mode=Mode.REGEX, step=presses("down", "down")),
    "hits_filtered": State(text="retry lang:python -is:test"),
    "hits_light": State(text="retr\\w+", mode=Mode.REGEX, theme="mgrep-light", step=presses("down", "tab")),
    "hits_ansi": State(theme="ansi-dark", step=presses("down")),
    "typing_old_hits": State(text="retr", mode=Mode.REGEX, step=typed_while_held),
    "thousands_capped": State(many, "entr", Mode.REGEX, presses("pagedown", "pagedown")),
    "no_hits": State(text="Retry lang:go", mode=Mode.REGEX),
    "half_typed_regex": State(text="retr", mode=Mode.REGEX, step=half_typed),
    "slow_pattern_partial": State(partial, "retr\\w+", Mode.REGEX),
    "vectors_being_made": State(lambda: FakeExplorer(state=ABLE, coverage=0.12)),
    "deep_refining": State(step=refining),
    "file_gone": State(
        shown(Preview(b"src/upload/client.py", notice="The file is gone.", is_gone=True)), "retr", Mode.REGEX
    ),
    "binary_preview": State(
        shown(Preview(b"src/upload/client.py", notice="A binary file of 41,216 bytes; there is nothing to show.")),
        "retr",
        Mode.REGEX,
    ),
    "one_line_file": State(one_line_file, "needle", Mode.REGEX),
    "hostile_text": State(lambda: FakeExplorer(files=dict(HOSTILE)), "retry", Mode.REGEX),
    "index_damaged": State(
        lambda: FakeExplorer(state=replace(READY, state=IndexState.BROKEN, last_error="the n-gram index is damaged"))
    ),
    "read_only": State(lambda: FakeExplorer(state=replace(READY, state=IndexState.READ_ONLY))),
    "watching_off": State(
        lambda: FakeExplorer(
            state=replace(READY, watcher="off: too many files to watch; the disk is checked on search")
        )
    ),
    "health_panel": State(lambda: FakeExplorer(state=ABLE), step=presses("f8", "down")),
    "skipped_files": State(step=presses("f8", "down", "enter")),
    "filter_row": State(
        text="retry lang:python", mode=Mode.REGEX, step=presses("f3", "right", "right", "right", "right")
    ),
    "completion": State(text="retry", step=typing_a_filter),
    "history_search": State(lambda: FakeExplorer(past=list(PAST)), step=presses("f12", "r", "e")),
    "marks": State(step=presses("tab", "down", "tab")),
    "export": State(step=presses("tab", "tab", "alt+e")),
    "outline": State(text="retr\\w+", mode=Mode.REGEX, step=presses("alt+i")),
    "refine_menu": State(step=presses("ctrl+g")),
    "help": State(step=presses("f1")),
    "palette": State(step=presses("f9", "c", "o")),
    "toast": State(step=presses("ctrl+b")),
    "error_toast": State(no_editor, step=presses("enter")),
    "full_preview": State(text="retr\\w+", mode=Mode.REGEX, step=presses("f7")),
    "pane_focus": State(step=presses("f6", "j", "j")),
    "wrapped": State(text="retr\\w+", mode=Mode.REGEX, step=presses("ctrl+l")),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Callable[..., bool], name: str, size: str) -> None:
    state = STATES[name]

    async def reach(pilot: Pilot) -> None:
        await until(pilot, pilot.app.explorer.is_started.is_set)
        await settle(pilot)
        await state.step(pilot)

    app = make_app(state.explorer(), state.text, state.mode, theme=state.theme)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=reach)


def test_too_small(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(make_app(text=QUERY), terminal_size=(30, 6), run_before=settle)
