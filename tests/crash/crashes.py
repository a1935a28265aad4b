"""Kill the index at random moments, and see that nothing but work was lost.

    python -m tests.crash.crashes FOLDER ROUNDS [SEED [MEAN_LIFE_S [FILES]]]

Each round starts a child on a tree, edits the tree meanwhile, kills the child's whole process group at a random moment, opens the index in
this process and compares: regex answers equal a scan at once; when the index is complete, catalog, keywords and vectors hold the same
chunks, these are the ones a fresh index has (every tenth round), and the folder holds no more than one state needs.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from mgrep_tui.index import manifest
from mgrep_tui.index.generations import FOLDER, named_files
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from tests.crash.index_child import shrink
from tests.support.index_world import STOP_S, World, assert_stores_agree, wait_until

FILES = 60
# Mean lives of a child once it answers, one drawn for each round: opening, building and merging, and a rest after all was published.
LIVES_S = (0.2, 1.0, 4.0)
CHILD = Path(__file__).with_name("index_child.py")


def words(random_: random.Random) -> str:
    return " ".join(
        random_.choice(("alpha", "beta", "gamma", "delta", "omega")) + str(random_.randrange(40)) for _ in range(12)
    )


def edit(world: World, random_: random.Random, number: int, files: int = FILES) -> None:
    """One change of the kinds that editors and git make."""
    path = f"d{random_.randrange(6)}/f{random_.randrange(files)}.py"
    target = world.tree.path / path
    kind = random_.randrange(6)
    text = f"def change_{number}():\n    return '{words(random_)}'\n\n\nclass C{number}:\n    pass\n"
    if kind == 0 and target.exists():
        target.unlink()
    elif kind == 1 and target.exists():
        world.tree.write("d0/.tmp", text)
        os.replace(world.tree.path / "d0/.tmp", target)
    elif kind == 2 and target.exists():
        target.rename(target.with_name(f"r{number}.py"))
    elif kind == 3:
        for index in range(8):
            world.tree.write(f"n{number}/x{index}.py", text)
    else:
        world.tree.write(path, text)


def thin_out(world: World, random_: random.Random, most: int = FILES) -> None:
    files = sorted(world.tree.path.rglob("*.py"))
    for file in random_.sample(files, max(0, len(files) - 3 * most)):
        file.unlink()


class Rounds:
    def __init__(self, folder: Path, seed: int, mean_s: float | None = None, files: int = FILES) -> None:
        """`mean_s` is how long a child lives on average once it answers, in place of `LIVES_S`."""
        shrink()
        self.world = World(folder)
        self.random = random.Random(seed)
        self.edits = 0
        self.mean_s = mean_s
        self.files = files
        for number in range(files):
            self.world.tree.write(
                f"d{number % 6}/f{number}.py", f"def f{number}():\n    return '{words(self.random)}'\n"
            )

    def run_child(self) -> str:
        """Start, edit, kill. How far the child came."""
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(self.world.tree.path), str(self.world.home)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert child.stdout is not None
        first = child.stdout.readline()
        mean_s = self.random.choice(LIVES_S) if self.mean_s is None else self.mean_s
        until = time.monotonic() + self.random.expovariate(1 / mean_s)
        while time.monotonic() < until:
            self.edits += 1
            edit(self.world, self.random, self.edits, self.files)
            time.sleep(self.random.random() * 0.05)
        if self.random.random() < 0.5:
            os.killpg(child.pid, signal.SIGKILL)
        else:  # its own children are left, and have to end by themselves
            child.kill()
        rest, errors = child.communicate()
        # A grandchild that was being started when its parent was killed says so with a trace of `spawn_main`; nothing else may.
        if errors.count("Traceback") > errors.count("in spawn_main") or first != "open\n":
            raise AssertionError(errors)
        return "complete" if "complete" in rest else "open"

    def verify(self, *, thoroughly: bool) -> None:
        world = self.world
        worker = world.start(semantic=True)
        try:
            needles = [f"omega{self.random.randrange(40)}", f"change_{max(1, self.edits - 3)}", "alpha"]
            for needle in needles:
                assert world.search(worker, needle) == world.scan(needle), needle
            assert worker.wait_complete(CancelToken()), worker.health()
            for needle in needles:
                assert world.search(worker, needle) == world.scan(needle), needle
            assert_stores_agree(worker)
            wait_until(lambda: self._is_tidy(), "a tidy folder")
            assert not worker.health().last_error, worker.health()
            if thoroughly:
                self._compare_with_fresh()
        finally:
            worker.stop(STOP_S)
            world.workers.clear()

    def _is_tidy(self) -> bool:
        """The folder holds the files that CURRENT names, and nothing else."""
        found = manifest.load(self.world.folder)
        if found is None:
            return False
        present = {
            path.relative_to(self.world.folder).as_posix()
            for path in (self.world.folder / FOLDER).rglob("*")
            if path.is_file()
        }
        return present <= named_files(found)

    def _compare_with_fresh(self) -> None:
        fresh = World(self.world.home.parent)
        fresh.home = self.world.home.parent / "fresh"
        shutil.rmtree(fresh.home, ignore_errors=True)
        with fresh.running(semantic=True):
            pass
        assert fresh.chunks() == self.world.chunks()

    def round(self, number: int) -> str:
        came = self.run_child()
        self.verify(thoroughly=number % 10 == 0)
        thin_out(self.world, self.random, self.files)
        return came


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    shutil.rmtree(folder, ignore_errors=True)
    prepare()
    mean_s = float(sys.argv[4]) if len(sys.argv) > 4 else None
    rounds = Rounds(folder, seed, mean_s, int(sys.argv[5]) if len(sys.argv) > 5 else FILES)
    came = {"open": 0, "complete": 0}
    for number in range(1, count + 1):
        came[rounds.round(number)] += 1
        size = sum(path.stat().st_size for path in rounds.world.folder.rglob("*") if path.is_file())
        print(f"round {number}: killed {came}, {rounds.edits} edits, index {size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
