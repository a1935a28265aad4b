"""The program on the screen: starts it, keeps its theme, and ends it with the chosen hits.

Imported late: only when the screen is really wanted. Nothing heavy is imported before the first paint.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from rich.console import RenderableType
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Configured, Explorer, SearchOptions, Session
from mgrep_tui.jobs.courtesy import COURTESY
from mgrep_tui.model import Hit, Mode
from mgrep_tui.ui import last_session
from mgrep_tui.ui.bindings import textual_keymap
from mgrep_tui.ui.flow import DEBOUNCE_S, Ask
from mgrep_tui.ui.keyboard import claim_keyboard
from mgrep_tui.ui.keymap import rebound
from mgrep_tui.ui.looks import CSS
from mgrep_tui.ui.own_themes import DARK, OWN_THEMES
from mgrep_tui.ui.screens.main import MainScreen
from mgrep_tui.ui.strips import said
from mgrep_tui.ui.theme import Palette, palette_of
from mgrep_tui.ui.user_themes import load_themes

log = logging.getLogger(__name__)

# Toasts lie over the list: few and short.
COMPLAINTS_SHOWN, COMPLAINT_LENGTH = 3, 240


class MgrepApp(App[list[Hit]]):
    """One main screen. `exit` with hits, or with None."""

    CSS = CSS
    TITLE = "mgrep-tui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        # From every screen; a priority, since a line to type in would take Ctrl+C to copy.
        Binding("ctrl+c,ctrl+q", "leave", show=False, priority=True, id="quit"),
    ]

    def __init__(
        self,
        explorer: Explorer,
        ask: Ask,
        *,
        theme: str = DARK.name,
        themes: Path | None = None,
        keys: Mapping[str, str] | None = None,
        session: Session | None = None,
        configured: Configured | None = None,
        complaints: Sequence[str] = (),
        debounce_s: float = DEBOUNCE_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(driver_class=_driver())
        self.animation_level = "none"
        users_themes, wrong_themes = load_themes(themes) if themes is not None else ((), ())
        for each in (*OWN_THEMES, *users_themes):
            self.register_theme(each)
        self._complaints = [*complaints, *wrong_themes]
        wanted = (session.theme if session else "") or theme
        if wanted not in self.available_themes:
            self._complaints.append(f"There is no theme '{wanted}'.")
            wanted = DARK.name
        self.theme = wanted
        commands, wrong_keys = rebound(keys or {})
        self._complaints += wrong_keys
        self.set_keymap(textual_keymap(commands))
        self.explorer = explorer
        self._session = session
        self._configured = configured or Configured(theme=theme)
        self.last_session: Session | None = None
        self._is_frozen = False
        self.main = MainScreen(explorer, self.palette(), ask, commands, debounce_s, now)

    def palette(self) -> Palette:
        """The styles of the current theme."""
        theme = self.current_theme
        return palette_of({**theme.to_color_system().generate(), **theme.variables}, is_ansi=self.native_ansi_color)

    def get_default_screen(self) -> MainScreen:
        return self.main

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            COURTESY.key_pressed()
        await super().on_event(event)

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda _theme: self.main.repaint(self.palette()))
        # After Ctrl+Z and `fg` the terminal is empty, while Textual believes that all is drawn.
        self.app_resume_signal.subscribe(self, lambda _app: self.refresh(layout=True))
        self._take_signals()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """After the first paint: the explorer starts beside the screen, since it imports what is heavy."""
        self.explorer.subscribe(lambda: self.main.post(self._health_changed))
        main = self.main
        if self._session is not None:
            last_session.restore(main, self._session)
        threading.Thread(target=self._start_explorer, name="start", daemon=True).start()
        for text in self._complaints[:COMPLAINTS_SHOWN]:
            self.notify(said(text[:COMPLAINT_LENGTH]), severity="warning", markup=False)
        if len(self._complaints) > COMPLAINTS_SHOWN:
            self.notify(
                f"And {len(self._complaints) - COMPLAINTS_SHOWN} more in the configuration.", severity="warning"
            )
        self._health_changed()
        main.presenter.start_page()
        if not main.flow.ask.is_empty:
            main.flow.search()
        if isinstance(self._driver, _TakesKeys):
            self._driver.take_keys()

    def _start_explorer(self) -> None:
        try:
            self.explorer.start()
        except MgrepError as error:
            failure = error
            self.main.post(lambda: self.main.complain(failure))
        except Exception as error:
            log.exception("the explorer did not start")
            failure = MgrepError(f"The index could not be opened: {error}.", "The log file has more.")
            self.main.post(lambda: self.main.complain(failure))

    def _health_changed(self) -> None:
        from mgrep_tui.ui.actions.indexing import HealthPanel

        health = self.explorer.health()
        if health.files_total and not self._is_frozen:
            # All files are listed: some objects each, which stay. In a large tree a look through them takes a tenth of a second.
            self._is_frozen = True
            gc.freeze()
        self.main.presenter.health_changed(health)
        if isinstance(self.screen, HealthPanel):
            self.screen.refresh_rows()

    def _take_signals(self) -> None:
        """End in order when the terminal goes away or someone wants us gone."""
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None:
                continue
            try:
                loop.add_signal_handler(number, self.exit)
            except (NotImplementedError, RuntimeError, ValueError):
                return  # Windows, or not the main thread

    def exit(
        self, result: list[Hit] | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave; what is to be restored the next time is noted while everything is still there."""
        if self.main.is_ready:
            self.last_session = last_session.kept(self.main, self._configured)
            # Meanwhile: Textual waits up to 0.2 s for its input thread.
            threading.Thread(target=self.explorer.close, name="closing", daemon=True).start()
        super().exit(result, return_code, message)

    def action_leave(self) -> None:
        self.main.remember()
        self.exit(None)

    def on_unmount(self) -> None:
        self.main.close_workers()


@runtime_checkable
class _TakesKeys(Protocol):
    """A driver that keeps what is typed until it is told that the screen stands."""

    def take_keys(self) -> None: ...


def _driver() -> type[Driver] | None:
    if sys.platform == "win32":
        return None
    from mgrep_tui.ui.driver import TerminalDriver

    return TerminalDriver


def run(
    explorer: Explorer,
    *,
    text: str = "",
    mode: Mode | None = None,
    first_mode: Mode = Mode.SEMANTIC,
    options: SearchOptions | None = None,
    restore: bool = True,
    theme: str = DARK.name,
    themes: Path | None = None,
    keys: Mapping[str, str] | None = None,
    mouse: bool = True,
    complaints: Sequence[str] = (),
    debounce_s: float = DEBOUNCE_S,
) -> list[Hit] | None:
    """Show the screen until it is left; the chosen hits, or None. Closes the explorer.

    `text` and `mode` win over what is restored from the last session; `first_mode` and `options` are for a start without one. `themes` is
    the folder of the person's own themes. `complaints` are sentences about the configuration. Raises `MgrepError` when there is no
    terminal, and when the screen ended by a fault: the log has it.
    """
    claim_keyboard()
    options = options or SearchOptions()
    configured = Configured(options.ratio, options.case, theme)
    session = explorer.load_session() if restore else None
    if session is not None:
        session = last_session.revised(session, configured)
    ask = Ask(text, mode or first_mode, options)
    if session is not None:
        ask = Ask(text or session.text, mode or session.mode, session.options)
        if text and text != session.text:
            session = replace(session, cursor_path=b"")
    app = MgrepApp(
        explorer,
        ask,
        theme=theme,
        themes=themes,
        keys=keys,
        session=session,
        configured=configured,
        complaints=complaints,
        debounce_s=debounce_s,
    )
    try:
        hits = app.run(mouse=mouse)
        if app.return_code == 0 and app.last_session is not None:
            explorer.save_session(app.last_session)
    finally:
        explorer.close()
    if app.return_code != 0:
        raise MgrepError("The screen ended by a fault.", "The log file has more.")
    return hits
