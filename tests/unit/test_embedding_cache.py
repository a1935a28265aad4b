"""Vectors are kept by content, in a file that may be damaged, full, read-only or shared."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.protocol import Vectors

KEYS = [bytes([number]) * 16 for number in range(200)]


def unit(count: int, dimension: int = 8, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_what_was_put_is_got_back_after_opening_again(tmp_path: Path) -> None:
    cache, vectors = EmbeddingCache(tmp_path / "deep" / "c.sqlite3"), unit(3)
    cache.put("m", KEYS[:3], vectors)
    cache.close()
    found = EmbeddingCache(tmp_path / "deep" / "c.sqlite3").get("m", KEYS[:5])
    assert sorted(found) == KEYS[:3]
    assert all(np.allclose(found[key], vector, atol=2e-3) for key, vector in zip(KEYS, vectors, strict=False))
    assert all(abs(float(np.linalg.norm(vector)) - 1) < 1e-6 for vector in found.values())


def test_models_do_not_mix(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    cache.put("one", KEYS[:1], unit(1))
    assert cache.get("two", KEYS[:1]) == {} and cache.count("two") == 0 and cache.count("one") == 1
    assert (cache.dimension_of("one"), cache.dimension_of("two")) == (8, 0)


def test_a_vector_of_another_dimension_or_not_finite_is_not_kept(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    cache.put("m", KEYS[:1], unit(1, 8))
    cache.put("m", KEYS[1:2], unit(1, 16))
    cache.put("m", KEYS[2:3], np.full((1, 8), np.nan, dtype=np.float32))
    assert list(cache.get("m", KEYS)) == KEYS[:1]


def test_many_keys_in_one_call(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    keys = [number.to_bytes(16, "big") for number in range(1_700)]
    cache.put("m", keys, unit(len(keys)))
    assert len(cache.get("m", keys)) == len(keys)


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    day = [0.0]
    cache = EmbeddingCache(tmp_path / "c.sqlite3", limit_bytes=130_000, clock=lambda: day[0])
    cache.put("m", KEYS[:50], unit(50, 384))
    day[0] = 86_400.0
    assert len(cache.get("m", KEYS[:10])) == 10  # used again today
    cache.put("m", KEYS[50:200], unit(150, 384))
    cache.put("m", KEYS[199:200], unit(1, 384))
    assert cache.size_bytes() <= 130_000
    assert cache.get("m", KEYS[10:50]) == {}, "not used since the first day"
    assert cache.count("m") > 50


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    path.write_bytes(b"this is no database" * 1_000)
    cache = EmbeddingCache(path)
    cache.put("m", KEYS[:1], unit(1))
    assert len(cache.get("m", KEYS[:1])) == 1
    cache.close()
    assert sqlite3.connect(path).execute("SELECT count(*) FROM vectors").fetchone() == (1,)


def test_a_file_damaged_inside_costs_only_its_vectors(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    cache = EmbeddingCache(path)
    cache.put("m", [number.to_bytes(16, "big") for number in range(2_000)], unit(2_000, 64))
    cache.close()
    content = bytearray(path.read_bytes())
    content[8_192:] = os.urandom(len(content) - 8_192)
    path.write_bytes(content)
    again = EmbeddingCache(path)
    for _ in range(3):
        again.put("m", KEYS[:2], unit(2, 64))
        again.get("m", [number.to_bytes(16, "big") for number in range(2_000)])
    again.put("m", KEYS[:2], unit(2, 64))
    assert len(again.get("m", KEYS[:2])) == 2


def test_a_version_from_elsewhere_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.execute("CREATE TABLE vectors (x)")
    other.commit()
    other.close()
    cache = EmbeddingCache(path)
    cache.put("m", KEYS[:1], unit(1))
    assert len(cache.get("m", KEYS[:1])) == 1


def test_m5_where_no_file_can_be_made_it_works_from_memory(tmp_path: Path) -> None:
    """FAULTS M5: the cache's folder cannot be created."""
    (tmp_path / "file").write_text("in the way")
    cache = EmbeddingCache(tmp_path / "file" / "c.sqlite3")
    cache.put("m", KEYS[:1], unit(1))
    assert len(cache.get("m", KEYS[:1])) == 1 and cache.last_error


def test_m3_a_full_disk_is_no_error(tmp_path: Path) -> None:
    """FAULTS M3: the file cannot grow; what it holds is still answered."""
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    cache.put("m", KEYS[:1], unit(1, 384))
    assert cache._connection is not None
    pages = cache._connection.execute("PRAGMA page_count").fetchone()[0]
    cache._connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [number.to_bytes(16, "big") for number in range(500)]
    cache.put("m", many, unit(500, 384))
    assert "full" in cache.last_error
    assert len(cache.get("m", KEYS[:1])) == 1


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    wrong: list[int] = []

    def work(seed: int) -> None:
        for number in range(20):
            key = bytes([seed, number]) * 8
            vectors = unit(1, 8, seed * 100 + number)
            cache.put("m", [key], vectors)
            if not np.allclose(cache.get("m", [key])[key], vectors[0], atol=2e-3):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and cache.count("m") == 120


def test_m1_processes_share_one_file(tmp_path: Path) -> None:
    """FAULTS M1: two writers on one file lose nothing."""
    code = """
import sys, numpy as np
from pathlib import Path
from mgrep_tui.embedding.cache import EmbeddingCache
cache = EmbeddingCache(Path(sys.argv[1]))
for number in range(100):
    cache.put("m", [bytes([int(sys.argv[2]), number]) * 8], np.eye(1, 8, dtype=np.float32))
assert not cache.last_error, cache.last_error
"""
    path = tmp_path / "c.sqlite3"
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), str(seed)]) for seed in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert EmbeddingCache(path).count("m") == 300


def test_nothing_put_is_nothing_kept(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c.sqlite3")
    cache.put("m", [], np.zeros((0, 8), dtype=np.float32))
    assert cache.count("m") == 0 and cache.get("m", []) == {}
