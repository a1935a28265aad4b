"""A file that stands in a tree hundreds of times is one answer, and leaves room for others (FAULTS O5)."""

from __future__ import annotations

import pytest
from retrieval_world import World

from mgrep_tui.embedding.static import load_static

COPY = "def retry_upload(path):\n    # retry the upload\n    return send(path)\n\n\ndef cancel_upload(path):\n    return drop(path)\n"
OTHER = "def retry_{n}(upload):\n    # number {n}\n    return upload.again({n})\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """250 copies of one file, and twelve files of their own."""
    folder = tmp_path_factory.mktemp("copies")
    tree = folder / "tree"
    (tree / "copies").mkdir(parents=True)
    for number in range(250):
        (tree / "copies" / f"upload_{number:03}.py").write_text(COPY)
    (tree / "upload.py").write_text(COPY)
    for number in range(12):
        (tree / f"own_{number:02}.py").write_text(OTHER.format(n=number))
    return World(tree, folder / "index", load_static())


@pytest.mark.parametrize("text", ["retry an upload", "upload", "retry_upload", "upload lang:python"])
def test_copies_leave_room_for_others(world: World, text: str) -> None:
    hits, _, _ = world.search(text, limit=20)
    assert sum(hit.path.startswith(b"own_") for hit in hits) == 12
    copied = [hit for hit in hits if b"upload" in hit.path]
    assert {hit.path for hit in copied} == {b"upload.py"}
    assert all(hit.copies == 250 for hit in copied) and 1 <= len(copied) <= 2


def test_the_copy_that_the_filters_let_through_stands_for_all(world: World) -> None:
    hits, _, _ = world.search("retry an upload path:copies", limit=20)
    assert {(hit.path, hit.copies) for hit in hits} == {(b"copies/upload_000.py", 249)}


def test_a_text_that_is_demanded_is_found_once(world: World) -> None:
    hits, _, _ = world.search('retry "drop(path)"', limit=20)
    assert {hit.path for hit in hits} == {b"upload.py"}
