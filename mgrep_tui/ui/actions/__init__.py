"""What the commands do: one module for each kind. Each gives a table from the command's id to a function without arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.ui.actions import choosing, copying, indexing, moving, querying, refining, viewing

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

Handlers = dict[str, Callable[[], None]]


def handlers(screen: MainScreen) -> Handlers:
    """Every command of the key map, as something to call."""
    found: Handlers = {}
    for module in (moving, choosing, querying, refining, copying, viewing, indexing):
        found.update(module.commands(screen))
    return found
