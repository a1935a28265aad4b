"""What it costs to be sure that an answer is fresh, to do nothing, and to switch to another branch.

    python -m tests.benchmarks.freshness checks TREE            the check behind an answer, watched and not
    python -m tests.benchmarks.freshness idle TREE [SECONDS]    processor time of an open index in which nothing happens
    python -m tests.benchmarks.freshness switch REPOSITORY [FILES]   `git switch` between branches that differ in so many files

`--home FOLDER` keeps the index between runs, `--json FILE` writes the numbers. TREE is only read; REPOSITORY is cloned.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.index import IndexWorker
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from mgrep_tui.model import IndexState, Mode
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders, user_folders

CHECKS = 200
SWITCHES = 4
QUIET_S = 1.0
SETTLED_S = 10.0  # by then every file's stat can be trusted, and pools have ended


def tree_of_processes(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            found += tree_of_processes(int(child))
    return found


class Processor:
    """Seconds of processor time of this process and all children that it has or had."""

    def __init__(self) -> None:
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._seen: dict[int, float] = {}

    def __call__(self) -> float:
        for pid in tree_of_processes(os.getpid()):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            self._seen[pid] = (int(fields[11]) + int(fields[12])) / self._ticks
        return sum(self._seen.values())


def wait_for(condition: Callable[[], object], limit_s: float = 600.0) -> float:
    """Seconds until it holds."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > limit_s:
            raise SystemExit("it did not come about")
        time.sleep(0.02)
    return time.monotonic() - began


def opened(tree: Path, folders: Folders, *, watch: bool) -> IndexWorker:
    worker = IndexWorker(open_root(tree), Settings(), folders, semantic=False, watch=watch)
    worker.start()
    worker.wait_complete(CancelToken())
    if watch and worker._tending._watch is not None:
        watcher = worker._tending._watch
        wait_for(lambda: watcher.is_current(CancelToken()) or not watcher.is_whole)
    return worker


def checks(tree: Path, folders: Folders) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, watch, count in (("watched", True, CHECKS), ("not watched", False, 10)):
        worker = opened(tree, folders, watch=watch)
        wall, cpu = [], []
        for _ in range(count):
            began, spent = time.perf_counter(), time.thread_time()
            worker.check(CancelToken())
            wall.append((time.perf_counter() - began) * 1e3)
            cpu.append((time.thread_time() - spent) * 1e3)
        found[name] = {
            "files": len(worker._coverage.known()),
            "state": worker.health().watcher,
            "p50 ms": round(statistics.median(wall), 3),
            "p95 ms": round(sorted(wall)[int(count * 0.95)], 3),
            "processor p50 ms (this thread, git's apart)": round(statistics.median(cpu), 3),
        }
        worker.stop(60.0)
    return found


def idle(tree: Path, folders: Folders, seconds: float) -> dict[str, object]:
    worker = opened(tree, folders, watch=True)
    wait_for(lambda: worker.health().state is IndexState.READY)
    time.sleep(SETTLED_S)
    processor = Processor()
    before = processor()
    time.sleep(seconds)
    spent = processor() - before
    found = {"seconds": seconds, "processor s": round(spent, 3), "share %": round(100 * spent / seconds, 3)}
    worker.stop(60.0)
    return found


def is_text(path: Path) -> bool:
    data = path.read_bytes()
    return len(data) < 100_000 and searchable(data) is not None


class Switching:
    """A clone with two branches, and an explorer on it."""

    def __init__(self, repository: Path, files: int, folder: Path, folders: Folders) -> None:
        self.tree = folder / "tree"
        source = f"file://{repository.resolve()}"
        subprocess.run(("git", "clone", "-q", "--depth", "1", source, self.tree), check=True)
        source_of_chance = random.Random(1)
        tracked = [self.tree / os.fsdecode(name) for name in self.git("ls-files", "-z").split(b"\0")[:-1]]
        searched = {os.fsdecode(entry.path) for entry in list_files(open_root(self.tree), Settings().corpus).entries}
        tracked = [path for path in tracked if str(path.relative_to(self.tree)) in searched and is_text(path)]
        self.git("switch", "-qc", "one")
        self.git("switch", "-qc", "other")
        self.files = min(files, len(tracked))
        for path in source_of_chance.sample(tracked, self.files):
            lines = path.read_bytes().split(b"\n")
            lines.insert(source_of_chance.randrange(len(lines)), b"# switched token")
            path.write_bytes(b"\n".join(lines))
        self.git("commit", "-qam", "other")
        self.git("switch", "-q", "one")
        prepare()
        self.explorer = LocalExplorer(open_root(self.tree), Settings(), folders, os.environ)
        self.explorer.start()
        self.explorer.wait(CancelToken(), needs_vectors=True)

    def git(self, *arguments: str) -> bytes:
        command = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments)
        return subprocess.run(command, cwd=self.tree, check=True, capture_output=True).stdout

    def count(self) -> int:
        found = Collected()
        options = SearchOptions(literal=True, case="yes")
        self.explorer.answer("switched token", Mode.REGEX, options, found, CancelToken(), limit=1_000_000)
        return len(found.hits)

    def is_quiet(self) -> bool:
        health = self.explorer.health()
        return health.state is IndexState.READY and not health.files_pending

    def switch(self, to: str, expected: int) -> dict[str, object]:
        processor = Processor()
        before = processor()
        began = time.monotonic()
        self.git("switch", "-q", to)
        switched = time.monotonic()
        wrong = searches = 0
        first_ms = 0.0
        settled = threading.Event()
        quiet_since = None
        while not settled.is_set():
            asked = time.monotonic()
            wrong += self.count() != expected
            searches += 1
            first_ms = first_ms or (time.monotonic() - asked) * 1e3
            processor()
            if not self.is_quiet():
                quiet_since = None
            elif quiet_since is None:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > QUIET_S:
                settled.set()
            time.sleep(0.1)
        assert quiet_since is not None
        return {
            "to": to,
            "git s": round(switched - began, 2),
            "settled s after git": round(quiet_since - switched, 2),
            "searches meanwhile": searches,
            "wrong": wrong,
            "first answer ms": round(first_ms, 1),
            "processor s": round(processor() - before, 2),
        }

    def run(self) -> dict[str, object]:
        rows = []
        for number in range(SWITCHES):
            to = ("other", "one")[number % 2]
            rows.append(self.switch(to, self.files if to == "other" else 0))
        time.sleep(5.0)
        processor = Processor()
        before = processor()
        time.sleep(10.0)
        spent = processor() - before
        self.explorer.close()
        return {"files": self.files, "switches": rows, "processor s in 10 s afterwards": round(spent, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=("checks", "idle", "switch"))
    parser.add_argument("tree", type=Path)
    parser.add_argument("number", type=float, nargs="?")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="freshness-"))
    folders = user_folders({"MGREP_TUI_HOME": str(arguments.home or folder / "home")})
    try:
        if arguments.part == "switch":
            found = Switching(arguments.tree, int(arguments.number or 2_000), folder, folders).run()
        else:
            prepare()
            if arguments.part == "idle":
                found = idle(arguments.tree, folders, arguments.number or 60.0)
            else:
                found = checks(arguments.tree, folders)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, value in found.items():
        for row in value if isinstance(value, list) else [value]:
            cells = row.items() if isinstance(row, dict) else [("", row)]
            print(f"{name:12}", "  ".join(f"{key} {cell}".strip() for key, cell in cells))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
