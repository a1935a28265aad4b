"""A search by meaning over several roots: all are asked at once, what they offer is ranked as one list, and none waits long for another.

The list is shown as soon as every root has answered, or after `PATIENCE_S` with those that have; when the others answer within `LATE_S`
the whole list is ranked again and replaced once. A root that has not answered by then, or that failed, is named in a note.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Outcome, Progress, Sink
from mgrep_tui.retrieval import question as questions
from mgrep_tui.retrieval.question import Question
from mgrep_tui.retrieval.ranking import rank
from mgrep_tui.search.query import Query
from mgrep_tui.search.semantic import GONE, LIKE_RATIO, NOT_THERE, Deep, SemanticEngine, has_words
from mgrep_tui.search.semantic_candidates import Pool
from mgrep_tui.search.semantic_showing import Showing
from mgrep_tui.search.semantic_union import all_mentions, trimmed, united

PATIENCE_S = 0.3
LATE_S = 5.0
LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Part:
    """A root that is asked: its own form of the query (see `scope`) and what it can be searched with. `label` is its name."""

    label: str
    engine: SemanticEngine
    query: Query
    view: SemanticView

    @property
    def prefix(self) -> bytes:
        return self.label.encode("utf-8", "surrogateescape") + b"/"


@dataclass(frozen=True, slots=True)
class Like:
    """A chunk to look for more of: `part` is the place of its root among the parts."""

    part: int
    chunk_id: int


class _Whole:
    """Takes a later, better list in the place of all that was sent before."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._hits: list[Hit] = []

    def batch(self, hits: Sequence[Hit]) -> None:
        self._hits.extend(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self._hits[:] = hits

    def progress(self, progress: Progress) -> None:
        self._sink.progress(progress)

    def send(self) -> None:
        self._sink.replace(self._hits)


def search_several(
    parts: Sequence[Part],
    sink: Sink,
    cancel: CancelToken,
    *,
    ratio: float = 0.5,
    limit: int = 100,
    deep: Deep | None = None,
    like: Like | None = None,
    patience_s: float = PATIENCE_S,
    late_s: float = LATE_S,
) -> Outcome:
    """Answer in the calling thread; paths of hits begin with the label of their root. With filters alone each root lists in turn.

    Raises `Cancelled`; what goes wrong in one root is a note.
    """
    started = time.monotonic()
    if not parts:
        return Outcome(engine="index", elapsed_ms=0.0)
    vector: npt.NDArray[np.float32] | None = None
    if like is not None:
        asked = parts[like.part].engine.model_chunk(like.chunk_id, parts[like.part].view)
        if asked is None:
            return GONE
        question, vector = asked
        ratio, deep = LIKE_RATIO, None
    elif not has_words(parts[0].query):
        return _list(parts, sink, cancel, limit)
    else:
        question = questions.read(parts[0].query.plain)
    asking = _Asking(parts, question, cancel, limit, vector)
    is_refined = False
    asking.wait(started + patience_s, at_least=1, latest=started + late_s)
    outcome = Outcome()
    target: Sink = sink
    while True:
        is_last = asking.is_done or time.monotonic() >= started + late_s
        pools, numbers = asking.pools(like)
        present = [parts[number] for number in numbers]
        if pools:
            pool = trimmed(united(pools, [part.label for part in present]), question)
            ranking = rank(
                question, pool.candidates, pool.rarity, all_mentions([part.view for part in present]), ratio=ratio
            )
            sources = [part.engine.source(part.query, part.view, part.prefix) for part in present]
            showing = Showing(sources, target, cancel, ratio, limit, started, deep if is_last else None)
            outcome = showing.show(pool, ranking)
            if isinstance(target, _Whole):
                target.send()
        if is_last:
            break
        is_refined = is_refined or bool(pools)
        target = _Whole(sink) if is_refined else sink
        asking.wait(started + late_s, at_least=len(parts), latest=started + late_s)
    notes = (*outcome.notes, *asking.notes())
    return replace(outcome, notes=notes, is_partial=outcome.is_partial or bool(asking.notes()))


def _list(parts: Sequence[Part], sink: Sink, cancel: CancelToken, limit: int) -> Outcome:
    """What the filters let through, root after root."""
    outcomes: list[Outcome] = []
    notes: list[str] = []
    left = limit
    for part in parts:
        cancel.check()
        if left <= 0:
            outcomes.append(Outcome(is_capped=True))
            break
        try:
            outcome = part.engine.search(part.query, part.view, _Prefixed(sink, part.prefix), cancel, limit=left)
        except MgrepError as error:
            notes.append(f"{part.label}: {error.message}")
            continue
        left -= outcome.hits
        outcomes.append(outcome)
    return replace(
        outcomes[0] if outcomes else Outcome(),
        hits=sum(outcome.hits for outcome in outcomes),
        files=sum(outcome.files for outcome in outcomes),
        is_capped=any(outcome.is_capped for outcome in outcomes),
        is_partial=bool(notes) or any(outcome.is_partial for outcome in outcomes),
        notes=tuple(dict.fromkeys((*notes, *(note for outcome in outcomes for note in outcome.notes)))),
    )


class _Prefixed:
    """A sink whose paths get the label of their root."""

    def __init__(self, sink: Sink, prefix: bytes) -> None:
        self._sink = sink
        self._prefix = prefix

    def batch(self, hits: Sequence[Hit]) -> None:
        self._sink.batch([replace(hit, path=self._prefix + hit.path) for hit in hits])

    def replace(self, hits: Sequence[Hit]) -> None:
        self._sink.replace([replace(hit, path=self._prefix + hit.path) for hit in hits])

    def progress(self, progress: Progress) -> None:
        self._sink.progress(progress)


class _Asking:
    """All roots are looked into at once, each in a thread of its own."""

    def __init__(
        self,
        parts: Sequence[Part],
        question: Question,
        cancel: CancelToken,
        limit: int,
        vector: npt.NDArray[np.float32] | None,
    ) -> None:
        self._parts = parts
        self._cancel = cancel
        self._answers: queue.SimpleQueue[tuple[int, Pool | None, str]] = queue.SimpleQueue()
        self._pools: dict[int, Pool] = {}
        self._failures: dict[int, str] = {}

        def ask(number: int, part: Part) -> Callable[[], None]:
            def run() -> None:
                try:
                    if part.view.catalog is None:
                        raise MgrepError(part.view.notice or NOT_THERE)
                    pool = part.engine.pool(question, part.query, part.view, cancel, limit=limit, vector=vector)
                    self._answers.put((number, pool, ""))
                except Cancelled:
                    self._answers.put((number, None, "was not asked to the end"))
                except MgrepError as error:
                    self._answers.put((number, None, error.message))
                except Exception as error:
                    self._answers.put((number, None, f"the search failed ({type(error).__name__})."))

            return run

        for number, part in enumerate(parts):
            threading.Thread(target=ask(number, part), name=f"asking {number}", daemon=True).start()

    @property
    def is_done(self) -> bool:
        return len(self._pools) + len(self._failures) == len(self._parts)

    def wait(self, until: float, *, at_least: int, latest: float) -> None:
        """Until all have answered, or `until` when `at_least` so many have, or `latest`. Raises `Cancelled`."""
        while not self.is_done:
            self._cancel.check()
            now = time.monotonic()
            if now >= latest or (now >= until and len(self._pools) >= at_least):
                return
            try:
                number, pool, failure = self._answers.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if pool is None:
                self._failures[number] = failure
            else:
                self._pools[number] = pool

    def pools(self, like: Like | None) -> tuple[list[Pool], list[int]]:
        """What has come, in the order of the parts, and whose it is; the chunk of `like` is not among it."""
        numbers = sorted(self._pools)
        return [
            self._pools[number].without(like.chunk_id)
            if like is not None and like.part == number
            else self._pools[number]
            for number in numbers
        ], numbers

    def notes(self) -> tuple[str, ...]:
        """A sentence for each root that failed or has not answered."""
        found = [f"{self._parts[number].label}: {failure}" for number, failure in sorted(self._failures.items())]
        missing = [
            part.label
            for number, part in enumerate(self._parts)
            if number not in self._pools and number not in self._failures
        ]
        return (*found, *(f"{label} did not answer in time." for label in missing))
