"""Words become numbers of pieces, the longest first, and what no piece spells goes to buckets."""

from __future__ import annotations

from mgrep_tui.embedding.pieces import BUCKETS, Pieces

VOCABULARY = ["open", "file", "f", "##s", "##ile", "read", "##er", "h", "##t", "##p"]


def names(pieces: Pieces, text: str) -> dict[str, int]:
    return {
        VOCABULARY[number] if number < len(VOCABULARY) else "bucket": times
        for number, times in pieces.count(text).items()
    }


def test_the_longest_piece_wins() -> None:
    assert names(Pieces(VOCABULARY), "files") == {"file": 1, "##s": 1}


def test_counts_add_up_over_identifiers() -> None:
    assert names(Pieces(VOCABULARY), "openFile open_file(FileReader)") == {"open": 2, "file": 3, "read": 1, "##er": 1}


def test_a_first_piece_does_not_continue_a_word() -> None:
    assert names(Pieces(VOCABULARY), "openread") == {"bucket": names(Pieces(VOCABULARY), "openread")["bucket"]}


def test_a_word_of_an_unknown_script_lies_in_buckets_and_is_found_again() -> None:
    pieces = Pieces(VOCABULARY)
    numbers = set(pieces.count("검색엔진"))
    assert numbers and all(len(VOCABULARY) <= number < len(pieces) for number in numbers)
    assert len(pieces) == len(VOCABULARY) + BUCKETS
    assert numbers & set(pieces.count("검색")), "a part of a word without spaces must meet it"


def test_the_cache_does_not_change_the_answer() -> None:
    pieces = Pieces(VOCABULARY)
    assert pieces.count("openFiles") == pieces.count("openFiles")


def test_text_without_words_has_no_pieces() -> None:
    assert Pieces(VOCABULARY).count(" {}();\n\t--") == {}
