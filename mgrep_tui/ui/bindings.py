"""The key map as Textual's bindings. All of them lead to one action, `perform`, with the command's id."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from mgrep_tui.ui.keymap import COMMANDS, PANE_SUFFIX, Command, textual_key


def _keys(name: str, keys: Sequence[str]) -> str:
    # A command without a key still needs a binding, for the configuration to give it one: under a key that no terminal sends.
    return ",".join(textual_key(key) for key in keys) or f"unbound-{name}"


SCREEN_BINDINGS: list[BindingType] = [
    Binding(
        _keys(command.id, command.keys), f"screen.perform('{command.id}')", command.title, show=False, id=command.id
    )
    for command in COMMANDS
]
PANE_BINDINGS: list[BindingType] = [
    Binding(
        _keys(command.id, command.pane_keys),
        f"screen.perform('{command.id}')",
        command.title,
        show=False,
        id=command.id + PANE_SUFFIX,
    )
    for command in COMMANDS
]


def textual_keymap(commands: Sequence[Command]) -> dict[str, str]:
    """What `App.set_keymap` needs for the commands whose keys differ from our own."""
    changed: dict[str, str] = {}
    for ours, theirs in zip(COMMANDS, commands, strict=True):
        if ours.keys != theirs.keys:
            changed[ours.id] = _keys(ours.id, theirs.keys)
        if ours.pane_keys != theirs.pane_keys:
            changed[ours.id + PANE_SUFFIX] = _keys(ours.id, theirs.pane_keys)
    return changed
