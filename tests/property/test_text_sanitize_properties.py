"""What holds of sanitised text, whatever came in."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.text.cells import cell_width
from mgrep_tui.text.sanitize import display_path, is_clean, sanitize

_NASTY = "\x00\x07\x08\x0b\x1b\x7f\x85\x9b\xad\u061c\u200b\u200d\u202e\u2028\u2029\u2066\ufe0f\ufeff\ud800\udcff\U000e0041\r\n\t"
_texts = st.text(st.one_of(st.sampled_from(_NASTY), st.characters()), max_size=200)


@given(_texts)
def test_nothing_that_steers_hides_or_reorders_survives(text: str) -> None:
    """P3: no control byte of a file leaves the program."""
    for character in sanitize(text):
        assert character == "\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "RLO",
            "LRO",
            "RLE",
            "LRE",
            "PDF",
            "RLI",
            "LRI",
            "FSI",
            "PDI",
        )
        assert character not in "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad"
    sanitize(text).encode("utf-8")  # no lone surrogate


@given(_texts)
def test_length_is_kept_and_safe_characters_stay(text: str) -> None:
    clean = sanitize(text)
    assert len(clean) == len(text)
    for before, after in zip(text, clean, strict=True):
        if before != after:
            assert not is_clean(before)
            assert cell_width(after) == 1
    assert sanitize(clean) == clean


@given(st.binary(max_size=100))
def test_any_file_name_can_be_shown(path: bytes) -> None:
    shown = display_path(path)
    assert "\t" not in shown
    assert is_clean(shown)
    shown.encode("utf-8")
