"""Alt with a letter, as plain terminals send it: Esc and the letter in one piece.

Textual waits for what may follow an Esc, 0.1 s for each such key, and when the next one comes within that time it types `^` and the letter
instead; `Alt+.` it types as a dot, `Alt+1` as `¡`, and `Alt+Enter` it takes for Enter. Here what came in one piece is put into the form
that terminals with the newer keyboard protocol use (`CSI code ; 3 u`), which Textual reads at once and without doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.message import Message

# Not `b` and `f`: with them macOS says Option with an arrow. Not capitals: some of them open longer sequences.
_ALT = re.compile(r"\x1b([ac-eg-z0-9.,/\\;'`=+<>-]|\r)")
_LONGER = ("\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX")  # a terminal's answers, which end in Esc and a backslash
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


class AltParser(XTermParser):
    """Textual's parser of what the terminal sends. Used by its input thread only."""

    _is_pasting = False

    def feed(self, data: str) -> Iterable[Message]:
        if self._is_pasting or _PASTE in data:
            # A paste that is not over in this piece goes on in the next.
            self._is_pasting = data.rfind(_PASTE_END) < data.rfind(_PASTE) or _PASTE_END not in data
        elif "\x1b" in data and not any(start in data for start in _LONGER):
            data = _ALT.sub(lambda found: f"\x1b[{ord(found[1])};3u", data)
        return super().feed(data)
