"""Ten everyday tasks and the keys that they take, here and in other programs. The README's table is made of it; our side is tested.

Counted from the moment when a query of words is typed and its hits are shown. A key or a chord counts one, and so does each letter that is
typed to narrow; the words of the query itself are the same everywhere and count nothing. None: it cannot be done without leaving.
"""

from __future__ import annotations

from dataclasses import dataclass

# fzf with ripgrep as its own documentation starts them (Ctrl+F narrows among the hits, Ctrl+R goes back to ripgrep), television with its
# channel `text`, ck with `--tui`, ugrep with `-Q`.
OTHERS = ("fzf + rg", "television", "ck", "ugrep -Q")


@dataclass(frozen=True)
class Task:
    """`keys` are ours, as Textual names them; `others` the counts of `OTHERS`."""

    name: str
    keys: tuple[str, ...]
    others: tuple[int | None, int | None, int | None, int | None]


TASKS = (
    Task("the definition of the name that was typed, on top", (), (5, 4, 0, 5)),  # `def ` before it
    Task("only tests", ("alt+t", "alt+t"), (5, 5, None, 7)),  # Ctrl+F test; ␣test; Alt+G *test*
    Task("without tests", ("alt+t",), (6, 6, None, 8)),  # !test; Alt+G !*test*
    Task("without the folder of this hit (`vendor/`)", ("alt+x",), (9, 9, None, 9)),  # !vendor/
    Task("only this language", ("alt+g",), (5, 5, None, 5)),  # .py: and *.py
    Task("back to before that", ("ctrl+b",), (1, 1, None, 1)),  # Ctrl+R; Ctrl+W; Ctrl+U
    Task("the word that is lit (8 letters), everywhere", ("alt+k",), (9, 9, 9, 9)),  # clear, type
    Task("the same words as a regular expression", ("f2",), (None, None, 1, None)),
    Task("whole words only", ("alt+w",), (6, None, 6, 1)),  # \b at both ends
    Task("open the third hit at its line, and come back", ("down", "down", "enter"), (3, 3, 3, 4)),
)


def keystroke_table() -> str:
    """Markdown; the least of each row in bold."""
    lines = [f"| | mgrep-tui | {' | '.join(OTHERS)} |", "|---|---|" + "---|" * len(OTHERS)]
    for task in TASKS:
        counts = [len(task.keys), *task.others]
        least = min(count for count in counts if count is not None)
        cells = ["–" if count is None else f"**{count}**" if count == least else str(count) for count in counts]
        lines.append(f"| {task.name} | {' | '.join(cells)} |")
    return "\n".join(lines)
