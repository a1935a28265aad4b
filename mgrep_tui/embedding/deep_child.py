"""The deep tier's child process, the only place where the program imports torch; started by `embedding.local`.

Its first request is {"place": …, "max_pieces": …, "threads": …}; then see `frames`. It ends when its standard input does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from mgrep_tui.embedding.frames import read_frame, write_frame
from mgrep_tui.embedding.transformer import BUNDLED_PACKAGE, has_sound_weights

_NICENESS = 5  # before our own indexing, behind the screen
_BATCH = 16  # beats 32 and 64 on two cores; the library sorts by length
_PARENT_CHECK_S = 2.0


def main() -> int:
    """Serve until the input ends; 1 when the model could not be loaded."""
    requests, answers = sys.stdin.buffer, _own_output()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    _end_with_parent()
    first = read_frame(requests)
    if first is None:
        return 0
    try:
        model = _load(first[0]["place"], int(first[0]["max_pieces"]), int(first[0]["threads"]))
    except Exception as error:
        write_frame(answers, {"id": 0, "error": _sentence(error)})
        return 1
    write_frame(answers, {"id": 0, "dimension": int(model.get_sentence_embedding_dimension() or 0)})
    while (frame := read_frame(requests)) is not None:
        _answer(model, frame[0], answers)
    return 0


def _own_output() -> BinaryIO:
    """Our frames' stream; whatever a library prints goes to the standard error instead."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream


def _end_with_parent() -> None:
    """A batch in native code does not see that the input has ended: look whether we were adopted."""
    parent = os.getppid()

    def watch() -> None:
        never = threading.Event()
        while not never.wait(_PARENT_CHECK_S):
            if os.getppid() != parent:
                os._exit(1)

    if sys.platform != "win32":
        threading.Thread(target=watch, daemon=True).start()


def _load(place: str, max_pieces: int, threads: int) -> Any:
    # No model is ever fetched: a name must be in the local cache. Neither is any code of a model's folder run.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    # Threads that wait for one another sleep: spinning, they took most of the processor from those that had work on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if not place:
        folder = Path(str(importlib.import_module(BUNDLED_PACKAGE).get_model_path()))
        if not has_sound_weights(folder):
            raise ValueError(
                "The weights of all-MiniLM-L6-v2 are not those that the program knows (sha256 differs), so they are not loaded."
            )
        place = str(folder)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    try:
        model = SentenceTransformer(place, device="cpu", trust_remote_code=False)
    except OSError as error:
        if Path(place).is_dir():
            raise
        raise ValueError(
            f"The model {place} is not on this machine, and nothing is downloaded by itself."
            " Fetch it once, or set semantic.model to its folder."
        ) from error
    if not model.max_seq_length or model.max_seq_length > max_pieces:
        model.max_seq_length = max_pieces
    return model


def _answer(model: Any, request: dict[str, Any], answers: BinaryIO) -> None:
    number = request["id"]
    try:
        encode = model.encode_query if request["is_query"] else model.encode_document
        vectors = encode(request["texts"], batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
        vectors = vectors.astype("<f4")
        write_frame(answers, {"id": number, "rows": vectors.shape[0], "dimension": vectors.shape[1]}, vectors.tobytes())
    except OSError:
        raise
    except Exception as error:
        write_frame(answers, {"id": number, "error": _sentence(error)})


def _sentence(error: Exception) -> str:
    if isinstance(error, ValueError) and str(error).endswith("."):
        return str(error)  # ours
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def run() -> None:
    """The process's entry."""
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        sys.exit(main())
