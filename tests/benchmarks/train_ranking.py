#!/usr/bin/env python3
"""Learn the weights of `mgrep_tui/retrieval/weights.json`, and check them on repositories that were left out.

    train_ranking.py --trees DIR --questions DIR [--write]

A linear model under a softmax over each question's files (its best chunk stands for a file), pulled towards a prior (`PRIOR`): what
the rules are worth as published, so that a signal of which the training questions say nothing keeps a sensible weight. Sentences and
lone names are learned apart. The check leaves out a ninth of the repositories at a time. The deep tier's columns are the instant ones
with `DEEP` added and the static vectors' share lowered, chosen on 108 questions: its gain is too small to fit forty numbers to.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from ranking_cases import Case, best_of_files, by_repository, ndcg, read_cases
from scipy.optimize import minimize

from mgrep_tui.retrieval.signals import SIGNALS

PRIOR = {
    "words": 4.0, "meaning": 4.0, "file words": 2.0, "file meaning": 1.0, "file centre": 2.0, "definition": 6.0, "stem": 3.0,
    "folder": 1.0, "symbol": 2.0, "coverage": 1.0, "length": 2.0, "depth": -2.0, "test": -3.0, "example": -3.0,
    "bench": -2.0, "docs": -3.0, "old": -2.0, "old version": -2.0, "vendor": -2.0, "build": -1.0, "config": -1.0,
    "entry": -0.5, "types": -1.0, "foreign": -1.0, "other platform": -2.0,
}  # fmt: skip
PULL = {
    False: 0.5,
    True: 1.0,
}  # towards the prior, for sentences and for lone names; from .1 to 1 the left-out figure is the same
DEEP = {False: {"deep": 2.0}, True: {"deep": 0.5}}
STATIC_SHARE = 0.6  # of the static vectors' weight that stays beside the deep model, for sentences
FOLDS = 9
ROUNDS = 2  # of choosing each file's best chunk by the weights so far, and learning anew
ROOM = Path(__file__).resolve().parents[2] / "mgrep_tui" / "retrieval" / "weights.json"


def learn(cases: Sequence[Case], pull: float) -> np.ndarray:
    prior = np.array([PRIOR.get(name, 0.0) for name in SIGNALS])
    weights = prior.copy()
    usable = [case for case in cases if any(case.targets)]
    for _ in range(ROUNDS if usable else 0):
        rows = [case.matrix[best_of_files(case.matrix @ weights, case.file_of, len(case.files))] for case in usable]
        stacked = np.vstack(rows).astype(np.float64)
        lengths = np.array([len(some) for some in rows])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        wanted = np.concatenate([np.isin(np.arange(len(case.files)), sum(case.targets, ())) for case in usable]).astype(
            np.float64
        )

        def loss(
            values: np.ndarray,
            stacked: np.ndarray = stacked,
            starts: np.ndarray = starts,
            lengths: np.ndarray = lengths,
            wanted: np.ndarray = wanted,
        ) -> tuple[float, np.ndarray]:
            scores = stacked @ values
            powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
            every = np.add.reduceat(powers, starts)
            right = np.add.reduceat(powers * wanted, starts)
            slope = -(
                (powers * wanted / np.repeat(right + 1e-300, lengths) - powers / np.repeat(every, lengths)) @ stacked
            )
            off = values - prior
            value = float(-np.log(right / every + 1e-12).sum() + pull * (off @ off))
            return value / len(lengths), (slope + 2 * pull * off) / len(lengths)

        weights = minimize(loss, weights, jac=True, method="L-BFGS-B", options={"maxiter": 80}).x
    return weights


def learn_both(cases: Sequence[Case]) -> dict[bool, np.ndarray]:
    return {kind: learn([case for case in cases if case.is_symbol_like is kind], PULL[kind]) for kind in (False, True)}


def left_out(cases: Sequence[Case], seed: int = 0) -> list[float]:
    """The NDCG@10 of each case under weights that were learned without its repository."""
    names = sorted({case.repository for case in cases})
    np.random.default_rng(seed).shuffle(names)
    values = [0.0] * len(cases)
    for fold in range(FOLDS):
        out = set(names[fold::FOLDS])
        learned = learn_both([case for case in cases if case.repository not in out])
        for place, case in enumerate(cases):
            if case.repository in out:
                values[place] = ndcg(case, case.matrix @ learned[case.is_symbol_like])
    return values


def tables_of(learned: dict[bool, np.ndarray]) -> dict[str, dict[str, float]]:
    tables = {}
    for kind, name in ((False, "sentence"), (True, "symbol")):
        instant = {
            signal: round(float(weight), 3)
            for signal, weight in zip(SIGNALS, learned[kind], strict=True)
            if abs(weight) >= 0.02
        }
        deep = instant | DEEP[kind]
        if not kind:
            deep |= {
                signal: round(instant.get(signal, 0.0) * STATIC_SHARE, 3) for signal in ("meaning", "file meaning")
            }
        tables[f"{name}, instant"], tables[f"{name}, deep"] = instant, deep
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="replace weights.json")
    given = parser.parse_args()
    cases = list(read_cases(given.trees, given.questions))
    means = by_repository(cases, left_out(cases))
    for name, value in sorted(means.items()):
        print(f"{name:22}{value:.3f}")
    print(f"{'left out, mean':22}{np.mean(list(means.values())):.4f}")
    if given.write:
        content = {"made_by": "tests/benchmarks/train_ranking.py", "weights": tables_of(learn_both(cases))}
        ROOM.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
