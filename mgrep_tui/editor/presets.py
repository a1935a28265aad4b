"""How each editor is told to open files at a line and column. Pure: an editor's words and places in, arguments out.

A file name never becomes an option: every path handed over is absolute, so it starts with a slash, and what is not known of an editor is
not guessed: it gets the bare path.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mgrep_tui.errors import MgrepError


@dataclass(frozen=True, slots=True)
class Place:
    """Where to open: an absolute path as the disk has it; `line` and `column` are 1-based, columns in characters."""

    path: bytes
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class EditorCommand:
    """What to start. `is_terminal` editors take over the screen until they end; the others come back at once, or are not waited for."""

    argv: tuple[bytes, ...]
    is_terminal: bool
    name: str


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

Arguments = Callable[[Sequence[Place]], list[bytes]]


def _bytes(text: str) -> bytes:
    return os.fsencode(text)


def _vim(places: Sequence[Place]) -> list[bytes]:
    # `l` goes by characters, where `cursor()` counts bytes. Several files: one tab each, the cursor placed in the first.
    first = places[0]
    column = b"%dl" % (first.column - 1) if first.column > 1 else b""
    several = [b"-p"] if len(places) > 1 else []
    return [b"+%d" % first.line, b"+normal! 0%szv" % column, *several, b"--", *(place.path for place in places)]


def _plus(form: bytes) -> Arguments:
    """`+L:C file` and its relatives, repeated for each file."""

    def build(places: Sequence[Place]) -> list[bytes]:
        found: list[bytes] = []
        for place in places:
            found += [_fill(form, place), place.path]
        return found

    return build


def _line_of_first(places: Sequence[Place]) -> list[bytes]:
    """`+L file file`: the line in the first file only."""
    return [b"+%d" % places[0].line, *(place.path for place in places)]


def _suffix(*before: bytes) -> Arguments:
    """`file:L:C`, each after the words in `before`."""

    def build(places: Sequence[Place]) -> list[bytes]:
        found: list[bytes] = []
        for place in places:
            found += [*before, b"%s:%d:%d" % (place.path, place.line, place.column)]
        return found

    return build


def _code(places: Sequence[Place]) -> list[bytes]:
    return [b"-r", *_suffix(b"-g")(places)]


def _jetbrains(places: Sequence[Place]) -> list[bytes]:
    first = places[0]
    return [b"--line", b"%d" % first.line, b"--column", b"%d" % first.column, first.path]


def _bat(places: Sequence[Place]) -> list[bytes]:
    first = places[0]
    return [
        b"--paging=always",
        b"--highlight-line",
        b"%d" % first.line,
        b"--pager",
        b"less +%dg -R" % first.line,
        b"--",
        first.path,
    ]


def _bare(places: Sequence[Place]) -> list[bytes]:
    return [place.path for place in places]


def _fill(form: bytes, place: Place) -> bytes:
    return form.replace(b"{line}", b"%d" % place.line).replace(b"{column}", b"%d" % place.column)


# Name of the program without extension → how it takes places, whether it lives in the terminal.
EDITORS: Mapping[str, tuple[Arguments, bool]] = {
    **dict.fromkeys(("vim", "nvim", "mvim", "lvim", "vimx"), (_vim, True)),
    **dict.fromkeys(("gvim", "neovide"), (_vim, False)),
    "view": (_vim, True),
    # Where it is not vim, one `+` and no more is what each of them takes.
    **dict.fromkeys(("vi", "nvr"), (_line_of_first, True)),
    "emacs": (_plus(b"+{line}:{column}"), False),
    "emacsclient": (_plus(b"+{line}:{column}"), False),
    "nano": (_plus(b"+{line},{column}"), True),
    "micro": (_plus(b"+{line}:{column}"), True),
    "kak": (_plus(b"+{line}:{column}"), True),
    "hx": (_suffix(), True),
    "helix": (_suffix(), True),
    "less": (_plus(b"+{line}g"), True),
    "bat": (_bat, True),
    **dict.fromkeys(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"), (_code, False)),
    **dict.fromkeys(("zed", "zeditor", "subl", "sublime_text"), (_suffix(), False)),
    **dict.fromkeys(
        (
            "idea",
            "pycharm",
            "goland",
            "webstorm",
            "clion",
            "rubymine",
            "phpstorm",
            "rider",
            "rustrover",
            "charm",
            "studio",
        ),
        (_jetbrains, False),
    ),
    "mate": (_plus(b"--line={line}:{column}"), False),
    "xed": (_plus(b"--line={line}"), False),
    "gedit": (_plus(b"+{line}:{column}"), False),
    "kate": (_plus(b"--line={line}"), False),
    "notepad++": (_plus(b"-n{line}"), False),
}


def choose(configured: str, environ: Mapping[str, str]) -> str:
    """The editor's words: the configuration's, `$VISUAL`, `$EDITOR`, then `vi`."""
    for found in (configured, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        if found.strip():
            return found
    return "vi"


def command_for(
    words: str, places: Sequence[Place], really: Callable[[str], str] = lambda program: program
) -> EditorCommand:
    """The command that opens `places` (at least one) with the editor whose words are given; no shell is involved.

    `really` says which program a name stands for: `vi` and `editor` are links to others. Raises `MgrepError` when the words cannot be
    split or a template lacks its path.
    """
    if not places:
        raise ValueError("no place to open")
    try:
        parts = shlex.split(words)
    except ValueError as error:
        raise MgrepError(f"The editor command cannot be read: {words!r} ({error}).", "Check its quotes.") from error
    if parts and _ASSIGNMENT.match(parts[0]):
        parts.insert(0, "env")
    program = _program(parts)
    if not program:
        raise MgrepError("No editor is named.", "Set $EDITOR or `editor.command`.")
    name = program_name(program)
    if name not in EDITORS or name == "vi":
        linked = program_name(really(program))
        name = linked if linked in EDITORS else name
    if any("{path}" in part or "{line}" in part or "{column}" in part for part in parts):
        return _from_template(parts, name, places)
    build, is_terminal = EDITORS.get(name, (_bare, True))
    options = parts[1:]
    if build is _vim and any(option.startswith("--remote") for option in options):
        build = _line_of_first  # what follows that option is one command and then files
    if name in ("emacs", "emacsclient"):
        is_terminal = any(option in ("-nw", "-t", "--tty", "--no-window-system") for option in options)
    if name not in EDITORS and ("--wait" in options or "-w" in options):
        # The user asked to wait for a window; the screen stays, but the editor's words keep their meaning.
        is_terminal = False
    return EditorCommand((*map(_bytes, parts), *build(places)), is_terminal, name)


def _program(parts: Sequence[str]) -> str:
    """The program among the words: behind `env` and its assignments."""
    rest = list(parts)
    if rest and program_name(rest[0]) == "env":
        del rest[0]
        while rest and _ASSIGNMENT.match(rest[0]):
            del rest[0]
    return rest[0] if rest else ""


def program_name(program: str) -> str:
    """`/usr/bin/nvim.exe` → `nvim`, `vim.basic` → `vim`; `vim.tiny` knows what a `vi` knows."""
    base = re.split(r"[/\\]", program)[-1].lower()
    base = re.sub(r"\.(exe|cmd|bat|sh|basic|nox|gtk3?|huge)$", "", base)
    return "vi" if base == "vim.tiny" else base


def _from_template(parts: Sequence[str], name: str, places: Sequence[Place]) -> EditorCommand:
    if sum(part.count("{path}") for part in parts) != 1:
        raise MgrepError(
            "The editor template needs {path} exactly once.", "For example: myed --at {line}:{column} {path}"
        )
    place = places[0]
    argv = tuple(_fill(_bytes(part), place).replace(b"{path}", place.path) for part in parts)
    is_terminal = EDITORS.get(name, (_bare, True))[1]
    return EditorCommand(argv, is_terminal, name)
