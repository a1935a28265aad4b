"""The indexed answer equals the scan: no matching line lies outside of the candidates, whatever the files, the pattern and the edits."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgrep_tui.ngram.plan import plan
from tests.property import fuzz_ngram_long as long_run
from tests.support import ngram_cases as cases
from tests.support import ngram_world as worlds

_SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_SLOW
@given(
    st.lists(st.binary(max_size=200), min_size=1, max_size=6),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), min_size=1, max_size=8),
    st.data(),
)
def test_any_bytes_around_any_literal(raws: list[bytes], literals: list[str], data: st.DataObject) -> None:
    """A1: the needle lies in other text on both sides, so that the grams at its edges have other neighbours."""
    files = {}
    for number, raw in enumerate(raws):
        chosen = data.draw(st.sampled_from(literals)).encode()
        place = data.draw(st.integers(0, len(raw)))
        files[b"f%d" % number] = raw[:place] + chosen + raw[place:]
    with tempfile.TemporaryDirectory() as folder, worlds.small_blocks(16, 128):
        world = worlds.World.make(Path(folder), files)
        for literal in literals:
            for flags in ("", "(?i)"):
                pattern = flags + cases.escape(literal)
                compiled = worlds.compile_re2(pattern)
                if compiled is not None:
                    world.check(plan(pattern), compiled)


@_SLOW
@given(st.randoms(use_true_random=False))
def test_random_patterns_on_random_texts(rng: Random) -> None:
    raws = [cases.text(rng, 6) for _ in range(8)]
    with tempfile.TemporaryDirectory() as folder, worlds.small_blocks(rng.choice((16, 48))):
        world = worlds.World.make(Path(folder), {b"f%d" % number: raw for number, raw in enumerate(raws)})
        for _ in range(20):
            pattern = cases.pattern(rng, raws)
            is_multiline = rng.random() < 0.2
            for executed in (pattern, cases.unicode_classes(pattern)):
                compiled = worlds.compile_re2(executed, multiline=is_multiline)
                if compiled is not None:
                    world.check(plan(pattern, multiline=is_multiline), compiled)


@pytest.mark.parametrize("seed", range(10_000_000, 10_000_004))
def test_a_share_of_the_long_run(seed: int) -> None:
    """With edits of the tree, an overlay segment, look-around and patterns over several lines; see fuzz_ngram_long.py."""
    tally = long_run.play(seed)
    assert not tally.failures
    assert tally.matching > 0


@pytest.mark.long
def test_a_longer_share_of_the_long_run() -> None:
    for seed in range(20_000_000, 20_000_050):
        assert not long_run.play(seed).failures
