"""What every test may use. Fixtures of one room live beside its tests or in `tests/support`."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_textual_snapshot

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


@pytest.fixture(scope="session", autouse=True)
def _snapshots_at_the_top() -> None:
    """Snapshots live in the project's `snapshots/`. The plugin takes its extension from its module when it is used."""

    class TopLevel(pytest_textual_snapshot.SVGImageExtension):
        @classmethod
        def dirname(cls, *, test_location: object) -> str:
            return str(SNAPSHOTS / Path(test_location.filepath).stem)  # type: ignore[attr-defined]

    pytest_textual_snapshot.SVGImageExtension = TopLevel
