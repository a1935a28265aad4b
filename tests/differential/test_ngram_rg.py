"""The index against ripgrep: every file that `rg -l` names is a candidate, and the candidates hold every line that it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from mgrep_tui.ngram.plan import plan
from tests.support import ngram_cases as cases
from tests.support import ngram_world as worlds

RG = shutil.which("rg") or shutil.which("rg", path=os.path.dirname(sys.executable))
PATTERNS = [
    "def ", "class [A-Z]\\w+", "import (os|sys)", "self\\.\\w+\\(", "return None", "raise \\w+Error", "(?i)fold", "foo.*bar",
    "\\bgrams?\\b", "TODO|FIXME", "[a-z]+_of\\(", "for \\w+ in",
    "\\bexcept\\b", "0x[0-9a-f]{2}", "\"\"\"[A-Z]", "^from ", "\\)$", "(?i)utf-?8", "\\d{2,}",
    "_bytes\\b", "np\\.\\w+32", "(get|set|has)_\\w+", "(?:foo|ba[rz])+_", "x{2,}", "if .* is (not )?None", "\\Aimport", "e\\z",
]  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, worlds.World]:
    """Our own sources, and texts of the fuzz test that ripgrep reads as we do: without byte order marks and NULs."""
    folder = tmp_path_factory.mktemp("rg")
    source = Path(__file__).parents[2] / "mgrep_tui"
    files = {str(path.relative_to(source)).encode(): path.read_bytes() for path in sorted(source.rglob("*.py"))}
    for seed in range(120):
        text = cases.text(Random(seed), 30)
        if text[:2] not in (b"\xff\xfe", b"\xfe\xff") and not text.startswith(b"\xef\xbb\xbf") and b"\0" not in text:
            files[b"fuzz/%03d.txt" % seed] = text
    with worlds.small_blocks(512, 1 << 20):
        return folder, worlds.World.make(folder, files)


def _lines_of_rg(folder: Path, pattern: str) -> set[tuple[bytes, int]] | None:
    command = [str(RG), "--no-config", "--no-ignore", "--text", "-n", "--null", "--color=never", "-e", pattern, "."]
    done = subprocess.run(command, cwd=folder / "tree", capture_output=True, check=False)
    if done.returncode == 2:
        return None
    found = set()
    for line in done.stdout.split(b"\n"):
        path, nul, rest = line.partition(b"\0")
        if nul:
            found.add((path.removeprefix(b"./"), int(rest.partition(b":")[0]) - 1))
    return found


def _check(world: tuple[Path, worlds.World], pattern: str) -> int:
    folder, ours = world
    expected = _lines_of_rg(folder, pattern)
    if expected is None:
        return 0
    candidates = ours.candidates(plan(pattern))
    for path, line in expected:
        text = ours.texts.get(path)
        if text is None:
            continue  # ripgrep was told to read what we take for binary
        assert path in candidates, (pattern, path, line)
        blocks = candidates[path].blocks
        if blocks is not None:
            ends = [
                block.first_line + text.data[block.start_byte : block.start_byte + block.length_bytes].count(b"\n")
                for block in blocks
            ]
            assert any(block.first_line <= line <= end for block, end in zip(blocks, ends, strict=True)), (
                pattern,
                path,
                line,
            )
    return len(expected)


@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
def test_realistic_patterns(world: tuple[Path, worlds.World]) -> None:
    assert sum(_check(world, pattern) for pattern in PATTERNS) > 1_000


@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
@pytest.mark.parametrize("seed", range(4))
def test_random_patterns(world: tuple[Path, worlds.World], seed: int) -> None:
    rng = Random(seed)
    raws = [text.data for text in world[1].texts.values()]
    assert sum(_check(world, cases.pattern(rng, raws)) for _ in range(50)) > 0
