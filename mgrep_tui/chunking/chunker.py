"""One file becomes chunks: which way is taken, and what happens where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mgrep_tui.chunking.dockerfile import chunk_dockerfile
from mgrep_tui.chunking.embedded import PAGES, chunk_page
from mgrep_tui.chunking.entries import lay_entries
from mgrep_tui.chunking.grammar import ParseRefused
from mgrep_tui.chunking.json_entries import json_entries
from mgrep_tui.chunking.markdown import chunk_markdown
from mgrep_tui.chunking.nesting import is_too_deep
from mgrep_tui.chunking.notebook import chunk_notebook
from mgrep_tui.chunking.pieces import Piece, to_chunks
from mgrep_tui.chunking.rst import chunk_rst
from mgrep_tui.chunking.source import Source, read_source
from mgrep_tui.chunking.sql import chunk_sql
from mgrep_tui.chunking.syntax import chunk_syntax, read_rules
from mgrep_tui.chunking.toml_entries import toml_entries
from mgrep_tui.chunking.windows import windows
from mgrep_tui.chunking.yaml_entries import yaml_entries
from mgrep_tui.model import Chunk, Symbol
from mgrep_tui.settings.config import ChunkingSettings
from mgrep_tui.text.origin import is_minified

# Prose may have a paragraph on a line, a notebook an image, data all on one.
_LONG_LINED = frozenset({"markdown", "rst", "notebook", "json"})

_BRACKETED = frozenset({"json", "yaml", "toml"})


@dataclass(frozen=True, slots=True)
class FileChunks:
    """What a file became. `grammar` is the name of the parser used, "" when it was cut by lines; `fallback` says in a short phrase why a
    parser that the language has was not used."""

    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...]
    grammar: str
    fallback: str


def chunk_file(
    path: bytes, data: bytes, language: str, settings: ChunkingSettings, queries: Path | None = None
) -> FileChunks:
    """Cut a file into chunks and list its definitions.

    `data` is the file's searchable bytes, `queries` a folder of the user's query files. The same arguments give the same answer, except
    that a parse which overruns `settings.parse_timeout_s` is cut by lines. Some inputs crash a grammar: call this in a child process.
    """
    if not data:
        return FileChunks((), (), "", "")
    source = read_source(data)
    grammar, fallback = "", ""
    pieces: list[Piece] = []
    symbols: list[Symbol] = []
    if settings.strategy == "syntax":
        try:
            name = "ocaml_interface" if language == "ocaml" and path.lower().endswith(b".mli") else language
            grammar, pieces, symbols = _parsed(data, source, name, settings, queries)
        except ParseRefused as refusal:
            grammar, fallback = "", str(refusal)
    if not pieces:
        pieces = windows(source, 0, len(source.lines) - 1, settings)
    return FileChunks(
        tuple(to_chunks(source, language, pieces)),
        tuple([_trimmed(source, symbol) for symbol in symbols]),
        grammar,
        fallback,
    )


def _trimmed(source: Source, symbol: Symbol) -> Symbol:
    """The symbol without blank lines at its end."""
    last = min(symbol.last_line, len(source.lines) - 1)
    if not source.is_blank(last) and last == symbol.last_line:
        return symbol
    return replace(symbol, last_line=max(symbol.first_line, source.trimmed(symbol.first_line, last)[1]))


_Scanner = Callable[[Source, ChunkingSettings], tuple[list[Piece], list[Symbol]]]

# Languages with a scanner of their own.
_SCANNERS: dict[str, _Scanner] = {
    "markdown": chunk_markdown,
    "rst": chunk_rst,
    "sql": chunk_sql,
    "dockerfile": chunk_dockerfile,
    "json": lambda source, settings: lay_entries(source, json_entries(source.lines), settings),
    "yaml": lambda source, settings: lay_entries(source, yaml_entries(source.lines), settings),
    "toml": lambda source, settings: lay_entries(source, toml_entries(source.lines), settings),
}
_ALIASES = {"jsonc": "json", "json5": "json", "ini": "toml", "cfg": "toml", "terraform": "hcl", "makefile": "make"}


def _parsed(
    data: bytes, source: Source, language: str, settings: ChunkingSettings, queries: Path | None
) -> tuple[str, list[Piece], list[Symbol]]:
    """The name of the parser used, pieces and symbols; nothing where the language has no parser. Raises `ParseRefused`."""
    name = _ALIASES.get(language, language)
    rules = read_rules(name, queries)
    if rules is None and name not in _SCANNERS and name != "notebook":
        return "", [], []
    if len(data) > settings.max_file_bytes:
        raise ParseRefused("too big")
    if name not in _LONG_LINED and is_minified(data):
        raise ParseRefused("minified")
    if rules is None:
        if name in _BRACKETED and is_too_deep(source.buffer):
            raise ParseRefused("nested too deep")
        if name == "notebook":
            return name, *chunk_notebook(source, settings, queries)
        return name, *_SCANNERS[name](source, settings)
    if name in PAGES:
        return rules.grammar, *chunk_page(source, rules, settings, queries)
    return rules.grammar, *chunk_syntax(source, rules, settings)
