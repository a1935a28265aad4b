"""The eighteen points on which the screen is accepted, and the tests that hold each. A test that is renamed is missed here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mgrep_tui.model import Mode
from mgrep_tui.settings.state import PastQuery
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import running

TESTS = Path(__file__).resolve().parents[1]

POINTS: dict[str, tuple[str, ...]] = {
    "1 no byte of a file reaches the terminal": (
        "terminal/test_screen_in_terminal.py::test_no_byte_of_a_file_reaches_the_terminal",
        "terminal/test_faults_hostile.py::test_no_text_from_outside_steers_the_terminal",
    ),
    "2 brackets and markup are shown as they are": (
        "ui/test_screen_outside.py::test_text_from_outside_is_shown_and_never_obeyed",
        "ui/test_screen_outside.py::test_brackets_in_names_are_shown_as_they_are",
    ),
    "3 a pattern that runs away": (
        "terminal/test_faults_command_line.py::test_odd_patterns_leave_the_screen_awake",
        "ui/test_screen_answers.py::test_esc_stops_a_slow_search_and_the_next_query_works",
    ),
    "4 a half-typed pattern": ("ui/test_screen_typing.py::test_a_half_typed_pattern_is_explained_and_old_hits_stay",),
    "5 an empty query": ("ui/test_acceptance.py::test_an_empty_query_searches_nothing_and_shows_where_to_go_on",),
    "6 a hundred thousand hits": ("ui/test_screen_moving.py::test_a_hundred_thousand_hits_are_as_quick_as_a_hundred",),
    "7 every odd file in the preview": (
        "unit/test_explorer_preview.py::test_text_or_one_sentence",
        "ui/test_screen_outside.py::test_a_file_that_is_gone_is_one_sentence_and_marked_in_the_list",
        "ui/test_screen_outside.py::test_a_hit_far_into_a_long_line_is_seen_in_the_preview",
    ),
    "8 twenty quick keys": (
        "ui/test_flow.py::test_twenty_keys_start_few_searches",
        "ui/test_machine.py::test_any_keys_in_any_order",
    ),
    "9 the editor, whatever it does": (
        "terminal/test_faults_editor.py::test_names_reach_the_editor_as_they_are",
        "terminal/test_faults_editor.py::test_the_terminal_comes_back_whatever_the_editor_does",
        "terminal/test_faults_editor.py::test_an_editor_that_cannot_be_started_is_said_before_the_screen_is_given_up",
        "terminal/test_screen_in_terminal.py::test_an_editor_that_fails_or_is_interrupted_gives_the_screen_back",
    ),
    "10 leaving at any moment": (
        "terminal/test_leaving.py::test_leaving_at_any_moment_leaves_no_child_and_the_terminal_as_it_was",
        "terminal/test_screen_in_terminal.py::test_the_terminal_is_as_before_after_quitting",
    ),
    "11 signals": ("terminal/test_screen_in_terminal.py::test_a_signal_ends_it_in_order",),
    "12 sizes": (
        "ui/test_screen_looks.py::test_every_size_is_drawn_and_comes_back",
        "terminal/test_faults_job_control.py::test_every_size_draws_and_leaves",
        "terminal/test_screen_in_terminal.py::test_it_follows_the_size_of_the_terminal",
    ),
    "13 without colour": (
        "terminal/test_screen_in_terminal.py::test_it_reads_without_colour",
        "ui/test_screen_looks.py::test_the_search_word_does_not_depend_on_colour",
        "ui/test_theme.py::test_text_has_contrast_wherever_it_lies",
    ),
    "14 pipes": (
        "terminal/test_screen_in_terminal.py::test_the_chosen_hits_go_to_a_captured_stdout",
        "terminal/test_screen_in_terminal.py::test_the_whole_terminal_is_used_also_where_stdout_is_a_file",
        "terminal/test_screen_in_terminal.py::test_keys_work_when_stdin_is_a_pipe",
        "terminal/test_screen_in_terminal.py::test_without_a_terminal_it_says_so",
    ),
    "15 two copies, read-only, a full disk": (
        "unit/test_index_access.py::test_a_second_copy_reads_and_takes_over",
        "unit/test_index_access.py::test_two_cold_copies_make_one_index",
        "unit/test_index_access.py::test_an_index_that_cannot_be_written_is_read",
        "unit/test_index_access.py::test_a_full_disk_is_said_and_searched_around",
    ),
    "16 the first paint and --help load nothing heavy": (
        "unit/test_walls.py::test_the_first_paint_loads_nothing_heavy",
        "unit/test_walls.py::test_help_and_errors_load_nothing_heavy",
        "terminal/test_screen_in_terminal.py::test_nothing_heavy_is_imported_before_the_first_paint",
    ),
    "17 the README equals the code": (
        "unit/test_readme.py::test_key_and_configuration_tables_equal_the_code",
        "ui/test_keymap.py::test_readme_has_the_table_of_keys",
        "ui/test_acceptance.py::test_every_command_has_a_sentence_of_help",
    ),
    "18 focus": (
        "ui/test_screen_panes.py::test_esc_reaches_the_query_from_everywhere",
        "ui/test_screen_panes.py::test_ctrl_c_quits_from_everywhere",
    ),
}


@pytest.mark.parametrize("point", POINTS)
def test_the_point_has_its_tests(point: str) -> None:
    for name in POINTS[point]:
        file, _, function = name.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert function in {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }, name


async def test_an_empty_query_searches_nothing_and_shows_where_to_go_on() -> None:
    explorer = FakeExplorer(past=[PastQuery("former words", Mode.SEMANTIC)], changed=(b"src/lately.py",))
    async with running(explorer) as screen:
        assert "former words" in screen.text()
        assert "src/lately.py" in screen.text()
        await screen.press("space", "space", "f5", "f2", "alt+c")
        assert explorer.searched == []
        await screen.press("ctrl+u", "enter")
        assert screen.main.query_input.value == "former words"
        assert len(explorer.searched) == 1


def test_every_command_has_a_sentence_of_help() -> None:
    from mgrep_tui.ui.keymap import COMMANDS

    for command in COMMANDS:
        assert command.help.endswith("."), command.id
        assert command.help[0].isupper(), command.id
        assert command.title, command.id
