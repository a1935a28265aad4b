"""The runner of the long fuzz scripts: rounds by their seeds in several processes, until enough pattern–text pairs were tried."""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

ROUNDS_AT_ONCE = 10
RARELY = 200_000
"""New objects before cycles are looked for: there are none, and much is kept from one pattern to the next."""


@dataclass
class Tally:
    """What rounds have done: pattern–text pairs, lines that match, patterns that were tried, of them scans, patterns that were refused."""

    pairs: int = 0
    matching: int = 0
    patterns: int = 0
    scans: int = 0
    refused: int = 0
    failures: tuple[str, ...] = ()

    def add(self, other: Tally) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def main(play: Callable[[int], Tally], description: str, arguments: Sequence[str]) -> int:
    """Play rounds; `play` is a function of a module, and makes one of its seed. Returns 1 when any failed."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    total = Tally()
    started = time.monotonic()
    rounds = 0
    with multiprocessing.get_context("spawn").Pool(options.processes, gc.set_threshold, (RARELY,)) as pool:
        while total.pairs < options.pairs:
            seeds = range(options.seed + rounds, options.seed + rounds + ROUNDS_AT_ONCE)
            for tally in pool.imap_unordered(play, seeds):
                total.add(tally)
                for failure in tally.failures:
                    print(failure, flush=True)
            rounds += ROUNDS_AT_ONCE
            print(f"{rounds:,} rounds, {total.pairs:,} pairs, {time.monotonic() - started:.0f} s", flush=True)
    print(
        f"{total.pairs:,} pattern–text pairs, {total.matching:,} matching lines, {total.patterns:,} patterns ({total.scans:,} of them "
        f"scans), {total.refused:,} refused, {rounds:,} rounds from seed {options.seed}, {time.monotonic() - started:.0f} s, "
        f"{len(total.failures)} failures"
    )
    return 1 if total.failures else 0
