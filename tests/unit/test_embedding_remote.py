"""An OpenAI-compatible endpoint, on a real local server with faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.deep import DeepTier
from mgrep_tui.embedding.remote import KEY_VARIABLE, TRIES, RemoteBackend, embeddings_url
from mgrep_tui.errors import ModelError
from mgrep_tui.settings.config import SemanticSettings
from tests.support.embeddings_server import Service, serving
from tests.support.transformer_double import DIMENSION, letters


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


def remote(service: Service, pauses: list[float] | None = None, limit_s: float = 20.0, **environ: str) -> RemoteBackend:
    record = [] if pauses is None else pauses
    return RemoteBackend(
        service.url, "text-embedding-3-small", 20, environ, sleep=record.append, request_limit_s=limit_s
    )


def test_vectors_come_in_the_order_asked(service: Service) -> None:
    texts = ["alpha", "beta", "gamma"]
    assert np.allclose(remote(service).encode(texts, False), letters(texts), atol=1e-5)
    assert service.requests[0]["model"] == "text-embedding-3-small" and service.requests[0]["input"] == texts


def test_the_key_comes_from_the_environment_alone(service: Service) -> None:
    remote(service).encode(["a"], False)
    remote(service, **{KEY_VARIABLE: "secret"}).encode(["a"], False)
    assert service.authorizations == [None, "Bearer secret"]


@pytest.mark.parametrize("fault", [429, 500, 503, "half", "nonsense", "fewer"])
def test_a_passing_fault_is_tried_again(service: Service, fault: int | str) -> None:
    service.faults = [fault, fault]
    pauses: list[float] = []
    assert remote(service, pauses).encode(["a", "b"], False).shape == (2, DIMENSION)
    assert len(service.requests) == 3 and len(pauses) == 2 and pauses[1] > pauses[0]


def test_the_server_says_how_long_to_wait(service: Service) -> None:
    service.faults, service.headers = [429], {"Retry-After": "7"}
    pauses: list[float] = []
    remote(service, pauses).encode(["a"], False)
    assert pauses == [7.0]


def test_a_lasting_fault_is_given_up_and_said(service: Service) -> None:
    service.faults = [503] * 50
    with pytest.raises(ModelError, match=f"503: fault 503, after {TRIES} tries"):
        remote(service).encode(["a"], False)
    assert len(service.requests) == TRIES


@pytest.mark.parametrize(("fault", "hint"), [(401, KEY_VARIABLE), (404, "semantic.endpoint"), (400, "")])
def test_a_refusal_is_not_tried_again(service: Service, fault: int, hint: str) -> None:
    service.faults = [fault]
    with pytest.raises(ModelError, match=f"{fault}: fault {fault}") as caught:
        remote(service).encode(["a"], False)
    assert hint in caught.value.hint and len(service.requests) == 1


def test_a_redirect_is_not_followed(service: Service) -> None:
    service.faults = ["redirect"]
    with pytest.raises(ModelError, match="307"):
        remote(service, **{KEY_VARIABLE: "secret"}).encode(["a"], False)


def test_a_slow_server_is_not_waited_for(service: Service) -> None:
    service.faults = ["slow"]
    assert remote(service, limit_s=0.2).encode(["a"], False).shape == (1, DIMENSION)
    assert len(service.requests) == 2


def test_no_server_at_all_is_said() -> None:
    with serving() as gone:
        url = gone.url
    nobody = RemoteBackend(url, "m", 20, {}, sleep=lambda _: None)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        nobody.encode(["a"], False)


def test_batches_are_of_the_configured_size(service: Service, tmp_path: Path) -> None:
    settings = SemanticSettings(endpoint=service.url, endpoint_model="m", endpoint_batch=20)
    tier = DeepTier(settings, EmbeddingCache(tmp_path / "c.sqlite3"), {})
    texts = [f"text {number}" for number in range(45)]
    assert tier.embed(texts).shape == (45, DIMENSION)
    assert [len(request["input"]) for request in service.requests] == [20, 20, 5]  # type: ignore[arg-type]
    tier.embed(texts)
    assert len(service.requests) == 3, "known vectors are not asked for again"
    assert "127.0.0.1" in tier.notice
    tier.close()


def test_an_endpoint_and_a_transformer_never_share_vectors(service: Service) -> None:
    one, other = remote(service), RemoteBackend(service.url, "another", 20, {})
    assert len({one.model_id, other.model_id, "minilm"}) == 3


@pytest.mark.parametrize(
    ("endpoint", "model", "key", "reason"),
    [
        ("file:///etc/passwd", "m", "", "http or https"),
        ("https://models.example/v1", "", "", "endpoint_model"),
        ("http://models.example/v1", "m", "secret", "without encryption"),
        ("https://models.example/v1", "m", "secret", ""),
        ("http://localhost:8080/v1", "m", "secret", ""),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_sent(endpoint: str, model: str, key: str, reason: str) -> None:
    made = RemoteBackend(endpoint, model, 20, {KEY_VARIABLE: key})
    assert reason in made.reason and bool(made.reason) == bool(reason)
    if reason:
        with pytest.raises(ModelError):
            made.start()


def test_both_ways_to_write_an_endpoint() -> None:
    assert embeddings_url("http://h/v1/") == embeddings_url("http://h/v1/embeddings") == "http://h/v1/embeddings"


def test_an_estimate_before_the_first_run() -> None:
    made = RemoteBackend("https://models.example/v1", "text-embedding-3-small", 20, {})
    estimate = made.estimate(texts=1_001, chars=3_500_000)
    assert (estimate.requests, estimate.tokens) == (51, 1_000_000) and estimate.usd == pytest.approx(0.02)
    assert RemoteBackend("https://models.example/v1", "own", 20, {}).estimate(1, 10).usd is None


def test_the_expense_of_everything_is_said_in_words(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite3")
    priced = SemanticSettings(endpoint="https://example.org/v1", endpoint_model="text-embedding-3-small")
    assert DeepTier(priced, cache, {}).expense(1_000, 3_500_000) == (
        "All 1,000 chunks: 50 requests, about 1,000,000 tokens, about US$ 0.02."
    )
    own = SemanticSettings(endpoint="https://example.org/v1", endpoint_model="own")
    assert "not known" in DeepTier(own, cache, {}).expense(1_000, 3_500_000)
    assert DeepTier(SemanticSettings(), cache, {}).expense(1_000, 3_500_000) == ""
