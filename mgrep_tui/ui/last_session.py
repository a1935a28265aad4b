"""What a start takes over from the last one on the same root, and what it leaves to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mgrep_tui.explorer.protocol import Configured, Session
from mgrep_tui.ui.results import HitKey

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


def restore(screen: MainScreen, session: Session) -> None:
    """Panes as they were; the cursor as soon as its hit is found again. Query and options were taken when the screen was made."""
    screen.share, screen.height_share = session.list_share, session.list_height_share
    screen.has_preview = session.has_preview
    screen.pane.set_wraps(session.wraps)
    screen.restore_at = place_of(session)
    screen.divide()


def place_of(session: Session) -> HitKey | None:
    return (session.cursor_path, session.cursor_line, 0) if session.cursor_path else None


def revised(session: Session, configured: Configured) -> Session:
    """The session with what was changed in the configuration since it was kept: a person who writes a value there wants to see it."""
    before = session.configured
    if before is None:
        return session
    options = session.options
    if configured.ratio != before.ratio:
        options = replace(options, ratio=configured.ratio)
    if configured.case != before.case:
        options = replace(options, case=configured.case)
    theme = session.theme if configured.theme == before.theme else configured.theme
    return replace(session, options=options, theme=theme)


def kept(screen: MainScreen, configured: Configured) -> Session:
    """The session as it stands. A cursor that is still being looked for is not forgotten."""
    hit = screen.list.hit
    ask = screen.flow.ask
    path, line = (hit.path, hit.line) if hit else (b"", 0)
    if screen.restore_at is not None and not screen.is_touched:
        path, line, _ = screen.restore_at
    return Session(
        text=ask.text,
        mode=ask.mode,
        options=replace(ask.options, like=None),
        cursor_path=path,
        cursor_line=line,
        list_share=screen.share,
        list_height_share=screen.height_share,
        has_preview=screen.has_preview,
        wraps=screen.pane.wraps,
        theme=screen.app.theme,
        configured=configured,
    )
