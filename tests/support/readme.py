"""The tables of the README, made from the code. `python -m tests.support.readme` writes them in; a test compares."""

from __future__ import annotations

from pathlib import Path

from mgrep_tui.settings.config import Key, all_keys
from mgrep_tui.ui.keymap import readme_table
from tests.support.keystrokes import keystroke_table

README = Path(__file__).resolve().parents[2] / "README.md"


def configuration_table() -> str:
    rows = ["| key | default | what it does |", "|---|---|---|"]
    for key in all_keys():
        own = " *(own file only)*" if key.is_private else ""
        choices = f" One of {', '.join(key.choices)}." if key.choices else ""
        rows.append(f"| `{key.section}.{key.name}` | `{written(key)}` | {key.help}{choices}{own} |")
    return "\n".join(rows)


def written(key: Key) -> str:
    """A default as TOML has it."""
    if isinstance(key.default, bool):
        return str(key.default).lower()
    if isinstance(key.default, str):
        return f'"{key.default}"'
    if isinstance(key.default, tuple):
        return "[" + ", ".join(f'"{item}"' for item in key.default) + "]"
    return "{}" if isinstance(key.default, dict) else str(key.default)


def filled(text: str) -> str:
    """The README's text with its tables made anew."""
    text = between(text, "keys", readme_table())
    text = between(text, "keystrokes", keystroke_table())
    return between(text, "configuration", configuration_table())


def between(text: str, name: str, content: str) -> str:
    start = text.index("\n", text.index(f"<!-- {name}: ")) + 1
    end = text.index(f"<!-- /{name} -->")
    return text[:start] + "\n" + content.strip() + "\n\n" + text[end:]


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
