"""Every command of the screen: its id, keys, words. Bindings, footer, help, palette and the README's table are made from here.

`keys` work wherever the focus is, so they are never plain letters; `pane_keys` work when the list or the preview has the focus. Ctrl and
function keys come first: terminals on macOS and some others do not send Alt, and where they do Alt+F and Alt+B mean a step by a word.
Never the only way: Ctrl+Enter, Ctrl+I (Tab), Ctrl+M (Enter), Ctrl+H (Backspace), Ctrl+J, Ctrl+S. F10 and F11 belong to the terminal.

The configuration rebinds by id: `open = "f4"` for `keys`, `"open.pane" = "o"` for `pane_keys`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

PANE_SUFFIX = ".pane"


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a person can do. `help` is one sentence; `hint` the word in the footer, if it may stand there."""

    id: str
    title: str
    help: str
    group: str
    keys: tuple[str, ...] = ()
    pane_keys: tuple[str, ...] = ()
    hint: str = ""


MOVE, OPEN, QUERY, REFINE, COPY, VIEW, INDEX, PROGRAM = (
    "Move",
    "Open and choose",
    "Query",
    "Refine",
    "Copy and export",
    "View",
    "Index",
    "Program",
)
GROUPS = (MOVE, OPEN, QUERY, REFINE, COPY, VIEW, INDEX, PROGRAM)


def _command(
    id: str,  # noqa: A002  # the name that the configuration uses
    title: str,
    help: str,  # noqa: A002
    group: str,
    keys: str = "",
    pane_keys: str = "",
    hint: str = "",
) -> Command:
    return Command(id, title, help, group, tuple(keys.split()), tuple(pane_keys.split()), hint)


COMMANDS: tuple[Command, ...] = (
    _command("next", "Next hit", "Move the cursor to the next hit.", MOVE, "down ctrl+n", "j"),
    _command("previous", "Previous hit", "Move the cursor to the hit before.", MOVE, "up ctrl+p", "k"),
    _command("page-down", "Page down", "Move the cursor a page of hits down.", MOVE, "pagedown", "ctrl+f"),
    _command("page-up", "Page up", "Move the cursor a page of hits up.", MOVE, "pageup", "ctrl+b"),
    _command("first", "First hit", "Move the cursor to the first hit.", MOVE, "ctrl+home", "g home"),
    _command("last", "Last hit", "Move the cursor to the last hit.", MOVE, "ctrl+end", "G end"),
    _command("next-file", "Next file", "Move the cursor to the next file's first hit.", MOVE, "alt+down", "l right ]"),
    _command("previous-file", "Previous file", "Move the cursor to the file before.", MOVE, "alt+up", "h left ["),
    _command("scroll-down", "Scroll preview down", "Scroll the preview a line down.", MOVE, "shift+down", "J"),
    _command("scroll-up", "Scroll preview up", "Scroll the preview a line up.", MOVE, "shift+up", "K"),
    _command(
        "half-down", "Half a page of preview down", "Scroll the preview half a page down.", MOVE, "shift+pagedown", "d"
    ),
    _command("half-up", "Half a page of preview up", "Scroll the preview half a page up.", MOVE, "shift+pageup", "u"),
    _command("scroll-left", "Scroll preview left", "Scroll the preview to the left.", MOVE, "shift+left", "shift+left"),
    _command(
        "scroll-right", "Scroll preview right", "Scroll the preview to the right.", MOVE, "shift+right", "shift+right"
    ),
    _command("next-symbol", "Next symbol", "Show the next function or class of the file.", MOVE, "alt+pagedown", "}"),
    _command("previous-symbol", "Previous symbol", "Show the function or class before.", MOVE, "alt+pageup", "{"),
    _command(
        "open", "Open in the editor", "Open the hit in your editor, at its line and column.", OPEN, "enter", "e", "open"
    ),
    _command(
        "open-marked", "Open all marked hits", "Open every marked hit in the editor at once.", OPEN, "alt+enter", "E"
    ),
    _command(
        "mark",
        "Mark and move on",
        "Mark the hit, or take its mark away, and go to the next.",
        OPEN,
        "tab",
        "space",
        "mark",
    ),
    _command(
        "mark-back",
        "Mark and move back",
        "Mark the hit, or take its mark away, and go to the one before.",
        OPEN,
        "shift+tab",
    ),
    _command("mark-file", "Mark all hits of the file", "Mark every hit of this file, or unmark them.", OPEN, "", "M"),
    _command("unmark", "Take all marks away", "Forget every mark.", OPEN, "", "0"),
    _command(
        "print",
        "Print and leave",
        "Leave, and print path:line:column of what is marked, or of this.",
        OPEN,
        "ctrl+o",
        "p",
    ),
    _command(
        "mode",
        "Meaning or regular expression",
        "Switch between search by meaning and by regular expression.",
        QUERY,
        "f2 ctrl+r",
        "m",
        "mode",
    ),
    _command(
        "filters",
        "Filters",
        "Open the filter row: case, whole words, plain text, hidden files, order, and filters by language, path, symbol.",
        QUERY,
        "f3",
        "",
        "filters",
    ),
    _command(
        "case", "Case", "Case: smart (counts when there is a capital), counts, does not count.", QUERY, "alt+c", "c"
    ),
    _command("word", "Whole words", "Match whole words only, or parts of words too.", QUERY, "alt+w", "w"),
    _command(
        "literal", "Plain text", "Read the pattern as plain text, or as a regular expression.", QUERY, "alt+l", "f"
    ),
    _command(
        "hidden", "Hidden files", "Also search files whose name starts with a dot, in regex mode.", QUERY, "alt+h", "."
    ),
    _command("ignored", "Ignored files", "Also search what git ignores, in regex mode.", QUERY, "alt+n", "I"),
    _command("sort", "Order", "Order hits by rank, or by path.", QUERY, "alt+o", "o"),
    _command("wordier", "More words", "Weigh words more and meaning less.", QUERY, "f4 alt+left", "-"),
    _command("meaningful", "More meaning", "Weigh meaning more and words less.", QUERY, "shift+f4 alt+right", "+ ="),
    _command("again", "Search again", "Run the query again, now.", QUERY, "f5", "r"),
    _command("older", "Older query", "Bring the query before this one back.", QUERY, "ctrl+up"),
    _command("newer", "Newer query", "Go to the query after this one.", QUERY, "ctrl+down"),
    _command("history", "Find in history", "List former queries, and search in them.", QUERY, "f12 alt+r", "H"),
    _command(
        "refine",
        "Refine",
        "Show what can be done from this hit: narrow, exclude, look for more like it.",
        REFINE,
        "ctrl+g",
        "",
        "refine",
    ),
    _command("in-folder", "Only this folder", "Narrow the query to the folder of the hit.", REFINE, "alt+/ alt+f", "/"),
    _command("not-folder", "Not this folder", "Leave the folder of the hit out.", REFINE, "alt+x alt+\\", "\\"),
    _command("in-language", "Only this language", "Narrow the query to the language of the hit.", REFINE, "alt+g", "%"),
    _command(
        "in-repository",
        "Only this repository",
        "Narrow the query to the root of the hit, where several are open.",
        REFINE,
        "alt+p",
        "#",
    ),
    _command("in-symbol", "Only this symbol", "Narrow the query to the symbol around the hit.", REFINE, "alt+s", "@"),
    _command(
        "tests", "Without tests, only tests, all", "Leave tests out; once more: only tests.", REFINE, "alt+t", "t"
    ),
    _command("search-word", "Search this word", "Search for the word that is lit in the hit.", REFINE, "alt+k", "*"),
    _command("alike", "More like this", "Search by meaning for chunks like this one.", REFINE, "alt+m", "~"),
    _command(
        "undo",
        "Undo the refinement",
        "Go back to the query before the last refinement.",
        REFINE,
        "ctrl+b alt+u",
        "U backspace",
    ),
    _command(
        "variant", "Take the suggestion", "With no hits: take the first query that is offered.", REFINE, "alt+v", "n"
    ),
    _command("copy", "Copy path:line", "Copy path:line of the marked hits, or of this one.", COPY, "ctrl+y", "y"),
    _command("copy-line", "Copy the line", "Copy the text of the hit's line.", COPY, "", "Y"),
    _command("copy-path", "Copy the path", "Copy the file's whole path.", COPY),
    _command("copy-symbol", "Copy the symbol", "Copy the name of the symbol around the hit.", COPY),
    _command(
        "copy-link", "Copy a permalink", "Copy the address of these lines at the remote, by commit.", COPY, "", "L"
    ),
    _command(
        "copy-snippet", "Copy the snippet", "Copy the hit's lines under their path and line numbers.", COPY, "", "S"
    ),
    _command(
        "export", "Export", "Copy or write the marked hits, or all, as quickfix, JSON or Markdown.", COPY, "alt+e", "x"
    ),
    _command("focus", "Next pane", "Move the focus to the next pane: query, list, preview.", VIEW, "f6"),
    _command(
        "preview",
        "Preview on or off",
        "Show or hide the preview; on a small screen it takes all of it.",
        VIEW,
        "f7 ctrl+t",
        "v",
    ),
    _command("wrap", "Wrap long lines", "Wrap long lines in the preview, or cut them.", VIEW, "ctrl+l", "z"),
    _command("outline", "Outline", "List the symbols of this file, and go to one.", VIEW, "ctrl+s alt+i", "O"),
    _command("why", "Why this hit", "Show what this hit owes its place to.", VIEW, "alt+y", "W"),
    _command("wider", "Wider list", "Give the list more room, beside or above the preview.", VIEW, "alt+.", ">"),
    _command("narrower", "Narrower list", "Give the preview more room.", VIEW, "alt+,", "<"),
    _command("theme", "Theme", "Choose the colours.", VIEW),
    _command(
        "health",
        "Index health",
        "Show what is indexed, what is not, and what is being done.",
        INDEX,
        "f8",
        "i",
        "index",
    ),
    _command("skipped", "Files not searched", "List the files that are not searched, and why.", INDEX),
    _command("pause", "Pause or go on indexing", "Pause the work on the index, or go on with it.", INDEX),
    _command("rebuild", "Build the index anew", "Build the whole index anew in the background.", INDEX),
    _command("log", "Open the log", "Open the log file in the editor.", INDEX),
    _command(
        "palette", "All commands", "List every command with its key, and run one.", PROGRAM, "f9", ":", "commands"
    ),
    _command("help", "Help", "Show all keys.", PROGRAM, "f1", "?", "help"),
    _command(
        "back", "Step back", "Close what is open; then to the query; then clear it; then quit.", PROGRAM, "escape"
    ),
    _command("suspend", "To the shell", "Put the program aside; `fg` brings it back.", PROGRAM, "ctrl+z"),
    _command("quit", "Quit", "Leave.", PROGRAM, "ctrl+c ctrl+q", "q"),
)

_SHOWN = {
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "escape": "Esc",
    "space": "Space",
    "enter": "Enter",
    "backspace": "Bksp",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}
_NAMED = {"]": "right_square_bracket", "[": "left_square_bracket", "/": "slash", "\\": "backslash", "%": "percent_sign",
          "@": "at", "*": "asterisk", "~": "tilde", "+": "plus", "=": "equals_sign", "-": "minus", ">": "greater_than_sign",
          "<": "less_than_sign", ":": "colon", "?": "question_mark", "#": "number_sign", ".": "full_stop", ",": "comma",
          "{": "left_curly_bracket", "}": "right_curly_bracket"}  # fmt: skip


def shown_key(key: str) -> str:
    """A key as a person reads it: `Ctrl+R`, `F2`, `Shift+↓`, `/`."""
    *modifiers, last = key.rsplit("+", 1) if len(key) > 1 else (key,)
    last = last or "+"
    if last in _SHOWN:
        name = _SHOWN[last]
    elif modifiers or (len(last) > 1 and last[0] == "f" and last[1:].isdigit()):
        name = last.upper()
    else:
        name = last
    words = [word.capitalize() for part in modifiers for word in part.split("+")]
    return "+".join([*words, name])


def textual_key(key: str) -> str:
    """A key as Textual names it: punctuation by its name, since a comma separates keys there."""
    head, plus, last = key.rpartition("+")
    if not head or not last:
        return _NAMED.get(key, key)
    return f"{head}{plus}{_NAMED.get(last, last)}"


def by_id(commands: Sequence[Command] = COMMANDS) -> dict[str, Command]:
    return {command.id: command for command in commands}


def rebound(
    keys: Mapping[str, str], commands: Sequence[Command] = COMMANDS
) -> tuple[tuple[Command, ...], tuple[str, ...]]:
    """The commands with the keys of the configuration (id → keys separated by spaces or commas), and a sentence for each thing wrong.

    A key that is given to a command is taken from the one that had it. An id that does not exist is reported and left out, and so is a
    plain letter for use everywhere, which could not be typed any more.
    """
    complaints: list[str] = []
    wanted = {
        name: tuple(text.replace(",", " ").split()) or ((text.strip(),) if text.strip() else ())
        for name, text in keys.items()
    }
    known = {command.id for command in commands}
    for name, new_keys in list(wanted.items()):
        plain = name.removesuffix(PANE_SUFFIX)
        if plain not in known:
            complaints.append(f"ui.keys: there is no command '{name}'.")
            del wanted[name]
        elif plain == name and any(len(key) == 1 for key in new_keys):
            complaints.append(
                f"ui.keys: '{name}' needs Ctrl, Alt or a function key; use '{name}{PANE_SUFFIX}' for letters."
            )
            del wanted[name]
    taken = {key for name, new_keys in wanted.items() if not name.endswith(PANE_SUFFIX) for key in new_keys}
    taken_in_panes = {key for name, new_keys in wanted.items() if name.endswith(PANE_SUFFIX) for key in new_keys}
    result = [
        replace(
            command,
            keys=wanted.get(command.id, tuple(key for key in command.keys if key not in taken)),
            pane_keys=wanted.get(
                command.id + PANE_SUFFIX, tuple(key for key in command.pane_keys if key not in taken_in_panes)
            ),
        )
        for command in commands
    ]
    return tuple(result), tuple(complaints)


def readme_table(commands: Sequence[Command] = COMMANDS) -> str:
    """The key table of the README, in Markdown."""
    lines = ["| what | anywhere | in the list or preview |", "|---|---|---|"]
    for group in GROUPS:
        lines.append(f"| **{group}** | | |")
        lines.extend(
            f"| {command.title} | {_cells(command.keys)} | {_cells(command.pane_keys)} |"
            for command in commands
            if command.group == group
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the README's table: `python -m mgrep_tui.ui.keymap`."""
    print(readme_table(), end="")


def _cells(keys: Sequence[str]) -> str:
    return " ".join(f"`{shown_key(key)}`" for key in keys).replace("|", "\\|")


if __name__ == "__main__":
    main()
