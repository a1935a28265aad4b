"""Makes one model of several runs, and writes the static model's weights in the form that `embedding.static` reads."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mgrep_tui.embedding.pieces import BUCKETS


def write_weights(
    folder: Path,
    vocabulary: Sequence[str],
    vectors: npt.NDArray[np.float32],
    scales: npt.NDArray[np.float32],
    seed: int,
) -> str:
    """Quantise to int8 by row and write `static.npz` and its checksum; returns the checksum.

    `vectors` has a row for each piece and `scales` shape (2, pieces): importance in a question and in a document. The buckets' rows are
    random, as long as a piece of median length that weighs as a rare one.
    """
    random = np.random.default_rng(seed)
    buckets = random.normal(size=(BUCKETS, vectors.shape[1]))
    buckets *= np.median(np.linalg.norm(vectors, axis=1)) / np.linalg.norm(buckets, axis=1, keepdims=True)
    rows = np.concatenate([vectors, buckets.astype(np.float32)])
    importance = np.concatenate(
        [scales, np.repeat(np.quantile(scales, 0.75, axis=1, keepdims=True), BUCKETS, axis=1)], axis=1
    )
    step = np.maximum(np.abs(rows).max(axis=1), 1e-9) / 127
    quantised = np.rint(rows / step[:, None]).astype(np.int8)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        vocabulary=np.frombuffer("\n".join(vocabulary).encode(), dtype=np.uint8),
        vectors=quantised,
        scales=(importance * step).astype(np.float32),
    )
    content = buffer.getvalue()
    checksum = hashlib.sha256(content).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "static.npz").write_bytes(content)
    (folder / "static.sha256").write_text(f"{checksum}  static.npz\n", encoding="ascii")
    return checksum


def mean_of(
    learnt: Sequence[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """One model of several with the same vocabulary and the same first vectors: (vectors, scales) each, as `write_weights` takes them.

    What is averaged is a piece's part in a document's vector, each model's brought to the same mean length, and by how much more a piece
    weighs in a question (the geometric mean).
    """
    parts = [vectors * scales[1][:, None] for vectors, scales in learnt]
    together = np.mean([part / np.linalg.norm(part, axis=1).mean() for part in parts], axis=0)
    lengths = np.linalg.norm(together, axis=1)
    ratio = np.exp(np.mean([np.log(scales[0] / scales[1]) for _, scales in learnt], axis=0))
    unit: npt.NDArray[np.float32] = (together / np.maximum(lengths, 1e-12)[:, None]).astype(np.float32)
    return unit, np.stack([lengths * ratio, lengths]).astype(np.float32)
