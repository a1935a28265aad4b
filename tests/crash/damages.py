"""Every file of an index damaged in turn, in each of five ways, and the whole program over it each time.

    python -m tests.crash.damages FOLDER [SEED [CASES]]

The ways: a bit flipped, cut in half, emptied, replaced by an older generation's, replaced by one that another version made. After each the
index is opened: the first answer must equal a scan, the last too, and in the end the stores hold what a fresh index holds.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from mgrep_tui.index import IndexWorker
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from tests.support.index_world import STOP_S, InlineJob, World, assert_stores_agree, wait_until

FILES = 12
NEEDLES = ("needle 3", "needle", "older", "function_7")
WAYS = ("bit", "cut", "empty", "older", "other version")
# What another version would write into its files.
VERSIONS = (
    ("mgrep_tui.index.manifest.FORMAT", 99),
    ("mgrep_tui.ngram.layout.FORMAT", 99),
    ("mgrep_tui.retrieval.keywords.FORMAT", "99"),
    ("mgrep_tui.retrieval.vectors.FORMAT", 99),
    ("mgrep_tui.index.schema.SCHEMA_VERSION", 99),
)


@contextmanager
def quick() -> Iterator[None]:
    """Segments of a dozen files, built here and at once."""

    def settled(stat: object, taken_ns: int) -> bool:
        return stat.ctime_ns < taken_ns - 20_000_000  # type: ignore[attr-defined,no-any-return]

    changes: list[tuple[str, object]] = [
        ("mgrep_tui.index.grams.STALE_FILES", 3),
        ("mgrep_tui.index.grams.SegmentJob", InlineJob),
        ("mgrep_tui.index.grams.SETTLE_NS", 20_000_000),
        *((f"mgrep_tui.index.{room}.is_settled", settled) for room in ("coverage", "grams", "meaning")),
    ]
    with patched(changes):
        yield


@contextmanager
def patched(changes: list[tuple[str, object]] | tuple[tuple[str, object], ...]) -> Iterator[None]:
    patches = [mock.patch(name, value) for name, value in changes]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()


def role(path: Path) -> str:
    """What a file of the index is for, the same in every index."""
    if path.parent.name == "keywords":
        return f"keywords/{path.name if path.name.startswith(('.', 'meta')) else path.suffix}"
    return path.name


def files_of(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "lock" and not path.name.endswith((".lock", "-shm")):
            found[role(path)] = path
    return found


class Damages:
    """A whole index, an older state of it and one of another version, to take files from."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.store = folder / "store"
        for number in range(FILES):
            self.world.tree.write(f"m{number}.py", f"def function_{number}():\n    return 'needle {number} older'\n")
        self._make("older")
        for number in range(FILES):
            self.world.tree.write(f"m{number}.py", f"def function_{number}():\n    return 'needle {number}'\n")
        with patched(VERSIONS):
            self._make("other version", keeps=False)
        shutil.rmtree(self.world.home)
        shutil.copytree(self.store / "older-home", self.world.home)
        self._make("whole")
        self.chunks = self.world.chunks()

    def _make(self, name: str, *, keeps: bool = True) -> None:
        if not keeps:
            shutil.rmtree(self.world.home, ignore_errors=True)
        with self.world.running(semantic=True) as worker:
            self._settle(worker)
        shutil.copytree(self.world.folder, self.store / name)
        shutil.copytree(self.world.home, self.store / f"{name}-home")

    def _settle(self, worker: IndexWorker) -> None:
        wait_until(lambda: worker.snapshot().segments and not worker.snapshot().extra, "settling")
        assert worker.wait_complete(CancelToken())

    @property
    def roles(self) -> list[str]:
        return sorted(files_of(self.store / "whole"))

    def cases(self) -> list[tuple[str, str]]:
        return [(name, way) for name in self.roles for way in WAYS]

    def damage(self, path: Path, name: str, way: str, source: random.Random) -> bool:
        """Whether there was something to do."""
        if way == "bit":
            content = bytearray(path.read_bytes())
            if not content:
                return False
            content[source.randrange(len(content))] ^= 1 << source.randrange(8)
            path.write_bytes(content)
        elif way == "cut":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        elif way == "empty":
            path.write_bytes(b"")
        else:
            other = files_of(self.store / way).get(name)
            if other is None:
                return False
            shutil.copyfile(other, path)
        return True

    def run(self, name: str, way: str, source: random.Random) -> str:
        """Damage, open, compare. What the program said."""
        world = self.world
        shutil.rmtree(world.folder)
        # With its times, or the seals of all files would be broken at once.
        shutil.copytree(self.store / "whole", world.folder, copy_function=shutil.copy2)
        self._seal_again()
        target = files_of(world.folder).get(name)
        if target is None or not self.damage(target, name, way, source):
            return "nothing to damage"
        worker = world.start(semantic=True)
        try:
            wait_until(lambda: worker.health().files_seen == FILES or worker.snapshot().covers, "opening")
            for needle in NEEDLES:
                assert world.search(worker, needle) == world.scan(needle), (name, way, needle)
            self._settle(worker)
            for needle in NEEDLES:
                assert world.search(worker, needle) == world.scan(needle), (name, way, needle)
            assert_stores_agree(worker)
            assert not worker.health().last_error, (name, way, worker.health().last_error)
            events = worker.health().events
        finally:
            worker.stop(STOP_S)
            world.workers.clear()
        assert world.chunks() == self.chunks, (name, way)
        return "; ".join(event[9:] for event in reversed(events)) or "nothing was said"

    def _seal_again(self) -> None:
        """Copied files have other change times: open and close once, as if nothing had been copied."""
        with self.world.running(semantic=True) as worker:
            self._settle(worker)


def run(folder: Path, seed: int, count: int, report: Callable[[str], None] = lambda line: None) -> int:
    """Cases that were run."""
    source = random.Random(seed)
    with quick():
        damages = Damages(folder)
        cases = damages.cases()
        source.shuffle(cases)
        for name, way in cases[:count]:
            report(f"{name}, {way}: {damages.run(name, way, source)}")
    return min(count, len(cases))


def main() -> None:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    prepare()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
    print(run(folder, seed, count, lambda line: print(line, flush=True)), "cases")


if __name__ == "__main__":
    main()
