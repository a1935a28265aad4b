"""The vector file: exact answers, filters before the top-k, and no unchecked byte for the native library."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.retrieval import vectors
from mgrep_tui.retrieval.vectors import VectorManifest, VectorStore

DIMENSION = 32


def some_vectors(count: int, seed: int = 1) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture
def store() -> VectorStore:
    made = VectorStore(DIMENSION, "model-1")
    made.add(np.arange(100, 400), some_vectors(300))
    return made


def test_the_nearest_come_first_with_their_cosines(store: VectorStore) -> None:
    query = some_vectors(300)[7]
    ids, scores = store.search(query, 5)
    assert ids[0] == 107
    assert scores[0] == pytest.approx(1.0, abs=0.02)
    assert list(scores) == sorted(scores, reverse=True)


def test_search_equals_a_full_comparison(store: VectorStore) -> None:
    every = some_vectors(300)
    query = some_vectors(1, seed=9)[0]
    best = np.argsort(-(every @ query))[:10] + 100
    ids, _ = store.search(query, 10)
    assert len(set(ids.tolist()) & set(best.tolist())) >= 9  # eight bits a number


def test_allowed_ids_restrict_before_the_top_k(store: VectorStore) -> None:
    query = some_vectors(300)[7]
    allowed = np.array([150, 151, 399])
    ids, _ = store.search(query, 10, allowed)
    assert sorted(ids.tolist()) == [150, 151, 399]
    assert store.search(query, 10, np.empty(0, np.int64))[0].size == 0


def test_many_allowed_ids_give_the_same_answer_as_few(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    query = some_vectors(1, seed=3)[0]
    allowed = np.arange(100, 400, 3)
    directly, _ = store.search(query, 8, allowed)
    monkeypatch.setattr(vectors, "OVERFETCH", 40)
    by_filter, _ = store.search(query, 8, allowed)
    assert len(set(directly.tolist()) & set(by_filter.tolist())) >= 7


def test_adding_again_replaces(store: VectorStore) -> None:
    other = some_vectors(1, seed=5)
    store.add(np.array([107]), other)
    assert len(store) == 300
    assert store.search(other[0], 1)[0].tolist() == [107]


def test_removed_vectors_are_gone_and_unknown_ids_are_fine(store: VectorStore) -> None:
    store.remove(np.array([107, 9_999]))
    assert 107 not in store.ids().tolist()
    assert store.search(some_vectors(300)[7], 3)[0][0] != 107
    assert len(store) == 299


def test_get_leaves_out_what_is_not_there(store: VectorStore) -> None:
    ids, found = store.get(np.array([100, 5]))
    assert ids.tolist() == [100]
    assert np.linalg.norm(found[0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_refused(store: VectorStore, bad: float) -> None:
    broken = some_vectors(1)
    broken[0, 3] = bad
    with pytest.raises(ValueError, match="not finite"):
        store.add(np.array([1]), broken)
    with pytest.raises(ValueError, match="not finite"):
        store.search(broken[0], 3)


def test_a_zero_vector_is_refused_and_finds_nothing(store: VectorStore) -> None:
    zero = np.zeros((1, DIMENSION), np.float32)
    with pytest.raises(ValueError, match="zero"):
        store.add(np.array([1]), zero)
    assert store.search(zero[0], 3)[0].size == 0


def test_a_wrong_dimension_is_refused(store: VectorStore) -> None:
    with pytest.raises(ValueError, match="dimensions"):
        store.add(np.array([1]), np.ones((1, DIMENSION + 1), np.float32))


def test_saved_and_opened_it_answers_the_same(store: VectorStore, tmp_path: Path) -> None:
    manifest = store.save(tmp_path / "vectors.usearch")
    manifest = VectorManifest.from_dict(manifest.as_dict())
    again = VectorStore.open(tmp_path / "vectors.usearch", manifest, model_id="model-1")
    query = some_vectors(1, seed=2)[0]
    assert again.search(query, 10)[0].tolist() == store.search(query, 10)[0].tolist()
    again.add(np.array([1]), some_vectors(1, seed=8))
    assert len(again) == 301


def test_an_empty_store_can_be_saved_and_opened(tmp_path: Path) -> None:
    manifest = VectorStore(DIMENSION, "m").save(tmp_path / "v")
    again = VectorStore.open(tmp_path / "v", manifest, model_id="m")
    assert len(again) == 0
    assert again.ids().size == 0
    assert again.search(some_vectors(1)[0], 3)[0].size == 0


@pytest.mark.parametrize("damage", ["cut", "bit", "missing", "grown"])
def test_a_damaged_file_never_reaches_the_library(
    store: VectorStore, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS M10 and the usearch page: a damaged file can hang or crash the process."""
    path = tmp_path / "vectors.usearch"
    manifest = store.save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "bit":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "grown":
        path.write_bytes(bytes(content) + b"x")
    else:
        path.unlink()
    monkeypatch.setattr(vectors, "_empty", lambda dimension: pytest.fail("the library was given an unchecked file"))
    with pytest.raises(IndexDamagedError):
        VectorStore.open(path, manifest, model_id="model-1")


def test_vectors_of_another_model_are_not_opened(store: VectorStore, tmp_path: Path) -> None:
    """FAULTS M10: model changed."""
    manifest = store.save(tmp_path / "v")
    with pytest.raises(IndexDamagedError):
        VectorStore.open(tmp_path / "v", manifest, model_id="model-2")
    with pytest.raises(IndexDamagedError):
        VectorStore.open(tmp_path / "v", dataclasses.replace(manifest, format=99), model_id="model-1")
    with pytest.raises(IndexDamagedError):
        VectorStore.open(tmp_path / "v", dataclasses.replace(manifest, count=299), model_id="model-1")


def test_a_manifest_that_lost_a_value_is_damage() -> None:
    with pytest.raises(IndexDamagedError):
        VectorManifest.from_dict({"size_bytes": 3})
    with pytest.raises(IndexDamagedError):
        VectorManifest.from_dict({**VectorManifest(1, "a", 1, 1, "i8", "m").as_dict(), "count": "many"})


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    store: VectorStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS M3: disk full."""
    path = tmp_path / "vectors.usearch"
    store.save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vectors.os, "fsync", full)
    store.remove(np.array([100]))
    with pytest.raises(OSError, match="No space"):
        store.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["vectors.usearch"]
