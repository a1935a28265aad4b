"""What holds for every text: words, pieces, vectors, frames."""

from __future__ import annotations

import io
import unicodedata
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.embedding.frames import read_frame, write_frame
from mgrep_tui.embedding.pieces import Pieces
from mgrep_tui.embedding.static import StaticModel, load_static
from mgrep_tui.embedding.text import text_hash
from mgrep_tui.embedding.words import MAX_WORD_CHARS, split_identifier

ANY_TEXT = st.text(st.characters(), max_size=300)
load = cache(load_static)


def model() -> StaticModel:
    return load()


@given(ANY_TEXT)
def test_words_are_short_lower_case_and_have_no_underscore(text: str) -> None:
    for word in split_identifier(text):
        assert word and "_" not in word and len(word) <= 3 * MAX_WORD_CHARS
        assert word == word.lower() or len(word.lower()) != len(word)


@given(ANY_TEXT)
def test_composed_and_decomposed_text_have_the_same_words(text: str) -> None:
    assert split_identifier(unicodedata.normalize("NFD", text)) == split_identifier(unicodedata.normalize("NFC", text))


@given(
    st.text("abcdefgXYZ_0123", max_size=40),
    st.text(" .,;(){}\n", min_size=1, max_size=3),
    st.text("abcdefgXYZ_0123", max_size=40),
)
def test_pieces_of_a_text_are_those_of_its_identifiers(one: str, between: str, other: str) -> None:
    pieces = Pieces(["a", "b", "##a", "##bc", "c", "xyz"])
    apart = [pieces.count(one), pieces.count(other)]
    together = {number: sum(counts.get(number, 0) for counts in apart) for number in set().union(*apart)}
    assert pieces.count(one + between + other) == together


@settings(deadline=None)
@given(st.lists(ANY_TEXT, max_size=4))
def test_every_text_has_a_finite_unit_vector(texts: list[str]) -> None:
    vectors = model().embed_documents(texts)
    assert vectors.shape == (len(texts), model().dimension)
    assert np.isfinite(vectors).all() and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=50))
def test_texts_share_a_hash_only_when_equal(one: str, other: str) -> None:
    assert (text_hash(one) == text_hash(other)) == (one == other)


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=4), st.binary(max_size=200), st.integers(0, 300)
)
def test_frames_come_back_whole_or_not_at_all(head: dict[str, str], body: bytes, cut: int) -> None:
    stream = io.BytesIO()
    write_frame(stream, head, body)
    whole = stream.getvalue()
    assert read_frame(io.BytesIO(whole)) == (head, body)
    assert cut >= len(whole) or read_frame(io.BytesIO(whole[:cut])) is None
