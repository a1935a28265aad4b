"""A file becomes chunks along its syntax. Pure, and run in child processes only."""

from mgrep_tui.chunking.chunker import FileChunks, chunk_file
from mgrep_tui.chunking.source import text_of

__all__ = ["FileChunks", "chunk_file", "text_of"]
