"""Questions with their candidates' signals: what the weights are learned from and what ablations are measured on.

Trees and questions as RETRIEVAL benchmarks have them: `SET/repositories.json`, `SET/annotations/NAME.json`, `TREES/NAME/ROOT`. Each tree is
indexed in this process with the real parts; only the last step, the order, is left to the caller.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from retrieval_world import World

from mgrep_tui.embedding.static import load_static
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.ranking import rank
from mgrep_tui.search.semantic_candidates import FileCentres, gather
from mgrep_tui.search.semantic_union import all_mentions

DEPTH = 10  # NDCG@10


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the signals of its candidates (n, signals), the file number of each, and which files are wanted.

    `targets` holds a tuple of file numbers for each target that exists; it is empty for one that is not among the candidates.
    """

    repository: str
    language: str
    category: str
    text: str
    is_symbol_like: bool
    matrix: np.ndarray
    file_of: np.ndarray
    files: tuple[str, ...]
    targets: tuple[tuple[int, ...], ...]
    elapsed_ms: float


def is_same(path: str, target: str) -> bool:
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


def read_cases(trees: Path, questions_folder: Path, only: Sequence[str] = ()) -> Iterator[Case]:
    """Index each tree and gather the candidates of each of its questions."""
    model = load_static()
    for repository in json.loads((questions_folder / "repositories.json").read_text()):
        tree = trees / repository["name"]
        if (only and repository["name"] not in only) or not tree.is_dir():
            continue
        root = tree / repository["root"]
        present = [str(path.relative_to(tree)) for path in root.rglob("*") if path.is_file()]
        with tempfile.TemporaryDirectory() as folder:
            world = World(root, Path(folder), model)
            centres = FileCentres()
            for task in json.loads((questions_folder / "annotations" / f"{repository['name']}.json").read_text()):
                wanted = [
                    target if isinstance(target, str) else target["path"]
                    for target in task["relevant"] + task.get("secondary", [])
                ]
                wanted = [target for target in wanted if any(is_same(path, target) for path in present)]
                if wanted:
                    yield _case(world, centres, repository, task, wanted)
            world.keywords.close()


def _case(world: World, centres: FileCentres, repository: dict, task: dict, wanted: Sequence[str]) -> Case:
    view = world.view()
    question = questions.read(task["query"])
    started = time.perf_counter()
    pool = gather(question, view, world.catalog, centres, None, CancelToken())
    ranking = rank(question, pool.candidates, pool.rarity, all_mentions([view]))
    elapsed_ms = (time.perf_counter() - started) * 1000.0
    files = [""] * (int(ranking.file_of.max(initial=-1)) + 1)
    for candidate, number in zip(pool.candidates, ranking.file_of.tolist(), strict=True):
        files[number] = candidate.path
    targets = tuple(tuple(n for n, path in enumerate(files) if is_same(path, target)) for target in wanted)
    return Case(
        repository["name"], repository["language"], task["category"], task["query"], question.is_symbol_like,
        ranking.matrix, ranking.file_of, tuple(files), targets, elapsed_ms,
    )  # fmt: skip


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


def by_repository(cases: Sequence[Case], values: Sequence[float]) -> dict[str, float]:
    """The mean of each repository's questions."""
    grouped: dict[str, list[float]] = {}
    for case, value in zip(cases, values, strict=True):
        grouped.setdefault(case.repository, []).append(value)
    return {name: float(np.mean(some)) for name, some in grouped.items()}
