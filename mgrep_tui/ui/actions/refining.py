"""From a hit to the next query: narrow, exclude, look for the word, look for more like it; and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mgrep_tui.explorer.protocol import Chip, Variant
from mgrep_tui.model import Hit, Mode
from mgrep_tui.text.languages import language_of
from mgrep_tui.ui import refine
from mgrep_tui.ui.panels import refine_picks
from mgrep_tui.ui.pick import picked
from mgrep_tui.ui.screens.overlay import Overlay
from mgrep_tui.ui.strips import said

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


class Refining:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    @property
    def _chips(self) -> tuple[Chip, ...]:
        ask = self._screen.flow.ask
        return self._screen.explorer.chips(ask.text, ask.mode)

    def _symbol(self, hit: Hit) -> str:
        """The hit's symbol, else the one that the preview's breadcrumb names."""
        shown = self._screen.pane.shown
        if hit.symbol or shown is None or shown.path != hit.path or not shown.breadcrumb:
            return hit.symbol
        return shown.breadcrumb[-1]

    def _text(self, change: Callable[[Hit], str], *, when_same: str) -> None:
        """Take the text that `change` makes of the hit."""
        hit, ask = self._screen.list.hit, self._screen.flow.ask
        if hit is None:
            self._screen.tell("There is no hit to start from.")
            return
        text = change(hit)
        if text == ask.text:
            self._screen.tell(when_same)
        else:
            self._screen.ask_again(replace(ask, text=text), is_refinement=True)

    def in_folder(self) -> None:
        ask = self._screen.flow.ask
        self._text(
            lambda hit: refine.in_folder(ask.text, hit, self._chips), when_same="The file is at the root already."
        )

    def not_folder(self) -> None:
        ask = self._screen.flow.ask
        self._text(lambda hit: refine.not_folder(ask.text, hit, self._chips), when_same="The file is at the root.")

    def in_language(self) -> None:
        ask = self._screen.flow.ask
        self._text(
            lambda hit: refine.in_language(ask.text, hit, language_of(hit.path), self._chips),
            when_same="The query has this language already, or the file has none that is known.",
        )

    def in_repository(self) -> None:
        ask = self._screen.flow.ask
        self._text(
            lambda hit: refine.in_repository(ask.text, self._screen.explorer.repository_of(hit.path), self._chips),
            when_same="A single root is open, or the query has it already.",
        )

    def in_symbol(self) -> None:
        ask = self._screen.flow.ask
        self._text(
            lambda hit: refine.in_symbol(ask.text, self._symbol(hit), self._chips), when_same="The hit is in no symbol."
        )

    def tests(self) -> None:
        """Without tests, tests only, all."""
        ask = self._screen.flow.ask
        self._screen.ask_again(replace(ask, text=refine.next_tests(ask.text, self._chips)), is_refinement=True)

    def search_word(self) -> None:
        """The word in the place of the query's words; its filters stay."""
        ask = self._screen.flow.ask

        def change(hit: Hit) -> str:
            return f"{refine.word_of(hit)} {refine.only_filters(ask.text, self._chips)}".strip()

        self._text(change, when_same="This word is the query.")

    def alike(self) -> None:
        hit, ask = self._screen.list.hit, self._screen.flow.ask
        if hit is None:
            self._screen.tell("There is no hit to start from.")
            return
        text = refine.only_filters(ask.text, self._chips)
        options = replace(ask.options, like=hit)
        self._screen.ask_again(replace(ask, text=text, mode=Mode.SEMANTIC, options=options), is_refinement=True)

    def undo(self) -> None:
        ask = self._screen.flow.undo()
        if ask is None:
            self._screen.tell("There is no refinement to undo.")
            return
        self._screen.ask_again(ask)

    def variant(self) -> None:
        """The first query that is offered where there are no hits."""
        if not self._screen.is_starting:
            return
        for row in self._screen.start_list.rows:
            if isinstance(row.value, Variant):
                self._screen.take(row.value)
                return

    def menu(self) -> None:
        screen = self._screen
        hit = screen.list.hit
        if hit is None:
            screen.tell("There is no hit to start from.")
            return
        folder = refine.folder_of(hit.path)
        possible: list[tuple[str, str]] = []
        if folder:
            possible += [("in-folder", folder + "/"), ("not-folder", folder + "/")]
        if label := screen.explorer.repository_of(hit.path):
            possible.append(("in-repository", label))
        if language := hit.language or language_of(hit.path):
            possible.append(("in-language", language))
        if symbol := self._symbol(hit):
            possible.append(("in-symbol", symbol))
        if word := refine.word_of(hit):
            possible.append(("search-word", word))
        possible += [("alike", ""), ("undo", "")]
        picks = refine_picks(screen.commands, [(name, said(what)) for name, what in possible])

        def run(value: object) -> None:
            if isinstance(value, str):
                screen.perform(value)

        screen.app.push_screen(
            Overlay(screen.palette, "Refine", lambda typed: picked(picks, typed), placeholder="what to do"), run
        )


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    refining = Refining(screen)
    return {
        "refine": refining.menu,
        "in-folder": refining.in_folder,
        "not-folder": refining.not_folder,
        "in-language": refining.in_language,
        "in-repository": refining.in_repository,
        "in-symbol": refining.in_symbol,
        "tests": refining.tests,
        "search-word": refining.search_word,
        "alike": refining.alike,
        "undo": refining.undo,
        "variant": refining.variant,
    }
