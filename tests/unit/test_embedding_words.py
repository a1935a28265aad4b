"""Identifiers and paths become lower-case words in any script."""

from __future__ import annotations

import unicodedata

import pytest

from mgrep_tui.embedding.words import IDENTIFIER, MAX_WORD_CHARS, split_identifier


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseHTTPHeaders_v2", ["parse", "http", "headers", "v", "2"]),
        ("__init__", ["init"]),
        ("src/flask/app_ctx.py", ["src", "flask", "app", "ctx", "py"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("utf8", ["utf", "8"]),
        ("ABC", ["abc"]),
        ("", []),
        ("___", []),
        ("читатьФайл", ["читать", "файл"]),
        ("größeBerechnen", ["größe", "berechnen"]),
        ("검색_엔진", ["검색", "엔진"]),
        ("नमस्तेदुनिया", ["नमस्तेदुनिया"]),
        ("id1234567", ["id"]),
    ],
)
def test_split(identifier: str, words: list[str]) -> None:
    assert split_identifier(identifier) == words


def test_composed_and_decomposed_letters_are_the_same_word() -> None:
    composed = "Magnéz"
    assert split_identifier(unicodedata.normalize("NFD", composed)) == split_identifier(composed) == ["magnéz"]


def test_a_very_long_word_is_cut() -> None:
    assert split_identifier("x" * 10_000) == ["x" * MAX_WORD_CHARS]


def test_a_syllable_is_not_cut_at_its_vowel_sign() -> None:
    assert IDENTIFIER.findall("दुनिया का") == ["दुनिया", "का"]
