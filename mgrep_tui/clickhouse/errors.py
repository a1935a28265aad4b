"""What can go wrong with an engine, in words for a person."""

from __future__ import annotations

import re

from mgrep_tui.errors import MgrepError

TIMEOUT_CODES = frozenset({159, 160, 209})
MEMORY_CODES = frozenset({241})
CANCELLED_CODES = frozenset({394})

MISSING_HINT = 'Install the extra: pip install "mgrep-tui[clickhouse]"'


class EngineError(MgrepError):
    """The engine cannot be reached, or refused what it was asked."""


class EngineLimitError(EngineError):
    """A statement met its limit of time or memory; what came before it is right and not all."""


_CODE = re.compile(r"(?:Code: |error code )(\d+)", re.IGNORECASE)


def code_of(text: str) -> int:
    """The engine's own number in its complaint; 0 when there is none."""
    found = _CODE.search(text)
    return int(found[1]) if found else 0


def error_of(code: int, text: str) -> EngineError:
    """The engine's own complaint as one of ours. The statement is not repeated: it is in the log of whoever keeps one."""
    if code in TIMEOUT_CODES:
        return EngineLimitError("The engine stopped the search at its time limit.", "Ask for something narrower.")
    if code in MEMORY_CODES:
        return EngineLimitError("The engine stopped the search at its memory limit.", "Ask for something narrower.")
    first = text.strip().partition("\n")[0]
    return EngineError(f"The engine refused: {first[:300]}")
