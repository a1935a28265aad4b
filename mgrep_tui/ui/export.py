"""Hits as text for other programs. Pure. Lines and columns are 1-based in all of it; undecodable bytes of paths become `\\xe9`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mgrep_tui.model import Hit

FORMATS = {"quickfix": "quickfix, for Vim and Emacs", "json": "JSON, one object a hit", "markdown": "Markdown, a list"}
SUFFIXES = {"quickfix": ".qf", "json": ".json", "markdown": ".md"}


def _path(hit: Hit) -> str:
    return hit.path.decode("utf-8", "backslashreplace")


def place(hit: Hit) -> str:
    """`path:line`."""
    return f"{_path(hit)}:{hit.line + 1}"


def exported(hits: Sequence[Hit], form: str) -> str:
    """All hits in one of `FORMATS`."""
    return {"quickfix": _quickfix, "json": _json, "markdown": _markdown}[form](hits)


def _quickfix(hits: Sequence[Hit]) -> str:
    return "".join(f"{_path(hit)}:{hit.line + 1}:{hit.column + 1}:{hit.text.strip()}\n" for hit in hits)


def _json(hits: Sequence[Hit]) -> str:
    return "".join(
        json.dumps(
            {
                "path": _path(hit),
                "line": hit.line + 1,
                "column": hit.column + 1,
                "start_line": hit.first_line + 1,
                "end_line": hit.last_line + 1,
                "text": hit.text,
                "symbol": hit.symbol,
                "kind": hit.kind,
                "language": hit.language,
                "score": hit.score,
            },
            ensure_ascii=False,
        )
        + "\n"
        for hit in hits
    )


def _markdown(hits: Sequence[Hit]) -> str:
    lines: list[str] = []
    path = None
    for hit in hits:
        if hit.path != path:
            path = hit.path
            lines.append(f"\n**{_code(_path(hit))}**\n\n" if lines else f"**{_code(_path(hit))}**\n\n")
        name = f" {_code(hit.symbol)}" if hit.symbol else ""
        lines.append(f"- {hit.line + 1}{name}: {_code(hit.text.strip())}\n")
    return "".join(lines)


def _code(text: str) -> str:
    """Inline code, whatever backticks are in it."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    gap = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{ticks}{gap}{text}{gap}{ticks}"


def snippet(hit: Hit, text: str) -> str:
    """Lines under their place, as they are shown to a colleague."""
    return f"{place(hit)}\n{text.rstrip()}\n"
