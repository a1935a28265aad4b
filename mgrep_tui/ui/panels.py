"""The rows of the help, the palette, the health panel and the lists. Pure: from values to rows."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.model import Health, Hit, IndexState, Mode, Skip, Symbol
from mgrep_tui.text.sanitize import display_path
from mgrep_tui.ui import words
from mgrep_tui.ui.keymap import GROUPS, Command, shown_key
from mgrep_tui.ui.pick import Pick
from mgrep_tui.ui.strips import count, size_text, span_text
from mgrep_tui.ui.widgets.choice_list import ChoiceRow, RolePart
from mgrep_tui.ui.widgets.hit_rows import GLYPHS, PLAIN_GLYPH, weighed_reasons

LABEL = 22
# Of a narrow panel, where numbers need the room.
SHORT_LABEL, SHORT_FROM = 10, 70
SMALL_KINDS = frozenset({"constant", "property", "macro"})
WEIGHT_CELLS = 30


def _keys(keys: Sequence[str]) -> str:
    return "  ".join(shown_key(key) for key in keys)


def help_rows(commands: Sequence[Command], width: int) -> list[ChoiceRow]:
    """All keys, by group; then what cannot be a row of its own."""
    is_wide = width >= 90
    rows = [ChoiceRow((("anywhere", "key"), (" · ", "muted"), ("in the list or preview (F6)", "accent")))]
    for group in GROUPS:
        rows += [ChoiceRow(), ChoiceRow(((group, "heading"),))]
        for command in commands:
            if command.group == group:
                keys, pane_keys = _keys(command.keys), _keys(command.pane_keys)
                text = command.help if is_wide else command.title
                if is_wide:
                    rows.append(ChoiceRow(((f"{keys:<22}", "key"), (f"{pane_keys:<14}", "accent"), (text, "text"))))
                else:
                    size = max(12, min(30, width - 26))
                    rows.append(
                        ChoiceRow(((f"{text:<{size}.{size}} ", "text"), (f"{keys}  ", "key"), (pane_keys, "accent")))
                    )
    rows += [
        ChoiceRow(),
        ChoiceRow((("The mouse", "heading"),)),
        ChoiceRow((("Click selects, double click opens, the right button marks, the wheel scrolls.", "text"),)),
        ChoiceRow((("Hold Shift to select text with the terminal.", "text"),)),
        ChoiceRow(),
        ChoiceRow((("Other keys", "heading"),)),
        ChoiceRow(
            (('Under [ui.keys] in the configuration: open = "f4", or "open.pane" = "o" for the panes.', "text"),)
        ),
    ]
    rows += [ChoiceRow(((f"{command.id:<18}", "accent"), (command.title, "muted"))) for command in commands]
    return rows


def palette_picks(commands: Sequence[Command]) -> list[Pick]:
    """Every command with its keys."""
    return [
        Pick(command.title, _keys((*command.keys[:2], *command.pane_keys[:1])), command.id, lead=())
        for command in commands
        if command.id not in ("palette", "back")
    ]


def refine_picks(commands: Sequence[Command], possible: Sequence[tuple[str, str]]) -> list[Pick]:
    """The refinements that are possible, as (command, what it would do)."""
    known = {command.id: command for command in commands}
    return [Pick(f"{known[name].title}  {what}".rstrip(), _keys(known[name].keys[:1]), name) for name, what in possible]


def outline_picks(symbols: Sequence[Symbol]) -> list[Pick]:
    return [
        Pick(
            symbol.name,
            f"{symbol.container + '  ' if symbol.container else ''}{symbol.first_line + 1:>5}",
            symbol,
            lead=(
                ("  " * min(4, symbol.container.count(".") + 1 if symbol.container else 0), "text"),
                (GLYPHS.get(symbol.kind, PLAIN_GLYPH) + " ", "accent"),
            ),
        )
        for symbol in symbols
    ]


def symbol_beside(symbols: Sequence[Symbol], line: int, by: int) -> Symbol | None:
    """The symbol that begins next after (`by` = 1) or before (-1) a line. Constants and fields are passed over where there is more."""
    large = [symbol for symbol in symbols if symbol.kind not in SMALL_KINDS] or symbols
    if by > 0:
        return min((item for item in large if item.first_line > line), key=lambda item: item.first_line, default=None)
    return max((item for item in large if item.first_line < line), key=lambda item: item.first_line, default=None)


def why_rows(hit: Hit, mode: Mode) -> list[ChoiceRow]:
    """What a hit owes its place to: the reasons in sum, then each signal of the ranking."""
    place = f"{display_path(hit.path)}:{hit.line + 1}"
    rows = [ChoiceRow(((place, "text"),), ((f"score {hit.score:.2f}", "muted"),)), ChoiceRow()]
    if not hit.signals:
        return [*rows, ChoiceRow((("Nothing more is known of it.", "muted"),))]
    if mode is Mode.SEMANTIC:
        rows += [_weight(reason, value, "strong") for reason, value in weighed_reasons(hit)]
        rows += [ChoiceRow(), ChoiceRow((("In detail", "heading"),))]
    rows += [_weight(signal.name, signal.value, "text") for signal in hit.signals]
    rows += [ChoiceRow(), ChoiceRow((("Higher is better; what lowers a hit has a minus.", "muted"),))]
    return rows


def _weight(name: str, value: float, role: str) -> ChoiceRow:
    size = min(WEIGHT_CELLS, round(abs(value) * 2))
    return ChoiceRow(
        (
            (f"{name:<{LABEL}}"[: LABEL - 1] + " ", role),
            (f"{value:>+6.1f}  ", "text"),
            ("━" * size, "accent" if value > 0 else "warning"),
        )
    )


def skip_picks(skips: Sequence[Skip]) -> list[Pick]:
    return [
        Pick(display_path(skip.path), skip.reason.value + (f", {skip.detail}" if skip.detail else ""), skip)
        for skip in skips
    ]


def health_rows(health: Health, rates: Sequence[float], now: float, width: int = 120) -> list[ChoiceRow]:
    """The whole panel: how it stands, what can be done, what was done lately, the details. Actions have the id of their command, or
    `rebuild:PART`, as value."""
    label = LABEL if width >= SHORT_FROM else SHORT_LABEL
    rows = [*_state_rows(health, rates, now, label), ChoiceRow(), *_coverage_rows(health, label), ChoiceRow()]
    if health.skipped:
        text = " · ".join(f"{number:,} {reason}" for reason, number in health.skipped)
        rows.append(_pair("not searched" if label == LABEL else "left out", text, value="skipped", width=label))
    rows.append(_pair("watcher", health.watcher, "text" if health.is_watching else "warning", width=label))
    if health.branch or health.commit:
        rows.append(
            _pair("git", f"{health.branch} {health.commit[:10]} · {count(health.dirty, 'changed file')}", width=label)
        )
    if health.last_error:
        rows.append(_pair("last error" if label == LABEL else "error", health.last_error, "error", width=label))
    rows += [ChoiceRow(), ChoiceRow((("Actions", "heading"),)), *_action_rows(health)]
    if health.events:
        rows += [ChoiceRow(), ChoiceRow((("Lately", "heading"),))]
        rows += [ChoiceRow(((text, "muted"),)) for text in health.events[:6]]
    if details := _detail_rows(health):
        rows += [ChoiceRow(), ChoiceRow((("Details", "heading"),)), *details]
    return rows


def _action_rows(health: Health) -> list[ChoiceRow]:
    pause = "Go on with indexing" if health.state is IndexState.PAUSED else "Pause indexing"
    made_here = (
        (pause, "pause"),
        ("Files not searched, and why", "skipped"),
        ("Build the n-gram index anew", "rebuild:ngrams"),
        ("Build the keywords anew", "rebuild:keywords"),
        ("Build the vectors anew", "rebuild:vectors"),
        ("Build everything anew", "rebuild:all"),
    )
    actions = (*(() if health.is_shared else made_here), ("Open the log", "log"))
    return [ChoiceRow(((text, "text"),), (), value) for text, value in actions]


def _coverage_rows(health: Health, label: int) -> list[ChoiceRow]:
    """What share of the tree each kind of search knows. Files without text have no chunks."""
    rows: list[ChoiceRow] = []
    if health.regex_ready and not health.files_indexed:
        rows.append(
            _pair("files", f"{count(health.files_total, 'file')}: few enough to be scanned every time", width=label)
        )
    else:
        where = "in the text index" if health.is_shared else "in the n-gram index"
        rows.append(_coverage("files", health.files_indexed, health.files_total, where, label))
    binary = sum(number for reason, number in health.skipped if reason == "binary")
    texts = max(health.files_chunked, health.files_total - binary)
    rows.append(_coverage("chunked", health.files_chunked, texts, f"files · {count(health.chunks, 'chunk')}", label))
    rows.append(_coverage("meaning", health.vectors, health.chunks, "chunks have vectors", label))
    if health.deep_vectors:
        rows.append(_coverage("deep", health.deep_vectors, health.chunks, "chunks also by the transformer", label))
    return rows


def _detail_rows(health: Health) -> list[ChoiceRow]:
    rows: list[ChoiceRow] = []
    if health.text_bytes:
        rows.append(_pair("text", size_text(health.text_bytes)))
    if health.index_bytes:
        total = sum(size for _, size in health.index_bytes)
        text = " · ".join(f"{part} {size_text(size)}" for part, size in health.index_bytes)
        rows.append(_pair("on disk", f"{size_text(total)}: {text}"))
    rows += [_pair(f"model, {tier}", text) for tier, text in health.models]
    rows += [_pair(label, text) for label, text in health.metrics]
    if health.languages:
        rows.append(_pair("languages", " · ".join(f"{name} {number:,}" for name, number in health.languages[:6])))
    return rows


def _state_rows(health: Health, rates: Sequence[float], now: float, label: int) -> list[ChoiceRow]:
    role = {IndexState.READY: "good", IndexState.BROKEN: "error", IndexState.INDEXING: "accent"}.get(
        health.state, "warning"
    )
    state: list[RolePart] = [(f"{'index':<{label}}", "muted"), (health.state.value, role)]
    if health.phase:
        state.append((f" · {health.phase}", "text"))
    rows = [ChoiceRow(tuple(state), () if health.is_shared else ((f"generation {health.generation}", "muted"),))]
    share = words.progress_share(health) if health.state is IndexState.INDEXING else None
    if share is not None:
        done = health.files_total - health.files_pending
        text = f" {done:,} of {count(health.files_total, 'file')}" if health.files_pending else f" {share:.0%}"
        cells = 24 if label == LABEL else 12
        ahead, rest = words.bar(share, cells)
        rows.append(ChoiceRow(((" " * label, "muted"), (ahead, "accent"), (rest, "faint"), (text, "text"))))
        left = f" · {span_text(health.eta_s)} left" if health.eta_s is not None else ""
        spark = words.sparkline(rates, cells)
        rows.append(
            ChoiceRow(
                (
                    (" " * label, "muted"),
                    (f"{spark:<{cells}}", "accent"),
                    (f" {health.rate_per_s:,.0f} files a second{left}", "muted"),
                )
            )
        )
    if health.checked_at is not None:
        ago = f"{span_text(max(0.0, now - health.checked_at))} ago"
        rows.append(
            _pair("published", ago, width=label) if health.is_shared else _pair("disk", f"checked {ago}", width=label)
        )
    return rows


def _pair(label: str, text: str, role: str = "text", value: object = None, width: int = LABEL) -> ChoiceRow:
    return ChoiceRow(((f"{label:<{width}}"[: width - 1] + " ", "muted"), (text, role)), (), value)


def _coverage(name: str, done: int, total: int, what: str, label: int) -> ChoiceRow:
    share = done / total if total else 0.0
    role = "good" if total and done >= total else "accent"
    return ChoiceRow(
        (
            (f"{name:<{label}}", "muted"),
            *zip(words.bar(share, 12 if label == LABEL else 6), (role, "faint"), strict=True),
            (f" {share:>4.0%} ", "text"),
            (f"{done:,} of {total:,} {what}", "muted"),
        )
    )
