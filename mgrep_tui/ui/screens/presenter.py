"""Keeps the single lines of the main screen, and the start page, in step with what they tell about."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.style import Style

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Variant
from mgrep_tui.model import Health, IndexState, Mode
from mgrep_tui.text.cells import cut
from mgrep_tui.ui import empty, words
from mgrep_tui.ui.growth import Growth
from mgrep_tui.ui.keymap import Command, shown_key
from mgrep_tui.ui.layout import WIDE_FROM, Step
from mgrep_tui.ui.strips import Part, said
from mgrep_tui.ui.widgets.bars import clickable, styled
from mgrep_tui.ui.widgets.filter_row import filter_items

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

RATES_KEPT = 60
LEAST_NOTE = 24  # cells: fewer tell nothing


def told_on_start_page(health: Health) -> tuple[object, ...]:
    """What of the health the start page tells."""
    share = round(100 * health.vectors / health.chunks) if health.chunks else 0
    files = (health.files_chunked, health.files_total, health.dirty)
    return (health.state, health.regex_ready, health.keywords_ready, share, *files)


# From this width on the mode is shown with its scale; below, as a word.
SCALE_FROM = 80


class Presenter:
    """All methods belong to the screen's thread, and cost nothing when nothing has changed."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.rates: deque[float] = deque(maxlen=RATES_KEPT)
        self._health = Health()
        self._changed: Sequence[bytes] = ()
        self._variants: tuple[Variant, ...] = ()
        self._variants_of: object = None  # the query that they are for
        self._is_asking = False
        self.growth = Growth(screen)
        self._shows_hint = screen.explorer.is_first_start()

    def all(self) -> None:
        self.title()
        self.query_changed()
        self.filters()
        self.status()
        self.footer()
        if self._screen.pane.shown is None:
            self._screen.pane.show_hint(words.CHEAT_SHEET)

    # --- health

    def health_changed(self, health: Health) -> None:
        before, self._health = self._health, health
        if health.state is IndexState.INDEXING:
            self.rates.append(health.rate_per_s)
        self.title()
        self.status()
        if self._screen.is_starting and told_on_start_page(before) != told_on_start_page(health):
            self.start_page()
        self.growth.health_changed(health)
        self._screen.edits.look()

    def title(self) -> None:
        if bar := self._screen.part("title"):
            left, right = words.title(self._health, self._screen.explorer.root_label)
            bar.show(styled(left, self._screen.palette), styled(right, self._screen.palette))

    def status(self) -> None:
        screen = self._screen
        if bar := screen.part("status"):
            width = screen.size.width
            left = styled(words.status(self._health, width), screen.palette)
            left = [(text, clickable(style, "health")) for text, style in left]
            right: list[Part] = []
            hit = screen.list.hit
            if hit is not None and screen.list.cursor is not None:
                place = screen.list.results.place_of(screen.list.cursor) + 1
                right = [(f"{place:,}/{len(screen.list.results):,} ", screen.palette.muted)]
            if screen.step is Step.NARROW:
                right += self._keys(("help",))
            bar.show(left, right)

    def footer(self) -> None:
        screen = self._screen
        if bar := screen.part("footer"):
            names = ["open", "mode", "mark", "filters", "refine", "palette", "help"]
            where = ""
            if screen.size.width >= WIDE_FROM:
                names.insert(5, "health")
            if screen.focused in (screen.list, screen.pane):
                names = ["open", "mark", "mode", "palette", "help"]
                where = "letters are keys · Esc: to the query "
            bar.show(self._keys(names), [(where, screen.palette.muted)] if where else [])

    def _keys(self, names: Sequence[str]) -> list[Part]:
        palette = self._screen.palette
        known: dict[str, Command] = {command.id: command for command in self._screen.commands}
        parts: list[Part] = []
        for name in names:
            command = known[name]
            if command.keys:
                parts.append((f" {shown_key(command.keys[0])} ", clickable(palette.key, name)))
                parts.append((f"{command.hint} ", clickable(palette.muted, name)))
        return parts

    # --- the query

    def query_changed(self) -> None:
        """Prompt, mode and summary."""
        screen = self._screen
        prompt, mode, summary = screen.part("prompt"), screen.part("mode"), screen.part("summary")
        if prompt is None or mode is None or summary is None:
            return
        ask, palette = screen.flow.ask, screen.palette
        prompt.show([(" ❯ " if ask.mode is Mode.SEMANTIC else ".* ", palette.mark)])
        mode.show([], self._mode_parts())
        width = screen.size.width
        is_short = screen.step is not Step.WIDE
        if screen.flow.error is not None:
            visible = 3 - screen.query_input.scroll_offset.x
            summary.show(styled(words.error_line(screen.flow.error, visible, width), palette))
            return
        left: list[Part] = [("   ", Style.null())]
        if ask.options.like is not None:
            like = ask.options.like
            left += [(f" like {said(like.symbol or like.kind or 'this')} ", palette.chip), (" ", Style.null())]
        for command, label in words.options_words(ask.options, ask.mode):
            left += [(f" {label} ", clickable(palette.chip, command)), (" ", Style.null())]
        if not is_short:
            for chip in screen.query_input.chips:
                left += [(f" {said(chip.label)} ", clickable(palette.chip, "filters")), (" ", Style.null())]
        if screen.marks:
            left += [(f"✓ {len(screen.marks):,} marked", palette.mark)]
        results = screen.flow.results
        if screen.flow.is_refining and screen.flow.is_slow:
            right = words.refining(len(results), self._health, is_short=is_short)
        elif screen.flow.is_slow:
            right = words.searching(screen.flow.progress)
        else:
            right = words.summary(
                screen.flow.outcome, len(results), len(results.groups), results.mode, is_short=is_short
            )
            if screen.flow.outcome is not None and not screen.flow.is_searching and not is_short:
                right = self._notes(right, width)
            if screen.list.edited:
                again = f"{len(screen.list.edited):,} edited since, {self._key_of('again')} searches again"
                right = [(again if not is_short else f"↻ {self._key_of('again')}", "warning"), ("  ", "muted"), *right]
        summary.show(left, styled([*right, (" ", "muted")], palette))

    def _notes(self, right: words.Line, width: int) -> words.Line:
        """The notes of the outcome, as far as there is room for them."""
        outcome = self._screen.flow.outcome
        if outcome is None or not outcome.notes or not len(self._screen.flow.results):
            return right
        note = "  ".join(said(each) for each in outcome.notes)
        used = sum(len(text) for text, _ in right) + sum(len(chip.label) + 3 for chip in self._screen.query_input.chips)
        room = width - used - 9
        if len(note) > room and room < LEAST_NOTE:
            return right
        return [(cut(note, room) + "  ", "warning"), *right]

    def _mode_parts(self) -> list[Part]:
        screen = self._screen
        ask, palette = screen.flow.ask, screen.palette
        is_semantic = ask.mode is Mode.SEMANTIC
        if screen.size.width < SCALE_FROM or screen.step is Step.NARROW:
            return [("meaning " if is_semantic else "regex ", clickable(palette.strong, "mode"))]
        key = self._key_of("mode")
        other: list[Part] = [
            (f"   {key} ", clickable(palette.key, "mode")),
            ("regex " if is_semantic else "meaning ", clickable(palette.muted, "mode")),
        ]
        if not is_semantic:
            return [("regular expression", palette.strong), *other]
        before, knob, after = words.slider(ask.options.ratio)
        return [
            ("meaning ", clickable(palette.strong if ask.options.ratio >= 0.5 else palette.muted, "meaningful")),
            (before, clickable(palette.faint, "meaningful")),
            (knob, palette.mark),
            (after, clickable(palette.faint, "wordier")),
            (" words", clickable(palette.strong if ask.options.ratio <= 0.5 else palette.muted, "wordier")),
            *other,
        ]

    def _key_of(self, name: str) -> str:
        return next(
            (shown_key(command.keys[0]) for command in self._screen.commands if command.id == name and command.keys), ""
        )

    def filters(self) -> None:
        ask = self._screen.flow.ask
        self._screen.filter_row.show(filter_items(ask.options, ask.mode, self._screen.query_input.chips))

    def path_words(self) -> tuple[str, ...]:
        """What is lit in the paths of the list."""
        ask = self._screen.flow.ask
        found = self._screen.explorer.words(ask.text, ask.mode)
        return tuple(word.lower() for word in found if len(word) > 2)

    # --- the start page

    def hint(self) -> None:
        self._screen.pane.show_hint(words.CHEAT_SHEET)

    def start_page(self) -> None:
        """What stands in the list's place while there are no hits."""
        screen = self._screen
        flow = screen.flow
        if len(flow.results):
            return
        screen.show_start(True)
        if flow.ask.is_empty or flow.outcome is None:
            rows = empty.empty_query(
                screen.explorer.history(), self._changed, self._health, shows_hint=self._shows_hint
            )
            self._ask_for_changes()
        else:
            if self._variants_of != flow.ask:
                self._ask_for_variants()
            rows = empty.no_hits(flow.outcome, self._health, flow.ask.mode, self._variants, is_asking=self._is_asking)
        screen.start_list.renew(rows)
        screen.show_hit()

    def _ask_for_changes(self) -> None:
        """Until there is an answer: while the index is being opened nothing is known yet."""
        screen = self._screen
        if self._changed:
            return

        def job(_has_newer: Callable[[], bool]) -> None:
            changed: tuple[bytes, ...] = ()
            with contextlib.suppress(MgrepError):
                changed = tuple(screen.explorer.recent_changes())
            screen.post(lambda: self._changes_came(changed))

        screen.asking.submit(job)

    def _changes_came(self, changed: Sequence[bytes]) -> None:
        if changed != self._changed:
            self._changed = changed
            if self._screen.flow.ask.is_empty:
                self.start_page()

    def _ask_for_variants(self) -> None:
        screen = self._screen
        ask = screen.flow.ask
        self._variants, self._variants_of, self._is_asking = (), ask, True

        def job(_has_newer: Callable[[], bool]) -> None:
            try:
                found = screen.explorer.variants(ask.text, ask.mode, ask.options)
            except MgrepError:
                found = ()
            screen.post(lambda: came(found))

        def came(found: tuple[Variant, ...]) -> None:
            if self._variants_of == ask:
                self._variants, self._is_asking = found, False
                if screen.flow.ask == ask:
                    self.start_page()

        screen.asking.submit(job)
