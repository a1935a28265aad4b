"""The parts of the training that decide what is learnt: licences, prose, pairs, bags."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.embedding import training
from mgrep_tui.embedding.pieces import Pieces
from mgrep_tui.embedding.training.bags import append, drop, make_bags
from mgrep_tui.embedding.training.blocks import BLOCK, near_blocks
from mgrep_tui.embedding.training.licences import is_permissive, licence_of_all, licence_of_file, stanzas
from mgrep_tui.embedding.training.pairs import pairs_of_file
from mgrep_tui.embedding.training.prose import clean_comment, first_words
from mgrep_tui.embedding.training.weights import mean_of

PERMISSIVE = [
    "MIT",
    "Expat",
    "BSD-3-clause",
    "Apache-2.0",
    "MIT OR Apache-2.0",
    "ISC",
    "Zlib",
    "MIT License",
    "GPL-2 or Expat",
]
NOT_PERMISSIVE = [
    "",
    "GPL-3",
    "LGPL-2.1+",
    "MPL-2.0",
    "Expat and GPL-3",
    "proprietary",
    "CC-BY-SA-4.0",
    "AGPL-3.0",
    "MITish",
]

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 A
License: Expat

Files: src/other/*
Copyright: 2019 B
License: GPL-2+
 More text.

Files: debian/*
Copyright: 2021 C
License: GPL-3
"""


@pytest.mark.parametrize("statement", PERMISSIVE)
def test_permissive(statement: str) -> None:
    assert is_permissive(statement)


@pytest.mark.parametrize("statement", NOT_PERMISSIVE)
def test_not_permissive(statement: str) -> None:
    assert not is_permissive(statement)


def test_a_copyright_file_is_read_file_by_file() -> None:
    paragraphs = stanzas(COPYRIGHT)
    assert licence_of_file("src/main.c", paragraphs) == "Expat"
    assert licence_of_file("src/other/deep/x.c", paragraphs) == "GPL-2+"
    assert licence_of_all(COPYRIGHT) is None
    assert licence_of_all(COPYRIGHT.replace("GPL-2+", "ISC")) == "Expat, ISC", "packaging does not count"
    assert licence_of_all("All rights reserved.") is None


@pytest.mark.parametrize(
    ("comment", "symbol", "prose"),
    [
        ("/**\n * Opens the file for reading.\n * @param path where\n */", "open", "Opens the file for reading."),
        ("// NewClient returns a new client.\n// It never fails.", "NewClient", "returns a new client. It never fails."),
        ('"""Close every open connection.\n\n    Args:\n        now: at once\n    """', "close", "Close every open connection."),
        ("/// <summary>Counts the <b>items</b> of a list.</summary>", "Count", "Counts the items of a list."),
        ("-- | Folds a tree from the left.", "foldl", "Folds a tree from the left."),
        ("# Copyright 2020 Somebody and his friends", "x", ""),
        ("// TODO: make this work some day", "x", ""),
        ("// eslint-disable-next-line no-console please", "x", ""),
        ("/* x = a[i] + b[j] * c[k]; y(); */", "x", ""),
        ("// 读取文件的内容 into memory now", "x", ""),
    ],
)  # fmt: skip
def test_prose_of_a_comment(comment: str, symbol: str, prose: str) -> None:
    assert first_words(clean_comment(comment), symbol) == prose


DOC = "Close every open connection."
CALLS = "    shutdown(1, 2, 3)\n" * 4
BODY = "{\n    first(1);\n    second(2);\n    third(3);\n    fourth(4);\n    return fifth(5);\n}"


@pytest.mark.parametrize(
    ("path", "source", "container", "symbol"),
    [
        ("a.py", f'class Pool:\n    def close(self):\n        """{DOC}"""\n' + "        self.a.shutdown(1)\n" * 4, "Pool", "close"),
        ("a.js", f"class Pool {{\n  /** {DOC} */\n  close(now) {BODY}\n}}", "Pool", "close"),
        ("a.ts", f"/** {DOC} */\nexport function close(now: boolean) {BODY}", "", "close"),
        ("a.go", f"package p\n\n// Close closes every open connection.\nfunc (p *Pool) Close() error {BODY}", "Pool", "Close"),
        ("a.rs", f"impl Pool {{\n    /// {DOC}\n    #[inline]\n    pub fn close(&self) {BODY}\n}}", "Pool", "close"),
        ("a.java", f"class Pool {{\n  /** {DOC} */\n  @Override public void close() {BODY}\n}}", "Pool", "close"),
        ("a.c", f"/* {DOC} */\nint close_all(struct pool *p) {BODY}", "", "close_all"),
        ("a.cpp", f"// {DOC}\nint Pool::close() {BODY}", "", "close"),
        ("a.rb", f"class Pool\n  # {DOC}\n  def close\n{CALLS}  end\nend", "Pool", "close"),
        ("a.php", f"<?php\nclass Pool {{\n  /** {DOC} */\n  public function close() {BODY}\n}}", "Pool", "close"),
        ("a.lua", f"--- {DOC}\nlocal function close()\n{CALLS}end", "", "close"),
        ("a.hs", f"module A where\n-- | {DOC}\ncloseAll :: Pool -> IO ()\ncloseAll p = " + "stop p >> " * 9 + "done", "", "closeAll"),
        ("a.kt", f"/** {DOC} */\nfun close() {BODY}", "", "close"),
        ("a.cs", f"class Pool {{\n  /// <summary>{DOC}</summary>\n  public void Close() {BODY}\n}}", "Pool", "Close"),
    ],
)  # fmt: skip
def test_pairs_in_each_language(path: str, source: str, container: str, symbol: str) -> None:
    found = [
        pair for pair in pairs_of_file("p", path, source.encode()) if "every open connection" in pair.prose.lower()
    ]
    assert [(pair.container, pair.symbol) for pair in found] == [(container, symbol)]
    assert "every open connection" not in found[0].code.lower()


def test_a_comment_over_nothing_is_no_pair() -> None:
    assert (
        list(pairs_of_file("p", "a.go", b"package p\n\n// A comment that stands alone here.\n\n\n\nfunc f() {}\n"))
        == []
    )


def test_no_benchmark_repository_is_learnt_from() -> None:
    wishes = tomllib.loads((Path(training.__file__).parent / "packages.toml").read_text())
    blocked = set(wishes["blocked"])
    for kind in ("python", "javascript"):
        names = set(wishes[kind]["names"].split())
        assert {"aiohttp", "fastapi", "flask", "pydantic", "axios", "express", "zod", "vitest"} <= blocked
        assert names & {"aiohttp", "fastapi", "flask", "pydantic", "axios", "express", "zod", "vitest"} == set()


def test_bags_of_a_batch() -> None:
    bags = make_bags(Pieces(["open", "file", "##s"]), ["open open file", "файл", "files"])
    assert len(bags) == 3
    numbers, weights, offsets = bags.take(np.array([2, 1, 0]))
    assert numbers.tolist() == [1, 2, 0, 1] and offsets.tolist() == [0, 2, 2]
    assert weights.tolist() == pytest.approx([1, 1, 1 + np.log(2), 1])


def test_dropped_pieces_leave_at_least_one() -> None:
    bag = (np.arange(6), np.ones(6, dtype=np.float32), np.array([0, 3, 3]))
    _, weights, _ = drop(bag, 1.0, np.random.default_rng(0))
    assert weights.tolist() == [1, 0, 0, 1, 0, 0]


def test_openings_stand_before_their_question() -> None:
    bag = (np.array([1, 2, 3]), np.ones(3, dtype=np.float32), np.array([0, 2]))
    numbers, weights, offsets = append(bag, [np.array([7, 8]), np.array([9])])
    assert numbers.tolist() == [7, 8, 1, 2, 9, 3] and offsets.tolist() == [0, 4] and len(weights) == 6


def test_blocks_hold_every_link_once_and_near_codes_together() -> None:
    chance = np.random.default_rng(1)
    place = np.linspace(-1.0, 1.0, 4 * BLOCK)  # codes along a line
    vectors = place[:, np.newaxis].astype(np.float16)
    blocks = near_blocks(chance.permutation(len(place)), np.arange(len(place)), vectors, chance)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(place)))
    assert [len(block) for block in blocks] == [BLOCK] * 4
    assert max(place[block].max() - place[block].min() for block in blocks) < 0.51


def test_the_mean_of_equal_models_is_the_model() -> None:
    vectors = np.array([[3.0, 4.0], [1.0, 0.0]], np.float32)
    scales = np.array([[2.0, 1.0], [1.0, 1.0]], np.float32)
    rows, weights = mean_of([(vectors, scales), (10 * vectors, scales)])
    assert rows == pytest.approx(np.array([[0.6, 0.8], [1.0, 0.0]]))
    assert weights[0] / weights[1] == pytest.approx(np.array([2.0, 1.0]))
    assert weights[1][0] / weights[1][1] == pytest.approx(5.0)
