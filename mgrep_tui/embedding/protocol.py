"""What every model is to the rest: text in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """A model. Vectors of different `model_id` never mix: it is part of every key under which a vector is kept."""

    @property
    def model_id(self) -> str:
        """Names model, version and weights; changes whenever a vector could."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of chunks (made by `embedding.text.embedding_text`): float32, shape (len(texts), dimension), L2 norm 1, never NaN."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question: float32, shape (dimension,), L2 norm 1, never NaN."""
        ...
