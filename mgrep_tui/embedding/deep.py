"""The deep tier: a transformer that is there when it is needed, and whose absence, slowness or death costs only its refinement."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field

import numpy as np

from mgrep_tui.embedding.backend import Backend
from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.local import LocalBackend
from mgrep_tui.embedding.protocol import Vectors
from mgrep_tui.embedding.remote import RemoteBackend
from mgrep_tui.embedding.text import text_hash
from mgrep_tui.embedding.transformer import find_transformer
from mgrep_tui.errors import ModelError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import SemanticSettings

_log = logging.getLogger(__name__)

QUERY, BACKGROUND = 0, 1  # a query's texts go before those that fill the cache
_RESCORE_LIMIT_S = 45.0  # the model's start included
_FAILURES_ALLOWED = 3  # in a row; afterwards the tier is off until the program starts again
_KNOWN_QUERIES = 256
_LOOK_S = 0.05


@dataclass(order=True)
class _Job:
    priority: int
    number: int
    texts: tuple[str, ...] = field(compare=False)
    is_query: bool = field(compare=False)
    future: Future[Vectors] = field(compare=False)


class DeepTier:
    """An `Embedder`; safe from any thread. The model is loaded at the first need and leaves memory after `deep_idle_s` without one."""

    def __init__(
        self,
        settings: SemanticSettings,
        cache: EmbeddingCache,
        environ: Mapping[str, str] | None = None,
        *,
        backend: Backend | None = None,
        is_agreed: Callable[[str], bool] = lambda model_id: False,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        """Starts nothing. `on_change` is called from our thread when `state` changed. `backend` is for tests. `is_agreed` tells whether
        the user agreed that the code of all that is open goes to an endpoint, by its model id."""
        self._settings = settings
        self._cache = cache
        self._backend = backend or _backend_of(settings, os.environ if environ is None else environ)
        self._on_change = on_change
        self._is_agreed = is_agreed
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._phase = "not loaded"
        self._started_at = 0.0
        self._failures = 0
        self._failure = ""

    @property
    def model_id(self) -> str:
        return self._backend.model_id

    @property
    def dimension(self) -> int:
        """0 until the first vector of this model was ever computed."""
        return self._cache.dimension_of(self.model_id)

    @property
    def available(self) -> bool:
        """Whether a search may ask for it."""
        return self._settings.deep != "off" and not self.reason

    @property
    def reason(self) -> str:
        """Why it is not available and what to do about it, in sentences; empty when it is."""
        if self.asks:
            return self.asks
        if self._failures >= _FAILURES_ALLOWED:
            return f"{self._failure} The deep tier is off until the next start."
        return self._backend.reason

    @property
    def state(self) -> str:
        """A phrase for the health panel: model, and what it is doing."""
        title = self._backend.title
        if self._settings.deep == "off":
            return f"{title}: off"
        if self.reason:
            return f"{title}: unavailable. {self.reason}"
        if self._phase == "loading":
            seconds = int(time.monotonic() - self._started_at)
            return f"{title}: loading for {seconds} s" if seconds else f"{title}: loading"
        if self._failure:
            return f"{title}: failed. {self._failure}"
        return f"{title}: {self._phase}"

    @property
    def asks(self) -> str:
        """What somebody has to agree to before anything is sent, and how; empty when nothing is left to agree to."""
        backend = self._backend
        if not isinstance(backend, RemoteBackend) or backend.reason or not backend.needs_agreement:
            return ""
        if self._is_agreed(backend.model_id):
            return ""
        return f"Nothing is sent to {backend.host} before you agree: mgrep-tui agree"

    @property
    def notice(self) -> str:
        """A plain warning when code leaves the machine, else empty."""
        if isinstance(self._backend, RemoteBackend) and not self.asks:
            return f"Code is sent to {self._backend.host} (semantic.endpoint)."
        return ""

    def expense(self, texts: int, chars: int) -> str:
        """What it would take to embed so many texts at an endpoint, as a sentence; empty for a model on this machine."""
        if not isinstance(self._backend, RemoteBackend):
            return ""
        return str(self._backend.estimate(texts, chars))

    def start(self) -> None:
        """Begin to load the model now, in the background."""
        if self.available:
            self._submit((), QUERY, is_query=False)

    def known(self, texts: Sequence[str]) -> dict[int, Vectors]:
        """The vectors that need no computing, by position in `texts`."""
        hashes = [text_hash(text) for text in texts]
        found = self._cache.get(self.model_id, list(dict.fromkeys(hashes)))
        return {position: found[key] for position, key in enumerate(hashes) if key in found}

    def unknown(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of the texts' hashes (`text_hash`) that have no vector yet."""
        return set(hashes) - self._cache.known(self.model_id, list(dict.fromkeys(hashes)))

    @property
    def is_full(self) -> bool:
        """Whether the cache takes no more without dropping what is in it."""
        return self._cache.is_full

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`; from the cache where known, with the background's priority. Raises `ModelError`."""
        return self.embed(texts)

    def embed(
        self,
        texts: Sequence[str],
        *,
        priority: int = BACKGROUND,
        cancel: CancelToken | None = None,
        limit_s: float = 3600.0,
    ) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension). What was computed stays cached though the call is cancelled.

        Raises `ModelError` when the tier is unavailable, fails or does not answer in `limit_s`, and `Cancelled`.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        found = self.known(texts)
        missing = list(dict.fromkeys(text for position, text in enumerate(texts) if position not in found))
        size = self._backend.batch
        futures = [
            (batch, self._submit(batch, priority, is_query=False))
            for batch in (tuple(missing[start : start + size]) for start in range(0, len(missing), size))
        ]
        computed: dict[str, Vectors] = {}
        try:
            for batch, future in futures:
                computed.update(zip(batch, self._wait(future, cancel, limit_s), strict=True))
        finally:
            for _, future in futures:
                future.cancel()
        return np.stack(
            [found[position] if position in found else computed[text] for position, text in enumerate(texts)]
        )

    def embed_query(
        self, text: str, *, cancel: CancelToken | None = None, limit_s: float = _RESCORE_LIMIT_S
    ) -> Vectors:
        """The question's unit vector, float32, shape (dimension,). Raises `ModelError` and `Cancelled`."""
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        vector: Vectors = self._wait(self._submit((text,), QUERY, is_query=True), cancel, limit_s)[0]
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > _KNOWN_QUERIES:
                self._queries.popitem(last=False)
        return vector

    def rescore(
        self, query: str, texts: Sequence[str], *, cancel: CancelToken | None = None, limit_s: float = _RESCORE_LIMIT_S
    ) -> Vectors:
        """Cosine of the question with each text (made by `embedding_text`), float32, shape (len(texts),), from -1 to 1.

        Raises `ModelError` when the tier cannot answer within `limit_s`, and `Cancelled`; the caller keeps the order it has.
        """
        vector = self.embed_query(query, cancel=cancel, limit_s=limit_s)
        scores: Vectors = self.embed(texts, priority=QUERY, cancel=cancel, limit_s=limit_s) @ vector
        return scores

    def close(self) -> None:
        """End at once; pending calls fail with `ModelError`."""
        self._closed.set()
        self._backend.stop()
        self._jobs.put(_Job(QUERY, -1, (), False, Future()))

    def _submit(self, texts: tuple[str, ...], priority: int, *, is_query: bool) -> Future[Vectors]:
        if not self.available or self._closed.is_set():
            raise ModelError(self.reason or "The deep tier is off.")
        future: Future[Vectors] = Future()
        self._jobs.put(_Job(priority, next(self._numbers), texts, is_query, future))
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="deep-tier", daemon=True)
                self._thread.start()
        return future

    def _wait(self, future: Future[Vectors], cancel: CancelToken | None, limit_s: float) -> Vectors:
        deadline = time.monotonic() + limit_s
        while True:
            try:
                return future.result(timeout=_LOOK_S if cancel is not None else max(0.0, deadline - time.monotonic()))
            except FutureTimeoutError:
                if cancel is not None:
                    cancel.check()
                if time.monotonic() >= deadline:
                    raise ModelError(
                        f"The deep tier did not answer in {limit_s:.0f} s.", "Search goes on without it."
                    ) from None

    def _work(self) -> None:
        """The worker thread: one job after the other; without one for `deep_idle_s` the model is unloaded."""
        is_loaded = False
        while not self._closed.is_set():
            try:
                job = self._jobs.get(timeout=self._settings.deep_idle_s if is_loaded else None)
            except queue.Empty:
                self._backend.stop()
                is_loaded = False
                self._enter("asleep, loaded again when needed")
                continue
            if self._closed.is_set() or not job.future.set_running_or_notify_cancel():
                continue
            try:
                self._run(job)
                is_loaded = True
            except ModelError as error:
                is_loaded = False
                self._fail(error)
                job.future.set_exception(error)
            except Exception as error:  # the worker's edge: whatever it was, the tier goes on
                _log.exception("deep tier")
                is_loaded = False
                failed = ModelError(f"The deep tier failed: {error}.", "Search goes on without it.")
                self._fail(failed)
                job.future.set_exception(failed)
        self._drain(ModelError("The program is ending."))

    def _run(self, job: _Job) -> None:
        if self._phase != "ready":
            self._started_at = time.monotonic()
            self._enter("loading")
        self._backend.start()
        self._enter("ready")
        if not job.texts:
            job.future.set_result(np.zeros((0, 0), dtype=np.float32))
            return
        vectors = self._backend.encode(job.texts, job.is_query)
        self._failures, self._failure = 0, ""
        if not job.is_query:
            self._cache.put(self.model_id, [text_hash(text) for text in job.texts], vectors)
        job.future.set_result(vectors)

    def _fail(self, error: ModelError) -> None:
        self._failures += 1
        self._failure = error.message
        self._backend.stop()
        _log.warning("deep tier: %s", error)
        self._enter("not loaded")
        if self._failures >= _FAILURES_ALLOWED:
            self._drain(ModelError(self.reason))

    def _drain(self, error: ModelError) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job.future.set_running_or_notify_cancel():
                    job.future.set_exception(error)

    def _enter(self, phase: str) -> None:
        if phase != self._phase:
            self._phase = phase
            if self._on_change is not None:
                self._on_change()


def _backend_of(settings: SemanticSettings, environ: Mapping[str, str]) -> Backend:
    if settings.endpoint:
        return RemoteBackend(settings.endpoint, settings.endpoint_model, settings.endpoint_batch, environ)
    return LocalBackend(find_transformer(settings.model))
