"""A bounded share of the crash rounds; `python -m tests.crash.crashes FOLDER 300` is the long run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.crashes import Rounds

ROUNDS = 4


@pytest.mark.timeout(300)
def test_killed_at_any_moment_it_opens_and_answers(tmp_path: Path) -> None:
    rounds = Rounds(tmp_path, seed=7, mean_s=1.5)
    for number in range(ROUNDS):
        rounds.round(number)
