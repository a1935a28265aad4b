"""How a question is taken apart."""

from __future__ import annotations

import pytest

from mgrep_tui.retrieval.question import is_symbol_like, read


@pytest.mark.parametrize(
    "text",
    [
        "Foo::bar",
        "a.b",
        "ptr->next",
        "getName",
        "get_name",
        "_private",
        "Session",
        "HTTPServer",
        "Foo.bar()",
        "naïve_Größe",
    ],
)
def test_lone_names_are_symbol_like(text: str) -> None:
    assert is_symbol_like(text)


@pytest.mark.parametrize(
    "text", ["session", "how are routes registered", "Session handling", "", "42", "a b::c", "(", "what?"]
)
def test_words_and_sentences_are_not(text: str) -> None:
    assert not is_symbol_like(text)


def test_names_inside_a_sentence_are_found_and_first_words_are_not() -> None:
    question = read("How does safeParse return a ZodError from the Engine, via outer::inner")
    assert question.names == ("safeParse", "ZodError", "Engine", "inner")
    assert question.qualifiers == ("outer",)
    assert not question.is_symbol_like


def test_one_word_is_taken_for_a_name_too() -> None:
    assert read("session").names == ("session",)
    assert read("g").names == ("g",)


def test_wishes_platforms_and_versions() -> None:
    question = read("unit tests for the inotify watcher in v3")
    assert question.wishes == {"test"}
    assert question.platforms == {"linux"}
    assert question.versions == {3}


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "((((", "a" * 10_000, "🙂", "\u202e"])
def test_any_text_can_be_read(text: str) -> None:
    assert read(text).text == text.strip()[:4_000]


@pytest.mark.parametrize(
    "text",
    [
        "Returns the absolute path of a file",
        "check if a list is empty",
        "how to parse a date in python",
        "how do i read a file",
        "list the files of a folder",
        "whether the connection is closed",
        "given a name, find its value",
        "automatically retry a request",
        "a function that opens a file",
        "applies a patch to a text",
    ],
)
def test_what_one_function_does(text: str) -> None:
    assert read(text).kind == "deed"


@pytest.mark.parametrize(
    "text",
    [
        "how routing works",
        "path resolution",
        "request parsing and validation",
        "test client",
        "mock handler for responses",
        "Serialize and Serializer traits",
        "list",
        "parse",
        "",
    ],
)
def test_a_subject_is_not_a_deed(text: str) -> None:
    assert read(text).kind == "sentence"


def test_a_lone_name_is_a_symbol_whatever_it_begins_with() -> None:
    assert read("get_value").kind == read("ParseError").kind == "symbol"


def test_of_a_hundred_thousand_words_the_beginning_is_the_question() -> None:
    text = " ".join(f"word{number}" for number in range(100_000))
    question = read(text)
    assert text.startswith(question.text + " ") and len(question.text) <= 4_000
    assert len(question.stems) < 1_000
    assert len(read("x" * 100_000).text) <= 4_000
