"""What stands in the list's place when there are no hits: what to start from, or what to try next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.explorer.protocol import Variant
from mgrep_tui.model import Health, IndexState, Mode, Outcome
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.text.sanitize import display_path
from mgrep_tui.ui import words
from mgrep_tui.ui.keymap import by_id, shown_key
from mgrep_tui.ui.widgets.choice_list import ChoiceRow

RECENT_SHOWN = 8
CHANGED_SHOWN = 8


def text_row(*parts: tuple[str, str]) -> ChoiceRow:
    return ChoiceRow(tuple(parts))


def recent(history: Sequence[PastQuery], limit: int) -> list[PastQuery]:
    """The newest queries, newest first, each once."""
    return list(dict.fromkeys(reversed(history)))[:limit]


def query_row(past: PastQuery) -> ChoiceRow:
    return ChoiceRow(((past.text, "text"),), ((words.MODES[past.mode], "muted"),), past)


def empty_query(
    history: Sequence[PastQuery], changed: Sequence[bytes], health: Health, *, shows_hint: bool
) -> list[ChoiceRow]:
    """Nothing has been typed: recent queries, files changed lately, and at the first start what works already."""
    rows: list[ChoiceRow] = [ChoiceRow()]
    if shows_hint:
        rows += [text_row(("Type what you are looking for.", "strong"))]
        rows += [
            text_row(("In words; F2 for regular expressions.", "muted")),
            ChoiceRow(),
        ]
    if health.state in (IndexState.OPENING, IndexState.INDEXING):
        rows += [text_row(("Being indexed; search works already:", "muted"))]
        rows += [text_row(*_readiness("regular expressions", health.regex_ready, "by scanning"))]
        rows += [text_row(*_readiness("words", health.keywords_ready, "as files come in"))]
        has_vectors = bool(health.chunks) and health.vectors >= health.chunks and not health.files_pending
        share = f"for {100 * health.vectors // health.chunks}% of the code" if health.chunks else "soon"
        if health.chunks and health.files_pending:
            share = f"for {health.files_chunked:,} of {health.files_total:,} files"
        rows += [text_row(*_readiness("meaning", has_vectors, share)), ChoiceRow()]
    queries = recent(history, RECENT_SHOWN)
    if queries:
        rows += [text_row(("Recent queries", "muted")), *(query_row(past) for past in queries), ChoiceRow()]
    if changed and not shows_hint:  # at the first start the preview says what can be typed
        rows.append(text_row(("Changed lately", "muted")))
        rows += [ChoiceRow(((display_path(path), "text"),), (), path) for path in changed[:CHANGED_SHOWN]]
    return rows


def _readiness(what: str, is_ready: bool, until_then: str) -> tuple[tuple[str, str], ...]:
    if is_ready:
        return (("  ✓ ", "good"), (what, "text"))
    return (("  … ", "muted"), (what, "text"), (f"  {until_then}", "muted"))


def no_hits(
    outcome: Outcome, health: Health, mode: Mode, variants: Sequence[Variant], *, is_asking: bool
) -> list[ChoiceRow]:
    """Nothing was found: in what, and what to try. `is_asking`: the suggestions are still being counted."""
    rows = [ChoiceRow(), *(text_row(*line) for line in words.no_hits(outcome, health, mode)), ChoiceRow()]
    variants = [variant for variant in variants if variant.hits != 0]
    if variants:
        keys = by_id()["open"].keys
        hint = f"  {shown_key(keys[0])} takes it" if keys else ""
        rows.append(text_row(("Try", "strong"), (hint, "muted")))
        rows += [variant_row(variant) for variant in variants]
    elif is_asking:
        rows.append(text_row(("looking for what is near …", "muted")))
    return rows


def variant_row(variant: Variant) -> ChoiceRow:
    right: tuple[tuple[str, str], ...] = ()
    if variant.hits is not None:
        right = ((f"{variant.hits:,}{'+' if variant.is_more else ''}", "muted"),)
    return ChoiceRow(((variant.label, "text"),), right, variant)
