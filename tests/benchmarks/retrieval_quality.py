#!/usr/bin/env python3
"""How good the instant tier's order is, what each signal is worth, and how long a question takes.

    retrieval_quality.py --trees DIR --questions DIR [--only NAME ...] [--learn] [--json FILE]

Prints NDCG@10 by repository and category with the shipped weights, then the mean with each signal silenced. With --learn an ablated
signal's weight is not just set to 0: the rest is learned anew without it, and everything is measured on repositories that were left
out, which is the honest figure (ten minutes). Labels and questions of the 27 repositories were written by a language model.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import train_ranking
from ranking_cases import Case, by_repository, ndcg, read_cases

from mgrep_tui.retrieval import weights
from mgrep_tui.retrieval.signals import SIGNALS

GROUPS = {
    "vectors": ("meaning", "file meaning", "file centre", "agreement"),
    "words": ("words", "body words", "name words", "file words", "file names", "best rank", "coverage", "agreement"),
    "definitions": ("definition", "named after", "named or defined"),
    "file coherence": ("file words", "file meaning", "file names", "file centre"),
    "path words": ("stem", "stem precise", "folder", "named or defined"),
    "roles of paths": (
        "test",
        "example",
        "bench",
        "old",
        "vendor",
        "docs",
        "build",
        "config",
        "entry",
        "types",
        "header",
    ),
    "old versions": ("old version",),
    "platforms": ("foreign", "other platform"),
    "opposites": ("opposite",),
    "core folders": ("core",),
    "wholes and the nameless": ("whole file", "nameless"),
    "size and depth": ("size", "length", "depth"),
}


def without(cases: list[Case], names: tuple[str, ...]) -> list[Case]:
    places = [SIGNALS.index(name) for name in names]
    changed = []
    for case in cases:
        matrix = case.matrix.copy()
        matrix[:, places] = 0.0
        changed.append(replace(case, matrix=matrix))
    return changed


def measured(cases: list[Case], learns: bool) -> list[float]:
    if learns:
        return train_ranking.left_out(cases)
    return [ndcg(case, case.matrix @ weights.table(case.kind, False)) for case in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cases = list(read_cases(given.trees, given.questions, given.only))
    values = measured(cases, given.learn)
    means = by_repository(cases, values)
    language_of = {case.repository: case.language for case in cases}
    for name in sorted(means, key=lambda name: (language_of[name], name)):
        print(f"{name:22}{language_of[name]:12}{means[name]:.3f}")
    whole = float(np.mean(list(means.values())))
    print(f"{'mean of repositories':34}{whole:.4f}")
    for category in sorted({case.category for case in cases}):
        own = [value for case, value in zip(cases, values, strict=True) if case.category == category]
        print(f"{category:34}{np.mean(own):.3f} ({len(own)})")
    times = [case.elapsed_ms for case in cases]
    print(
        f"gather and rank: median {np.median(times):.1f} ms, p95 {np.percentile(times, 95):.1f} ms, {len(times)} questions"
    )
    ablations = {}
    for group, names in GROUPS.items():
        ablated = without(cases, names)
        ablations[group] = float(np.mean(list(by_repository(ablated, measured(ablated, given.learn)).values()))) - whole
        print(f"without {group:26}{ablations[group]:+.4f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"mean": whole, "repositories": means, "ablations": ablations}, indent=1))


if __name__ == "__main__":
    main()
