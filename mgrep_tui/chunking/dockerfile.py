"""A Dockerfile by stage: each `FROM` opens one, named by its alias or its image."""

from __future__ import annotations

import re

from mgrep_tui.chunking.entries import Entry, lay_entries
from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)


def chunk_dockerfile(source: Source, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """Pieces and symbols of a Dockerfile."""
    stages: list[Entry] = []
    for row, line in enumerate(source.lines):
        match = _FROM.match(line)
        if match:
            stages.append(Entry(match.group(2) or match.group(1), "section", row, row))
        elif stages and not source.is_blank(row) and not line.lstrip().startswith("#"):
            stages[-1].last = row
    return lay_entries(source, stages, settings)
