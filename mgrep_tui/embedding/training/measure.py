"""How well models answer documentation questions of packages that were not learnt from: MRR@10, recall at 1 and 10.

A question is the documentation of one definition; the candidates are all definitions of its package, without their documentation.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mgrep_tui.embedding.protocol import Embedder
from mgrep_tui.embedding.training.corpus import Corpus, header_of
from mgrep_tui.embedding.training.pairs import Pair
from mgrep_tui.embedding.words import IDENTIFIER, split_identifier

MIN_CANDIDATES = 100  # a smaller package is no search
QUESTIONS_PER_PACKAGE = 60
_K1, _B = 1.2, 0.75
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over `questions` questions."""

    mrr: float
    first: float
    ten: float
    questions: int

    def __str__(self) -> str:
        return f"{self.mrr:.3f}/{self.first:.3f}/{self.ten:.3f} ({self.questions})"


@dataclass(frozen=True, slots=True)
class Round:
    """One package: its candidates' texts, questions, and the place of each question's answer."""

    package: str
    candidates: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[int, ...]


def rounds(corpus: Corpus, seed: int) -> list[Round]:
    by_package: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in corpus.held_out:
        by_package[pair.package].append(pair)
    found = []
    for package, pairs in sorted(by_package.items()):
        if len(pairs) >= MIN_CANDIDATES:
            asked = random.Random(f"{seed} {package}").sample(range(len(pairs)), min(QUESTIONS_PER_PACKAGE, len(pairs)))
            texts = tuple(f"{header_of(pair)}\n{pair.code}" for pair in pairs)
            found.append(Round(package, texts, tuple(pairs[place].prose for place in asked), tuple(asked)))
    return found


def vector_scores(model: Embedder) -> Callable[[Round], Scores]:
    """Cosines, shape (questions, candidates)."""
    return lambda asked: (
        np.stack([model.embed_query(text) for text in asked.questions]) @ model.embed_documents(asked.candidates).T
    )


def word_scores(asked: Round) -> Scores:
    """BM25 over split identifiers, plain plurals folded."""
    bags = [Counter(_words(text)) for text in asked.candidates]
    lengths = np.array([sum(bag.values()) for bag in bags], dtype=np.float32)
    postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, bag in enumerate(bags):
        for word, times in bag.items():
            postings[word].append((place, times))
    scores = np.zeros((len(asked.questions), len(bags)), dtype=np.float32)
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    for row, question in enumerate(asked.questions):
        for word in set(_words(question)):
            found = postings.get(word)
            if found:
                places, times = np.array(found).T
                rarity = math.log(1 + (len(bags) - len(found) + 0.5) / (len(found) + 0.5))
                scores[row, places] += rarity * times * (_K1 + 1) / (times + norm[places])
    return scores


def _words(text: str) -> list[str]:
    words = [word for identifier in IDENTIFIER.findall(text) for word in split_identifier(identifier)]
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


def mixed(parts: Sequence[tuple[float, Callable[[Round], Scores]]]) -> Callable[[Round], Scores]:
    """A weighted sum, each part scaled to 0..1 within its question."""

    def scores(asked: Round) -> Scores:
        total = np.zeros((len(asked.questions), len(asked.candidates)), dtype=np.float32)
        for weight, part in parts:
            found = part(asked)
            low, high = found.min(axis=1, keepdims=True), found.max(axis=1, keepdims=True)
            total += weight * (found - low) / np.maximum(high - low, 1e-9)
        return total

    return scores


def measure(asked: Sequence[Round], scores: Callable[[Round], Scores]) -> tuple[Figures, dict[str, Figures]]:
    """Over all questions, and by ecosystem."""
    ranks: defaultdict[str, list[int]] = defaultdict(list)
    for one in asked:
        for answer, row in zip(one.answers, scores(one), strict=True):
            ranks[one.package.partition("/")[0]].append(int((row > row[answer]).sum()) + 1)
    by_kind = {kind: _figures(found) for kind, found in ranks.items()}
    return _figures([rank for found in ranks.values() for rank in found]), by_kind


def _figures(ranks: Sequence[int]) -> Figures:
    count = max(1, len(ranks))
    return Figures(
        sum(1 / rank for rank in ranks if rank <= 10) / count,
        sum(rank == 1 for rank in ranks) / count,
        sum(rank <= 10 for rank in ranks) / count,
        len(ranks),
    )
