"""A regular expression over several roots: each in a thread, their hits as one list."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from mgrep_tui.errors import Cancelled, MgrepError, QueryError
from mgrep_tui.explorer.merging import Merged
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode, Outcome, Sink
from mgrep_tui.settings.config import RegexSettings

if TYPE_CHECKING:
    from mgrep_tui.explorer.engines import Engines

log = logging.getLogger(__name__)

PATIENCE_S = 10.0  # for a root that is just being opened: the hits of the others are shown meanwhile
GRACE_S = 2.0  # beyond the time limit of a search, for a root that does not look at its token
LOOK_S = 0.02


class Searchable(Protocol):
    """A root, as far as searching it is concerned."""

    def engines(self, cancel: CancelToken, patience_s: float) -> Engines: ...


def find_in_several(
    text: str,
    options: SearchOptions,
    sink: Sink,
    cancel: CancelToken,
    labels: Sequence[str],
    members: Sequence[Searchable],
    settings: RegexSettings,
    *,
    limit: int | None = None,
) -> Outcome:
    """All roots at once; the cap is shared among them, so that a dense root leaves room for the others. Paths of hits begin with the label
    of their root. A root that fails, or has not answered when the time is up, is a note. Raises `QueryError` and `Cancelled`."""
    began = time.monotonic()
    whole = limit or settings.max_hits
    merged = Merged(sink, labels, is_by_path=options.sort == "path")
    outcomes: dict[int, Outcome] = {}
    failures: dict[int, MgrepError] = {}
    done = threading.Semaphore(0)
    token = CancelToken()
    share = -(-whole // len(members)) if limit is None else whole

    def run(number: int, member: Searchable) -> None:
        try:
            engines = member.engines(token, PATIENCE_S)
            outcomes[number] = engines.answer(
                text,
                Mode.REGEX,
                options,
                merged.of(number),
                token,
                limit=share,
                tier="instant",
                is_exhaustive=False,
            )
        except Cancelled:
            failures[number] = MgrepError("was not searched to its end.")
        except MgrepError as error:
            failures[number] = error
        except Exception:
            log.exception("a search failed")
            failures[number] = MgrepError("the search failed; the log has the details.")
        finally:
            done.release()

    for number, member in enumerate(members):
        threading.Thread(target=run, args=(number, member), name=f"search {number}", daemon=True).start()
    latest = began + settings.time_limit_s + GRACE_S
    left = len(members)
    try:
        while left and time.monotonic() < latest:
            left -= done.acquire(timeout=LOOK_S)
            cancel.check()
    finally:
        token.cancel()
        merged.close()
    for error in failures.values():
        if isinstance(error, QueryError):
            raise error
    return _outcome(labels, dict(outcomes), dict(failures), merged, began)


def _outcome(
    labels: Sequence[str],
    outcomes: Mapping[int, Outcome],
    failures: Mapping[int, MgrepError],
    merged: Merged,
    began: float,
) -> Outcome:
    notes = [f"{labels[number]}: {note}" for number, one in sorted(outcomes.items()) for note in one.notes]
    notes += [f"{labels[number]}: {error.message}" for number, error in sorted(failures.items())]
    missing = [label for number, label in enumerate(labels) if number not in outcomes and number not in failures]
    notes += [f"{label} did not answer in time." for label in missing]
    all_of = list(outcomes.values())
    hits, files = merged.counts()
    firsts = [one.first_hit_ms for one in all_of if one.first_hit_ms is not None]
    engines = list(dict.fromkeys(one.engine for one in all_of if one.engine))
    return Outcome(
        hits=max(hits, sum(one.hits for one in all_of)),
        files=files,
        searched_files=sum(one.searched_files for one in all_of),
        candidate_files=sum(one.candidate_files for one in all_of),
        scanned_files=sum(one.scanned_files for one in all_of),
        engine=engines[0] if len(engines) == 1 else "index + scan" if engines else "",
        is_capped=any(one.is_capped for one in all_of),
        is_partial=bool(failures or missing) or any(one.is_partial for one in all_of),
        is_verified=bool(all_of) and not failures and not missing and all(one.is_verified for one in all_of),
        elapsed_ms=(time.monotonic() - began) * 1000,
        first_hit_ms=min(firsts, default=None),
        notes=tuple(notes),
    )
