"""Random moves of every kind in a watched git tree; after each, what the index knows of the disk beside a fresh listing.

    python -m tests.differential.moves FOLDER STEPS [SEED]

A check that trusts the watcher where it must not would show here: names and stats have to be equal after every check, whatever was moved,
renamed, ignored, tracked, linked or turned into a repository the moment before.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from mgrep_tui.corpus import deciders
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.index import IndexWorker, tending, vigil
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from tests.support.index_world import STOP_S, World, wait_until

FOLDERS = ("a", "b", "c/d", "build", "c/build/x", "deep/er/and/deeper")
RULES = ("*.o\n", "build/\n", "b*\n!b/\n", "/c\n", "", "*.o\n!keep.o\n")


class Mover:
    """One tree that is moved about."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.top = world.tree.path
        self.outside = self.top.parent / "outside"
        self.outside.mkdir(exist_ok=True)
        self.moves: tuple[Callable[[], object], ...] = (
            self.write, self.write, self.write, self.same_size, self.remove, self.rename, self.replace, self.make_folders,
            self.remove_folder, self.move_folder, self.move_out, self.move_in, self.write_outside, self.rules, self.exclude,
            self.excludes_file, self.git_add, self.git_untrack, self.git_commit, self.git_switch, self.touch, self.mode,
            self.link, self.hard_link, self.hidden, self.nested, self.fifo, self.swap_folder_for_link, self.folder_mode,
            self.temporary, self.truncate, self.save_by_rename, self.git_clean, self.big,
        )  # fmt: skip

    def step(self) -> str:
        move = self.random.choice(self.moves)
        try:
            move()
        except (OSError, shutil.Error, subprocess.CalledProcessError):
            pass  # some moves are not possible in some states
        return move.__name__

    # --- where

    def folder(self) -> Path:
        return self.top / self.random.choice(FOLDERS)

    def name(self) -> str:
        return self.random.choice(("f", "g", "h", "keep")) + self.random.choice((".py", ".o", ".txt"))

    def file(self) -> Path:
        path = self.folder() / self.name()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_fifo():
            path.unlink()  # to open it for writing would wait for a reader
        return path

    def any_file(self) -> Path:
        found = [path for path in sorted(self.top.rglob("*")) if ".git" not in path.parts and path.is_file()]
        return self.random.choice(found) if found else self.file()

    def git(self, *arguments: str) -> None:
        subprocess.run(
            ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments),
            cwd=self.top, check=True, capture_output=True,
        )  # fmt: skip

    # --- moves

    def write(self) -> None:
        self.file().write_text(f"text {self.random.random()}\n")

    def same_size(self) -> None:
        path = self.any_file()
        status = path.stat()
        path.write_bytes(os.urandom(status.st_size))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def truncate(self) -> None:
        os.truncate(self.any_file(), self.random.randrange(5))

    def remove(self) -> None:
        self.any_file().unlink()

    def rename(self) -> None:
        self.any_file().rename(self.file())

    def replace(self) -> None:
        os.replace(self.any_file(), self.any_file())

    def save_by_rename(self) -> None:
        target = self.any_file()
        temporary = target.with_name(".tmp-" + target.name)
        temporary.write_text(f"saved {self.random.random()}\n")
        os.replace(temporary, target)

    def temporary(self) -> None:
        path = self.folder() / "4913"
        path.write_text("")
        path.unlink()

    def touch(self) -> None:
        os.utime(self.any_file())

    def mode(self) -> None:
        self.any_file().chmod(self.random.choice((0o600, 0o644, 0o400)))

    def folder_mode(self) -> None:
        self.folder().chmod(self.random.choice((0o755, 0o700)))

    def make_folders(self) -> None:
        path = self.top / f"n{self.random.randrange(5)}" / "x" / "y"
        path.mkdir(parents=True, exist_ok=True)
        (path / self.name()).write_text("new\n")

    def remove_folder(self) -> None:
        shutil.rmtree(self.random.choice((self.folder(), self.top / f"n{self.random.randrange(5)}")))

    def move_folder(self) -> None:
        self.folder().rename(self.top / f"n{self.random.randrange(5)}")

    def move_out(self) -> None:
        folder = self.folder()
        folder.rename(self.outside / f"{self.random.randrange(3)}")

    def move_in(self) -> None:
        (self.outside / f"{self.random.randrange(3)}").rename(self.folder())

    def write_outside(self) -> None:
        """In a folder that was moved out and may still be watched."""
        path = self.outside / f"{self.random.randrange(3)}" / self.name()
        if not path.is_fifo():
            path.write_text("outside\n")

    def rules(self) -> None:
        name = self.random.choice((".gitignore", ".gitignore", ".ignore", ".mgrepignore"))
        place = self.random.choice((self.top, self.top, self.folder()))
        (place / name).write_text(self.random.choice(RULES))

    def exclude(self) -> None:
        (self.top / ".git/info/exclude").write_text(self.random.choice(RULES))

    def excludes_file(self) -> None:
        (self.outside / "excludes").write_text(self.random.choice(RULES))
        self.git("config", "core.excludesFile", str(self.outside / "excludes"))

    def git_add(self) -> None:
        self.git("add", "-f", str(self.any_file()))

    def git_untrack(self) -> None:
        self.git("rm", "-q", "--cached", str(self.any_file()))

    def git_commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def git_switch(self) -> None:
        branch = f"b{self.random.randrange(3)}"
        try:
            self.git("switch", "-qf", branch)
        except subprocess.CalledProcessError:
            self.git("switch", "-qfc", branch)

    def git_clean(self) -> None:
        self.git("clean", "-fdq")

    def link(self) -> None:
        path = self.file()
        path.unlink(missing_ok=True)
        path.symlink_to(self.random.choice(("../a", "f.py", "/etc/hostname", "nowhere")))

    def swap_folder_for_link(self) -> None:
        folder = self.folder()
        shutil.rmtree(folder)
        folder.symlink_to(self.outside)

    def hard_link(self) -> None:
        path = self.any_file()  # a further name where nothing is watched is of what no event tells
        os.link(path, path.with_name(self.name()))

    def hidden(self) -> None:
        path = self.top / ".hidden" / "f.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("hidden\n")

    def nested(self) -> None:
        folder = self.top / f"n{self.random.randrange(5)}"
        folder.mkdir(exist_ok=True)
        if (folder / ".git").exists():
            shutil.rmtree(folder / ".git")
        else:
            subprocess.run(("git", "init", "-q", str(folder)), check=True, capture_output=True)
            (folder / "in.py").write_text("nested\n")

    def fifo(self) -> None:
        os.mkfifo(self.file())

    def big(self) -> None:
        os.truncate(self.any_file(), self.world.settings.corpus.max_file_bytes + self.random.randrange(-1, 2))


def difference(world: World, worker: IndexWorker) -> str:
    """How what the index knows differs from the disk; empty when it does not."""
    known = dict(worker._coverage.known())
    listed = {entry.path: entry.stat for entry in list_files(world.root, world.settings.corpus).entries}
    if known == listed:
        return ""
    both = known.keys() & listed.keys()
    return (
        f"missing {sorted(listed.keys() - known.keys())[:5]}, too many {sorted(known.keys() - listed.keys())[:5]},"
        f" other {[(path, known[path], listed[path]) for path in sorted(both) if known[path] != listed[path]][:3]}"
    )


def shorten() -> None:
    """Rests and waits of hundredths of a second, so that the watcher is mostly ready."""
    vigil.REST = tending.REST = 1
    vigil.REST_LEAST_S = tending.REST_LEAST_S = 0.01
    deciders.is_settled = lambda stat, taken_ns: stat.ctime_ns < taken_ns - 20_000_000  # type: ignore[assignment]


def get_ready(worker: IndexWorker, until_s: float) -> None:
    """Wait until the watcher has its baseline, but not for ever: some trees never let it."""
    end = time.monotonic() + until_s
    watch = worker._tending._watch
    while watch is not None and time.monotonic() < end and not watch.is_current(CancelToken()):
        worker.check(CancelToken())  # where a listing is needed, as a search makes it
        time.sleep(0.01)


def run(folder: Path, steps: int, seed: int, report: Callable[[str], None] = lambda line: None) -> tuple[int, int]:
    """Checks, and how many of them needed no listing."""
    shorten()
    world = World(folder)
    mover = Mover(world, seed)
    for _ in range(20):
        mover.write()
    world.tree.init()
    worker = world.complete(watch=True)
    quick = checks = 0
    try:
        wait_until(lambda: worker.health().watcher == "watching", "watching")
        for number in range(steps):
            if mover.random.random() < 0.8:
                get_ready(worker, 2.0)
            names = [mover.step() for _ in range(mover.random.choice((1, 1, 1, 2, 5)))]
            if mover.random.random() < 0.3:
                time.sleep(mover.random.random() * 0.2)  # the watcher may be anywhere
            for _ in range(mover.random.choice((1, 2))):
                before = worker._sweeper._begun
                worker.check(CancelToken())
                checks += 1
                quick += worker._sweeper._begun == before
                found = difference(world, worker)
                assert not found, (seed, number, names, found, worker.health().watcher)
            if number % 100 == 99:
                report(f"{number + 1} steps, {checks} checks, {quick} without a listing: {worker.health().watcher}")
    finally:
        worker.stop(STOP_S)
    return checks, quick


def main() -> None:
    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    shutil.rmtree(folder, ignore_errors=True)
    prepare()
    print(run(folder, steps, seed, lambda line: print(line, flush=True)))


if __name__ == "__main__":
    main()
