"""The same screen over a shared engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from mgrep_tui.clickhouse.address import FolderAddress
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.explorer import EngineExplorer
from mgrep_tui.model import Mode
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from mgrep_tui.ui.actions.indexing import LEFT_OUT, SHARED
from mgrep_tui.ui.app import MgrepApp
from mgrep_tui.ui.screens.main import MainScreen
from tests.support.engines import commit, pushed, tree
from tests.support.screen import WIDE, make_app, until


def shown(pilot: Pilot[object]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


@pytest.mark.asyncio
async def test_hits_of_several_repositories_and_their_preview(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tree(
        tmp_path / "one", {"src/load.py": "import json\n\n\ndef load_settings(path):\n    return json.load(path)\n"}
    )
    two = tree(tmp_path / "two", {"main.go": "package main\n\nfunc loadSettings(path string) {}\n"})
    commit(one)
    pushed(engine, one, name="acme/one")
    pushed(engine, two, name="acme/two")
    monkeypatch.setattr("mgrep_tui.clickhouse.opened.connect", lambda address, environ: engine)
    monkeypatch.setattr(EmbeddedConnection, "close", lambda self: None)
    explorer = EngineExplorer(
        FolderAddress(tmp_path / "engine"), Settings(), user_folders({"MGREP_TUI_HOME": str(tmp_path / "home")}), {}
    )
    app: MgrepApp = make_app(explorer, "load.*ettings", Mode.REGEX)  # type: ignore[arg-type]
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: "acme/one/src/load.py" in shown(pilot) and "acme/two/main.go" in shown(pilot))
        # The preview of the first hit, from the engine: nothing of it is on this disk.
        await pilot.press("down")
        await until(pilot, lambda: "import json" in shown(pilot) or "package main" in shown(pilot))
        # What is made elsewhere cannot be made or paused here, and nobody says so.
        await pilot.press("f8")
        await until(pilot, lambda: "Open the log" in shown(pilot))
        assert "published" in shown(pilot) and "anew" not in shown(pilot) and "Pause" not in shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        told: list[str] = []
        monkeypatch.setattr(MainScreen, "tell", lambda self, text: told.append(text))
        for command in ("pause", "rebuild", "skipped"):
            app.screen.perform(command)  # type: ignore[attr-defined]
        assert told == [SHARED, SHARED, LEFT_OUT]
    assert explorer.health().metrics[0] == ("repositories", "2")
