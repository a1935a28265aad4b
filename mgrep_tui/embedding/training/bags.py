"""Texts as bags of word pieces in one flat array, so that a batch is gathered without a loop over its pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mgrep_tui.embedding.pieces import Pieces

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Bags:
    """Bag i is `pieces[starts[i]:starts[i + 1]]` with weights 1 + ln count."""

    starts: Ints
    pieces: npt.NDArray[np.int32]
    weights: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, rows: Ints) -> tuple[Ints, Floats, Ints]:
        """Pieces, weights and offsets of some bags, one after the other, as `torch.nn.functional.embedding_bag` wants them."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        positions = np.repeat(self.starts[rows] - offsets, lengths) + np.arange(int(lengths.sum()))
        return self.pieces[positions].astype(np.int64), self.weights[positions], offsets


def make_bags(pieces: Pieces, texts: Iterable[str]) -> Bags:
    """Bags of the vocabulary's pieces; buckets are left out, since their rows are not learnt."""
    known = len(pieces.vocabulary)
    starts, numbers, counts = [0], [], []
    for text in texts:
        for number, count in pieces.count(text).items():
            if number < known:
                numbers.append(number)
                counts.append(count)
        starts.append(len(numbers))
    weights = 1 + np.log(np.array(counts, dtype=np.float32))
    return Bags(np.array(starts, dtype=np.int64), np.array(numbers, dtype=np.int32), weights.astype(np.float32))


def drop(bag: tuple[Ints, Floats, Ints], share: float, random: np.random.Generator) -> tuple[Ints, Floats, Ints]:
    """The batch with a share of its pieces weighing nothing; a bag never loses all."""
    numbers, weights, offsets = bag
    lost = random.random(len(weights)) < share
    first = offsets[offsets < len(weights)]
    lost[first] = False
    return numbers, np.where(lost, np.float32(0), weights), offsets


def append(bag: tuple[Ints, Floats, Ints], extra: list[Ints]) -> tuple[Ints, Floats, Ints]:
    """The batch with further pieces of weight 1 before each bag's own (a question's opening words)."""
    numbers, weights, offsets = bag
    places = np.repeat(offsets, [len(more) for more in extra])
    added = np.concatenate(extra) if extra else np.zeros(0, dtype=np.int64)
    shift = np.concatenate([[0], np.cumsum([len(more) for more in extra])[:-1]]).astype(np.int64)
    return np.insert(numbers, places, added), np.insert(weights, places, np.float32(1)), offsets + shift
