"""What a connection to an engine does, embedded or on a server: statements with parameters in, columns out.

Everything that crosses is Arrow, so that texts stay bytes and numbers stay arrays. Any thread may use a connection, several at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mgrep_tui.clickhouse.values import Parameters
from mgrep_tui.jobs.cancel import CancelToken

if TYPE_CHECKING:
    import pyarrow as pa

ARROW = "ArrowStream"
ARROW_SETTINGS: dict[str, int | float] = {
    "output_format_arrow_string_as_string": 0,
    "output_format_arrow_low_cardinality_as_dictionary": 0,
    "output_format_arrow_fixed_string_as_fixed_byte_array": 1,
}
POLL_S = 0.02
"""How often a waiting search looks whether it is still wanted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may cost; sent along with it as settings. `threads` is 0 for the engine's own choice.

    With `rescores` what the graph of vectors finds is ordered by the vectors themselves, not by the 8-bit numbers of the graph.
    """

    time_s: float = 10.0
    memory_bytes: int = 2_000_000_000
    threads: int = 0
    rescores: bool = False

    def settings(self) -> dict[str, int | float]:
        found: dict[str, int | float] = {
            "max_execution_time": self.time_s,
            "max_memory_usage": self.memory_bytes,
        }
        if self.threads:
            found["max_threads"] = self.threads
        if self.rescores:
            found["vector_search_with_rescoring"] = 1
        return found


SEARCH = Limits()
WORK = Limits(time_s=3600.0, memory_bytes=8_000_000_000)
"""For publishing, retention and migration: nobody waits for a key."""


class Connection(Protocol):
    """An open engine. `database` and `cluster` are names that may stand in a statement."""

    @property
    def database(self) -> str: ...

    @property
    def cluster(self) -> str:
        """Empty on one machine."""
        ...

    def batches(
        self,
        sql: str,
        parameters: Parameters | None = None,
        *,
        limits: Limits = SEARCH,
        cancel: CancelToken | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The answer, as it comes. Closing the iterator, or the token, stops the statement at the engine.

        Raises `EngineError` (`EngineLimitError` at a limit) and `Cancelled`.
        """
        ...

    def run(self, sql: str, parameters: Parameters | None = None, *, limits: Limits = WORK) -> None:
        """A statement without an answer. Raises `EngineError`."""
        ...

    def insert(self, table: str, rows: pa.Table) -> None:
        """Append rows to a table of ours; all are there, or an `EngineError` is raised."""
        ...

    def close(self) -> None: ...


def rows(batches: Iterator[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    """All rows as Python values: texts as bytes. For answers that are short."""
    found: list[tuple[Any, ...]] = []
    for batch in batches:
        found.extend(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return found
