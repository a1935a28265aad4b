"""The deep model sees chunks in the background: in which order, how far, and when it stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from retrieval_world import World

from mgrep_tui.embedding.text import text_hash
from mgrep_tui.errors import Cancelled, ModelError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.semantic_filling import Filling


class FakeDeep:
    """Remembers what it was given. `hook` runs before each group."""

    def __init__(self, hook: Callable[[], None] = lambda: None) -> None:
        self.available = True
        self.is_full = False
        self.known: set[bytes] = set()
        self.texts: list[str] = []
        self.failure: ModelError | None = None
        self._hook = hook

    def unknown(self, hashes: Sequence[bytes]) -> set[bytes]:
        return set(hashes) - self.known

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> None:
        self._hook()
        if self.failure is not None:
            raise self.failure
        self.texts += texts
        self.known.update(map(text_hash, texts))

    def order(self) -> list[str]:
        """The first word of each text's header, without repetition: the folder or stem."""
        return list(dict.fromkeys(text.split("\n", 1)[0].split()[0] for text in self.texts))


@pytest.fixture
def world(tmp_path: Path) -> World:
    tree = tmp_path / "tree"
    for name in ("alpha/one.py", "beta/two.py", "gamma/three.py", "gamma/four.py", "tests/test_five.py"):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def {path.stem}(value):\n    result = value + 1\n    return result * {len(name)}\n")
    return World(tree, tmp_path / "index")


def filling_of(world: World, deep: FakeDeep, on_change: Callable[[], None] = lambda: None) -> Filling:
    return Filling(world.root, 1_000_000, deep, world.view, on_change)


def test_everything_gets_a_vector_tests_last(world: World) -> None:
    deep = FakeDeep()
    filling = filling_of(world, deep)
    filling.run()
    assert deep.order() == ["alpha", "beta", "gamma", "tests"]
    assert filling.done == len(deep.texts) == world.catalog.counts()[1]
    assert filling.state == "all chunks have vectors"


def test_what_was_computed_is_not_computed_again(world: World) -> None:
    deep = FakeDeep()
    filling_of(world, deep).run()
    count = len(deep.texts)
    again = filling_of(world, deep)
    again.run()
    assert len(deep.texts) == count
    assert again.done == count


def test_shown_files_come_first_then_their_folders(world: World) -> None:
    deep = FakeDeep()
    filling = filling_of(world, deep)
    filling.look_at([b"beta/two.py", b"gamma/three.py"])
    filling.run()
    headers = [text.split("\n", 1)[0] for text in deep.texts]
    assert [header.split()[1] for header in headers[:3]] == ["three", "two", "four"]


def test_a_full_cache_ends_it_and_says_so(world: World) -> None:
    deep = FakeDeep()
    deep.is_full = True
    filling = filling_of(world, deep)
    filling.run()
    assert deep.texts == []
    assert "full" in filling.state


def test_an_unavailable_model_costs_nothing(world: World) -> None:
    deep = FakeDeep()
    deep.available = False
    filling_of(world, deep).run()
    assert deep.texts == []


def test_a_failing_model_is_heard_of(world: World) -> None:
    deep = FakeDeep()
    deep.failure = ModelError("The deep tier failed.", "")
    with pytest.raises(ModelError):
        filling_of(world, deep).run()


def test_a_pause_holds_it_and_an_end_ends_it(world: World) -> None:
    states: list[str] = []
    deep = FakeDeep(hook=lambda: filling.pause())
    paused = threading.Event()

    def changed() -> None:
        states.append(filling.state)
        if filling.state == "paused":
            paused.set()

    filling = filling_of(world, deep, changed)
    ends: list[type[BaseException]] = []

    def run() -> None:
        try:
            filling.run()
        except Cancelled as error:
            ends.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert paused.wait(30)
    first = len(deep.texts)
    assert first > 0  # the group that was on its way came through
    paused.clear()
    filling.resume()
    assert paused.wait(30)
    assert len(deep.texts) > first
    filling.stop()
    thread.join(30)
    assert ends == [Cancelled]
    assert not thread.is_alive()


def test_a_file_that_changed_since_is_left_for_later(world: World) -> None:
    deep = FakeDeep()
    (world.root.path / "alpha" / "one.py").write_text("entirely = 'different'\n")
    filling_of(world, deep).run()
    assert "alpha" not in deep.order()
