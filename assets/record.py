"""Records `assets/demo.cast` (asciicast v2) from the real program over this project: `python -m assets.record`.

The pauses are those of a person; what the program writes is kept with the time when it came.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from tests.support.display import Display
from tests.support.terminal import ROOT, Terminal, terminal

TARGET = ROOT / "assets" / "demo.cast"
SIZE = (92, 24)
KEY_S, LOOK_S = 0.06, 1.2


class Tape:
    """Follows the terminal's output and notes when each part came."""

    def __init__(self, screen: Terminal) -> None:
        self._screen = screen
        self._display = Display(screen)
        self._begun = time.monotonic()
        self._kept = 0
        self._events: list[tuple[float, str]] = []

    def watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._screen.read(min(left, 0.02))
            self._keep()

    def shows(self, *words: str) -> None:
        self._display.wait(lambda text: self._keep() or all(word in text for word in words), repr(words))

    def press(self, *keys: str, pause_s: float = KEY_S) -> None:
        for key in keys:
            self._screen.send(key)
            self.watch(pause_s)

    def _keep(self) -> bool:
        """Always False, so that a condition can begin with it."""
        output = self._screen.output
        # A character that is cut in two is kept when its rest has come.
        part = output[self._kept :].decode("utf-8", "ignore") if output[-1:] < b"\x80" else ""
        if part:
            self._events.append((time.monotonic() - self._begun, part))
            self._kept = len(output)
        return False

    def cast(self) -> str:
        header = {
            "version": 2,
            "width": SIZE[0],
            "height": SIZE[1],
            "title": "mgrep-tui",
            "idle_time_limit": 2.5,
            "env": {"TERM": "xterm-256color"},
        }
        lines = [json.dumps(header)]
        lines += [json.dumps([round(at, 3), "o", text], ensure_ascii=False) for at, text in self._events]
        return "\n".join(lines) + "\n"


def record() -> str:
    """The recording as the text of a cast file."""
    with tempfile.TemporaryDirectory() as folder:
        # The instant tier alone: the transformer's first answer waits for its model to be loaded.
        settings = Path(folder) / "config.toml"
        settings.write_text('[semantic]\ndeep = "off"\n')
        environ = {
            "MGREP_TUI_HOME": folder,
            "EDITOR": "true",
            "VISUAL": "",
            "COLORTERM": "",
        }  # 256 colours: half the bytes
        tree = str(ROOT / "mgrep_tui")
        with terminal(["-m", "mgrep_tui", "index", tree], environ=environ) as indexing:
            assert indexing.end() == 0
        arguments = ["-m", "mgrep_tui", "--no-restore", "--config", str(settings), tree]
        with terminal(arguments, size=SIZE, environ=environ) as screen:
            tape = Tape(screen)
            tape.shows("F1", "fresh")
            tape.watch(LOOK_S)
            tape.press(*"when is an index damaged")
            tape.shows("fresh", " 1/")
            tape.watch(2 * LOOK_S)
            tape.press("\x1b[B", "\x1b[B", pause_s=LOOK_S)
            tape.press("\x1b/", pause_s=2 * LOOK_S)  # only this folder
            tape.press("\x02", pause_s=LOOK_S)  # and back
            tape.press("\x12", pause_s=LOOK_S / 2)  # regular expression
            tape.press("\x15", *r"def \w+_preview\(")
            tape.shows(" hit")
            tape.watch(2 * LOOK_S)
            tape.press("\x1b[B", pause_s=2 * LOOK_S)
            tape.press("\x03")
            screen.end()
            return tape.cast()


def main() -> None:
    text = record()
    TARGET.write_text(text, encoding="utf-8")
    print(f"{Path(TARGET).relative_to(ROOT)}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
