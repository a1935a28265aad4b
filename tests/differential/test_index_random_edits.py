"""Random edits, and after each the indexed answer beside the answer of a scan. Segments, overlays and merges happen all the while."""

from __future__ import annotations

import os
import random
import shutil
from functools import partial
from pathlib import Path

import pytest

from mgrep_tui.index import IndexWorker
from mgrep_tui.index import grams as grams_module
from mgrep_tui.jobs.cancel import CancelToken
from tests.support.index_world import STOP_S, InlineJob, World, wait_until

STEPS = 60
FILES = 24
NEEDLES = ("alpha", "beta", "gamma")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which two dozen files go through what thousands would."""
    monkeypatch.setattr(grams_module, "STALE_FILES", 3)
    monkeypatch.setattr(grams_module, "REBUILD_FILES", 15)
    monkeypatch.setattr(grams_module, "MAX_OVERLAYS", 2)
    monkeypatch.setattr(grams_module, "SegmentJob", InlineJob)
    monkeypatch.setattr(grams_module, "SETTLE_NS", 20_000_000)
    settled = lambda stat, taken_ns: stat.ctime_ns < taken_ns - 20_000_000  # noqa: E731
    for module in ("coverage", "grams"):
        monkeypatch.setattr(f"mgrep_tui.index.{module}.is_settled", settled)


def text(source: random.Random) -> str:
    return "\n".join(source.choice(NEEDLES) + str(source.randrange(5)) for _ in range(6)) + "\n"


def edit(world: World, source: random.Random) -> None:
    """One change; every third keeps size and modification time."""
    path = f"d{source.randrange(4)}/f{source.randrange(FILES)}.txt"
    file = world.tree.path / path
    kind = source.randrange(8)
    if kind == 0 and file.exists():
        file.unlink()
    elif kind == 1 and file.exists():
        stat = file.stat()
        file.write_bytes(file.read_bytes().swapcase() if source.random() < 0.5 else os.urandom(stat.st_size))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif kind == 2 and file.exists():
        os.replace(file, world.tree.path / f"d{source.randrange(4)}" / f"r{source.randrange(6)}.txt")
    elif kind == 3:
        shutil.rmtree(world.tree.path / f"d{source.randrange(1, 4)}", ignore_errors=True)
        for number in range(4):
            (world.tree.path / f"d{number}").mkdir(exist_ok=True)
    elif kind == 4:
        world.tree.write(f"d{source.randrange(4)}/new{source.randrange(3)}/deep/f.txt", text(source))
    elif kind == 5 and file.exists():
        os.utime(file)
    elif kind == 6:
        world.tree.write(".gitignore", source.choice(["*.log\n", "r*.txt\n", ""]))
    else:
        world.tree.write(path, text(source))


def is_settled(worker: IndexWorker) -> bool:
    return len(worker.snapshot().extra) < 3 or not worker.snapshot().covers


def covers(worker: IndexWorker) -> bool:
    return worker.snapshot().covers


@pytest.mark.parametrize(("seed", "watch"), [(1, False), (2, True), (3, True)])
def test_the_indexed_answer_is_the_scan(tmp_path: Path, seed: int, watch: bool) -> None:
    source = random.Random(seed)
    world = World(tmp_path)
    for number in range(FILES):
        world.tree.write(f"d{number % 4}/f{number}.txt", text(source))
    world.tree.init()
    worker = world.complete(watch=watch)
    try:
        for step in range(STEPS):
            for _ in range(source.choice((1, 1, 2, 6))):
                edit(world, source)
            needle = source.choice(NEEDLES) + str(source.randrange(5))
            assert world.search(worker, needle) == world.scan(needle), (step, needle)
            if step % 10 == 9:
                wait_until(partial(is_settled, worker), "settling")
                assert world.search(worker, needle) == world.scan(needle), (step, needle)
            if step % 25 == 24:  # a new start goes on from what was published
                worker.stop(STOP_S)
                edit(world, source)
                worker = world.start(watch=watch)
                wait_until(partial(covers, worker), "opening")
                assert world.search(worker, needle) == world.scan(needle), (step, needle)
        assert worker.wait_complete(CancelToken())
        assert not worker.health().last_error
    finally:
        world.close()
