"""A child that speaks the deep tier's frames without a transformer: a text's vector counts its letters; some texts make it misbehave.

Run as a script. Arguments: `refuse` (cannot load its model), `slow` (never gets ready).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

import numpy as np

from mgrep_tui.embedding.frames import read_frame, write_frame

DIMENSION = 26
CRASH, HANG, NOISE, NAN, ERROR = "crash!", "hang!", "noise!", "nan!", "error!"


def letters(texts: Sequence[str]) -> np.ndarray:
    counts = np.array(
        [[text.lower().count(chr(97 + place)) + 0.01 for place in range(DIMENSION)] for text in texts], dtype=np.float32
    )
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def main() -> None:
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    if read_frame(requests) is None:
        return
    print("a library says something", file=sys.stderr)
    if "refuse" in sys.argv:
        write_frame(answers, {"id": 0, "error": "The weights are not sound."})
        return
    if "slow" in sys.argv:
        threading.Event().wait()
    write_frame(answers, {"id": 0, "dimension": DIMENSION})
    while (frame := read_frame(requests)) is not None:
        head, texts = frame[0], frame[0]["texts"]
        if CRASH in texts:
            os._exit(3)
        if HANG in texts:
            threading.Event().wait()
        if NOISE in texts:
            answers.write(b"\xff" * 64)
            answers.flush()
            continue
        if ERROR in texts:
            write_frame(answers, {"id": head["id"], "error": "RuntimeError: out of memory"})
            continue
        vectors = letters(texts)
        if NAN in texts:
            vectors[0, 0] = np.nan
        write_frame(
            answers, {"id": head["id"], "rows": len(texts), "dimension": DIMENSION}, vectors.astype("<f4").tobytes()
        )


if __name__ == "__main__":
    main()
