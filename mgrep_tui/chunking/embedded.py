"""Pages (HTML, Vue, Svelte): their scripts and styles are read with the grammar of what is in them, on the page's own lines."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from mgrep_tui.chunking.definitions import Definition, Outline, find_definitions, walk
from mgrep_tui.chunking.grammar import ParseRefused, parse
from mgrep_tui.chunking.layout import lay_out
from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.rules import Rules, rules_for
from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

PAGES = frozenset({"html", "vue", "svelte"})

_TAG = re.compile(rb"<(?:script|style)\b([^>]*)>", re.IGNORECASE)
_KIND = re.compile(rb"""\b(lang|type)\s*=\s*["']?([\w/+.-]+)""", re.IGNORECASE)
_SCRIPTS = {
    "ts": "typescript",
    "typescript": "typescript",
    "tsx": "tsx",
    "jsx": "jsx",
    "js": "javascript",
    "module": "javascript",
    "text/javascript": "javascript",
    "application/javascript": "javascript",
    "text/babel": "jsx",
    "text/typescript": "typescript",
}
_STYLES = {"css": "css", "text/css": "css", "scss": "scss", "postcss": "css"}


def chunk_page(
    source: Source, rules: Rules, settings: ChunkingSettings, queries: Path | None
) -> tuple[list[Piece], list[Symbol]]:
    """Pieces and symbols of a page. Raises `ParseRefused` when the page itself has no usable tree."""
    tree = parse(source.buffer, rules, settings.parse_timeout_s)
    outline = find_definitions(tree, source.buffer, rules)
    for item in list(walk(outline.roots)):
        if item.kind != "section" or item.name not in ("script", "style"):
            continue
        inner_rules = _inner_rules(item, source.buffer, queries)
        if inner_rules is None:
            continue
        inner = _read_inside(item, source.buffer, inner_rules, settings)
        if inner is not None:
            item.children = inner.roots
            outline.imports.extend(inner.imports)
            if item.name == "script":
                rules = replace(
                    rules,
                    comments=("<!--", *inner_rules.comments),
                    block=inner_rules.block,
                    attributes=inner_rules.attributes,
                )
    outline.imports.sort()
    return lay_out(source, tree, rules, outline, settings), outline.symbols()


def _inner_rules(item: Definition, buffer: bytes, queries: Path | None) -> Rules | None:
    """The rules for what is inside a script or style; None when it is data or a template."""
    tag = _TAG.match(buffer, item.start_byte)
    if tag is None:
        return None
    kinds = {name.lower(): value.lower().decode() for name, value in _KIND.findall(tag.group(1))}
    kind = kinds.get(b"lang") or kinds.get(b"type")
    if item.name == "script":
        language = _SCRIPTS.get(kind or "js")
    else:
        language = _STYLES.get(kind or "css")
    return rules_for(language, queries) if language else None


def _read_inside(item: Definition, buffer: bytes, rules: Rules, settings: ChunkingSettings) -> Outline | None:
    """The definitions inside, with rows of the page. All before the content is left out but for the ends of its lines."""
    tag = _TAG.match(buffer, item.start_byte)
    start = tag.end() if tag else item.start_byte
    end = buffer.rfind(b"</", start, item.end_byte)
    content = buffer[start : end if end >= 0 else item.end_byte]
    if not content.strip():
        return None
    row = buffer.count(b"\n", 0, start)
    inner = b"\n" * row + content
    try:
        return find_definitions(parse(inner, rules, settings.parse_timeout_s), inner, rules)
    except ParseRefused:
        return None
