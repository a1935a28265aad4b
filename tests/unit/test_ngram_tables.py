"""The tables of weights and folds: whole, versioned, and at least as coarse as the engines are."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import re2
import regex

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.ngram import tables as module
from mgrep_tui.ngram.grams import fold, fold_text, grams_of, key_of, maximal_grams
from mgrep_tui.ngram.tables import pack, tables, unpack


def _folded(char: int) -> int:
    return tables().folds.get(char, char)


def test_weights_rank_all_bigrams() -> None:
    weights = tables().weights
    assert sorted(weights) == list(range(65_536))
    assert weights[ord("z") << 8 | ord("q")] > weights[ord("e") << 8 | ord("r")], "the rarer the heavier"


def test_a_changed_file_is_refused() -> None:
    content = module.TABLES_PATH.read_bytes()
    assert unpack(content).checksum == tables().checksum
    for place in (0, 9, 100, 140_000, len(content) - 1):
        with pytest.raises(IndexDamagedError):
            unpack(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(IndexDamagedError):
        unpack(content[:50])
    assert unpack(pack(bytes(tables().weights.tobytes()), tables().folds)).folds == tables().folds


def test_folds_lead_to_an_end_and_never_lengthen() -> None:
    for char, folded in tables().folds.items():
        assert folded not in tables().folds
        assert len(chr(folded).encode()) <= len(chr(char).encode())
        assert chr(char) != "\n" != chr(folded)


def test_signs_that_fold_to_ascii() -> None:
    """D1: U+212A is a k, U+017F an s, for all engines when they ignore case."""
    assert fold_text("\u212a\u017fKS\u0130") == b"ksksi"
    assert fold("ma\u017f\u212a".encode()) == b"mask"
    assert fold(b"\xe2\x84") == b"\xe2\x84"
    assert fold(b"\xe0\x81\x8b\xc1\x8b") == b"\xe0\x81\x8b\xc1\x8b", "an overlong K is no K"


def test_every_cased_character_is_folded_as_the_engines_do() -> None:
    """A9, D1: RE2 and the backtracking engine, for each character that has case or is folded."""
    cased = sorted(
        {char for char in range(0x20000) if unicodedata.category(chr(char)) in ("Lu", "Ll", "Lt")}
        | set(tables().folds)
        | set(tables().folds.values())
    )
    text = "".join(map(chr, cased))
    raw = text.encode()
    options = re2.Options()
    options.log_errors = False
    for char in cased:
        for found in re2.compile(f"(?i)\\x{{{char:x}}}", options).findall(raw):
            assert _folded(ord(found.decode())) == _folded(char)
    for char in cased[::7]:
        for match in regex.findall(regex.escape(chr(char)), text, regex.IGNORECASE):
            assert _folded(ord(match)) == _folded(char)


def test_the_definition_on_an_example() -> None:
    assert grams_of(b"ab") == set()
    assert grams_of(b"abc") == {b"abc"}
    assert b"abc" in grams_of(b"abcd")
    assert all(b"\n" not in gram for gram in grams_of(b"ab\ncd\nefg"))
    assert maximal_grams(b"abc") == [b"abc"]
    assert 0 <= key_of(b"\xff" * 8) < 1 << 24


def test_queries_never_load_the_compiler() -> None:
    """The interface imports no numba: neither for a query nor to start a build in a child."""
    code = (
        "import sys, mgrep_tui.ngram.build, mgrep_tui.ngram.snapshot, mgrep_tui.ngram.plan as p; p.plan('foo_bar');"
        "sys.exit(sum(name.partition('.')[0] in ('numba', 'llvmlite') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2]).returncode == 0
