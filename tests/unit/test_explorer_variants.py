"""What is offered when a query finds nothing."""

from __future__ import annotations

from mgrep_tui.explorer.protocol import Chip, SearchOptions
from mgrep_tui.explorer.variants import variants_of, without
from mgrep_tui.model import Mode


def test_one_filter_less_comes_first_with_its_count() -> None:
    text = "retry lang:python path:src"
    chips = (Chip("lang:python", 6, 17), Chip("path:src", 18, 26))
    counts = {"retry path:src": (3, False), "retry": (20, True)}
    found = variants_of(
        text, Mode.SEMANTIC, SearchOptions(), chips, lambda t, _m, _o: counts.get(t, (0, False)), lambda _word: ""
    )
    assert [(variant.label, variant.text, variant.hits, variant.is_more) for variant in found] == [
        ("without lang:python", "retry path:src", 3, False),
        ("without any filter", "retry", 20, True),
    ]


def test_a_misspelt_name_is_offered_as_it_is_in_the_symbol_table() -> None:
    found = variants_of(
        "retry_uplod",
        Mode.REGEX,
        SearchOptions(),
        (),
        lambda t, _m, _o: (1, False),
        lambda word: word.replace("uplod", "upload"),
    )
    assert ("with retry_upload", "retry_upload") in [(variant.label, variant.text) for variant in found]


def test_case_is_offered_only_where_it_counts() -> None:
    def labels(text: str, options: SearchOptions) -> list[str]:
        return [v.label for v in variants_of(text, Mode.REGEX, options, (), lambda *_: None, lambda _word: "")]

    assert "in any case" in labels("Foo", SearchOptions())
    assert "in any case" not in labels("foo", SearchOptions())
    assert "in any case" not in labels("Foo", SearchOptions(case="no"))
    assert "as plain text" in labels("a(b", SearchOptions())


def test_taking_a_filter_out_closes_the_gap() -> None:
    text = "a lang:go b"
    assert without(text, [Chip("lang:go", 2, 9)]) == "a b"
    assert without("lang:go", [Chip("lang:go", 0, 7)]) == ""
