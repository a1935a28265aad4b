"""What `why` says, and the counts and changes around a listing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mgrep_tui.corpus.changes import Changes, compare, is_settled
from mgrep_tui.corpus.count import count_files
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.corpus.why import explain
from mgrep_tui.model import Entry, FileStat
from mgrep_tui.settings.config import CorpusSettings
from tests.support.git_trees import Tree


@pytest.fixture(autouse=True)
def own_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


def test_every_reason_is_named(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree").init()
    tree.write(".gitignore", "# built\n*.o\n/out/\n*.log\n!kept.log\n")
    tree.write("kept.log")
    tree.write("tracked.o")
    tree.git("add", "-f", ".")
    tree.write(".mgrepignore", "data/\n")
    for name in ("a.c", "b.o", "out/deep/c.c", "data/d.c", ".env", "sub/.hidden/e.c"):
        tree.write(name)
    tree.write("big.c", b"x" * 2000)
    tree.write("image", bytes(range(256)))
    (tree.path / "link").symlink_to("a.c")
    (tree.path / "away").symlink_to(tmp_path)
    inner = Tree(tree.path / "inner").init()
    inner.write(".gitignore", "gen\n")
    inner.write("gen")
    inner.write("a.o")
    root = open_root(tree.path)
    settings = CorpusSettings(max_file_bytes=1000)

    def why(name: str) -> tuple[bool, str]:
        answer = explain(root, os.fsencode(tree.path / name), settings)
        assert answer.path == os.fsencode(name)
        return answer.is_searched, answer.reason

    assert why("a.c") == (True, "no rule leaves it out")
    assert why("kept.log") == (True, "the rule !kept.log (.gitignore, line 5) takes back kept.log")
    assert why("tracked.o") == (True, "git tracks it, though the rule *.o (.gitignore, line 2) leaves out tracked.o")
    assert why("b.o") == (False, "the rule *.o (.gitignore, line 2) leaves out b.o")
    assert why("out/deep/c.c") == (False, "the rule out/ (.gitignore, line 3) leaves out out")
    assert why("data/d.c") == (False, "the rule data/ (.mgrepignore, line 1) leaves out data")
    assert why(".env") == (False, "its name or a folder's starts with a dot: .env")
    assert why("sub/.hidden/e.c") == (False, "its name or a folder's starts with a dot: .hidden")
    assert why("big.c") == (False, "too big: 2.0 kB, limit 1.0 kB")
    assert why("image") == (False, "binary: its bytes are no text")
    assert why("link") == (False, "it is a link to a.c; what it points to is searched where it lies")
    assert why("away") == (False, "links out of the root")
    assert why("sub") == (False, "it is a folder")
    assert why("nothing") == (False, "it does not exist")
    assert why(".git/HEAD") == (False, "it belongs to git itself")
    assert why("inner/gen") == (False, "the rule gen (.gitignore, line 1) leaves out inner/gen")
    assert why("inner/a.o") == (True, "no rule leaves it out")
    assert explain(root, b"/etc/passwd", settings).reason == "it lies outside the root"
    assert explain(root, os.fsencode(tree.path), settings).reason == "it is the root itself; name a file in it"


def test_a_path_through_a_link_is_found_where_it_lies(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    tree.write("real/a.c")
    (tmp_path / "alias").symlink_to(tree.path)
    answer = explain(
        open_root(tree.path), os.fsencode(tmp_path / "alias" / "real" / ".." / "real" / "a.c"), CorpusSettings()
    )
    assert answer.path == b"real/a.c"
    assert answer.is_searched


def _entry(path: bytes, size: int) -> Entry:
    return Entry(path, FileStat(size, 1, 1, 1))


def test_changes_against_what_is_known() -> None:
    """L3: what was deleted meanwhile is said."""
    listing = Listing([_entry(b"a", 1), _entry(b"b", 2), _entry(b"c", 3)], [], False)
    known = {b"a": FileStat(1, 1, 1, 1), b"b": FileStat(9, 1, 1, 1), b"gone": FileStat(1, 1, 1, 1)}
    changes = compare(known, listing)
    assert changes == Changes((b"c",), (b"b",), (b"gone",))
    assert changes.paths == (b"c", b"b", b"gone")
    assert changes
    assert not compare({entry.path: entry.stat for entry in listing.entries}, listing)
    assert compare({b"a": FileStat(1, 1, 1, 1)}, listing) == Changes((b"b", b"c"))


def test_a_stat_taken_within_the_clocks_tick_is_not_trusted() -> None:
    """L1: a second write could leave the stat as it is."""
    second = 1_000_000_000
    stat = FileStat(1, 100 * second, 100 * second, 1)
    assert not is_settled(stat, 100 * second)
    assert not is_settled(stat, 101 * second)
    assert is_settled(stat, 103 * second)
    assert not is_settled(stat, 50 * second)  # a clock set back
    backdated = FileStat(1, 1, 100 * second, 1)  # the time of modification can be set by anybody
    assert not is_settled(backdated, 101 * second)


def test_counting_stops_at_the_limit_and_when_the_time_is_over(tmp_path: Path) -> None:
    """H5."""
    tree = Tree(tmp_path / "tree")
    for number in range(20):
        tree.write(f"d{number}/a")
    tree.write(".git/objects/x")
    root = open_root(tree.path)
    assert count_files(root, 1000, time_limit_s=60) == (20, True)
    assert count_files(root, 7, time_limit_s=60) == (7, False)
    ticks = iter(range(1000))
    count, is_all = count_files(root, 1000, time_limit_s=5, clock=lambda: next(ticks))
    assert count < 20 and not is_all
