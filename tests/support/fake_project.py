"""The files of the fake explorer: a small project about uploads that are tried again."""

from __future__ import annotations

_CLIENT = '''"""Uploads jobs, and tries again when the network fails."""

import logging
import random

from upload.backoff import Clock, delays
from upload.errors import NetworkError, TooManyRetries

log = logging.getLogger(__name__)

DEFAULT_RETRIES = 5


class Uploader:
    """Sends jobs to the store.

    A failed upload is tried again with a growing delay, at most
    `max_retries` times.
    """

    def __init__(self, store, max_retries=DEFAULT_RETRIES, clock=None):
        self.store = store
        self.max_retries = max_retries
        self.clock = clock or Clock()

    def send(self, job):
        """One attempt. Raises NetworkError."""
        with self.store.connect() as connection:
            return connection.put(job.key, job.payload)

    def retry(self, job):
        """Try an upload again after a network failure."""
        for attempt in range(self.max_retries):
            try:
                return self.send(job)
            except NetworkError as error:
                log.warning("upload failed: %s", error)
                self.clock.sleep(self._backoff(attempt))
        raise TooManyRetries(job)

    def _backoff(self, attempt):
        """The delay before the next retry, in seconds."""
        base = self.base_delay
        jitter = random.random()
        return min(base * 2 ** attempt + jitter, 30.0)

    @property
    def base_delay(self):
        return 0.5
'''

_BACKOFF = '''"""Growing delays between retries."""

import time


class Clock:
    def sleep(self, seconds):
        time.sleep(seconds)


def delays(base, limit):
    """Yield growing delays for each retry, up to a limit."""
    delay = base
    while True:
        yield min(delay, limit)
        delay *= 2
'''

_WORKER = """package queue

import "time"

// Worker takes jobs from a queue.
type Worker struct {
\tqueue   *Queue
\tretries int
}

// requeueWithDelay puts a failed upload back, later each time.
func (w *Worker) requeueWithDelay(job *Job, attempt int) error {
\tdelay := 100 * time.Millisecond
\ttime.Sleep(delay << attempt)
\treturn w.queue.Push(job)
}

func (w *Worker) run(stop chan struct{}) {
\tfor {
\t\tselect {
\t\tcase job := <-w.queue.jobs:
\t\t\tgo w.handle(job)
\t\tcase <-stop:
\t\t\treturn
\t\t}
\t}
}
"""

_DOCS = """# Uploads

How files get to the store.

## Retrying

A failed upload is tried again with a growing delay: half a second,
one second, two seconds, and so on up to half a minute.

## Limits

At most five retries. After that the job is put aside.
"""

_TEST = """from upload.client import Uploader


def test_retry_waits_longer_each_time(clock):
    uploader = Uploader(store=BrokenStore(), clock=clock)
    uploader.retry(job())
    assert clock.slept == [0.5, 1.0, 2.0]


def test_upload_is_sent_once(store):
    Uploader(store).send(job())
    assert store.puts == 1
"""

_QUEUE = """// A queue of uploads in the browser.
export function enqueue(upload, queue) {
  queue.push({ upload, attempts: 0 });
  return queue.length;
}

export function retryLater(entry, delay) {
  setTimeout(() => enqueue(entry.upload, entry.queue), delay);
}
"""

_CONFIG = """[upload]
retries = 5
base_delay = 0.5
"""

FILES: dict[bytes, str] = {
    b"src/upload/client.py": _CLIENT,
    b"src/upload/backoff.py": _BACKOFF,
    b"src/queue/worker.go": _WORKER,
    b"docs/retrying.md": _DOCS,
    b"web/queue.js": _QUEUE,
    b"tests/upload/test_client.py": _TEST,
    b"config/upload.toml": _CONFIG,
}
