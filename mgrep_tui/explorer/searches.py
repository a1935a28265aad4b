"""The searches that an explorer has under way, each in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.explorer.protocol import OnDone
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode, Outcome

log = logging.getLogger(__name__)


class Running:
    """A search in its thread."""

    def __init__(self, token: CancelToken) -> None:
        self._token = token

    def cancel(self) -> None:
        self._token.cancel()


class Searches:
    """All methods from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: set[CancelToken] = set()

    def start(self, answer: Callable[[CancelToken], Outcome], epoch: int, mode: Mode, on_done: OnDone) -> Running:
        """Run `answer` in a thread, and tell `on_done` there how it ended: with neither outcome nor error where it was cancelled.

        Here is the worker's edge: whatever else `answer` raises goes to the log, and becomes a sentence.
        """
        token = CancelToken()
        with self._lock:
            self._tokens.add(token)

        def run() -> None:
            outcome: Outcome | None = None
            error: MgrepError | None = None
            try:
                outcome = answer(token)
            except Cancelled:
                pass
            except MgrepError as caught:
                error = caught
            except Exception:
                log.exception("a search failed: mode %s", mode)
                error = MgrepError("The search failed.", "The log has the details.")
            finally:
                with self._lock:
                    self._tokens.discard(token)
            on_done(outcome, error)

        threading.Thread(target=run, name=f"search-{epoch}", daemon=True).start()
        return Running(token)

    def cancel(self) -> None:
        """Cancel all that run."""
        with self._lock:
            for token in self._tokens:
                token.cancel()
