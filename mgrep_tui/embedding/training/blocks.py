"""Which links stand together in a batch, so that a question's wrong answers are hard to tell from the right one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mgrep_tui.embedding.training.bags import Ints

BLOCK = 256  # pairs of one package in a batch


def near_blocks(
    rows: Ints, documents: Ints, vectors: npt.NDArray[np.float16], random: np.random.Generator
) -> list[Ints]:
    """Links in blocks of near codes: halved between two codes taken at random, and the halves again."""
    if len(rows) < 2 * BLOCK:
        return [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
    one, other = vectors[documents[random.choice(rows, 2, replace=False)]].astype(np.float32)
    order = rows[np.argsort(vectors[documents[rows]].astype(np.float32) @ (one - other), kind="stable")]
    half = len(order) // BLOCK // 2 * BLOCK
    return [block for part in (order[:half], order[half:]) for block in near_blocks(part, documents, vectors, random)]
