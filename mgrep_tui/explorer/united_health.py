"""The health of several roots as one panel: counts added, the state of the one that needs most attention, and a line for each root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mgrep_tui.model import Health, IndexState

# The first that any root is in is the state of all.
_ORDER = (
    IndexState.INDEXING,
    IndexState.OPENING,
    IndexState.PAUSED,
    IndexState.READ_ONLY,
    IndexState.READY,
    IndexState.BROKEN,
)
EVENTS = 6
OPENING = "opening the index"


def united_health(labels: Sequence[str], healths: Sequence[Health], nested: Sequence[bool] = ()) -> Health:
    """One health of all. One broken root among others is said, and does not make all of them broken. Pure.

    `nested` says which roots (none, when empty) lie inside another one: what they hold is in its counts already.
    """
    states = {health.state for health in healths}
    state = next((state for state in _ORDER if state in states), IndexState.READY)
    busy = [
        (label, health.phase or (OPENING if state is IndexState.OPENING else ""))
        for label, health in zip(labels, healths, strict=True)
        if health.state is state
    ]
    busy = [(label, phase) for label, phase in busy if phase]
    phase = f"{busy[0][0]}: {busy[0][1]}" if busy else ""
    if len(busy) > 1:
        phase += f", and {len(busy) - 1} more"
    troubles = [
        f"{label}: {health.last_error}" for label, health in zip(labels, healths, strict=True) if health.last_error
    ]
    etas = [health.eta_s for health in healths if health.eta_s is not None]
    checks = [health.checked_at for health in healths if health.checked_at is not None]
    # What a broken root lacks says nothing about the others.
    sound = [health for health in healths if health.state is not IndexState.BROKEN] or list(healths)
    watchers = [health.watcher for health in sound if health.watcher]
    unwatched = [
        health.watcher if len(set(watchers)) == 1 else f"{label}: {health.watcher}"
        for label, health in zip(labels, healths, strict=True)
        if health in sound and health.watcher and not health.is_watching
    ]
    counted = [health for number, health in enumerate(healths) if not (nested and nested[number])]
    lines = tuple((label, _line(health)) for label, health in zip(labels, healths, strict=True))
    return Health(
        state=state,
        phase=phase,
        root=", ".join(health.root for health in healths),
        files_seen=sum(health.files_seen for health in counted),
        files_total=sum(health.files_total for health in counted),
        files_indexed=sum(health.files_indexed for health in counted),
        files_chunked=sum(health.files_chunked for health in counted),
        files_pending=sum(health.files_pending for health in counted),
        skipped=_added(health.skipped for health in counted),
        chunks=sum(health.chunks for health in counted),
        vectors=sum(health.vectors for health in counted),
        deep_vectors=sum(health.deep_vectors for health in counted),
        rate_per_s=sum(health.rate_per_s for health in healths),
        eta_s=max(etas, default=None),
        regex_ready=all(health.regex_ready for health in sound),
        keywords_ready=all(health.keywords_ready for health in sound),
        watcher=(unwatched or watchers or ["off"])[0],
        checked_at=min(checks, default=None),
        dirty=sum(health.dirty for health in counted),
        generation=max((health.generation for health in healths), default=0),
        roots_open=sum(health.state not in (IndexState.OPENING, IndexState.BROKEN) for health in healths),
        roots_missing=tuple(
            label for label, health in zip(labels, healths, strict=True) if health.state is IndexState.BROKEN
        ),
        text_bytes=sum(health.text_bytes for health in counted),
        chunked_bytes=sum(health.chunked_bytes for health in counted),
        index_bytes=_added(health.index_bytes for health in healths),
        models=tuple(dict(pair for health in healths for pair in health.models).items()),
        last_error=" ".join(troubles),
        events=tuple(
            f"{label}: {event}"
            for label, health in zip(labels, healths, strict=True)
            for event in health.events[: max(1, EVENTS // len(healths))]
        ),
        metrics=lines,
        languages=_added(health.languages for health in counted),
    )


def _line(health: Health) -> str:
    """One root in a line: `ready · 83 files · main 4f3c2b1a`."""
    parts = [health.state.value]
    if health.files_total or health.files_seen:
        parts.append(f"{health.files_total or health.files_seen:,} files")
    if health.branch or health.commit:
        parts.append(f"{health.branch} {health.commit[:8]}".strip())
    if health.phase:
        parts.append(health.phase)
    if health.last_error:
        parts.append(health.last_error)
    return " · ".join(parts)


def _added(tables: Iterable[Iterable[tuple[str, int]]]) -> tuple[tuple[str, int], ...]:
    """Counts by name, the highest first."""
    total: Counter[str] = Counter()
    for table in tables:
        total.update(dict(table))
    return tuple(total.most_common())
