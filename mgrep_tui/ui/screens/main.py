"""The main screen: lays out the panes, hands messages on, and runs commands. What commands do is in `ui.actions`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.css.query import NoMatches
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, Static

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, Variant
from mgrep_tui.model import Hit
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.ui import layout
from mgrep_tui.ui.actions import handlers
from mgrep_tui.ui.background import Newest
from mgrep_tui.ui.bindings import SCREEN_BINDINGS
from mgrep_tui.ui.completion import Completions
from mgrep_tui.ui.edits import Edits
from mgrep_tui.ui.flow import Ask, Flow
from mgrep_tui.ui.keymap import Command, textual_key
from mgrep_tui.ui.marks import Marks
from mgrep_tui.ui.results import HitKey, Results, key_of
from mgrep_tui.ui.screens.presenter import Presenter
from mgrep_tui.ui.showing import Showing
from mgrep_tui.ui.strips import said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.bars import Bar, Rule, Splitter
from mgrep_tui.ui.widgets.choice_list import ChoiceList
from mgrep_tui.ui.widgets.filter_row import FilterRow
from mgrep_tui.ui.widgets.preview import PreviewPane
from mgrep_tui.ui.widgets.query_input import QueryInput
from mgrep_tui.ui.widgets.result_list import ResultList

log = logging.getLogger(__name__)


class Later(Message):
    """Something to be done in the screen's thread."""

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self.call = call


class MainScreen(Screen[None]):
    """Owns the flow of the query, the marks and the panes. Implements `flow.Host`."""

    BINDINGS = SCREEN_BINDINGS

    def __init__(
        self,
        explorer: Explorer,
        palette: Palette,
        ask: Ask,
        commands: tuple[Command, ...],
        debounce_s: float,
        now: Callable[[], float],
    ) -> None:
        super().__init__()
        self.explorer = explorer
        self.palette = palette
        self.commands = commands
        self.now = now
        self.marks = Marks()
        self.flow = Flow(explorer, self, ask, debounce_s)
        self.showing = Showing(self)
        self.asking = Newest("questions")  # completions, suggestions, lists
        self.copying = Newest("clipboard")
        self.step = layout.Step.WIDE
        self.share = layout.DEFAULT_SHARE  # of the width that the list takes, beside the preview
        self.height_share = layout.DEFAULT_HEIGHT_SHARE  # of the height, above it
        self.has_preview = True
        self.is_ready = False  # the parts are there
        self.is_touched = False  # the cursor was moved by hand since the query changed
        self.restore_at: HitKey | None = None  # where the cursor was the last time, until its hit is found
        self.presenter = Presenter(self)
        self.completions = Completions(self)
        self.edits = Edits(self)
        self._handlers = handlers(self)
        self._command_of_key = {textual_key(key): command.id for command in commands for key in command.keys}

    # --- parts

    def compose(self) -> ComposeResult:
        palette = self.palette
        yield Bar("title")
        with Horizontal(id="query-row"):
            yield Bar("prompt")
            query = QueryInput(palette, lambda text: self.explorer.chips(text, self.flow.ask.mode), self._takes_key)
            query.cursor_blink = False
            yield query
            yield Bar("mode")
        yield Bar("summary")
        yield FilterRow(palette)
        yield Rule(palette, "rule-top", "┬")
        with Container(id="body"):
            with Container(id="left"):
                yield ResultList(palette, self.marks, self.explorer.flags_of, self.explorer.repository_of)
                yield ChoiceList(palette, "start")
            yield Splitter(palette)
            yield PreviewPane(palette)
        yield Rule(palette, "rule-bottom", "┴")
        yield Bar("status")
        yield Bar("footer")
        yield ChoiceList(palette, "completions")
        yield Static(
            f"The window is too small: {layout.MIN_WIDTH} × {layout.MIN_HEIGHT} is needed.", id="tiny", markup=False
        )

    def on_mount(self) -> None:
        self.query_input = self.query_one(QueryInput)
        self.list = self.query_one(ResultList)
        self.pane = self.query_one(PreviewPane)
        self.start_list = self.query_one("#start", ChoiceList)
        self.filter_row = self.query_one(FilterRow)
        self.completion_list = self.query_one("#completions", ChoiceList)
        self.query_input.set_text(self.flow.ask.text)
        self.query_input.relight()
        self.query_input.focus()
        self.is_ready = True
        self.presenter.all()
        self.presenter.start_page()

    def repaint(self, palette: Palette) -> None:
        """The theme has changed."""
        self.palette = palette
        for widget in self.query("*"):
            if hasattr(widget, "set_palette"):
                widget.set_palette(palette)
        self.presenter.all()

    # --- layout

    def on_resize(self, event: events.Resize) -> None:
        self.step = layout.step_of(event.size.width, event.size.height)
        self.divide()

    def divide(self) -> None:
        """Give the panes their places."""
        width, height = self.size
        for step in layout.Step:
            self.set_class(step is self.step, f"-{step.value}")
        self.set_class(not self.has_preview and self.step is not layout.Step.NARROW, "-no-preview")
        is_beside = self.step is layout.Step.WIDE and self.has_preview
        left = self.query_one("#left")
        columns = layout.list_width(width, self.share)
        left.styles.width = columns if is_beside else "1fr"
        is_above = self.step is layout.Step.MEDIUM
        self.pane.styles.height = layout.preview_height(height, self.height_share) if is_above else "1fr"
        for rule in self.query(Rule):
            rule.join_at(columns if is_beside else None)
        if self.is_ready:
            self.presenter.all()
            if self.focused is None and self.step is not layout.Step.TINY:
                # What has the focus loses it when it is not shown.
                self.query_input.focus()

    def on_descendant_focus(self) -> None:
        self.presenter.footer()

    # --- the flow's host

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        return self.set_timer(seconds, call)

    def post(self, call: Callable[[], None]) -> None:
        self.post_message(Later(call))

    def on_later(self, message: Later) -> None:
        message.call()

    def results_replaced(self, results: Results) -> None:
        keep = self.restore_at
        # A cursor that was never moved stays on the best hit, whichever that is by now.
        if keep is None and self.list.hit is not None and self.is_touched:
            keep = key_of(self.list.hit)
        self.list.show(results, keep, self.presenter.path_words())
        found_again = keep is not None and results.find(keep) is not None
        if found_again:
            self.restore_at = None
        self.is_touched = self.is_touched and found_again
        self.show_start(not len(results))
        if not len(results):
            self.presenter.start_page()

    @property
    def is_starting(self) -> bool:
        """Whether the start page stands in the list's place."""
        return bool(self.start_list.display)

    def show_start(self, is_starting: bool) -> None:
        """The start page or the list. Not by a class of the screen: the rules of all its parts would be looked up again, at a key."""
        self.start_list.display, self.list.display = is_starting, not is_starting

    def results_grown(self, has_moved: bool) -> None:
        self.list.grown(has_moved)
        if self.restore_at is not None and not self.is_touched:
            # The hit of the last session need not be among the first that come.
            found = self.flow.results.find(self.restore_at)
            if found is not None:
                self.restore_at = None
                self.list.move_to(found)

    def results_old(self) -> None:
        self.list.dim()

    def state_changed(self) -> None:
        if not self.flow.is_searching and self.flow.error is None:
            self.list.undim()
            if self.flow.outcome is not None and not self.flow.outcome.is_partial:
                self.restore_at = None
        self.presenter.growth.search_changed()
        self.presenter.query_changed()

    @property
    def is_idle(self) -> bool:
        """Nothing is under way: what is on the screen stays. For tests."""
        return all(part.is_idle for part in (self.flow, self.showing.feed, self.asking, self.copying, self.edits))

    # --- commands

    def _takes_key(self, event: events.Key) -> bool:
        """Run the command of a key that was pressed in the query box."""
        for key in event.aliases:
            if key in self._command_of_key:
                self.perform(self._command_of_key[key])
                return True
        return False

    def action_perform(self, command: str) -> None:
        self.perform(command)

    def perform(self, command: str) -> None:
        """Run a command by its id. What goes wrong becomes a toast."""
        try:
            if not self.completions.takes(command):
                self._handlers[command]()
        except MgrepError as error:
            self.complain(error)

    def complain(self, error: MgrepError) -> None:
        self.app.notify(said(str(error)), severity="error", markup=False, timeout=6)

    def tell(self, text: str) -> None:
        self.app.notify(said(text), markup=False, timeout=3)

    def ask_again(self, ask: Ask, *, is_refinement: bool = False) -> None:
        """Take another query, put it into the box, and search at once."""
        self.remember()
        self.is_touched = False
        self.restore_at = None
        with self.query_input.prevent(Input.Changed):
            self.query_input.set_text(ask.text)
        self.flow.change(replace(ask, text=self.query_input.value), is_refinement=is_refinement)
        self.query_input.relight()
        self.presenter.all()

    def remember(self) -> None:
        """Put the query into the history, if it has found something or was used."""
        ask = self.flow.shown_ask
        if ask is not None and ask.text.strip() and len(self.flow.results):
            self.explorer.remember(PastQuery(ask.text, ask.mode))

    # --- messages of the parts

    @on(Input.Changed, "#query")
    def _edited(self, event: Input.Changed) -> None:
        event.stop()
        was_pasted, self.query_input.was_pasted = self.query_input.was_pasted, False
        if event.value != self.flow.ask.text:
            self.restore_at = None
        if not event.value and self.flow.ask.text:
            self.remember()
        self.flow.typed(event.value)
        if was_pasted:
            self.flow.hurry()
        self.query_input.relight()
        self.presenter.query_changed()
        self.completions.typed()

    @on(ResultList.Moved)
    def _moved(self) -> None:
        self.show_hit()
        self.presenter.status()
        self.edits.look()

    def show_hit(self) -> None:
        """Preview what is under the cursor."""
        self.showing.hit()

    @on(PreviewPane.Needed)
    def _scrolled_out(self, event: PreviewPane.Needed) -> None:
        self.showing.around(event.line)

    @on(ResultList.Chosen)
    def _double_clicked(self) -> None:
        self.perform("open")

    @on(ResultList.MarkAsked)
    def _right_clicked(self) -> None:
        self.perform("mark")

    @on(PreviewPane.Chosen)
    def _line_clicked(self, event: PreviewPane.Chosen) -> None:
        shown = self.pane.shown
        if shown is not None:
            self.open([Hit(shown.path, event.line, 0, "")])

    def open(self, hits: list[Hit]) -> None:
        """Open places in the editor."""
        from mgrep_tui.ui.opening import open_hits

        self.remember()
        self.is_touched = True
        try:
            open_hits(self, hits)
        except MgrepError as error:
            self.complain(error)

    @on(ChoiceList.Moved, "#start")
    def _start_moved(self) -> None:
        self.show_hit()

    @on(ChoiceList.Chosen, "#start")
    def _start_chosen(self, event: ChoiceList.Chosen) -> None:
        self.take(event.value)

    @on(ChoiceList.Chosen, "#completions")
    def _completion_chosen(self, event: ChoiceList.Chosen) -> None:
        self.completions.accept(str(event.value))

    def take(self, value: object) -> None:
        """Do what a row of the start page stands for."""
        ask = self.flow.ask
        if isinstance(value, PastQuery):
            self.ask_again(replace(ask, text=value.text, mode=value.mode))
        elif isinstance(value, Variant):
            self.ask_again(Ask(value.text, value.mode, value.options), is_refinement=True)
        elif isinstance(value, bytes):
            self.open([Hit(value, 0, 0, "")])

    @on(FilterRow.Chosen)
    def _filter_chosen(self, event: FilterRow.Chosen) -> None:
        item = event.item
        if item.command:
            self.perform(item.command)
        elif item.chip is not None:
            from mgrep_tui.ui.refine import without

            self.ask_again(replace(self.flow.ask, text=without(self.flow.ask.text, item.chip)), is_refinement=True)
        elif item.adds:
            self.perform("filters")
            self.query_input.set_text(f"{self.flow.ask.text.rstrip()} {item.adds}".lstrip())

    @on(Splitter.Dragged)
    def _dragged(self, event: Splitter.Dragged) -> None:
        if self.step is layout.Step.WIDE:
            self.share = layout.share_of(self.size.width, event.x)
        elif self.step is layout.Step.MEDIUM:
            self.height_share = layout.height_share_of(self.size.height, event.y)
        self.divide()

    def close_workers(self) -> None:
        self.flow.stop()
        self.showing.feed.close()
        self.asking.close()
        self.copying.close()
        self.edits.close()

    def part(self, name: str) -> Bar | None:
        """A bar by its id; None while the screen is not yet there."""
        try:
            return self.query_one(f"#{name}", Bar)
        except NoMatches:
            return None
