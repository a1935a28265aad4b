#!/usr/bin/env python3
"""Learn the weights of `mgrep_tui/retrieval/weights.json`, and check them on repositories that were left out.

    train_ranking.py --trees DIR --questions DIR --python DIR --cosqa DIR --work DIR [--deep CACHE] [--write]

A linear model under a softmax over each question's candidates, pulled towards a prior (`PRIOR`): what the rules are worth as published, so
that a signal of which the training questions say nothing keeps a sensible weight. Sentences and lone names are learned from the
repositories, over files (a file's best chunk stands for it); deeds from functions' own documentation in Python trees (`--python`) and
the development half of CoSQA (`--cosqa`), over chunks: see `question_sets`. The check leaves out a ninth of the repositories and
trees at a time, then a ninth of the languages; CoSQA's test half is never learned from.

With --deep (a file for vectors; the first run computes some 35,000, a quarter of an hour on two free cores) the deep tier's weights are
learned too, on the best 50 candidates of each question.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import question_sets
from ranking_cases import Case, best_of_files, by_repository, ndcg, read_cases, read_function_cases, reciprocal_rank
from scipy.optimize import minimize

from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.deep import DeepTier
from mgrep_tui.retrieval.ranking import SATURATION
from mgrep_tui.retrieval.signals import SIGNALS
from mgrep_tui.settings.config import SemanticSettings

KINDS = ("sentence", "symbol", "deed")
PRIOR = {
    "words": 4.0, "meaning": 4.0, "file words": 2.0, "file meaning": 1.0, "file centre": 2.0, "definition": 6.0, "stem": 3.0,
    "folder": 1.0, "symbol": 2.0, "coverage": 1.0, "length": 2.0, "depth": -2.0, "test": -3.0, "example": -3.0,
    "bench": -2.0, "docs": -3.0, "old": -2.0, "old version": -2.0, "vendor": -2.0, "build": -1.0, "config": -1.0,
    "entry": -0.5, "types": -1.0, "foreign": -1.0, "other platform": -2.0,
}  # fmt: skip
# Of the deep model. For sentences anything from 0 to 6 is a tie in the check; people's own words need it.
DEEP_PRIOR = {"sentence": 4.0, "symbol": 0.0, "deed": 0.0}
PULL = {"sentence": 0.5, "symbol": 1.0, "deed": 0.5}  # towards the prior; from .1 to 1 the left-out figure is the same
SHARE = {"cosqa": 0.3}  # what one question counts, beside 1
FOLDS = 9
ROUNDS = 2  # of choosing each file's best chunk by the weights so far, and learning anew
EACH = 80  # questions of a Python tree
ROOM = Path(__file__).resolve().parents[2] / "mgrep_tui" / "retrieval" / "weights.json"


def prior_of(kind: str, has_deep: bool) -> np.ndarray:
    values = PRIOR | ({"deep": DEEP_PRIOR[kind]} if has_deep else {})
    return np.array([values.get(name, 0.0) for name in SIGNALS])


def learn(cases: Sequence[Case], kind: str, has_deep: bool) -> np.ndarray:
    """The weights for one kind of question."""
    prior = prior_of(kind, has_deep)
    weights = prior.copy()
    usable = [case for case in cases if case.kind == kind and (case.chunks or any(case.targets))]
    if kind == "deed":
        usable = [case for case in usable if case.chunks]
    else:
        usable = [case for case in usable if not case.chunks]
    for _ in range(ROUNDS if usable else 0):
        weights = _fitted(usable, weights, prior, PULL[kind])
    return weights


def _fitted(cases: Sequence[Case], start: np.ndarray, prior: np.ndarray, pull: float) -> np.ndarray:
    rows, wanted = [], []
    for case in cases:
        if case.chunks:
            rows.append(case.matrix)
            wanted.append(np.isin(np.arange(len(case.matrix)), case.chunks))
        else:
            rows.append(case.matrix[best_of_files(case.matrix @ start, case.file_of, len(case.files))])
            wanted.append(np.isin(np.arange(len(case.files)), sum(case.targets, ())))
    stacked = np.vstack(rows).astype(np.float64)
    right_ones = np.concatenate(wanted).astype(np.float64)
    lengths = np.array([len(some) for some in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    share = np.array([SHARE.get(case.category, 1.0) for case in cases])
    shares = np.repeat(share, lengths)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        scores = stacked @ values
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
        every = np.add.reduceat(powers, starts)
        right = np.add.reduceat(powers * right_ones, starts)
        slope = (powers / np.repeat(every, lengths) - powers * right_ones / np.repeat(right + 1e-300, lengths)) * shares
        off = values - prior
        value = float(-(share * np.log(right / every + 1e-12)).sum() + pull * (off @ off))
        return value / len(lengths), (slope @ stacked + 2 * pull * off) / len(lengths)

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x)


def learn_all(cases: Sequence[Case], has_deep: bool = False) -> dict[str, np.ndarray]:
    return {kind: learn(cases, kind, has_deep) for kind in KINDS}


def value_of(case: Case, learned: dict[str, np.ndarray]) -> float:
    """NDCG@10 where files are wanted, MRR@10 where a function is."""
    scores = case.matrix @ learned[case.kind]
    return ndcg(case, scores) if case.targets else reciprocal_rank(case, scores, SATURATION[case.kind])


def left_out(
    cases: Sequence[Case],
    has_deep: bool = False,
    group: Callable[[Case], str] = lambda case: case.repository,
    seed: int = 0,
) -> list[float]:
    """The value of each case under weights that were learned without its group. What is in no group ("") is always learned from."""
    names = sorted({group(case) for case in cases} - {""})
    np.random.default_rng(seed).shuffle(names)
    values = [0.0] * len(cases)
    for fold in range(FOLDS):
        out = set(names[fold::FOLDS])
        learned = learn_all([case for case in cases if group(case) not in out], has_deep)
        for place, case in enumerate(cases):
            if group(case) in out or not group(case):
                values[place] = value_of(case, learned)
    return values


def tables_of(cases: Sequence[Case], tier: str) -> dict[str, dict[str, float]]:
    learned = learn_all(cases, tier == "deep")
    return {
        f"{kind}, {tier}": {
            signal: round(float(weight), 3)
            for signal, weight in zip(SIGNALS, learned[kind], strict=True)
            if abs(weight) >= 0.02
        }
        for kind in KINDS
    }


def gathered(given: argparse.Namespace, deep: DeepTier | None) -> tuple[list[Case], list[Case]]:
    """What is learned from, and CoSQA's test half."""
    cases = list(read_cases(given.trees, given.questions, deep=deep))
    for tree, asked in question_sets.docstring_sets(given.python, given.work, EACH):
        cases += read_function_cases(tree, asked, "documentation", deep)
    halves = []
    for split in ("dev", "test"):
        tree, asked = question_sets.cosqa_set(given.cosqa, given.work, split)
        halves.append(list(read_function_cases(tree, asked, "cosqa", deep)))
    return cases + halves[0], halves[1]


def report(cases: Sequence[Case], test: Sequence[Case], has_deep: bool) -> None:
    for name, group in (
        ("repository", lambda case: "" if case.category == "cosqa" else case.repository),
        (
            "language",
            lambda case: "" if case.category == "cosqa" else case.language if case.targets else case.repository,
        ),
    ):
        values = left_out(cases, has_deep, group)
        about_files = [place for place, case in enumerate(cases) if case.targets]
        means = by_repository([cases[place] for place in about_files], [values[place] for place in about_files])
        print(
            f"left out by {name}: "
            + ", ".join(f"{repository} {mean:.3f}" for repository, mean in sorted(means.items()))
        )
        functions = [value for case, value in zip(cases, values, strict=True) if case.category == "documentation"]
        print(
            f"  NDCG@10 of files {np.mean(list(means.values())):.4f}, MRR@10 of documented functions {np.mean(functions):.4f}"
        )
    learned = learn_all(cases, has_deep)
    print(f"CoSQA's test half: MRR@10 {np.mean([value_of(case, learned) for case in test]):.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("trees", "questions", "python", "cosqa", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--deep", type=Path, help="file for the deep model's vectors")
    parser.add_argument("--write", action="store_true", help="replace weights.json")
    given = parser.parse_args()
    tables = json.loads(ROOM.read_text())["weights"]
    print("instant")
    cases, test = gathered(given, None)
    report(cases, test, has_deep=False)
    tables |= tables_of(cases, "instant")
    if given.deep:
        deep = DeepTier(SemanticSettings(), EmbeddingCache(given.deep, 10_000_000_000))
        print("deep, on the best 50")
        cases, test = gathered(given, deep)
        deep.close()
        report(cases, test, has_deep=False)
        report(cases, test, has_deep=True)
        tables |= tables_of(cases, "deep")
    if given.write:
        content = {"made_by": "tests/benchmarks/train_ranking.py", "weights": tables}
        ROOM.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
