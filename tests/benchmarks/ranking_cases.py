"""Questions with their candidates' signals: what the weights are learned from and what ablations are measured on.

Trees and questions as RETRIEVAL benchmarks have them: `SET/repositories.json`, `SET/annotations/NAME.json`, `TREES/NAME/ROOT`; and
questions that one function answers (`question_sets`). Each tree is indexed in this process with the real parts; only the last step, the
order, is left to the caller.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from question_sets import Asked
from retrieval_world import World

from mgrep_tui.corpus.read import Reader
from mgrep_tui.embedding.deep import DeepTier
from mgrep_tui.embedding.protocol import Embedder
from mgrep_tui.embedding.static import load_static
from mgrep_tui.embedding.text import embedding_text
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.ranking import Ranking, rank, saturated
from mgrep_tui.retrieval.signals import add_deep
from mgrep_tui.search.semantic_candidates import FileCentres, Pool, gather
from mgrep_tui.search.semantic_folding import Folding
from mgrep_tui.search.semantic_showing import DEEP_CHUNKS, chunk_of
from mgrep_tui.search.semantic_text import ChunkReader
from mgrep_tui.search.semantic_union import all_mentions

DEPTH = 10  # NDCG@10, MRR@10


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the signals of its candidates (n, signals), the file number of each, and what is wanted.

    `targets` holds a tuple of file numbers for each wanted file that exists; it is empty for one that is not among the candidates. Where a
    function is wanted, `chunks` holds the places of the chunks that have it, and `targets` nothing.
    """

    repository: str
    language: str
    category: str
    text: str
    kind: str
    matrix: np.ndarray
    file_of: np.ndarray
    files: tuple[str, ...]
    targets: tuple[tuple[int, ...], ...]
    elapsed_ms: float
    chunks: tuple[int, ...] = ()


def is_same(path: str, target: str) -> bool:
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


def read_cases(
    trees: Path, questions_folder: Path, only: Sequence[str] = (), deep: DeepTier | None = None
) -> Iterator[Case]:
    """Index each tree and gather the candidates of each of its questions; with `deep` only the best 50, with its columns."""
    model = load_static()
    for repository in json.loads((questions_folder / "repositories.json").read_text()):
        tree = trees / repository["name"]
        if (only and repository["name"] not in only) or not tree.is_dir():
            continue
        root = tree / repository["root"]
        present = [str(path.relative_to(tree)) for path in root.rglob("*") if path.is_file()]
        with tempfile.TemporaryDirectory() as folder:
            gathering = _Gathering(root, Path(folder), model, deep)
            for task in json.loads((questions_folder / "annotations" / f"{repository['name']}.json").read_text()):
                wanted = [
                    target if isinstance(target, str) else target["path"]
                    for target in task["relevant"] + task.get("secondary", [])
                ]
                wanted = [target for target in wanted if any(is_same(path, target) for path in present)]
                if wanted:
                    case, _ = gathering.case(
                        task["query"], repository["name"], repository["language"], task["category"]
                    )
                    targets = tuple(
                        tuple(n for n, path in enumerate(case.files) if is_same(path, target)) for target in wanted
                    )
                    yield replace(case, targets=targets)
            gathering.close()


def read_function_cases(
    tree: Path, asked: Sequence[Asked], category: str, deep: DeepTier | None = None
) -> Iterator[Case]:
    """The same for questions that one function of the tree answers."""
    with tempfile.TemporaryDirectory() as folder:
        gathering = _Gathering(tree, Path(folder), load_static(), deep)
        for one in asked:
            case, candidates = gathering.case(one.text, tree.name, "python", category)
            chunks = tuple(
                place
                for place, candidate in enumerate(candidates)
                if candidate.path == one.path and candidate.first_line < one.line <= candidate.last_line + 1
            )
            yield replace(case, chunks=chunks)
        gathering.close()


class _Gathering:
    """One indexed tree."""

    def __init__(self, root: Path, folder: Path, model: Embedder, deep: DeepTier | None) -> None:
        self._world = World(root, folder, model)
        self._centres = FileCentres()
        self._deep = deep

    def close(self) -> None:
        self._world.keywords.close()

    def case(self, text: str, repository: str, language: str, category: str):  # type: ignore[no-untyped-def]
        """The case, still without what is wanted, and its candidates."""
        world = self._world
        view = world.view()
        question = questions.read(text)
        started = time.perf_counter()
        pool = gather(question, view, world.catalog, self._centres, None, CancelToken())
        ranking = rank(question, pool.candidates, pool.rarity, all_mentions([view]))
        elapsed_ms = (time.perf_counter() - started) * 1000.0
        candidates, matrix, file_of = ranking.candidates, ranking.matrix, ranking.file_of
        if self._deep is not None:
            places, texts = self._best(pool, ranking)
            candidates, matrix, file_of = [candidates[place] for place in places], matrix[places], file_of[places]
            if places:
                add_deep(matrix, file_of, self._deep.rescore(text, texts, limit_s=3600.0).tolist())
        numbers, file_of = np.unique(file_of, return_inverse=True)
        files = [""] * len(numbers)
        for candidate, number in zip(candidates, file_of.tolist(), strict=True):
            files[number] = candidate.path
        case = Case(repository, language, category, text, question.kind, matrix, file_of, tuple(files), (), elapsed_ms)
        return case, candidates

    def _best(self, pool: Pool, ranking: Ranking) -> tuple[list[int], list[str]]:
        """The places of the best candidates as they would be shown, and what the deep model reads of them."""
        places, texts = [], []
        folding = Folding()
        with Reader(self._world.root) as reader:
            chunks = ChunkReader(reader, pool.stats[0], self._world.settings.chunking.max_file_bytes)
            for place in ranking.order.tolist():
                row = pool.rows[place]
                text = chunks.read(row)
                if text is None or folding.twin_of(len(places), row.symbol, text.lines) is not None:
                    continue
                places.append(place)
                texts.append(embedding_text(row.path, chunk_of(row, text.text)))
                if len(places) == DEEP_CHUNKS:
                    break
        return places, texts


def best_of_files(scores: np.ndarray, file_of: np.ndarray, files: int) -> np.ndarray:
    """The place of each file's best candidate."""
    order = np.lexsort((-scores, file_of))
    _, first = np.unique(file_of[order], return_index=True)
    best = order[first]
    assert len(best) == files
    return best


def ndcg(case: Case, scores: np.ndarray) -> float:
    """NDCG@10 over files with binary gain, each file standing where its best chunk stands."""
    best = scores[best_of_files(scores, case.file_of, len(case.files))]
    got = 0.0
    for numbers in case.targets:
        if numbers:
            rank_of = 1 + int((best > max(best[n] for n in numbers)).sum())
            got += 1.0 / math.log2(rank_of + 1) if rank_of <= DEPTH else 0.0
    return got / sum(1.0 / math.log2(place + 2) for place in range(min(DEPTH, len(case.targets))))


def reciprocal_rank(case: Case, scores: np.ndarray, step: float) -> float:
    """One divided by the rank of the wanted function, further chunks of a file lowered by `step`; 0 beyond the tenth."""
    if not case.chunks:
        return 0.0
    lowered = saturated(scores, case.file_of, step)
    rank_of = 1 + int((lowered > max(lowered[place] for place in case.chunks)).sum())
    return 1.0 / rank_of if rank_of <= DEPTH else 0.0


def by_repository(cases: Sequence[Case], values: Sequence[float]) -> dict[str, float]:
    """The mean of each repository's questions."""
    grouped: dict[str, list[float]] = {}
    for case, value in zip(cases, values, strict=True):
        grouped.setdefault(case.repository, []).append(value)
    return {name: float(np.mean(some)) for name, some in grouped.items()}
