"""What the screen says, as sentences. Pure: from values to parts of text, each with the name of a role in the palette."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.model import Health, IndexState, Mode, Outcome, Progress
from mgrep_tui.ui.strips import count, said, span_text

RolePart = tuple[str, str]
Line = list[RolePart]

DOT = " · "
OPENING = "opening the index"
_BLOCKS = " ▁▂▃▄▅▆▇█"
MODES = {Mode.SEMANTIC: "meaning", Mode.REGEX: "regex"}
CASES = {"smart": "smart case", "yes": "case counts", "no": "any case"}


def bar(share: float, cells: int) -> tuple[str, str]:
    """A share as a bar of `cells` cells: the part that is done and the rest. Full only when all is done."""
    done = int(min(1.0, max(0.0, share)) * cells)
    return "━" * done, "╌" * (cells - done)


def sparkline(values: Sequence[float], cells: int) -> str:
    """The last values as small columns; the highest fills its cell."""
    kept = list(values)[-cells:]
    top = max(kept, default=0.0)
    if top <= 0:
        return ""
    return "".join(_BLOCKS[max(1, round(value / top * 8))] for value in kept)


def slider(ratio: float, cells: int = 7) -> tuple[str, str, str]:
    """The weight of meaning against words: left of the knob, the knob, right of it."""
    at = round((1 - ratio) * (cells - 1))
    return "━" * at, "●", "━" * (cells - 1 - at)


def title(health: Health, root_label: str) -> tuple[Line, Line]:
    """The line on top: where we are; how much there is and whether it is fresh."""
    left: Line = [(" " + said(root_label), "strong")]
    if health.branch:
        left.append(("  " + said(health.branch), "muted"))
    if health.dirty:
        left.append((DOT + f"{health.dirty:,} changed", "muted"))
    right: Line = []
    files = health.files_total or health.files_seen
    if files:
        right.append((count(files, "file") + DOT + _freshness(health), "muted"))
    right.append((" ", "muted"))
    return left, right


def _freshness(health: Health) -> str:
    if health.files_pending:
        return f"{health.files_pending:,} to index"
    return "fresh" if health.is_watching else "checked on search"


def status(health: Health, width: int) -> Line:
    """The quiet line at the bottom. Words go before numbers when there is little room."""
    parts: list[RolePart] = []
    is_short = width < 60
    if health.state is IndexState.BROKEN:
        what = said(health.phase) or "index broken"
        return [(" " + what, "error"), (DOT + said(health.last_error or "it is being built anew"), "muted")]
    if health.state is IndexState.OPENING:
        return [
            (" " + (said(health.phase) or OPENING), "muted"),
            # Not while a repository is still on its way.
            (
                "" if is_short or health.phase not in ("", OPENING) else DOT + "regular expressions work already",
                "muted",
            ),
        ]
    if health.state is IndexState.PAUSED:
        parts.append(("paused", "warning"))
    elif health.state is IndexState.READ_ONLY:
        parts.append(("read-only" if is_short else "read-only: another copy writes the index", "warning"))
    elif health.state is IndexState.INDEXING:
        parts.append((said(health.phase) if health.phase and not is_short else "indexing", "accent"))
        share = progress_share(health)
        if share is not None:
            ahead, rest = bar(share, 8)
            parts.append((f"{ahead}{rest} {share:.0%}", "accent"))
        if health.eta_s is not None and not is_short:
            parts.append((f"{span_text(health.eta_s)} left", "muted"))
    else:
        parts.append(("ready", "good"))
    if health.roots_missing:
        first = ", ".join(health.roots_missing[:2]) + (", …" if len(health.roots_missing) > 2 else "")
        parts.append((said(f"{first} cannot be opened"), "warning"))
    if health.chunks and (width >= 48 if health.state is IndexState.READY else not is_short):
        parts.append((count(health.chunks, "chunk"), "muted"))
        if health.vectors < health.chunks and (health.files_pending or health.state is not IndexState.INDEXING):
            parts.append((f"meaning {health.vectors / health.chunks:.0%}", "warning"))
    skipped = sum(number for reason, number in health.skipped if reason != "binary")
    if skipped and not is_short:
        parts.append((f"{count(skipped, 'file')} not searched", "muted"))
    if not is_short:
        parts.append((said(health.watcher), "muted" if health.is_watching else "warning"))
    line: Line = [(" index ", "muted")]
    for number, part in enumerate(parts):
        if number:
            line.append((DOT, "muted"))
        line.append(part)
    return line


def progress_share(health: Health) -> float | None:
    """How far the work is: of the files, and when they are done, of the vectors. None when it cannot be told."""
    if health.files_pending and health.files_total:
        return 1 - health.files_pending / health.files_total
    return health.vectors / health.chunks if health.chunks else None


def summary(outcome: Outcome | None, shown: int, files: int, mode: Mode, *, is_short: bool = False) -> Line:
    """How many hits there are, in what time, and how far that can be trusted."""
    if outcome is None:
        return []
    is_semantic = mode is Mode.SEMANTIC
    number = max(outcome.hits, shown)
    line: Line = []
    if outcome.is_capped and is_semantic:
        line.append((f"the best {shown:,}", "text"))  # there is always a next best
    elif outcome.is_capped:
        line.append((f"first {shown:,} of at least {count(number, 'hit')}", "warning"))
    elif number:
        line.append((count(number, "hit"), "text"))
    if number and files and not is_short and (is_semantic or not outcome.is_capped):
        line.append((f" in {count(files, 'file')}", "muted"))
    if not number:
        line.append(("no hits", "text"))
    if outcome.is_partial:
        line.append((" so far" if is_semantic else DOT + "partial", "warning"))
    if outcome.vector_coverage is not None and outcome.vector_coverage < 0.9995 and not is_short:
        line.append((DOT + f"meaning for {outcome.vector_coverage:.0%}", "warning"))
    if outcome.engine and number and not is_short:
        line.append((DOT + said(outcome.engine), "muted"))
    # By meaning the hits are there long before the transformer has put them in order.
    milliseconds = outcome.first_hit_ms if is_semantic and outcome.first_hit_ms else outcome.elapsed_ms
    if milliseconds:
        line.append((DOT + elapsed(milliseconds), "muted"))
    return line


def elapsed(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else span_text(milliseconds / 1000)


def searching(progress: Progress | None) -> Line:
    if progress is None or not progress.total:
        return [("searching …", "muted")]
    return [(f"searching … {progress.searched:,} of {progress.total:,} files", "muted")]


def refining(hits: int, health: Health, *, is_short: bool) -> Line:
    """The hits can be used; the transformer is putting them into a better order."""
    line: Line = [(count(hits, "hit"), "text"), (DOT + "refining …", "muted")]
    phrase = dict(health.models).get("deep", "")
    if phrase and not is_short:
        line.append((f" {said(phrase)}", "muted"))
    return line


def error_line(error: MgrepError, query_column: int, width: int) -> Line:
    """What is wrong with the query, beneath the place where it is wrong if that can be told."""
    text = said(error.message)
    if isinstance(error, QueryError) and error.position is not None:
        at = query_column + error.position
        if at + len(text) + 3 < width:
            return [(" " * at + "╰ ", "error"), (text, "error")]
        text += f" (at column {error.position + 1})"
    hint = f"  {said(error.hint)}" if error.hint else ""
    return [("   " + text, "error"), (hint, "muted")]


def options_words(options: SearchOptions, mode: Mode) -> list[tuple[str, str]]:
    """The options that differ from what is usual, as (command, label)."""
    words: list[tuple[str, str]] = []
    if options.case != "smart":
        words.append(("case", CASES[options.case]))
    if options.word:
        words.append(("word", "whole words"))
    if options.literal and mode is Mode.REGEX:
        words.append(("literal", "plain text"))
    if options.hidden and mode is Mode.REGEX:
        words.append(("hidden", "with hidden files"))
    if options.ignored and mode is Mode.REGEX:
        words.append(("ignored", "with ignored files"))
    if options.sort == "path":
        words.append(("sort", "by path"))
    return words


def no_hits(outcome: Outcome, health: Health, mode: Mode) -> list[Line]:
    """That nothing was found, and in what."""
    files = outcome.searched_files or health.files_total
    notes: list[Line] = [[(said(note), "muted")] for note in outcome.notes]
    if health.state is IndexState.BROKEN and not files:
        return [[("There is nothing to search.", "strong")], *notes]
    checked = " (checked just now)" if outcome.is_verified else ""
    if outcome.is_partial and (mode is Mode.SEMANTIC or health.state in (IndexState.OPENING, IndexState.INDEXING)):
        return [
            [("Nothing yet", "strong"), (_so_far(health), "text")],
            [("The answer grows by itself.", "muted")],
        ]
    if unsearched := _nothing_to_search(health):
        return unsearched
    first: Line = [("No matches", "strong")]
    if files:
        first.append((f" in {count(files, 'file')}{checked}.", "text"))
    else:
        first.append((".", "text"))
    lines = [first]
    if outcome.is_partial:
        lines.append([("Not everything was searched.", "warning")])
    if mode is Mode.SEMANTIC and outcome.vector_coverage is not None and outcome.vector_coverage < 0.9995:
        lines.append(
            [(f"Meaning is known for {outcome.vector_coverage:.0%} of the code so far; words for all.", "warning")]
        )
    return [*lines, *notes]


def _nothing_to_search(health: Health) -> list[Line]:
    """That there is no file which could hold a match, where that is so."""
    if health.state in (IndexState.OPENING, IndexState.INDEXING, IndexState.BROKEN):
        return []
    skipped = sum(number for _, number in health.skipped)
    if health.files_total and skipped < health.files_total:
        return []
    if not skipped:
        first: Line = [("There is no file to search here.", "strong")]
    else:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in health.skipped)
        first = [("Nothing here is searched", "strong"), (f": {reasons}. F8 lists them.", "text")]
    return [first, [("Files with a leading dot and those that git ignores are left out (F3 in regex mode).", "muted")]]


def _so_far(health: Health) -> str:
    if health.state is IndexState.OPENING or not health.files_total:
        return ": the index is being opened."
    if health.files_chunked >= health.files_total or health.state is not IndexState.INDEXING:
        return "."
    return f": {health.files_chunked:,} of {count(health.files_total, 'file')} are in."


CHEAT_SHEET: tuple[tuple[str, str], ...] = (
    ("What to type", ""),
    ("retry a failed upload", "what the code does, in words"),
    ('"exact words"', "these words in this order"),
    ("/def \\w+_id/", "regular expression, in either mode"),
    ("lang:python", "only this language"),
    ("path:src/**  -path:tests", "only there, not there"),
    ("sym:parse  kind:method", "by name or kind of symbol"),
    ("is:dirty  is:test", "changed files, tests"),
    ("a or b  (…)  -filter", "either, groups, without"),
    ("", " "),
    ("F2", "meaning or regular expression"),
    ("F3", "filters"),
    ("Ctrl+↑", "former queries"),
    ("F1", "all keys"),
)
