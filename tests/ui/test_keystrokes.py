"""The keys of the README's table really do what it says, and no other program needs fewer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mgrep_tui.model import Mode
from tests.support.fake_explorer import language_of
from tests.support.keystrokes import TASKS
from tests.support.screen import Screen, running


def paths(screen: Screen) -> list[bytes]:
    return [group.path for group in screen.main.flow.results.groups]


def best_is_the_definition(screen: Screen) -> bool:
    hit = screen.main.list.hit
    return hit is not None and hit.symbol == "base_delay"


def is_one_language(screen: Screen) -> bool:
    hit = screen.main.list.hit
    return hit is not None and {language_of(path) for path in paths(screen)} == {language_of(hit.path)}


def searches_the_lit_word(screen: Screen) -> bool:
    return screen.main.query_input.value == "TooManyRetries"


def opened_the_third(screen: Screen) -> bool:
    results, cursor = screen.main.flow.results, screen.main.list.cursor
    assert cursor is not None
    return (
        [list(opened) for opened in screen.explorer.opened] == [[results.hits[cursor]]]
        and results.place_of(cursor) == 2
        and screen.main.query_input.value == "retry upload"
    )


CHECKS: dict[str, Callable[[Screen], bool]] = {
    "the definition of the name that was typed, on top": best_is_the_definition,
    "only tests": lambda screen: bool(paths(screen)) and all(b"test" in path for path in paths(screen)),
    "without tests": lambda screen: bool(paths(screen)) and not any(b"test" in path for path in paths(screen)),
    "without the folder of this hit (`vendor/`)": lambda screen: (
        bool(paths(screen)) and not any(path.startswith(b"tests/") for path in paths(screen))
    ),
    "only this language": is_one_language,
    "back to before that": lambda screen: screen.main.query_input.value == "retry upload",
    "the word that is lit (8 letters), everywhere": searches_the_lit_word,
    "the same words as a regular expression": lambda screen: (
        screen.main.flow.results.mode is Mode.REGEX and screen.main.query_input.value == "retry upload"
    ),
    "whole words only": lambda screen: screen.explorer.searched[-1][3].word,
    "open the third hit at its line, and come back": opened_the_third,
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
async def test_the_keys_do_it(task: object) -> None:
    query = {"the definition": "base_delay", "the word that": "retr"}.get(task.name[:14].strip(), "retry upload")
    mode = (
        Mode.REGEX
        if task.name in ("whole words only", "the word that is lit (8 letters), everywhere")
        else Mode.SEMANTIC
    )
    async with running(text=query, mode=mode) as screen:
        if task.name == "back to before that":
            await screen.press("alt+g")
            assert screen.main.query_input.value != query
        await screen.press(*task.keys)
        assert CHECKS[task.name](screen)


def test_no_other_program_needs_fewer_keys_for_any_of_them_and_most_need_more() -> None:
    for task in TASKS:
        assert all(count is None or count >= len(task.keys) for count in task.others), task.name
    for column in range(4):
        more = [task for task in TASKS if task.others[column] is None or task.others[column] > len(task.keys)]
        assert len(more) > len(TASKS) / 2
