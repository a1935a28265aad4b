"""What holds of tokens whatever the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.text.highlight import can_highlight, highlight
from mgrep_tui.text.languages import LANGUAGES

_languages = st.sampled_from(sorted(name for name in LANGUAGES if can_highlight(name)))
_texts = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            [
                *"{}()[]<>\"'`#/*\\$@:;=+-!?.,|&%~^ \n\n\t\r",
                "/*",
                "*/",
                '"""',
                "<!--",
                "-->",
                "<%",
                "%>",
                "{{",
                "}}",
                "```",
                "def",
                "class ",
                "a",
                "é",
                "1",
            ]
        ),
        max_size=80,
    ).map("".join),
)


@settings(max_examples=250, deadline=None)
@given(_texts, _languages, st.one_of(st.just(""), _texts))
def test_tokens_lie_in_their_line_in_order(text: str, language: str, context: str) -> None:
    lines = text.split("\n")
    found = highlight(text, language, context)
    assert len(found) == len(lines)
    for line, tokens in zip(lines, found, strict=True):
        end = 0
        for token in tokens:
            assert end <= token.start < token.end <= len(line)
            end = token.end
