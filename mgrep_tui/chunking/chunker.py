"""One file becomes chunks: which way is taken, and what happens where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.chunking import markdown
from mgrep_tui.chunking.grammar import ParseRefused
from mgrep_tui.chunking.pieces import Piece, to_chunks
from mgrep_tui.chunking.source import Source, read_source
from mgrep_tui.chunking.syntax import chunk_syntax, read_rules
from mgrep_tui.chunking.windows import windows
from mgrep_tui.model import Chunk, Symbol
from mgrep_tui.settings.config import ChunkingSettings


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
    try:
        reason = _refusal(data, source, settings)
        if reason:
            raise ParseRefused(reason)
        if language == "markdown":
            grammar = "markdown"
            pieces, symbols = markdown.sections(source, settings)
        elif settings.strategy == "syntax" and (rules := read_rules(language, queries)) is not None:
            grammar = rules.grammar
            pieces, symbols = chunk_syntax(source, rules, settings)
    except ParseRefused as refusal:
        grammar, fallback = "", str(refusal)
    if not pieces:
        pieces = windows(source, 0, len(source.lines) - 1, settings)
    return FileChunks(tuple(to_chunks(source, language, pieces)), tuple(symbols), grammar, fallback)


def _refusal(data: bytes, source: Source, settings: ChunkingSettings) -> str:
    """Why the file is not worth a parse; "" when it is."""
    if len(data) > settings.max_file_bytes:
        return "too big"
    if len(source.lines) < 50 * len(data) // 50_000 and len(data) > 5_000:
        return "minified"
    return ""
