"""The definitions of a file as a tree, from the matches of its language's query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from tree_sitter import Node, QueryCursor, Tree

from mgrep_tui.chunking.grammar import given_names, load
from mgrep_tui.chunking.rules import Rules
from mgrep_tui.model import Symbol

# Small definitions: symbols always, units of their own only from this many lines on.
MINOR_KINDS = frozenset({"constant", "macro", "property"})
UNIT_LINES = 4

# Kinds whose functions are methods.
CLASS_KINDS = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
_METHOD_HOLDERS = CLASS_KINDS | {"constant", "property"}
FUNCTION_KINDS = frozenset({"function", "method"})

_ROLES = frozenset({"name", "container", "body"})
_MAX_NAME_CHARS = 120
_MAX_SIGNATURE_CHARS = 300
_SPACE = re.compile(r"\s+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")


@dataclass(slots=True)
class Definition:
    """A named range of lines, first_row..last_row inclusive. `container` is the dotted path of what encloses it."""

    kind: str
    name: str
    hint: str
    first_row: int
    last_row: int
    start_byte: int
    end_byte: int
    body_byte: int
    is_named_by_us: bool = False
    container: str = ""
    children: list[Definition] = field(default_factory=list)

    @property
    def is_minor(self) -> bool:
        return self.kind in MINOR_KINDS and self.last_row - self.first_row + 1 < UNIT_LINES

    @property
    def path(self) -> str:
        """Container and name."""
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True, slots=True)
class Outline:
    """All definitions of a file: the outermost ones in order, the rows of its imports, and of what leads a definition (by the last row)."""

    roots: list[Definition]
    imports: list[tuple[int, int]]
    leads: dict[int, int]

    def symbols(self) -> list[Symbol]:
        """Every definition, in the order of the file."""
        return [
            Symbol(item.name, item.kind, item.container, item.first_row, item.last_row) for item in walk(self.roots)
        ]


def walk(roots: list[Definition]) -> Iterator[Definition]:
    """Every definition below and including `roots`, outer before inner, in order; without recursion."""
    stack = list(reversed(roots))
    while stack:
        item = stack.pop()
        yield item
        stack.extend(reversed(item.children))


@dataclass(slots=True)
class Matches:
    """What a query found in a tree, in no order yet. `items` carry what they are sorted by."""

    items: list[tuple[int, int, int, int, Definition]] = field(default_factory=list)
    imports: list[tuple[int, int]] = field(default_factory=list)
    leads: dict[int, int] = field(default_factory=dict)


def find_definitions(tree: Tree, buffer: bytes, rules: Rules) -> Outline:
    """Run the language's query over the tree."""
    return outline_of(find_matches(tree, buffer, rules), rules)


def find_matches(tree: Tree, buffer: bytes, rules: Rules) -> Matches:
    """What the language's query finds in the tree."""
    _, query = load(rules)
    given = given_names(rules)
    found = Matches()
    items, leads = found.items, found.leads
    for pattern, captures in QueryCursor(query).matches(tree.root_node):
        for kind in captures:
            if kind not in _ROLES and kind[0] != "_":
                break
        else:
            continue
        nodes = captures[kind]
        if kind == "import":
            found.imports += [_rows(node) for node in nodes]
            continue
        if kind == "lead":
            for node in nodes:
                low, high = _rows(node)
                leads[high] = min(low, leads.get(high, low))
            continue
        item = _definition(kind, nodes[0], captures, given[pattern], buffer, rules)
        if item is not None:
            # Names given by us come last: of one node they hold only where no pattern found a real one.
            names = captures.get("name")
            items.append(
                (item.start_byte, -item.end_byte, names[0].start_byte if names else item.end_byte, pattern, item)
            )
    return found


def outline_of(found: Matches, rules: Rules) -> Outline:
    """The definitions as a tree, with their containers."""
    found.items.sort(key=itemgetter(0, 1, 2, 3))
    roots = _open_packages(_nest([row[4] for row in found.items]))
    if rules.has_clauses:
        roots = _join_clauses(roots)
    if rules.is_flat:
        roots = _flattened(roots)
    _settle(roots)
    found.imports.sort()
    return Outline(roots, found.imports, found.leads)


def _rows(node: Node) -> tuple[int, int]:
    end = node.end_point
    first = node.start_point.row
    return first, max(first, end.row - 1 if end.column == 0 else end.row)


def _definition(
    kind: str, node: Node, captures: dict[str, list[Node]], given_name: str | None, buffer: bytes, rules: Rules
) -> Definition | None:
    first, last = _rows(node)
    start, end = node.start_byte, node.end_byte
    if kind == "wrap":
        return Definition(kind, "", "", first, last, start, end, end)
    name = given_name or ".".join([_text(item, buffer) for item in captures.get("name", ())]).strip("\"'`")
    if not name:
        return None
    hint = ".".join([_text(item, buffer) for item in captures.get("container", ())])
    if rules.separators:
        if kind in CLASS_KINDS or hint or "<" in name:
            name, hint = _plain(name), _plain(hint)
        for separator in rules.separators:
            if separator in name.strip(separator):
                before, _, name = name.rpartition(separator)
                if kind != "impl":
                    hint = f"{hint}.{before}" if hint else before
            hint = hint.replace(separator, ".")
    if not name or "\n" in name:
        return None
    body_byte = end
    if "body" in captures:
        body = captures["body"][0]
        body_byte = body.start_byte
        if body.end_byte > end:  # a body that stands beside its signature
            end, last = body.end_byte, _rows(body)[1]
    else:
        found = None
        for field_name in rules.bodies:
            found = node.child_by_field_name(field_name)
            if found is not None:
                break
        if found is None and rules.bodies != ("body",) and node.child_count:
            child = node.child(node.child_count - 1)
            found = child if child is not None and child.type in rules.bodies else None
        if found is not None:
            body_byte = found.start_byte
    return Definition(kind, name[:_MAX_NAME_CHARS], hint, first, last, start, end, body_byte, given_name is not None)


def _text(node: Node, buffer: bytes) -> str:
    start = node.start_byte
    text = buffer[start : min(node.end_byte, start + 400)].decode("utf-8", "replace")
    return text if text.isidentifier() else _SPACE.sub(" ", text)


def _plain(name: str) -> str:
    """A type's name without its arguments, references and mutability."""
    while "<" in name and (shorter := _TYPE_ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name.replace("&", "").replace("*", "").removeprefix("mut ").strip()


def _nest(items: list[Definition]) -> list[Definition]:
    """Definitions sorted by start (outer first) as a tree. What sits in a `wrap` takes over the wrap's lines."""
    root = Definition("", "", "", 0, 0, 0, 1 << 62, 0)
    stack = [root]
    last: Definition | None = None
    for item in items:
        if last is not None and item.start_byte == last.start_byte and item.end_byte == last.end_byte:
            if item.name == last.name or item.kind == "wrap" or item.is_named_by_us:
                continue  # an earlier pattern of the file has it
            if last.kind != "wrap":
                stack[-2].children.append(item)  # two names in one statement: siblings
                continue
        while item.end_byte > stack[-1].end_byte or item.start_byte >= stack[-1].end_byte:
            _close(stack.pop(), stack[-1])
        holder = stack[-1]
        if item.name and item.name == holder.name and holder.end_byte - item.end_byte <= 2 and not item.is_named_by_us:
            continue  # `const f = function f() {}`: one function
        holder.children.append(item)
        stack.append(item)
        last = item
    while len(stack) > 1:
        closing = stack.pop()
        _close(closing, stack[-1])
    return root.children


def _close(item: Definition, parent: Definition) -> None:
    """Take a finished wrap out of the tree."""
    if item.kind != "wrap":
        return
    position = len(parent.children) - 1
    while parent.children[position] is not item:
        position -= 1
    inner = item.children
    if inner:
        inner[0].first_row = item.first_row
        inner[0].start_byte = item.start_byte
        inner[-1].last_row = max(item.last_row, inner[-1].last_row)
    parent.children[position : position + 1] = inner


def _open_packages(roots: list[Definition]) -> list[Definition]:
    """A package statement holds what follows it, up to the next one."""
    if all(item.kind != "package" for item in roots):
        return roots
    kept: list[Definition] = []
    package: Definition | None = None
    for item in roots:
        if item.kind == "package":
            package = item
            item.kind = "module"
            item.body_byte = item.end_byte
            kept.append(item)
        elif package is None:
            kept.append(item)
        else:
            package.children.append(item)
            package.last_row, package.end_byte = item.last_row, item.end_byte
    return kept


def _join_clauses(roots: list[Definition]) -> list[Definition]:
    """Make one definition of neighbours with one name, at every level."""
    pending = [roots]
    while pending:
        siblings = pending.pop()
        kept: list[Definition] = []
        for item in siblings:
            before = kept[-1] if kept else None
            if (
                before is not None
                and before.name == item.name
                and before.kind == item.kind
                and before.hint == item.hint
            ):
                before.last_row, before.end_byte = item.last_row, item.end_byte
                before.children += item.children
            else:
                kept.append(item)
        siblings[:] = kept
        pending += [item.children for item in kept if item.children]
    return roots


def _flattened(roots: list[Definition]) -> list[Definition]:
    """All definitions side by side; one that held others ends where the first of them begins."""
    every = list(walk(roots))
    for item in every:
        if item.children:
            item.last_row = max(item.first_row, item.children[0].first_row - 1)
            item.children = []
    return every


def _settle(roots: list[Definition]) -> None:
    """Give every definition its container and its final kind, and drop small ones inside functions."""
    pending: list[tuple[list[Definition], str, str]] = [(roots, "", "")]
    while pending:
        siblings, container, kind = pending.pop()
        if kind in FUNCTION_KINDS:
            siblings[:] = [item for item in siblings if item.kind not in MINOR_KINDS]
        for item in siblings:
            item.container = f"{container}.{item.hint}" if container and item.hint else container or item.hint
            if item.kind == "function" and (kind in _METHOD_HOLDERS or item.hint):
                item.kind = "method"
            elif item.kind == "property" and kind not in CLASS_KINDS:
                item.kind = "constant"
            if item.children:
                pending.append((item.children, item.path, item.kind))


def signature(item: Definition, buffer: bytes) -> str:
    """The first lines of a definition up to its body, on one line, cut where it is very long."""
    text = buffer[item.start_byte : min(item.body_byte, item.start_byte + 4 * _MAX_SIGNATURE_CHARS)].decode(
        "utf-8", "ignore"
    )
    if item.body_byte >= item.end_byte:
        text = text.split("\n", 1)[0]
    return _SPACE.sub(" ", text).strip().rstrip("{").rstrip()[:_MAX_SIGNATURE_CHARS]
