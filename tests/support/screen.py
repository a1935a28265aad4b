"""Running the screen in tests: start it over a fake explorer, wait until nothing moves, read what it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from mgrep_tui.explorer.protocol import Session
from mgrep_tui.model import Hit, Mode
from mgrep_tui.ui.app import MgrepApp
from mgrep_tui.ui.flow import Ask
from mgrep_tui.ui.screens.main import MainScreen
from tests.support.fake_explorer import FakeExplorer

WIDE, MEDIUM, NARROW = (120, 36), (80, 24), (48, 14)
SIZES = {"wide": WIDE, "medium": MEDIUM, "narrow": NARROW}
# The fake's disk was checked four seconds before this.
NOW = 1_000_004.0
PATIENCE_S = 20.0


class Screen:
    """The running program, as tests see it."""

    def __init__(self, app: MgrepApp, pilot: Pilot[list[Hit]], explorer: FakeExplorer) -> None:
        self.app = app
        self.pilot = pilot
        self.explorer = explorer

    @property
    def main(self) -> MainScreen:
        return self.app.main

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, and wait until all is quiet."""
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        names = {" ": "space", "(": "left_parenthesis", ")": "right_parenthesis", ":": "colon", "/": "slash", "*": "asterisk",
                 "+": "plus", "[": "left_square_bracket", "]": "right_square_bracket", "\\": "backslash", "-": "minus",
                 "^": "circumflex_accent", "$": "dollar_sign", "|": "vertical_line", "?": "question_mark", ".": "full_stop"}  # fmt: skip
        await self.pilot.press(*(names.get(character, character) for character in text))
        await self.settle()

    async def settle(self) -> None:
        """Wait until no search, preview or question is under way."""
        await settle(self.pilot)

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(self.pilot, condition)

    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def bar(self, name: str) -> str:
        return self.main.part(name).text


async def until(pilot: Pilot, condition: Callable[[], bool]) -> None:
    """Wait for a condition; fails after `PATIENCE_S`."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come about"
        await pilot.pause()
        await asyncio.sleep(0.002)
    await pilot.pause()


async def settle(pilot: Pilot) -> None:
    """Wait until the screen is idle, twice, since one thing may lead to another."""
    for _ in range(2):
        await until(pilot, lambda: pilot.app.main.is_idle)


def make_app(
    explorer: FakeExplorer | None = None,
    text: str = "",
    mode: Mode = Mode.SEMANTIC,
    *,
    theme: str = "mgrep-dark",
    themes: Path | None = None,
    keys: dict[str, str] | None = None,
    session: Session | None = None,
    debounce_s: float = 0.0,
) -> MgrepApp:
    return MgrepApp(
        explorer or FakeExplorer(),
        Ask(text, mode),
        theme=theme,
        themes=themes,
        keys=keys,
        session=session,
        debounce_s=debounce_s,
        now=lambda: NOW,
    )


@asynccontextmanager
async def running(
    explorer: FakeExplorer | None = None,
    text: str = "",
    mode: Mode = Mode.SEMANTIC,
    *,
    size: tuple[int, int] = WIDE,
    keys: dict[str, str] | None = None,
    session: Session | None = None,
    theme: str = "mgrep-dark",
    themes: Path | None = None,
    debounce_s: float = 0.0,
) -> AsyncIterator[Screen]:
    """The program on a screen of `size`, settled."""
    explorer = explorer or FakeExplorer()
    app = make_app(explorer, text, mode, keys=keys, session=session, theme=theme, themes=themes, debounce_s=debounce_s)
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = Screen(app, pilot, explorer)
        await settle_start(screen)
        yield screen


async def settle_start(screen: Screen) -> None:
    await screen.until(screen.explorer.is_started.is_set)
    if not screen.explorer.holds:
        await screen.settle()
