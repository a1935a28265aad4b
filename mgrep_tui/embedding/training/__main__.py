"""`python -m mgrep_tui.embedding.training fetch|pairs|train|measure|card WORK [WEIGHTS]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from mgrep_tui.embedding.static import WEIGHTS, load_static


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("fetch", "pairs", "train", "measure", "card"))
    parser.add_argument("work", type=Path, help="folder for packages, pairs and the teacher's vectors; needs 15 GB")
    parser.add_argument("weights", type=Path, nargs="?", default=WEIGHTS, help="folder of the weights")
    options = parser.parse_args()
    # Each step imports what it alone needs.
    if options.step == "fetch":
        from mgrep_tui.embedding.training.fetch import fetch

        print(f"{len(fetch(options.work))} packages")
    elif options.step == "pairs":
        from mgrep_tui.embedding.training.pairs import extract
        from mgrep_tui.embedding.training.train import Plan

        print(f"{extract(options.work, Plan().seed)} pairs")
    elif options.step == "train":
        from mgrep_tui.embedding.training.train import Plan, train

        print(train(options.work, Plan(), options.weights))
    elif options.step == "card":
        from mgrep_tui.embedding.training.card import write_card

        write_card(options.work, options.weights)
    else:
        from mgrep_tui.embedding.training.corpus import load_corpus
        from mgrep_tui.embedding.training.measure import measure, mixed, rounds, vector_scores, word_scores
        from mgrep_tui.embedding.training.train import Plan

        asked = rounds(load_corpus(options.work), Plan().seed)
        static = vector_scores(load_static(options.weights))
        for name, scores in {
            "words": word_scores,
            "static": static,
            ".35/.65": mixed([(0.35, word_scores), (0.65, static)]),
        }.items():
            everywhere, by_kind = measure(asked, scores)
            print(
                f"{name:8} {everywhere}  " + "  ".join(f"{kind} {figures}" for kind, figures in sorted(by_kind.items()))
            )


if __name__ == "__main__":
    main()
