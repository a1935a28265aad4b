"""Finding in a list by typing: which rows fit, and in what order. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mgrep_tui.ui.widgets.choice_list import ChoiceRow, RolePart

PICKS_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class Pick:
    """Something to pick. What is typed is looked for in `label` and in `detail`."""

    label: str
    detail: str
    value: object
    role: str = "text"
    lead: tuple[RolePart, ...] = ()


def picked(picks: Sequence[Pick], typed: str) -> list[ChoiceRow]:
    """The picks that hold every word typed, in any case: those first whose label begins with the first word, then whose label holds it."""
    words = typed.lower().split()
    if not words:
        return [_row(pick, ()) for pick in picks[:PICKS_SHOWN]]
    ranked: list[tuple[int, Pick]] = []
    for pick in picks:
        label = pick.label.lower()
        whole = f"{label} {pick.detail.lower()}"
        if all(word in whole for word in words):
            at = label.find(words[0])
            ranked.append((0 if at == 0 else 1 if at > 0 and not label[at - 1].isalnum() else 2 if at > 0 else 3, pick))
    ranked.sort(key=lambda pair: pair[0])
    return [_row(pick, words) for _, pick in ranked[:PICKS_SHOWN]]


def _row(pick: Pick, words: Sequence[str]) -> ChoiceRow:
    right = ((pick.detail, "muted"),) if pick.detail else ()
    return ChoiceRow((*pick.lead, *_lit(pick.label, words, pick.role)), right, pick.value)


def _lit(label: str, words: Sequence[str], role: str) -> list[RolePart]:
    folded = label.lower()
    places = sorted({(folded.find(word), len(word)) for word in words if word in folded})
    if not places or len(folded) != len(label):
        return [(label, role)]
    parts: list[RolePart] = []
    done = 0
    for start, size in places:
        if start < done:
            continue
        parts += [(label[done:start], role), (label[start : start + size], "match")]
        done = start + size
    parts.append((label[done:], role))
    return [part for part in parts if part[0]]
