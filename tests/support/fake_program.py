"""The screen over the fake explorer as a program of its own, for tests in a real terminal: `python -m tests.support.fake_program`.

Prints `path:line` of the chosen hits. The environment may name an editor (`FAKE_EDITOR`, words of a command; `{path}` is put behind), and
a file with hostile text (`FAKE_HOSTILE=1`).
"""

from __future__ import annotations

import os
import sys

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import EditorCommand
from mgrep_tui.model import Hit, Mode
from mgrep_tui.ui.app import run
from tests.support.fake_explorer import FakeExplorer

EVERY_BYTE = bytes(byte for byte in range(256) if byte not in (10, 13)).decode("latin-1")


class EditingExplorer(FakeExplorer):
    def open_command(self, hits: list[Hit]) -> EditorCommand:
        words = os.environ["FAKE_EDITOR"].split()
        return EditorCommand((*words, hits[0].path), True, words[0])


def main() -> None:
    explorer = EditingExplorer()
    if os.environ.get("FAKE_HOSTILE"):
        explorer.files = {
            b"src/every\x1b]0;PWNED\x07byte.py": f"needle {EVERY_BYTE}\n\x1b]0;PWNED\x07\x1b[2J needle\n",
        }
    try:
        hits = run(explorer, text=sys.argv[1] if len(sys.argv) > 1 else "", mode=Mode.REGEX, restore=False)
    except MgrepError as error:
        sys.exit(str(error))
    for hit in hits or []:
        print(f"{hit.path.decode()}:{hit.line + 1}")
    sys.exit(0 if hits else 1)


if __name__ == "__main__":
    main()
