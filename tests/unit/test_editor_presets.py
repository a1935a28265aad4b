"""Which arguments each editor gets, and that no name turns into an option."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.editor.presets import EDITORS, Place, choose, command_for
from mgrep_tui.errors import MgrepError

PLACE = Place(b"/tree/a b.py", 12, 5)


@pytest.mark.parametrize(
    ("words", "wanted", "is_terminal"),
    [
        ("vim", [b"vim", b"+12", b"+normal! 04lzv", b"--", b"/tree/a b.py"], True),
        ("nvim -u NONE", [b"nvim", b"-u", b"NONE", b"+12", b"+normal! 04lzv", b"--", b"/tree/a b.py"], True),
        ("nano", [b"nano", b"+12,5", b"/tree/a b.py"], True),
        ("nano -w", [b"nano", b"-w", b"+12,5", b"/tree/a b.py"], True),
        ("/usr/bin/vim.nox", [b"/usr/bin/vim.nox", b"+12", b"+normal! 04lzv", b"--", b"/tree/a b.py"], True),
        ("vi", [b"vi", b"+12", b"/tree/a b.py"], True),
        ("vim.tiny", [b"vim.tiny", b"+12", b"/tree/a b.py"], True),
        ("gvim --remote-silent", [b"gvim", b"--remote-silent", b"+12", b"/tree/a b.py"], False),
        ("env A=1 vim", [b"env", b"A=1", b"vim", b"+12", b"+normal! 04lzv", b"--", b"/tree/a b.py"], True),
        ("A=1 hx", [b"env", b"A=1", b"hx", b"/tree/a b.py:12:5"], True),
        ("micro", [b"micro", b"+12:5", b"/tree/a b.py"], True),
        ("kak", [b"kak", b"+12:5", b"/tree/a b.py"], True),
        ("hx", [b"hx", b"/tree/a b.py:12:5"], True),
        ("emacs", [b"emacs", b"+12:5", b"/tree/a b.py"], False),
        ("emacsclient -nw", [b"emacsclient", b"-nw", b"+12:5", b"/tree/a b.py"], True),
        ("code --wait", [b"code", b"--wait", b"-r", b"-g", b"/tree/a b.py:12:5"], False),
        ("'/opt/my editors/codium'", [b"/opt/my editors/codium", b"-r", b"-g", b"/tree/a b.py:12:5"], False),
        ("zed", [b"zed", b"/tree/a b.py:12:5"], False),
        ("subl", [b"subl", b"/tree/a b.py:12:5"], False),
        ("pycharm", [b"pycharm", b"--line", b"12", b"--column", b"5", b"/tree/a b.py"], False),
        ("joe", [b"joe", b"/tree/a b.py"], True),
        ("myed --at {line}:{column} {path}", [b"myed", b"--at", b"12:5", b"/tree/a b.py"], True),
    ],
)
def test_each_editor_gets_line_and_column_in_its_own_way(words: str, wanted: list[bytes], is_terminal: bool) -> None:
    """FAULTS P5: editors with arguments, and the line jump of each."""
    command = command_for(words, [PLACE])
    assert list(command.argv) == wanted
    assert command.is_terminal is is_terminal


@pytest.mark.parametrize(
    ("words", "link", "wanted"),
    [
        ("vi", "/usr/bin/vim.basic", [b"vi", b"+12", b"+normal! 04lzv", b"--", b"/tree/a b.py"]),
        ("vi", "/usr/bin/vim.tiny", [b"vi", b"+12", b"/tree/a b.py"]),
        ("vi", "/bin/busybox", [b"vi", b"+12", b"/tree/a b.py"]),
        ("editor", "/bin/nano", [b"editor", b"+12,5", b"/tree/a b.py"]),
        ("code", "/snap/core/snap", [b"code", b"-r", b"-g", b"/tree/a b.py:12:5"]),
    ],
)
def test_a_name_that_is_a_link_gets_what_the_linked_editor_takes(words: str, link: str, wanted: list[bytes]) -> None:
    """FAULTS P5: what `vi` and `editor` are differs from machine to machine."""
    assert list(command_for(words, [PLACE], lambda _name: link).argv) == wanted


def test_vim_stands_on_the_character_not_on_the_byte(tmp_path: Path) -> None:
    """FAULTS P5: `cursor()` counts bytes, and lands left of a match that follows letters with marks."""
    program = shutil.which("vim") or shutil.which("nvim")
    if program is None or Path(program).resolve().name == "vim.tiny":
        pytest.skip("needs vim")
    (tmp_path / "a").write_text("first\n\tééé日 needle\n")
    before, after = [*command_for("vim", [Place(os.fsencode(tmp_path / "a"), 2, 7)]).argv[1:]], tmp_path / "after"
    write = f"+call writefile([string([line('.'), col('.')])], {str(after)!r})"
    subprocess.run(
        [program, "-u", "NONE", "-i", "NONE", "-es", *before[:-2], write, "+qa!", *before[-2:]], timeout=60, check=False
    )
    assert after.read_text() == "[2, 12]\n"


def test_visual_wins_over_editor_and_the_configuration_over_both() -> None:
    """FAULTS P5."""
    assert choose("", {"VISUAL": "code -w", "EDITOR": "vi"}) == "code -w"
    assert choose("hx", {"VISUAL": "code -w"}) == "hx"
    assert choose("", {"VISUAL": "  ", "EDITOR": "nano"}) == "nano"
    assert choose("", {}) == "vi"


NAMES = st.binary(min_size=1, max_size=30).filter(lambda name: b"/" not in name and b"\0" not in name)


@given(editor=st.sampled_from(sorted(EDITORS)), name=NAMES, line=st.integers(1, 10**6), column=st.integers(1, 10**6))
def test_a_name_stays_one_argument_and_never_becomes_an_option(
    editor: str, name: bytes, line: int, column: int
) -> None:
    """FAULTS J3: quotes, spaces, `$()`, a leading dash or plus, newlines and bytes that are not UTF-8 change nothing."""
    path = b"/tree/" + name
    plain = command_for(editor, [Place(b"/tree/x", line, column)])
    odd = command_for(editor, [Place(path, line, column)])
    assert len(odd.argv) == len(plain.argv)
    assert [word.replace(path, b"/tree/x") for word in odd.argv] == list(plain.argv)
    assert not any(word.startswith((b"-", b"+")) and path in word for word in odd.argv)


@given(name=NAMES)
def test_a_template_is_filled_after_it_was_split(name: bytes) -> None:
    command = command_for("ed --file={path}", [Place(b"/t/" + name)])
    assert command.argv == (b"ed", b"--file=/t/" + name)


@pytest.mark.parametrize("words", ["ed {line}", "ed {path} {path}", "ed 'unclosed", "   "])
def test_words_that_cannot_work_are_refused_in_a_sentence(words: str) -> None:
    with pytest.raises(MgrepError) as caught:
        command_for(words, [PLACE])
    assert caught.value.message.endswith(".")


def test_several_files_open_together_where_the_editor_can() -> None:
    places = [Place(b"/t/a", 1, 2), Place(b"/t/b", 3, 4)]
    assert command_for("vim", places).argv == (b"vim", b"+1", b"+normal! 01lzv", b"-p", b"--", b"/t/a", b"/t/b")
    assert command_for("code", places).argv == (b"code", b"-r", b"-g", b"/t/a:1:2", b"-g", b"/t/b:3:4")
    assert os.fsencode("/t/a") in command_for("nano", places).argv
