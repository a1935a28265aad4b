"""Several roots as one list by meaning: how good, against other ways to merge, and how quick.

    python tests/benchmarks/several_roots.py TREES QUESTIONS [--only NAME …] [--json FILE]

Every question of every repository is asked of all repositories together. `alone` is the order when only its own repository is open: what
merging can at best keep. The ways to merge:

    union         one ranking over the candidates of all, word scores scaled to a common rarity (what the program does)
    unscaled      the same without the scale
    by score      each root's own ranking, merged by its scores
    by turns      the first of each root, then the second of each, …

NDCG@10 over files, each named with its repository. Times are process time of ranking and asking the indexes, without reading files.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from ranking_cases import is_same
from retrieval_world import World

from mgrep_tui.embedding.static import load_static
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.ranking import Ranking, rank
from mgrep_tui.search import semantic_union
from mgrep_tui.search.semantic_candidates import FileCentres, Pool, gather
from mgrep_tui.search.semantic_union import MOST, all_mentions, trimmed, united

DEPTH = 10
Ranked = list[tuple[str, str]]  # repository and file, best first, each file once


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--every", type=int, default=1, help="ask every so many-th question")
    parser.add_argument("--most", type=int, default=MOST, help="candidates that are ranked")
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(arguments, Path(folder))


def run(arguments: argparse.Namespace, folder: Path) -> None:
    model = load_static()
    repositories = [
        found
        for found in json.loads((arguments.questions / "repositories.json").read_text())
        if (arguments.trees / found["name"]).is_dir() and (not arguments.only or found["name"] in arguments.only)
    ]
    worlds = {
        found["name"]: World(arguments.trees / found["name"] / found["root"], folder / found["name"], model)
        for found in repositories
    }
    names = list(worlds)
    centres = {name: FileCentres() for name in names}
    views = {name: world.view() for name, world in worlds.items()}
    scores: dict[str, list[float]] = {way: [] for way in ("alone", "union", "unscaled", "by score", "by turns")}
    first_right: dict[str, int] = dict.fromkeys(scores, 0)
    times: dict[str, list[float]] = {"gather": [], "alone": [], "union": []}
    for repository in repositories:
        own = repository["name"]
        tree, root = arguments.trees / own, arguments.trees / own / repository["root"]
        present = [str(path.relative_to(tree)) for path in root.rglob("*") if path.is_file()]
        tasks = json.loads((arguments.questions / "annotations" / f"{own}.json").read_text())
        for task in tasks[:: arguments.every]:
            wanted = [t if isinstance(t, str) else t["path"] for t in task["relevant"] + task.get("secondary", [])]
            wanted = [target for target in wanted if any(is_same(path, target) for path in present)]
            if not wanted:
                continue
            question = questions.read(task["query"])
            began = time.process_time()
            pools = {
                name: gather(question, views[name], worlds[name].catalog, centres[name], None, CancelToken())
                for name in names
            }
            times["gather"].append((time.process_time() - began) * 1e3)
            began = time.process_time()
            single = {
                name: rank(question, pool.candidates, pool.rarity, all_mentions([views[name]]))
                for name, pool in pools.items()
            }
            times["alone"].append((time.process_time() - began) * 1e3 / len(names))
            began = time.process_time()
            merged = trimmed(united([pools[name] for name in names], names), question, arguments.most)
            whole = rank(question, merged.candidates, merged.rarity, all_mentions(list(views.values())))
            times["union"].append((time.process_time() - began) * 1e3)
            plain = unscaled([pools[name] for name in names], names)
            bare = rank(question, plain.candidates, plain.rarity, all_mentions(list(views.values())))
            answers = {
                "alone": files(single[own], pools[own], [own]),
                "union": files(whole, merged, names),
                "unscaled": files(bare, plain, names),
                "by score": by_score(single, pools),
                "by turns": by_turns([files(single[name], pools[name], [name]) for name in names]),
            }
            for way, answer in answers.items():
                scores[way].append(ndcg(answer, own, wanted))
                first_right[way] += bool(answer) and answer[0][0] == own
    count = len(scores["alone"])
    rows = [
        {
            "way": way,
            "ndcg10": round(statistics.mean(values), 4),
            "first from the right root": round(first_right[way] / count, 4),
        }
        for way, values in scores.items()
    ]
    speed = {name: round(statistics.median(values), 2) for name, values in times.items()}
    print(f"{len(names)} repositories, {sum(len(p.candidates) for p in pools.values())} candidates, {count} questions")
    for row in rows:
        print(
            f"{row['way']:<10} NDCG@10 {row['ndcg10']:.3f}   first hit from the right root {row['first from the right root']:.1%}"
        )
    print(
        f"ms of process time, median: asking all indexes {speed['gather']}, ranking one root {speed['alone']}, ranking all {speed['union']}"
    )
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"repositories": names, "questions": count, "ways": rows, "ms": speed}, indent=1)
        )


def unscaled(pools: Sequence[Pool], names: Sequence[str]) -> Pool:
    """The union with every root's word scores as they are."""
    kept = semantic_union._scale
    semantic_union._scale = lambda pool, holders, documents: 1.0
    try:
        return united(pools, names)
    finally:
        semantic_union._scale = kept


def files(ranking: Ranking, pool: Pool, names: Sequence[str]) -> Ranked:
    found: dict[tuple[str, str], None] = {}
    for place in ranking.order.tolist():
        row = pool.rows[place]
        found.setdefault((names[pool.sources[place]], row.path.decode("utf-8", "replace")), None)
        if len(found) == DEPTH:
            break
    return list(found)


def by_score(single: dict[str, Ranking], pools: dict[str, Pool]) -> Ranked:
    best: dict[tuple[str, str], float] = {}
    for name, ranking in single.items():
        for place in ranking.order.tolist():
            key = (name, pools[name].rows[place].path.decode("utf-8", "replace"))
            best.setdefault(key, ranking.shown_score(place))
    return sorted(best, key=lambda key: -best[key])[:DEPTH]


def by_turns(answers: Sequence[Ranked]) -> Ranked:
    longest = max(len(answer) for answer in answers)
    return [answer[turn] for turn in range(longest) for answer in answers if turn < len(answer)][:DEPTH]


def ndcg(answer: Ranked, own: str, wanted: Sequence[str]) -> float:
    got = 0.0
    left = list(wanted)
    for place, (name, path) in enumerate(answer[:DEPTH]):
        hit = next((target for target in left if name == own and is_same(path, target)), None)
        if hit is not None:
            left.remove(hit)
            got += 1.0 / math.log2(place + 2)
    return got / sum(1.0 / math.log2(place + 2) for place in range(min(DEPTH, len(wanted))))


if __name__ == "__main__":
    main()
