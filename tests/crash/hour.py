"""Edit, switch and search a repository at random for a time; in the end the index equals a fresh one, and nothing has grown.

    python -m tests.crash.hour FOLDER REPOSITORY SECONDS [SEED [PAUSE_S]]

REPOSITORY is cloned into FOLDER and gets branches that differ in thousands of files. Then, over and over: a few moves of the kinds that
editors and git make, and at once a search through the explorer with the watcher on, held against a scan of the same files. Every half
minute a line of numbers; JSON in FOLDER/numbers.json at the end. Exit code 1 when an answer was wrong or something grew.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from mgrep_tui.corpus.decode import searchable, split_lines
from mgrep_tui.corpus.read import read_file
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.index import IndexWorker
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from mgrep_tui.model import Mode
from tests.differential.moves import Mover
from tests.support.index_world import STOP_S, World, assert_stores_agree

BRANCHES = 3
SWITCHED_FILES = 2_000
TELL_S = 30.0
SETTLE_S = 60.0
# What may grow: nothing for good, but allocators and caches fill up in the first half.
GROWTH = 1.25


@dataclass(frozen=True)
class Sample:
    at_s: float
    rounds: int
    memory_mb: float
    descriptors: int
    threads: int
    children: int
    index_files: int
    index_mb: float
    known: int
    quick: int
    checks: int


class Hour:
    """One run."""

    def __init__(self, folder: Path, repository: Path, seed: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(
            ("git", "clone", "-q", "--no-hardlinks", "--depth", "1", f"file://{repository.resolve()}", folder / "tree"),
            check=True,
        )
        self.world = World(folder)
        self.random = random.Random(seed)
        self.mover = Mover(self.world, seed)
        self.rounds = self.edits = self.checks = self.quick = self.wrong = 0
        self.samples: list[Sample] = []
        self.began = time.monotonic()
        self._branch_out()
        self.explorer = LocalExplorer(self.world.root, self.world.settings, self.world.folders, os.environ)
        self.explorer.start()
        self.explorer.wait(CancelToken(), needs_vectors=False)

    def _branch_out(self) -> None:
        git = self.mover.git
        tracked = [path for path in self._files() if path.stat().st_size < 100_000]
        for number in range(BRANCHES):
            git("switch", "-qc", f"side{number}")
            for path in self.random.sample(tracked, min(SWITCHED_FILES, len(tracked) // 2)):
                with path.open("ab") as file:
                    file.write(f"# side{number} token{self.random.randrange(1000)}\n".encode())
            git("commit", "-qam", f"side {number}")
        git("switch", "-q", "side0")

    def _files(self) -> list[Path]:
        output = subprocess.run(
            ("git", "ls-files", "-z"), cwd=self.world.tree.path, check=True, capture_output=True
        ).stdout
        return [self.world.tree.path / os.fsdecode(name) for name in output.split(b"\0")[:-1]]

    @property
    def worker(self) -> IndexWorker:
        engines = self.explorer._engines
        assert engines is not None and engines._worker is not None
        return engines._worker

    # --- moves

    def move(self) -> str:
        """One change; most are edits of what is there."""
        draw = self.random.random()
        self.edits += 1
        try:
            if draw < 0.50:
                return self._edit()
            if draw < 0.53:
                return self._git("switch", "-qf", f"side{self.random.randrange(BRANCHES)}")
            if draw < 0.55:
                return self._git(*self.random.choice((("stash", "-q"), ("reset", "-q", "--hard"), ("clean", "-fdq"))))
            if draw < 0.56:
                return self._git("commit", "-qam", f"change {self.edits}", *self.random.choice(((), ("--amend",))))
            return self.mover.step()
        except (OSError, subprocess.CalledProcessError):
            return "impossible"

    def _git(self, *arguments: str) -> str:
        self.mover.git(*arguments)
        return f"git {arguments[0]}"

    def _edit(self) -> str:
        files = self._files()
        path = self.random.choice(files)
        text = path.read_bytes()[:50_000]
        lines = text.split(b"\n")
        for _ in range(self.random.randrange(1, 4)):
            lines.insert(
                self.random.randrange(len(lines)), f"# edited{self.edits} token{self.random.randrange(1000)}".encode()
            )
        path.write_bytes(b"\n".join(lines))
        return "edit"

    # --- searches

    def search(self) -> None:
        """A search for a text, held against a scan."""
        needle = self.random.choice(
            (f"token{self.random.randrange(1000)}", f"edited{self.edits}", "def run_command", "needle", "saved 0.")
        )
        found = Collected()
        worker = self.worker
        before = worker._sweeper._begun
        options = SearchOptions(literal=True, case="yes", sort="path")
        outcome = self.explorer.answer(needle, Mode.REGEX, options, found, CancelToken(), limit=100_000)
        self.checks += 1
        self.quick += worker._sweeper._begun == before
        lines = {(hit.path, hit.line) for hit in found.hits}
        expected = set(self.scan(needle.encode()))
        if lines != expected or not outcome.is_verified:
            self.wrong += 1
            print(
                f"WRONG {needle} {self.last}: missing {sorted(expected - lines)[:5]}, too many {sorted(lines - expected)[:5]},"
                f" verified {outcome.is_verified}, {worker.health().watcher}",
                flush=True,
            )

    def scan(self, needle: bytes) -> Iterator[tuple[bytes, int]]:
        for entry in list_files(self.world.root, self.world.settings.corpus).entries:
            try:
                seen = searchable(read_file(self.world.root, entry.path, 1 << 30).data)
            except UnreadableError:
                continue
            if seen is not None and needle in seen.data:
                for number, line in enumerate(split_lines(seen.data)):
                    if needle in line:
                        yield entry.path, number

    def ask(self) -> None:
        """A question; its answers may lag, but it answers."""
        words = self.random.choice(
            ("where is the password read", "retry after an error", "token parser", "run command")
        )
        found = Collected()
        outcome = self.explorer.answer(words, Mode.SEMANTIC, SearchOptions(), found, CancelToken())
        if not found.hits and not outcome.is_partial:
            self.wrong += 1
            print(f"WRONG no answer to {words}: {self.explorer.health()}", flush=True)

    # --- the run

    last = ""

    def run(self, seconds: float, pause_s: float, rounds: int = 1_000_000) -> None:
        """Until the time is over or so many rounds are done."""
        until = time.monotonic() + seconds
        told = 0.0
        while time.monotonic() < until and self.rounds < rounds:
            names = [self.move() for _ in range(self.random.choice((1, 1, 1, 2, 4)))]
            self.last = ", ".join(names)
            if self.random.random() < 0.3:
                time.sleep(self.random.random() * 0.3)
            self.search()
            if self.random.random() < 0.2:
                self.ask()
            self.rounds += 1
            self._thin_out()
            time.sleep(self.random.random() * 2 * pause_s)
            if time.monotonic() - told > TELL_S:
                told = time.monotonic()
                self.tell()

    def _thin_out(self) -> None:
        """Neither the tree nor git's store may grow for ever."""
        if self.rounds % 50 == 49:
            self.mover.git("stash", "clear")
            shutil.rmtree(self.mover.outside)
            self.mover.outside.mkdir()

    def tell(self) -> None:
        sample = self.sample()
        self.samples.append(sample)
        print(sample, flush=True)

    def sample(self) -> Sample:
        files = [path for path in self.world.folder.rglob("*") if path.is_file()]
        status = Path("/proc/self/status").read_text()
        sizes = []
        for path in files:
            try:
                sizes.append(path.stat().st_size)
            except OSError:
                continue
        return Sample(
            round(time.monotonic() - self.began, 1),
            self.rounds,
            int(status.partition("VmRSS:")[2].split()[0]) / 1e3,
            len(os.listdir("/proc/self/fd")),
            int(status.partition("Threads:")[2].split()[0]),
            len(Path("/proc/self/task", str(os.getpid()), "children").read_text().split()),
            len(files),
            round(sum(sizes) / 1e6, 2),
            len(self.worker._coverage.known()),
            self.quick,
            self.checks,
        )

    def finish(self) -> dict[str, object]:
        """Compare with a fresh index. What was found, by name."""
        worker = self.worker
        worker.check(CancelToken())
        complete = worker.wait_complete(CancelToken())
        self.search()
        assert_stores_agree(worker)
        end = time.monotonic() + SETTLE_S
        while worker.snapshot().extra and time.monotonic() < end:
            time.sleep(0.1)
        self.tell()
        health = worker.health()
        worker.stop(STOP_S)
        self.explorer.close()
        fresh = World(self.world.home.parent)
        fresh.home = self.world.home.parent / "fresh"
        with fresh.running(semantic=True) as other:
            known = dict(other._coverage.known()) == dict(worker._coverage.known())
        half = len(self.samples) // 2
        early, late = self.samples[half // 2 : half + 1], self.samples[-max(1, len(self.samples) // 4) :]

        def grew(name: str) -> float:
            return max(getattr(item, name) for item in late) / max(1, max(getattr(item, name) for item in early))

        return {
            "rounds": self.rounds,
            "edits": self.edits,
            "checks": self.checks,
            "without a listing": self.quick,
            "wrong": self.wrong,
            "complete": complete,
            "same files as fresh": known,
            "same chunks as fresh": fresh.chunks() == self.world.chunks(),
            "last error": health.last_error,
            "growth": {
                name: round(grew(name), 3)
                for name in ("memory_mb", "descriptors", "threads", "index_files", "index_mb")
            },
            "samples": [asdict(item) for item in self.samples],
        }


def is_good(found: dict[str, object]) -> bool:
    growth = found["growth"]
    assert isinstance(growth, dict)
    return (
        not found["wrong"]
        and bool(found["complete"])
        and bool(found["same files as fresh"])
        and bool(found["same chunks as fresh"])
        and growth["memory_mb"] < GROWTH
        and growth["descriptors"] < GROWTH
        and growth["index_files"] < 2 * GROWTH  # a publication holds two generations for a moment
    )


def main() -> int:
    folder, repository, seconds = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    pause_s = float(sys.argv[5]) if len(sys.argv) > 5 else 0.0
    prepare()
    hour = Hour(folder, repository, seed)
    try:
        hour.run(seconds, pause_s)
    except MgrepError as error:
        print(f"WRONG {error}", flush=True)
        raise
    found = hour.finish()
    (folder / "numbers.json").write_text(json.dumps(found, indent=1))
    print(json.dumps({key: value for key, value in found.items() if key != "samples"}, indent=1))
    return 0 if is_good(found) else 1


if __name__ == "__main__":
    sys.exit(main())
