"""The long run of the n-gram fuzz: millions of pattern–text pairs, in several processes, repeatable by seed.

    python -m tests.property.fuzz_ngram_long [--pairs 5_000_000] [--processes 2] [--seed 0]

Each round makes a tree of small files with blocks of a few lines, indexes it, and asks for random patterns: each matching line must
lie in a candidate block. Some rounds then edit the tree: some files change, appear and go, and a second segment and the extra paths
speak for them.
Prints the rounds that failed and exits with 1 when there are any.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

from mgrep_tui.corpus.decode import searchable
from mgrep_tui.ngram.plan import plan
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import make_snapshot
from tests.support import ngram_cases as cases
from tests.support import ngram_world as worlds
from tests.support.long_run import Tally, main

FILES = 300
PATTERNS = 500


def play(seed: int) -> Tally:
    """One round."""
    rng = Random(seed)
    files = {b"d%d/f%03d" % (number % 7, number): cases.text(rng) for number in range(FILES)}
    with tempfile.TemporaryDirectory() as folder, worlds.small_blocks(rng.choice((16, 48, 48, 300)), 256):
        world = worlds.World.make(Path(folder), files)
        if rng.random() < 0.5:
            world, files = edited(rng, Path(folder), world, files)
        return ask(rng, seed, world, list(files.values()))


def edited(
    rng: Random, folder: Path, world: worlds.World, files: dict[bytes, bytes]
) -> tuple[worlds.World, dict[bytes, bytes]]:
    """The world after random edits: some are indexed in an overlay, some are only known as paths."""
    files = dict(files)
    paths = sorted(files)
    gone = rng.sample(paths, 5)
    indexed = {path: cases.text(rng) for path in [*rng.sample(paths, 10), b"new/a", b"new/b"] if path not in gone}
    extra = {path: cases.text(rng) for path in [*rng.sample(paths, 4), b"new/b", b"new/c"] if path not in gone}
    worlds.index(folder / "tree", indexed, folder / "index" / "overlay")
    worlds.write_files(folder / "tree", extra)
    for path in gone:
        del files[path]
    files |= indexed | extra
    segments = [*world.snapshot.segments, Segment.open(folder / "index" / "overlay")]
    texts = {path: text for path, raw in files.items() if (text := searchable(raw)) is not None}
    return worlds.World(texts, make_snapshot(segments, gone=gone, extra=extra, covers=True)), files


def ask(rng: Random, seed: int, world: worlds.World, raws: list[bytes]) -> Tally:
    tally = Tally()
    for _ in range(PATTERNS):
        is_backtracking = rng.random() < 0.04
        is_multiline = rng.random() < 0.06
        made = cases.backtracking_pattern(rng, raws) if is_backtracking else cases.pattern(rng, raws)
        executed = made if is_backtracking or rng.random() < 0.5 else cases.unicode_classes(made)
        compiled = (
            worlds.compile_regex(executed) if is_backtracking else worlds.compile_re2(executed, multiline=is_multiline)
        )
        if compiled is None:
            tally.refused += 1
            continue
        planned = plan(made, multiline=is_multiline)
        tally.patterns += 1
        tally.scans += planned.is_all
        if planned.is_all and rng.random() < 0.9:
            continue  # a scan cannot miss; a tenth of them keeps watch over the snapshot
        try:
            if is_backtracking or is_multiline or "\\A" in made or "\\z" in made:
                pairs, matching = world.check(planned, compiled, by_text=is_backtracking)
            else:
                pairs, matching = world.check_at_once(planned, compiled)
        except AssertionError as error:
            tally.failures += (f"seed {seed}: {made!r} run as {executed!r}: {error}",)
            continue
        tally.pairs += pairs
        tally.matching += matching
    return tally


if __name__ == "__main__":
    raise SystemExit(main(play, __doc__ or "", sys.argv[1:]))
