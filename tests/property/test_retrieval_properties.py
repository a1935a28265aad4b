"""What must hold of words, lit spans and orders for every input."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.retrieval import words
from mgrep_tui.retrieval.question import read
from mgrep_tui.retrieval.ranking import rank, saturated
from mgrep_tui.retrieval.signals import Candidate
from mgrep_tui.search.semantic_text import SHOWN_CHARS, ChunkText, QuestionWords, best_line

ANY_TEXT = st.text(max_size=80)


@given(ANY_TEXT)
def test_splitting_never_fails_and_words_are_lower_case(text: str) -> None:
    for stem in words.stems(text):
        assert stem
        assert not any(char.isascii() and char.isupper() for char in stem)


@given(ANY_TEXT, ANY_TEXT)
def test_a_word_is_found_wherever_it_stands(before: str, after: str) -> None:
    assert "server" in words.stems(f"{before} HTTPServer {after}")


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=5), st.text(max_size=10))
def test_lit_spans_lie_in_the_shown_text(question: str, lines: list[str], symbol: str) -> None:
    taken = read(question)
    chunk = ChunkText(tuple(line.replace("\n", " ") * 20 for line in lines))
    best = best_line(chunk, QuestionWords(taken.stems, taken.names), symbol)
    assert len(best.text) <= SHOWN_CHARS
    last = 0
    for span in best.spans:
        assert last <= span.start < span.end <= len(best.text)
        last = span.end
    if chunk.lines:
        assert chunk.lines[best.line][best.text_offset :].startswith(best.text)


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        chunk_id=st.integers(0, 1000),
        path=st.text("ab/._1vTest", min_size=1, max_size=20),
        kind=st.sampled_from(["function", "class", "section", "lines"]),
        symbol=st.text("aB_, ", max_size=8),
        container=st.text("aB.", max_size=8),
        first_line=st.integers(0, 50),
        last_line=st.integers(50, 900),
        words=st.floats(0, 50),
        meaning=st.none() | st.floats(-1, 1),
        coverage=st.floats(0, 1),
        file_centre=st.none() | st.floats(-1, 1),
        file_chunks=st.integers(1, 10_000),
    ),
    max_size=12,
)


@given(st.text("aB_:. ", max_size=12), CANDIDATES, st.floats(0, 1))
def test_every_candidate_is_ranked_once_and_scores_are_finite(
    question: str, candidates: list[Candidate], ratio: float
) -> None:
    ranking = rank(read(question), candidates, {}, lambda _: 3, ratio=ratio)
    assert sorted(ranking.order.tolist()) == list(range(len(candidates)))
    assert np.isfinite(ranking.scores).all()
    shown = [ranking.shown_score(place) for place in ranking.order.tolist()]
    assert shown == sorted(shown, reverse=True)


@given(st.lists(st.tuples(st.floats(-20, 20), st.integers(0, 3)), max_size=20))
def test_saturation_never_moves_a_files_best_chunk(pairs: list[tuple[float, int]]) -> None:
    scores = np.array([score for score, _ in pairs], np.float32)
    files = np.array([file for _, file in pairs], np.int64)
    lowered = saturated(scores, files, 4.0)
    assert (lowered <= scores + 1e-5).all()
    for file in set(files.tolist()):
        own = files == file
        assert lowered[own].max() == scores[own].max()
