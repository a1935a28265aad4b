"""The keys of a YAML file with their lines, by indentation: no parser, so templates and half-written files keep their keys."""

from __future__ import annotations

import re

from mgrep_tui.chunking.entries import MAX_ENTRY_DEPTH, Entry

_KEY = re.compile(
    r"""(?:"([^"]*)"|'([^']*)'|([^\s#&*!|>'"%@`{\[,:-][^:#]*?|[^\s#&*!|>'"%@`{\[,:][^:#\s][^:#]*?))\s*:(?:\s+(.*))?$"""
)
_BLOCK_SCALAR = re.compile(r"(?:.*\s)?[|>][+-]?\d*[+-]?\s*(?:#.*)?$")

# The value of one of these, first in a list's item, names the item.
_LABELS = frozenset({"name", "id", "key", "title"})
_MAX_NAME_CHARS = 120


def yaml_entries(lines: list[str]) -> list[Entry]:
    """The outermost entries of all documents, in order."""
    roots: list[Entry] = []
    stack: list[tuple[int, Entry]] = []
    skip_beyond = -1
    last_content = 0
    for row, line in enumerate(lines):
        text = line.lstrip(" ")
        if not text or text[0] == "#" or text.isspace():
            continue
        indent = len(line) - len(text)
        if skip_beyond >= 0:
            if indent > skip_beyond:
                last_content = row
                continue
            skip_beyond = -1
        if indent == 0 and line.startswith(("---", "...")):
            _close(stack, -1, last_content)
            last_content = row
            continue
        while text.startswith("- ") or text.rstrip() == "-":
            _close(stack, indent - 1, last_content, is_item=True)
            siblings = stack[-1][1].children if stack else roots
            text_after = text[1:].lstrip(" ")
            if len(stack) <= MAX_ENTRY_DEPTH:
                entry = Entry(_label(text_after) or f"[{len(siblings)}]", "object", row, row)
                siblings.append(entry)
                stack.append((indent, entry))
            indent += len(text) - len(text_after)
            text = text_after
        key = _KEY.match(text.rstrip())
        if key:
            _close(stack, indent - 1, last_content)
            name = (key.group(1) or key.group(2) or key.group(3) or "").strip()
            siblings = stack[-1][1].children if stack else roots
            if len(stack) <= MAX_ENTRY_DEPTH and name:
                entry = Entry(name[:_MAX_NAME_CHARS], "constant" if key.group(4) else "object", row, row)
                siblings.append(entry)
                stack.append((indent, entry))
            if key.group(4) and _BLOCK_SCALAR.match(key.group(4)):
                skip_beyond = indent
        elif _BLOCK_SCALAR.match(text):
            skip_beyond = max(indent - 1, 0)
        last_content = row
    _close(stack, -1, last_content)
    return roots


def _close(stack: list[tuple[int, Entry]], indent: int, last: int, *, is_item: bool = False) -> None:
    """End the entries that are indented by more than `indent`. A list may stand at its key's own indentation."""
    while stack and stack[-1][0] > indent:
        if (
            is_item
            and stack[-1][0] == indent + 1
            and stack[-1][1].kind == "object"
            and not _is_item(stack[-1][1], stack)
        ):
            break
        entry = stack.pop()[1]
        entry.last = max(entry.first, last)


def _is_item(entry: Entry, stack: list[tuple[int, Entry]]) -> bool:
    """Whether the innermost entry is an item of a list that stands at the same indentation as its key."""
    return len(stack) > 1 and stack[-2][0] == stack[-1][0] and stack[-2][1].children[-1] is entry


def _label(text: str) -> str:
    key = _KEY.match(text.rstrip())
    if key and (key.group(3) or "") in _LABELS and key.group(4):
        return key.group(4).strip("\"' ")[:_MAX_NAME_CHARS]
    return ""
