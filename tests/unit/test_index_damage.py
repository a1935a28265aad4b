"""Each file of the index damaged in turn, by bit, length, absence and age: seen before it is used; that part alone is made anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import generations, manifest, soundness
from mgrep_tui.index import grams as grams_module
from mgrep_tui.jobs.cancel import CancelToken
from tests.support.index_world import STOP_S, InlineJob, World, assert_stores_agree, wait_until

pytestmark = pytest.mark.timeout(400)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


DAMAGES = [flip, cut, empty, remove]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(grams_module, "STALE_FILES", 3)
    monkeypatch.setattr(grams_module, "SegmentJob", InlineJob)
    settled = lambda stat, taken_ns: stat.ctime_ns < taken_ns - 20_000_000  # noqa: E731
    for module in ("coverage", "grams", "meaning"):
        monkeypatch.setattr(f"mgrep_tui.index.{module}.is_settled", settled)
    monkeypatch.setattr(grams_module, "SETTLE_NS", 20_000_000)
    made = World(tmp_path)
    for number in range(8):
        made.tree.write(f"m{number}.py", f"def function_{number}():\n    return 'needle {number}'\n")
    with made.running(semantic=True) as worker:
        wait_until(lambda: not worker.snapshot().extra)
        wait_until(lambda: manifest.load(made.folder) is not None and worker.snapshot().segments)
    yield made
    made.close()


def parts(world: World, name: str) -> list[Path]:
    return sorted((world.folder / generations.FOLDER).rglob(name))


def assert_sound(world: World) -> None:
    """A worker opens it, regex search is right from the first moment, and in the end everything is whole."""
    worker = world.start(semantic=True)
    wait_until(lambda: worker.health().files_seen == 8 or worker.snapshot().covers)
    assert world.search(worker, "needle 3") == {b"m3.py"}
    assert worker.wait_complete(CancelToken())
    assert world.search(worker, "needle 3") == {b"m3.py"}
    assert_stores_agree(worker)
    view = worker.semantic()
    assert view.catalog is not None
    assert [row.path for row in view.catalog.symbols_named("function_5")] == [b"m5.py"]
    worker.stop(STOP_S)


def test_no_damage_to_a_segment_goes_unseen(world: World) -> None:
    found = manifest.load(world.folder)
    assert found is not None
    for name in ("*.lookup", "*.postings", "*.documents", "dispositions"):
        for damage in DAMAGES:
            (path,) = parts(world, name)
            content = path.read_bytes()
            damage(path)
            with pytest.raises(IndexDamagedError):
                generations.open_segments(world.folder, found)
            path.write_bytes(content)
    generations.open_segments(world.folder, found)


def test_no_damage_to_the_keywords_goes_unseen(world: World) -> None:
    folder = world.folder / "keywords"
    for ending in ("term", "idx", "store", "fast", "fieldnorm", "pos"):
        for damage in DAMAGES:
            path = sorted(folder.glob(f"*.{ending}"))[0]
            content = path.read_bytes()
            damage(path)
            with pytest.raises(IndexDamagedError):
                soundness.check_keywords(folder)
            path.write_bytes(content)
    soundness.check_keywords(folder)


@pytest.mark.parametrize("name", ["*.lookup", "*.postings"])
def test_a_damaged_segment_is_built_anew(world: World, name: str) -> None:
    vectors = [path.read_bytes() for path in parts(world, "vectors.usearch")]
    flip(parts(world, name)[0])
    assert_sound(world)
    assert [path.read_bytes() for path in parts(world, "vectors.usearch")] == vectors


@pytest.mark.parametrize("damage", [flip, empty])
def test_damaged_vectors_are_made_anew_and_nothing_else(world: World, damage: Callable[[Path], None]) -> None:
    lookups = {path: path.stat().st_ino for path in parts(world, "*.lookup")}
    damage(parts(world, "vectors.usearch")[0])
    assert_sound(world)
    assert {path: path.stat().st_ino for path in parts(world, "*.lookup")} == lookups


@pytest.mark.parametrize("damage", [flip, remove])
def test_a_damaged_manifest_is_made_anew(world: World, damage: Callable[[Path], None]) -> None:
    damage(world.folder / manifest.NAME)
    assert_sound(world)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_catalog_is_made_anew(world: World, damage: Callable[[Path], None]) -> None:
    catalog = world.folder / "catalog.sqlite3"
    with sqlite3.connect(catalog) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    damage(catalog)
    assert_sound(world)


@pytest.mark.parametrize(("name", "damage"), [("*.term", flip), ("*.store", cut), ("meta.json", empty)])
def test_damaged_keywords_are_made_anew(world: World, name: str, damage: Callable[[Path], None]) -> None:
    for path in (world.folder / "keywords").glob(name):
        damage(path)
    assert_sound(world)


def test_an_older_generation_put_back_is_seen(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.folder, tmp_path / "old", symlinks=True)
    for number in range(8, 20):
        world.tree.write(f"m{number}.py", f"def function_{number}():\n    return 'needle {number}'\n")
    with world.running(semantic=True) as worker:
        # One that settled a moment later than the others may stay with the scan.
        wait_until(lambda: len(worker.snapshot().extra) < grams_module.STALE_FILES)
    for name in ("vectors.usearch", "base.lookup"):
        newest, oldest = parts(world, name)[-1], sorted((tmp_path / "old").rglob(name))[0]
        shutil.copyfile(oldest, newest)
    with world.running(semantic=True) as worker:
        assert world.search(worker, "needle") == world.scan("needle")
        assert_stores_agree(worker)


def test_other_versions_are_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """M10"""
    monkeypatch.setattr("mgrep_tui.index.writer.versions_of", lambda settings, queries: "another")
    with world.running(semantic=True) as worker:
        assert any("made anew" in event for event in worker.health().events)
        assert_stores_agree(worker)
    monkeypatch.setattr(manifest, "FORMAT", 2)
    with world.running(semantic=True) as worker:
        assert any("another version" in event for event in worker.health().events)
        assert world.search(worker, "needle 3") == {b"m3.py"}


def test_what_a_killed_commit_left_does_not_stop_the_next(world: World) -> None:
    """M1: tantivy came to the same file name again, refused, and search by meaning was off for good."""
    folder = world.folder / "keywords"
    segment = sorted(folder.glob("*.store"))[0].stem
    meta = json.loads((folder / "meta.json").read_bytes())
    leftovers = [folder / f"{segment}.{meta['opstamp'] + number}.del" for number in range(1, 400)]
    leftovers += [folder / ".tmpAbCdEf", folder / f"{'0' * 32}.store"]
    for path in leftovers:
        path.write_bytes(b"left by a kill")
    world.tree.write("m3.py", "def function_3():\n    return 'another needle'\n")
    with world.running(semantic=True) as worker:
        assert not worker.health().last_error
        assert_stores_agree(worker)
    assert not any(path.exists() and path.read_bytes() == b"left by a kill" for path in leftovers)


def test_an_older_file_in_a_newer_ones_place_is_seen(world: World, tmp_path: Path) -> None:
    """Sound by its own checksum, and of another state."""
    folder = world.folder / "keywords"
    shutil.copytree(folder, tmp_path / "old")
    world.tree.write("m9.py", "def function_9():\n    return 'needle 9'\n")
    with world.running(semantic=True):
        pass
    soundness.check_keywords(folder)
    for ending in ("term", "fieldnorm", "store"):
        newest = max(folder.glob(f"*.{ending}"), key=lambda path: path.stat().st_mtime_ns)
        content = newest.read_bytes()
        older = next((path for path in (tmp_path / "old").glob(f"*.{ending}") if path.read_bytes() != content), None)
        if older is None:
            continue
        shutil.copyfile(older, newest)
        with pytest.raises(IndexDamagedError):
            soundness.check_keywords(folder)
        newest.write_bytes(content)
