"""What computes the deep tier's vectors: our own child process, or an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mgrep_tui.embedding.protocol import Vectors


class Backend(Protocol):
    """Called from the deep tier's worker thread alone, except for `stop` and the plain attributes."""

    @property
    def title(self) -> str:
        """The model's name for a person."""
        ...

    @property
    def model_id(self) -> str: ...

    @property
    def reason(self) -> str:
        """Why it cannot be used and what to do; empty when it can, as far as is known."""
        ...

    @property
    def batch(self) -> int:
        """How many texts are given to `encode` at most."""
        ...

    def start(self) -> None:
        """Get ready; blocks for seconds. Raises `ModelError`."""
        ...

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension). Raises `ModelError`; afterwards `start` is to be called again."""
        ...

    def stop(self) -> None:
        """Free what it holds; from any thread, at once, more than once."""
        ...
