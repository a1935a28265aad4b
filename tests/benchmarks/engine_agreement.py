"""Whether a shared engine answers questions as the local index does: the share of the first ten that both have, on the same trees.

    python -m tests.benchmarks.engine_agreement --questions FOLDER TREE…

FOLDER holds NAME.json for a tree called NAME: a list of objects with a "query". Each tree is indexed and published afresh, in folders that
are removed again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.push import push
from mgrep_tui.corpus.root import open_root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders

FIRST = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("trees", nargs="+", type=Path)
    arguments = parser.parse_args()
    shares: list[float] = []
    same_first = 0
    print("| tree | chunks | questions | shared of the first ten | least |\n|---|---|---|---|---|")
    for tree in arguments.trees:
        questions = [one["query"] for one in json.loads((arguments.questions / f"{tree.name}.json").read_text())]
        with tempfile.TemporaryDirectory() as folder:
            chunks, pairs = answers(tree, Path(folder), questions)
        own = [len(set(ours) & set(theirs)) / len(theirs) for ours, theirs in pairs if theirs]
        same_first += sum(ours[:1] == theirs[:1] for ours, theirs in pairs)
        shares += own
        print(f"| {tree.name} | {chunks:,} | {len(own)} | {sum(own) / len(own):.3f} | {min(own):.1f} |", flush=True)
    print(f"| all | | {len(shares)} | {sum(shares) / len(shares):.3f} | {min(shares):.1f} |")
    print(f"the same first: {same_first / len(shares):.3f}")


Place = tuple[bytes, int, int]


def answers(tree: Path, folder: Path, questions: list[str]) -> tuple[int, list[tuple[list[Place], list[Place]]]]:
    """How many chunks the tree has, and for each question the first places of the engine and of the local index."""
    root, settings, cancel = open_root(tree), Settings(), CancelToken()
    connection = EmbeddedConnection(folder / "engine")
    local = LocalExplorer(root, settings, user_folders({"MGREP_TUI_HOME": str(folder / "home")}), {}, watch=False)
    meaning = MeaningSearch(connection, load_static())
    try:
        chunks = push(connection, root, settings, cancel, name="tree").chunks
        commits = published(connection)
        heads = heads_of(commits, commits[0].state)
        local.start()
        local.wait(cancel, needs_vectors=True)
        pairs = []
        for question in questions:
            ours, theirs = Collected(), Collected()
            meaning.search(parse(question, Mode.SEMANTIC), heads, ours, CancelToken())
            local.answer(question, Mode.SEMANTIC, SearchOptions(), theirs, CancelToken())
            pairs.append((_places(ours), _places(theirs)))
        return chunks, pairs
    finally:
        meaning.close()
        local.close()
        connection.close()


def _places(found: Collected) -> list[Place]:
    return [(hit.path, hit.first_line, hit.last_line) for hit in found.hits[:FIRST]]


if __name__ == "__main__":
    main()
