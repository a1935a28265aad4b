"""One question to several roots: the candidates of all, made comparable, ranked together by the same code as those of one.

Vectors come from one model, so cosines compare as they are. Word scores (BM25) do not: each index weighs a word by how rare it is there.
The scores of a root are scaled by how much rarer or more frequent its words of the question are among all roots than in it alone, so that
a word which one small root repeats on every page does not count as common in all. The rarity of a word, which weighs names and paths, is
that of all roots. The name of a root counts as a folder around its files: `flask request` prefers the root `flask`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mgrep_tui.index.results import SemanticView
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.signals import Candidate, defines
from mgrep_tui.search.semantic_candidates import Pool

# Behind the words of a root's name, so that a root called `tests`, `v2` or `linux` is not taken for such a folder.
_MARK = "\ue000"
MOST = 800
NAMING = 100


def united(pools: Sequence[Pool], labels: Sequence[str]) -> Pool:
    """The pools of several roots as one; their order is that of `labels`, which are distinct. One pool comes back as it is. Pure."""
    if len(pools) == 1:
        return pools[0]
    documents = sum(pool.documents for pool in pools)
    holders: dict[str, int] = {}
    for pool in pools:
        for stem, count in pool.holders.items():
            holders[stem] = holders.get(stem, 0) + count
    candidates: list[Candidate] = []
    for pool, label in zip(pools, labels, strict=True):
        scale = _scale(pool, holders, documents)
        folder = as_folder(label)
        candidates += [
            replace(
                candidate,
                path=f"{folder}/{candidate.path}",
                words=candidate.words * scale,
                body_words=candidate.body_words * scale,
                name_words=candidate.name_words * scale,
            )
            for candidate in pool.candidates
        ]
    return Pool(
        tuple(candidates),
        tuple(row for pool in pools for row in pool.rows),
        documents,
        holders,
        tuple(pool.stats[0] if pool.stats else {} for pool in pools),
        tuple(number for number, pool in enumerate(pools) for _ in pool.rows),
    )


def as_folder(label: str) -> str:
    """The name of a root as the folder that the ranking sees around its files."""
    return re.sub(r"\W+|_+", " ", label) + _MARK


def trimmed(pool: Pool, question: Question, most: int = MOST) -> Pool:
    """The pool without what can hardly win, when there is much: ranking takes 35 ms for a thousand candidates. Pure.

    Kept are the best `most` / 2 by words and by meaning, the best `NAMING` by names alone, and whatever defines a name asked for.
    """
    if len(pool.candidates) <= most:
        return pool
    columns = (
        ([candidate.words for candidate in pool.candidates], most // 2),
        ([-1.0 if candidate.meaning is None else candidate.meaning for candidate in pool.candidates], most // 2),
        ([candidate.name_words for candidate in pool.candidates], NAMING),
    )
    keep = {int(place) for values, count in columns for place in np.argsort(-np.array(values), kind="stable")[:count]}
    keep |= {
        place
        for place, candidate in enumerate(pool.candidates)
        if defines(question, candidate.symbol, candidate.container)
    }
    return pool.only(sorted(keep))


def _scale(pool: Pool, holders: dict[str, int], documents: int) -> float:
    """What the word scores of this pool are to be multiplied with: the weight of its words among all roots over that in its own."""
    held = [stem for stem, count in pool.holders.items() if count]
    own = sum(_idf(pool.holders[stem], pool.documents) for stem in held)
    return sum(_idf(holders[stem], documents) for stem in held) / own if own > 0 else 1.0


def _idf(count: int, documents: int) -> float:
    """The weight of a word in BM25, as tantivy has it."""
    return math.log(1.0 + (documents - count + 0.5) / (count + 0.5))


def all_mentions(views: Sequence[SemanticView]) -> Callable[[str], int]:
    """Tells in how many chunks of all roots an identifier stands; 0 without keywords."""
    stores = [view.keywords for view in views if view.keywords is not None]
    return lambda name: sum(store.doc_freq("names", name.lower()) for store in stores)
