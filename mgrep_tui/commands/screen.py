"""`mgrep-tui [PLACE …]`: everything that comes before and after the screen."""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys

from mgrep_tui.commands.asking import may_index
from mgrep_tui.commands.common import Context, prepare, with_targets
from mgrep_tui.commands.explorers import Explorers
from mgrep_tui.commands.printing import prefix_of
from mgrep_tui.commands.targets import Targets
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, SearchOptions
from mgrep_tui.model import Hit, Mode
from mgrep_tui.text.sanitize import sanitize

FOUND, NONE, ERROR = 0, 1, 2
# Objects made before garbage is looked for; Python's 700 costs a twentieth of the time to the first paint.
GARBAGE_THRESHOLD = 20_000
# How long a thread that works keeps the interpreter while the screen's waits for it. Measured with an index at work: a key is echoed in two
# thirds of the time that Python's own 5 ms make it, and the work is no slower.
SWITCH_S = 0.0005


def open_screen(arguments: argparse.Namespace) -> int:
    """Open the screen and stay until it is left; print the chosen hits when asked for, or when stdout is not the terminal."""
    _take_terminal()
    gc.set_threshold(GARBAGE_THRESHOLD)
    sys.setswitchinterval(SWITCH_S)
    context = prepare(arguments, prefers_git_root=True)
    has_engine = arguments.engine is not None  # which indexes nothing here
    places = tuple(
        place for place in context.targets.places if has_engine or place.root is None or may_index(context, place.root)
    )
    if not places:
        return NONE
    context = with_targets(context, Targets(places, context.targets.troubles, context.targets.title))
    from mgrep_tui.jobs.tracker import prepare as prepare_children

    prepare_children()
    settings = context.settings
    explorer: Explorer
    if has_engine:
        from mgrep_tui.commands.engine import engine_explorer

        explorer = engine_explorer(arguments, context)
    else:
        explorer = Explorers(context, watch=not arguments.no_watch).all()
    # Late: the arguments, the folder and the terminal are good, only now is the screen worth its import time.
    from mgrep_tui.ui.app import run

    try:
        chosen = run(
            explorer,
            text=arguments.query or "",
            mode=Mode(arguments.mode) if arguments.mode else None,
            first_mode=Mode(settings.ui.mode),
            options=SearchOptions(ratio=settings.semantic.ratio, case=settings.regex.case),
            restore=settings.ui.restore and not arguments.no_restore,
            theme=settings.ui.theme,
            themes=context.folders.config / "themes",
            keys=settings.ui.keys,
            mouse=settings.ui.mouse,
            complaints=context.warnings,
            debounce_s=settings.ui.debounce_ms / 1000,
        )
    except BaseException:
        explorer.close()
        raise
    if chosen and (arguments.print_hits or not sys.stdout.isatty()):
        _print(chosen, context, explorer)
    if chosen is None:
        return NONE if arguments.print_hits else FOUND
    return FOUND


def _take_terminal() -> None:
    """Make sure that there is a terminal to draw on and to read keys from. Raises `MgrepError`.

    The screen is painted on stderr; stdout may be a pipe. When stdin is one, keys are read from the terminal itself.
    """
    if not sys.stderr.isatty():
        raise MgrepError("This is not a terminal.", "Without one, use: mgrep-tui search QUERY [PATH]")
    if isinstance(sys.stderr, io.TextIOWrapper):
        # Terminals take UTF-8 whatever the locale says, and the screen's lines and marks are no letters of any other encoding.
        sys.stderr.reconfigure(encoding="utf-8")
    if not sys.stdin or not sys.stdin.isatty():
        try:
            terminal = os.open("/dev/tty", os.O_RDONLY)
        except OSError as error:
            raise MgrepError("There is no terminal to read keys from.", "Use: mgrep-tui search QUERY [PATH]") from error
        os.dup2(terminal, 0)
        os.close(terminal)
        sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _print(hits: list[Hit], context: Context, explorer: Explorer) -> None:
    """The chosen places; among several roots each with its root as it was named, so that it opens from here."""
    is_terminal = sys.stdout.isatty()
    for hit in hits:
        path = hit.path
        places = context.targets.places
        if len(places) > 1:
            from mgrep_tui.explorer.several import SeveralExplorer

            assert isinstance(explorer, SeveralExplorer)
            number, own = explorer.locate(path)
            is_here = places[number].root is not None
            path = prefix_of(places[number].typed) + own if is_here else os.fsencode(explorer.absolute(path))
        elif places[0].root is None:
            path = os.fsencode(explorer.absolute(path))  # in the cache, which nobody typed
        line = b"%s:%d:%d" % (path, hit.line + 1, hit.column + 1)
        if is_terminal:
            print(sanitize(os.fsdecode(line)))
        else:
            sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()
