"""The instant tier's model: a weighted sum of word-piece vectors, in numpy alone.

The weights (`weights/static.npz`, made by `embedding.training`, described in `weights/MODEL_CARD.md`) hold

    vocabulary  uint8 (…)       the pieces in UTF-8, joined by newlines
    vectors     int8 (n, d)     a row for each piece, then for each of `pieces.BUCKETS` buckets
    scales      float32 (2, n)  what a row is to be multiplied with in a question (0) and in a document (1)

and `weights/static.sha256` the checksum of that file. The vector of a text is the sum over its different pieces of
(1 + ln count) · scale · row, divided by its norm.
"""

from __future__ import annotations

import hashlib
import io
import math
import threading
import weakref
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mgrep_tui.embedding.pieces import Pieces
from mgrep_tui.embedding.protocol import Vectors
from mgrep_tui.errors import ModelError

WEIGHTS = Path(__file__).parent / "weights"
_QUESTION, _DOCUMENT = 0, 1
_LOGS = np.array([0.0, *(1.0 + math.log(count) for count in range(1, 256))], dtype=np.float32)
_REINSTALL = "Install the program again; until then search by words and by regular expression works."


class StaticModel:
    """An `Embedder`; safe from any thread."""

    def __init__(self, pieces: Pieces, vectors: npt.NDArray[np.int8], scales: Vectors, model_id: str) -> None:
        self._pieces = pieces
        self._vectors = vectors
        self._scales = scales
        self._model_id = model_id

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimension(self) -> int:
        return int(self._vectors.shape[1])

    @property
    def rows(self) -> int:
        """Word pieces and buckets."""
        return len(self._pieces)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. A text without a word gets a fixed vector of its own. About 0.1 ms a chunk."""
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._sum(text, _DOCUMENT)
        return _unit(found)

    def embed_query(self, text: str) -> Vectors:
        found: Vectors = _unit(self._sum(text, _QUESTION)[np.newaxis])[0]
        return found

    def _sum(self, text: str, side: int) -> Vectors:
        counts = self._pieces.count(text)
        if not counts:
            row: Vectors = self._vectors[-1].astype(np.float32)
            return row
        numbers = np.fromiter(counts.keys(), dtype=np.int32, count=len(counts))
        times = np.fromiter(counts.values(), dtype=np.int32, count=len(counts))
        weights = _LOGS[np.minimum(times, len(_LOGS) - 1)] * self._scales[side, numbers]
        summed: Vectors = weights @ self._vectors[numbers].astype(np.float32)
        return summed


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(norms, np.float32(1e-12))
    return unit


_shared: weakref.WeakValueDictionary[str, StaticModel] = weakref.WeakValueDictionary()
_loading = threading.Lock()


def shared_static() -> StaticModel:
    """The weights that came with the program, once for all roots that are open. Raises `ModelError` as `load_static`."""
    with _loading:
        model = _shared.get("")
        if model is None:
            model = _shared[""] = load_static()
        return model


def load_static(folder: Path = WEIGHTS) -> StaticModel:
    """Load the weights that came with the program; some 50 ms. Raises `ModelError` when they are missing or not those of the checksum."""
    try:
        expected = (folder / "static.sha256").read_text(encoding="ascii").split()[0]
        content = (folder / "static.npz").read_bytes()
    except (OSError, ValueError, IndexError) as error:
        raise ModelError(f"The static model's weights cannot be read: {error}.", _REINSTALL) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ModelError(
            f"The static model's weights are damaged (sha256 {found[:12]}…, expected {expected[:12]}…).", _REINSTALL
        )
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            vocabulary = stored["vocabulary"].tobytes().decode("utf-8").split("\n")
            vectors, scales = stored["vectors"], stored["scales"]
        pieces = Pieces(vocabulary)
        if vectors.dtype != np.int8 or vectors.shape[0] != len(pieces) or scales.shape != (2, len(pieces)):
            raise ValueError(f"shapes {vectors.shape} and {scales.shape} do not fit {len(pieces)} pieces")
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"The static model's weights are not in the form that this version reads: {error}.", _REINSTALL
        ) from error
    return StaticModel(pieces, vectors, scales.astype(np.float32), f"static-{vectors.shape[1]}-{found[:12]}")
