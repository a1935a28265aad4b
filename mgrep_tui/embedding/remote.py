"""An OpenAI-compatible endpoint for embeddings: requests in batches, retried with growing pauses, every answer checked.

Nothing is sent anywhere unless `semantic.endpoint` is set. The key comes from the environment variable MGREP_TUI_API_KEY alone.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mgrep_tui.embedding.protocol import Vectors
from mgrep_tui.errors import ModelError

KEY_VARIABLE = "MGREP_TUI_API_KEY"
REQUEST_LIMIT_S = 30.0
TRIES = 5
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
MAX_TEXT_CHARS = 24_000  # about 8,000 tokens, the usual limit of such endpoints
_MAX_ANSWER_BYTES = 64 << 20
_CHARS_PER_TOKEN = 3.5  # code is denser than prose
# US dollars a million tokens, as published by their vendor in 2025; only for an estimate.
_PRICES = {"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13, "text-embedding-ada-002": 0.10}
_LOOPBACK = frozenset(["localhost", "127.0.0.1", "::1"])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What embedding some texts would take; `usd` is None where the model's price is not known."""

    texts: int
    requests: int
    tokens: int
    usd: float | None

    def __str__(self) -> str:
        price = "at a price that is not known here" if self.usd is None else f"about US$ {self.usd:.2f}"
        return f"All {self.texts:,} chunks: {self.requests:,} requests, about {self.tokens:,} tokens, {price}."


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry code and key to another host than the configured one."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class RemoteBackend:
    """A `Backend` over HTTP."""

    def __init__(
        self,
        endpoint: str,
        model: str,
        batch: int,
        environ: Mapping[str, str],
        *,
        sleep: Callable[[float], object] | None = None,
        request_limit_s: float = REQUEST_LIMIT_S,
    ) -> None:
        """`sleep` is for tests; by default pauses end early when `stop` is called."""
        self._url = embeddings_url(endpoint)
        self._model = model
        self._batch = max(1, batch)
        self._key = environ.get(KEY_VARIABLE, "").strip()
        self._request_limit_s = request_limit_s
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._dimension = 0

    @property
    def host(self) -> str:
        """Where code is sent, for the screen to say."""
        return urllib.parse.urlsplit(self._url).netloc.rpartition("@")[2]

    @property
    def needs_agreement(self) -> bool:
        """Whether code leaves this machine, or may on its way: a server here that wants a key may pass it on."""
        return bool(self._key) or urllib.parse.urlsplit(self._url).hostname not in _LOOPBACK

    @property
    def title(self) -> str:
        return f"{self._model or 'model'} at {self.host}"

    @property
    def model_id(self) -> str:
        return f"endpoint:{self._url}:{self._model}"

    @property
    def reason(self) -> str:
        parts = urllib.parse.urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return "semantic.endpoint is not an http or https address. Correct it in the configuration."
        if not self._model:
            return "semantic.endpoint needs a model. Set semantic.endpoint_model in the configuration."
        if self._key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            return f"The key would go to {self.host} without encryption. Use an https address, or unset {KEY_VARIABLE}."
        return ""

    @property
    def batch(self) -> int:
        return self._batch

    def start(self) -> None:
        self._stopped.clear()
        if self.reason:
            raise ModelError(self.reason)

    def stop(self) -> None:
        self._stopped.set()

    def estimate(self, texts: int, chars: int) -> Estimate:
        """What embedding `texts` texts of `chars` characters together would take."""
        tokens = round(chars / _CHARS_PER_TOKEN)
        price = _PRICES.get(self._model)
        return Estimate(texts, -(-texts // self._batch), tokens, None if price is None else tokens * price / 1e6)

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """See `Backend`; such endpoints make no difference between questions and documents."""
        body = json.dumps(
            {
                "model": self._model,
                "input": [text[:MAX_TEXT_CHARS] or " " for text in texts],
                "encoding_format": "float",
            }
        )
        pause_s = FIRST_PAUSE_S
        for attempt in range(1, TRIES + 1):
            try:
                return self._vectors(self._post(body.encode()), len(texts))
            except urllib.error.HTTPError as error:
                said = _said(error)
                if error.code != 429 and error.code < 500:
                    raise ModelError(
                        f"{self.host} refused the request ({error.code}{said}).", _hint(error.code)
                    ) from error
                problem = f"{self.host} answered {error.code}{said}"
                asked_s = _retry_after_s(error)
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem, asked_s = f"{self.host}: {getattr(error, 'reason', None) or error}", None
            if attempt == TRIES or self._stopped.is_set():
                break
            self._sleep(min(LONGEST_PAUSE_S, asked_s if asked_s is not None else pause_s * random.uniform(0.8, 1.2)))
            pause_s *= 2
            if self._stopped.is_set():
                break
        raise ModelError(f"{problem}, after {attempt} tries.", "Search goes on without the deep tier.")

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "mgrep-tui"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        with self._opener.open(request, timeout=self._request_limit_s) as answer:
            content: bytes = answer.read(_MAX_ANSWER_BYTES)
        return content

    def _vectors(self, content: bytes, count: int) -> Vectors:
        """The vectors of an answer, in the order asked. Raises `ValueError` for an answer that is not whole."""
        try:
            rows = sorted(json.loads(content)["data"], key=lambda row: int(row["index"]))
            if [int(row["index"]) for row in rows] != list(range(count)):
                raise ValueError(f"vectors for {len(rows)} of {count} texts")
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("an answer that is not of the embeddings protocol") from error
        norms = np.linalg.norm(vectors, axis=-1, keepdims=True) if vectors.ndim == 2 else np.zeros(1)
        if not np.isfinite(norms).all() or not (norms > 0).all():
            raise ValueError("vectors that are empty or not finite")
        if self._dimension not in (0, vectors.shape[1]):
            raise ValueError(f"vectors of {vectors.shape[1]} numbers instead of {self._dimension}")
        self._dimension = vectors.shape[1]
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit


def embeddings_url(endpoint: str) -> str:
    """The full address: `https://host/v1` and `https://host/v1/embeddings` name the same."""
    plain = endpoint.strip().rstrip("/")
    return plain if plain.endswith("/embeddings") else f"{plain}/embeddings"


def _said(error: urllib.error.HTTPError) -> str:
    """The endpoint's own message, shortened; empty when there is none."""
    try:
        message = json.loads(error.read(65_536))["error"]["message"]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return ""
    return f": {str(message)[:200]}"


def _hint(code: int) -> str:
    if code in (401, 403):
        return f"Check the key in {KEY_VARIABLE}."
    if code in (404, 405) or 300 <= code < 400:
        return "Check semantic.endpoint and semantic.endpoint_model."
    return ""


def _retry_after_s(error: urllib.error.HTTPError) -> float | None:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "")))
    except ValueError:
        return None
