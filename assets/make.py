"""Makes the README's pictures from the running program, on this repository itself: python assets/make.py"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from mgrep_tui.corpus.root import open_root
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from mgrep_tui.model import Mode
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from mgrep_tui.ui.app import MgrepApp
from mgrep_tui.ui.flow import Ask

HERE = Path(__file__).resolve().parent
SIZE = (120, 34)
PICTURES = {
    "screen.svg": (Mode.SEMANTIC, "how long is a pause in typing before a search starts"),
    "regex.svg": (Mode.REGEX, r"def \w+_(line|row)s?\("),
}


async def picture(name: str, mode: Mode, text: str, home: Path) -> None:
    folders = user_folders({"MGREP_TUI_HOME": str(home)})
    explorer = LocalExplorer(open_root(HERE.parent / "mgrep_tui"), Settings(), folders, os.environ)
    app = MgrepApp(explorer, Ask(text, mode, SearchOptions()), session=None)
    async with app.run_test(size=SIZE) as pilot:
        await asyncio.to_thread(explorer.wait, CancelToken(), needs_vectors=True)
        await pilot.press("f5")
        for _ in range(200):
            await pilot.pause(0.05)
            if app.main.is_idle:
                break
        svg = app.export_screenshot(title="mgrep-tui")
    explorer.close()
    # The reader's own monospace font; nothing is fetched to look at a picture.
    (HERE / name).write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    prepare()
    with tempfile.TemporaryDirectory() as home:
        for name, (mode, text) in PICTURES.items():
            asyncio.run(picture(name, mode, text, Path(home)))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
