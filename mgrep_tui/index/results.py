"""What the index gives to a search: the answer of a check of the disk, and the view for a search by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgrep_tui.embedding.protocol import Embedder
    from mgrep_tui.index.catalog import Catalog
    from mgrep_tui.retrieval.keywords import KeywordIndex
    from mgrep_tui.retrieval.vectors import VectorStore


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How the disk differs from a snapshot, looked at after the check began.

    `changed` are files that are new or look different (sorted): what the snapshot's segments say of them does not count, they are to be
    read. `deleted` are gone or no longer searched. `is_complete` is False when the snapshot is too old to be compared: search again with
    a new one.
    """

    changed: tuple[bytes, ...] = ()
    deleted: frozenset[bytes] = frozenset()
    is_complete: bool = True
    files: int = 0
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class SemanticView:
    """What a search by meaning searches. The parts may be used from any thread and grow while they are used.

    `coverage` is the share of the catalog's chunks that have vectors, 0 to 1. `keywords_ready` says that every chunk can be found by words.
    `catalog` is None while there is none to read; `notice` then says why in one sentence, and may be empty.
    """

    catalog: Catalog | None = None
    vectors: VectorStore | None = None
    keywords: KeywordIndex | None = None
    model: Embedder | None = None
    coverage: float = 0.0
    keywords_ready: bool = False
    notice: str = ""
