"""A bounded share of the damaged files; `python -m tests.crash.damages FOLDER` is all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.damages import run

CASES = 5


@pytest.mark.timeout(400)
def test_a_damaged_file_costs_no_answer(tmp_path: Path) -> None:
    """M10"""
    assert run(tmp_path, seed=5, count=CASES) == CASES
