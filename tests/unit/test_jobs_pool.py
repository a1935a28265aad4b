"""Child processes: one task's crash or overrun is its own; closing kills; nothing outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from mgrep_tui.jobs.pool import ChildPool, is_child_fault, prepare
from tests.support.index_world import wait_until


def double(number: int) -> int:
    return 2 * number


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def spin() -> None:
    while True:
        pass


def descriptors() -> tuple[bool, int]:
    return os.path.samestat(os.fstat(2), os.stat(os.devnull)), os.getpriority(os.PRIO_PROCESS, 0)


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    prepare()
    made = ChildPool(1)
    yield made
    made.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_one_crash_and_one_overrun_harm_themselves_alone(pool: ChildPool) -> None:
    futures = [
        pool.submit(double, 1, timeout_s=60.0),
        pool.submit(die, timeout_s=60.0),
        pool.submit(spin, timeout_s=0.5),
        pool.submit(double, 2, timeout_s=60.0),
    ]
    assert futures[0].result() == 2
    for failed in futures[1:3]:
        error = failed.exception()
        assert error is not None and is_child_fault(error)
    assert futures[3].result() == 4
    assert not is_child_fault(ValueError())


def test_children_are_quiet_and_give_way(pool: ChildPool) -> None:
    is_silent, niceness = pool.submit(descriptors, timeout_s=60.0).result()
    assert is_silent
    assert niceness > os.getpriority(os.PRIO_PROCESS, 0) or niceness == 19


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_closing_kills_what_runs(pool: ChildPool) -> None:
    pool.warm().result()
    (pid,) = pool.pids()
    pool.submit(spin, timeout_s=600.0)
    pool.close()
    wait_until(lambda: not is_alive(pid), "the child's end")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_children_end_with_a_parent_that_was_killed() -> None:
    code = (
        "import time\n"
        "from mgrep_tui.jobs.pool import ChildPool\n"
        "if __name__ == '__main__':\n"
        "    pool = ChildPool(1)\n"
        "    pool.warm().result()\n"
        "    print(*pool.pids(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_alive(pid), "the child's end")


def test_closing_returns_at_once(pool: ChildPool) -> None:
    pool.warm().result()
    pool.submit(spin, timeout_s=600.0)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 5  # 0.02 s on a machine of its own
