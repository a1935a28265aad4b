"""What a model sees of a chunk."""

from __future__ import annotations

from mgrep_tui.embedding.text import embedding_text, text_hash
from mgrep_tui.model import Chunk


def chunk(**fields: str) -> Chunk:
    plain = {"symbol": "", "container": "", "text": "return 1"} | fields
    return Chunk(language="python", kind="method", first_line=0, last_line=1, **plain)


def test_the_header_holds_path_container_and_symbol_as_words() -> None:
    text = embedding_text(b"src/http/ClientSession.py", chunk(symbol="closeAll", container="Outer.Inner"))
    assert text == "src http client session py outer inner close all\nreturn 1"


def test_a_path_that_is_not_utf_8_is_no_error() -> None:
    assert embedding_text(b"caf\xe9.py", chunk()).endswith("\nreturn 1")


def test_the_hash_names_the_text_and_stands_lone_surrogates() -> None:
    assert len(text_hash("a")) == 16 and text_hash("a") == text_hash("a") != text_hash("b")
    assert text_hash("\ud800") != text_hash("\ud801")
