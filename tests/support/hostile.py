"""A project whose every text tries to steer the terminal, its harmless twin, and what a terminal's input may consist of."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from tests.support.git_trees import Tree

ESCAPES = (
    "\x1b]0;PWNED\x07", "\x1b]52;c;UFdORUQ=\x07", "\x1b]8;;http://x.invalid\x1b\\", "\x1b[2J", "\x1b[31m", "\x1b[?1049l", "\x1b[6n",
    "\x1bP$qm\x1b\\", "\x1b_G\x1b\\", "\x1b^x\x1b\\", "\x1bX\x1b\\", "\x1bc", "\x1b", "\x9b31m", "\x9d0;PWNED\x9c", "\x90q\x9c",
)  # fmt: skip
CONTROLS = "".join(chr(code) for code in (*range(1, 9), *range(11, 32), *range(0x7F, 0xA0)))
INVISIBLE = "\u202e\u2066\u200e\u061c\u200b\u200d\u2060\ufeff\u2028\u2029\u00ad\u3164\ufe0f\U000e0041"
MARKUP = (
    "[/b]",
    "[/",
    "[@click=app.quit]x[/]",
    "[link=http://x.invalid]y[/link]",
    "[type=x, v={'a[0]'}]",
    "[red]",
    "\\[",
    "[[",
    "$x",
)
BROKEN = (b"\xff\xfe\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"caf\xe9", b"\x9b31m\x9d0;PWNED\x9c", b"\xc2")
# Whole sequences that a terminal obeys, in one text without a line end.
ALL = "".join(ESCAPES) + CONTROLS + INVISIBLE + "".join(MARKUP)

# One piece of output: an escape sequence of any family, or one control.
_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X].*?(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x00-\x1f\x7f-\x9f]", re.DOTALL
)
# What no text on a screen may hold: invisible, reordering, or half of a character.
_UNSAFE = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2028\u2029\u2060-\u206f\ufeff\u00ad\u061c\u3164\U000e0000-\U000e0fff]"
)


def sequences(output: bytes) -> set[str]:
    """The kinds of control in what was written to a terminal: numbers are left out, so that places and colours do not count."""
    text = output.decode("utf-8")  # strict: half a character would be a fault too
    return {re.sub(r"[\d;:]+", "N", found) for found in _SEQUENCE.findall(text)}


def plain(output: bytes) -> str:
    return _SEQUENCE.sub("", output.decode("utf-8"))


def assert_ours(output: bytes, allowed: set[str]) -> None:
    """Nothing is in the stream but text that can be seen and controls of the kinds that the program makes itself."""
    foreign = sequences(output) - allowed
    assert not foreign, f"foreign controls: {sorted(foreign)!r}"
    unsafe = _UNSAFE.search(plain(output))
    assert unsafe is None, f"{unsafe.group()!r} in {plain(output)[max(0, unsafe.start() - 40) : unsafe.end() + 20]!r}"


def write_project(folder: Path, *, is_hostile: bool) -> Tree:
    """A git work tree with the same files either way; the hostile one has every escape in contents, names, headings and branch."""

    def nasty(text: str) -> str:
        return text if is_hostile else "x"

    def raw(data: bytes) -> bytes:
        return data if is_hostile else b"x"

    name = "root" + nasty("\x1b]0;PWNED\x07\x9b31m[b]\u202e")
    tree = Tree(folder / name).init()
    tree.write("all.txt", f"needle {nasty(ALL)} needle\n")
    tree.write("a_nul.txt", b"needle " + raw(b"\0\x1b]0;PWNED\x07") + b" needle\n")
    for number, broken in enumerate(BROKEN):
        tree.write(b"n%d" % number + raw(broken.replace(b"/", b"")) + b".py", b"needle = '" + raw(broken) + b"'\n")
    for number, escape in enumerate(ESCAPES):
        tree.write(
            f"e{number}{nasty(escape.replace('/', ''))}.py", f"def needle_{number}():\n    '''{nasty(escape)}'''\n"
        )
    for number, markup in enumerate(MARKUP):
        tree.write(f"m{number}{nasty(markup.replace('/', ''))}/needle.js", f"needle({nasty(markup)})\n")
    tree.write(f"i{nasty(CONTROLS[:40])}/{nasty(INVISIBLE)}y.txt", f"needle{nasty(INVISIBLE)}\n")
    tree.write("doc.md", f"# needle {nasty(ALL)}\n\ntext\n\n## second {nasty(ESCAPES[0])}\n\nmore\n")
    tree.write("keys.json", json.dumps({f"needle{nasty(ALL)}": 1, "other": [f"{nasty(ESCAPES[1])}"]}, indent=1) + "\n")
    tree.write(f"skipped{nasty(ESCAPES[0])}.bin", bytes(range(256)))
    tree.write(
        ".mgrep-tui.toml",
        f"[ui]\ntheme = {_toml('t' + nasty(ALL))}\n[ui.keys]\n{_toml('k' + nasty(ESCAPES[0]))} = 'x'\n"
        f"[corpus]\n{_toml('k' + nasty(ESCAPES[0]))} = 1\nmax_file_bytes = {_toml(nasty(ESCAPES[0]))}\n",
    )
    tree.commit()
    branch = b"b" + raw("\x9b31m\u202e\u200b".encode() + b"\xff")
    tree.git("checkout", "-q", "-b", branch)
    return tree


def _toml(text: str) -> str:
    """A basic string that is plain ASCII in the file and `text` once it is read."""
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def write_home(folder: Path, *, is_hostile: bool) -> dict[str, str]:
    """A history of queries and the environment of a run; the editor's name is hostile too."""
    state = folder / "state"
    state.mkdir(parents=True)
    text = ALL if is_hostile else "x"
    past = [f"needle {text}", f"{text} needle", f"path:{text} needle \ud800"]
    (state / "history.jsonl").write_text("".join(json.dumps({"text": each, "mode": "regex"}) + "\n" for each in past))
    return {
        "MGREP_TUI_HOME": os.fspath(folder),
        "EDITOR": "/no/such/" + (ESCAPES[0] + MARKUP[0] if is_hostile else "x"),
        "VISUAL": "",
    }
