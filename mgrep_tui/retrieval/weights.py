"""What each signal is worth: a table learned on one part of a benchmark and checked on the rest (`tests/benchmarks/train_ranking.py`).

Three kinds of questions (`Question.kind`) times two tiers (without and with the deep model) make six columns of `weights.json`. They are
the weights of a linear model under a softmax over a question's files or chunks, so their unit is the logit: one more means e times
more likely.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from mgrep_tui.retrieval.signals import SIGNALS

WORD_SIGNALS = frozenset({"words", "body words", "name words", "file words", "file names", "best rank", "agreement"})
MEANING_SIGNALS = frozenset({"meaning", "file meaning", "file centre", "deep", "file deep", "agreement"})


@cache
def _tables() -> dict[str, dict[str, float]]:
    text = resources.files("mgrep_tui.retrieval").joinpath("weights.json").read_text("utf-8")
    tables: dict[str, dict[str, float]] = json.loads(text)["weights"]
    return tables


@cache
def table(kind: str, has_deep: bool) -> npt.NDArray[np.float32]:
    """The weights for a kind of question in the order of `SIGNALS`; a signal that the table does not name weighs nothing."""
    column = _tables()[f"{kind}, {'deep' if has_deep else 'instant'}"]
    weights = np.array([column.get(name, 0.0) for name in SIGNALS], np.float32)
    weights.flags.writeable = False
    return weights


def mixed(weights: npt.NDArray[np.float32], ratio: float) -> npt.NDArray[np.float32]:
    """The weights when `ratio` (0 to 1) of the say is meaning's: at .5 as learned; at 0 vectors are silent, at 1 words are."""
    words = min(1.0, 2.0 * (1.0 - ratio))
    meaning = min(1.0, 2.0 * ratio)
    factors = [
        (words if name in WORD_SIGNALS else 1.0) * (meaning if name in MEANING_SIGNALS else 1.0) for name in SIGNALS
    ]
    result: npt.NDArray[np.float32] = weights * np.array(factors, np.float32)
    return result
