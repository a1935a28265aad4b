#!/usr/bin/env python3
"""How long search by meaning takes: opening, embedding, a question, rescoring; semble's engine beside it where it is installed.

    meaning_speed.py query TREE [--home DIR] [--json FILE]     the index of TREE in --home as it stands (make it with `mgrep-tui index`)
    meaning_speed.py open TREE [--files 1000] [--json FILE]    a copy of the first files of TREE, opened for the first time
    meaning_speed.py static TREE [--json FILE]                 the instant tier's vectors
    meaning_speed.py deep TREE [--json FILE]                   fifty candidates, uncached and cached
    meaning_speed.py rival TREE [--python PATH] [--json FILE]  semble's engine with our static vectors, in an interpreter that has it

CPU is of the thread that searches; on a busy machine it is the figure to look at.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mgrep_tui.chunking import chunk_file
from mgrep_tui.corpus.read import Reader, searchable
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.embedding.static import load_static
from mgrep_tui.embedding.text import embedding_text
from mgrep_tui.errors import UnreadableError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.index.as_is import AsIs
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.search.semantic import SemanticEngine
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from mgrep_tui.text.languages import language_of

SUBJECTS = (
    "how locks are taken and released", "error handling when a buffer is too small", "reading a configuration file",
    "retry after a timeout", "memory allocation for packets", "parse the command line", "register a new driver",
    "convert a string to a number", "checksum of a block", "queue of pending requests", "interrupt handler",
    "list of open files", "compare two versions", "write to the log", "free everything at exit", "set the clock",
    "how messages are routed between nodes", "validate what the user gave", "cache invalidation", "copy data from user space",
)  # fmt: skip
TEXTS = 5_000  # embedded for the rate
RESCORED = 50


def figures(name: str, values: Sequence[float], wanted: str) -> dict[str, object]:
    """One row: milliseconds."""
    ordered = sorted(values)
    row = {
        "what": name,
        "p50_ms": round(statistics.median(ordered), 2),
        "p95_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 2),
        "count": len(ordered),
        "wanted": wanted,
    }
    print(f"{name:44}{row['p50_ms']:>10} {row['p95_ms']:>10} {row['count']:>6}  {wanted}", flush=True)
    return row


def questions_of(index: AsIs) -> list[str]:
    """Subjects, and names and rare words of the tree itself."""
    catalog = index.semantic().catalog
    assert catalog is not None
    chance = random.Random(7)
    names = sorted(
        {row.name for letter in "abcdefghijklmnopqrstuvwxyz" for row in catalog.symbols_starting(letter, limit=40)}
    )
    chosen = chance.sample(names, min(40, len(names)))
    return [*SUBJECTS, *chosen[:20], *(f"where {name.replace('_', ' ')} is called" for name in chosen[20:])]


def query(tree: Path, home: Path | None) -> list[dict[str, object]]:
    root = open_root(tree)
    environ = {**os.environ, **({"MGREP_TUI_HOME": str(home)} if home else {})}
    index = AsIs(root, user_folders(environ))
    view = index.semantic()
    if view.catalog is None or view.vectors is None:
        raise SystemExit(f"There is no index of {tree}: run mgrep-tui index.")
    engine = SemanticEngine(root, Settings())
    asked = questions_of(index)
    for text in asked:
        engine.search(parse(text, Mode.SEMANTIC), view, Collected(), CancelToken(), limit=20)
    wall, cpu = [], []
    for text in asked * 3:
        query_ = parse(text, Mode.SEMANTIC)
        began, burned = time.perf_counter(), time.thread_time()
        engine.search(query_, view, Collected(), CancelToken(), limit=20)
        cpu.append((time.thread_time() - burned) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    chunks = f"{len(view.vectors):,} chunks"
    return [
        figures(f"a warm question, CPU, {chunks}", cpu, "15 / 40 ms"),
        figures(f"a warm question, wall, {chunks}", wall, "15 / 40 ms"),
    ]


def opening(tree: Path, files: int) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        copy, home = Path(folder) / "tree", Path(folder) / "home"
        chosen = [entry.path for entry in list_files(open_root(tree), Settings().corpus).entries][:files]
        for path in chosen:
            target = copy / os.fsdecode(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree / os.fsdecode(path), target)
        environ = {**os.environ, "MGREP_TUI_HOME": str(home)}
        began = time.perf_counter()
        explorer = LocalExplorer(open_root(copy), Settings(), user_folders(environ), environ)
        explorer.start()
        first = None
        while first is None:
            found = Collected()
            explorer.answer("how errors are handled", Mode.SEMANTIC, SearchOptions(), found, CancelToken(), limit=20)
            if found.hits:
                first = time.perf_counter() - began
            else:
                time.sleep(0.02)
        explorer.wait(CancelToken(), needs_vectors=True)
        whole = time.perf_counter() - began
        explorer.close()
    return [
        figures(f"{len(chosen):,} files: first answer", [first * 1000], "2,000 ms"),
        figures(f"{len(chosen):,} files: everything complete", [whole * 1000], "5,000 ms"),
    ]


def texts_of(tree: Path, most: int) -> list[str]:
    settings = Settings()
    root = open_root(tree)
    texts: list[str] = []
    with Reader(root) as reader:
        for entry in list_files(root, settings.corpus).entries:
            try:
                canonical = searchable(reader.read(entry.path, settings.chunking.max_file_bytes).data)
            except UnreadableError:
                continue
            if canonical is not None:
                language = language_of(entry.path, canonical.data[:1000])
                cut = chunk_file(entry.path, canonical.data, language, settings.chunking)
                texts += [embedding_text(entry.path, chunk) for chunk in cut.chunks]
            if len(texts) >= most:
                break
    return texts[:most]


def static(tree: Path) -> list[dict[str, object]]:
    texts = texts_of(tree, TEXTS)
    model = load_static()
    burned = time.process_time()
    model.embed_documents(texts)
    rate = len(texts) / (time.process_time() - burned)
    return [figures(f"100,000 static vectors, one core ({rate:,.0f}/s)", [1e8 / rate], "30,000 ms")]


def deep(tree: Path) -> list[dict[str, object]]:
    from mgrep_tui.embedding.cache import EmbeddingCache
    from mgrep_tui.embedding.deep import DeepTier

    texts = texts_of(tree, RESCORED * 4)
    if len(texts) < RESCORED * 4:
        raise SystemExit("The tree is too small.")
    random.Random(3).shuffle(texts)
    with tempfile.TemporaryDirectory() as folder:
        tier = DeepTier(Settings().semantic, EmbeddingCache(Path(folder) / "cache.sqlite3"))
        tier.embed_query("warm", limit_s=600)

        def timed(some: Sequence[str], question: str) -> float:
            began = time.perf_counter()
            tier.rescore(question, some, limit_s=600)
            return (time.perf_counter() - began) * 1000

        groups = [texts[start : start + RESCORED] for start in range(0, len(texts), RESCORED)]
        uncached = [timed(group, f"question {number}") for number, group in enumerate(groups)]
        cached = [timed(group, f"question {number}") for number, group in enumerate(groups)]
        tier.close()
    return [
        figures(f"rescoring {RESCORED} uncached, with the question", uncached, "1,500 ms"),
        figures(f"rescoring {RESCORED} cached, a known question", cached, "30 ms"),
    ]


RIVAL = """
import json, sys, time
sys.path.append(sys.argv[2])
from mgrep_tui.embedding.static import load_static
from semble.index import index as engine
class Model:
    def __init__(self):
        self.model = load_static()
        self.dim = self.model.dimension
    def encode(self, texts, *_, **__):
        found = self.model.embed_documents([texts] if isinstance(texts, str) else list(texts))
        return found[0] if isinstance(texts, str) else found
engine.load_model = lambda path=None: (Model(), "ours")
asked = json.load(sys.stdin)
began = time.process_time()
index = engine.SembleIndex.from_path(sys.argv[1])
built = time.process_time() - began
for text in asked:
    index.search(text, top_k=20)
cpu = []
for text in asked * 3:
    burned = time.thread_time()
    index.search(text, top_k=20)
    cpu.append((time.thread_time() - burned) * 1000)
print(json.dumps({"built_s": built, "chunks": len(index.chunks), "cpu": cpu}))
"""


def rival(tree: Path, python: str) -> list[dict[str, object]]:
    """Both engines on the same tree, ours with an index made for it, theirs in memory as it works."""
    ours = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "MGREP_TUI_HOME": home}
        began = time.perf_counter()
        explorer = LocalExplorer(open_root(tree), Settings(), user_folders(environ), environ, watch=False)
        explorer.start()
        explorer.wait(CancelToken(), needs_vectors=True)
        built = time.perf_counter() - began
        explorer.close()
        rows = [figures("ours: index, both signals, wall", [built * 1000], ""), *query(tree, Path(home))]
        asked = questions_of(AsIs(open_root(tree), user_folders(environ)))
    run = subprocess.run(
        [python, "-c", RIVAL, str(tree), str(ours)], input=json.dumps(asked), capture_output=True, text=True
    )
    if run.returncode:
        print(
            f"semble could not be run: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else run.returncode}"
        )
        return rows
    found = json.loads(run.stdout.splitlines()[-1])
    return [
        *rows,
        figures(f"semble: index, CPU, {found['chunks']:,} chunks", [found["built_s"] * 1000], ""),
        figures("semble: a warm question, CPU", found["cpu"], ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("query", "open", "static", "deep", "rival"))
    parser.add_argument("tree", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    parts: dict[str, Callable[[], list[dict[str, object]]]] = {
        "query": lambda: query(given.tree, given.home),
        "open": lambda: opening(given.tree, given.files),
        "static": lambda: static(given.tree),
        "deep": lambda: deep(given.tree),
        "rival": lambda: rival(given.tree, given.python),
    }
    print(f"{'milliseconds':44}{'p50':>10} {'p95':>10} {'n':>6}  wanted")
    rows = parts[given.part]()
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
