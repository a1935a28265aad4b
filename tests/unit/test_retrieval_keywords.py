"""The keyword index: identifiers split, whole names, filters, misspelt words, damage."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.retrieval import words
from mgrep_tui.retrieval.keywords import KeywordIndex, KeywordRow

ROWS = [
    KeywordRow(1, "def get_user_name(self): return self.db.fetch('name')", "get_user_name", "Users", "src/users.py"),
    KeywordRow(
        2, "class HTTPServer: # listens on a port and accepts connections", "HTTPServer", "", "src/net/server.py"
    ),
    KeywordRow(
        3, "func retryWithBackoff() { time.Sleep(delay << attempt) }", "retryWithBackoff", "", "queue/worker.go"
    ),
    KeywordRow(4, "안녕하세요 세계 = Привет мир = café", "", "", "docs/hello.md"),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KeywordIndex]:
    made = KeywordIndex(tmp_path / "keywords")
    made.replace(ROWS)
    made.commit("batch 1")
    yield made
    made.close()


def found(index: KeywordIndex, text: str, **given: object) -> list[int]:
    return [chunk_id for chunk_id, _ in index.search(text, 10, **given)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "chunk_id"),
    [
        ("user name", 1),
        ("getUserName", 1),
        ("http server", 2),
        ("HTTPServer", 2),
        ("accepting connection", 2),
        ("retrying backoff", 3),
        ("안녕하세요", 4),
        ("привет", 4),
        ("CAFÉ", 4),
        ("cafe\u0301", 4),
    ],
)
def test_words_are_found_however_the_identifier_is_written(index: KeywordIndex, text: str, chunk_id: int) -> None:
    assert found(index, text)[0] == chunk_id


def test_misspelt_words_are_found_when_nothing_else_is(index: KeywordIndex) -> None:
    assert found(index, "conections") == [2]
    assert found(index, "bakcoff delay")[0] == 3
    assert found(index, "zzzzqqqq") == []


def test_allowed_chunks_are_applied_before_the_top_k(index: KeywordIndex) -> None:
    more = [KeywordRow(100 + number, "server server", "server", "server", "server.py") for number in range(60)]
    index.replace(more)
    index.commit("batch 2")
    assert found(index, "server", allowed=np.array([2])) == [2]
    assert [chunk_id for chunk_id, _ in index.search("server", 1, np.array([2]))] == [2]
    assert found(index, "server", allowed=np.empty(0, np.int64)) == []


def test_a_replaced_chunk_is_not_found_by_its_old_words(index: KeywordIndex) -> None:
    index.replace([KeywordRow(1, "nothing of the kind", "", "", "x.py")])
    index.commit("batch 2")
    assert found(index, "fetch") == []
    assert len(index) == 4


def test_a_chunk_replaced_twice_before_a_commit_is_there_once(index: KeywordIndex) -> None:
    index.replace([KeywordRow(9, "alpha", "", "", "a.py")])
    index.replace([KeywordRow(9, "omega", "", "", "a.py")])
    index.commit("batch 2")
    assert found(index, "alpha") == []
    assert found(index, "omega") == [9]


def test_removed_chunks_are_gone(index: KeywordIndex) -> None:
    index.remove([2, 777])
    index.commit("batch 2")
    assert found(index, "HTTPServer") == []
    assert len(index) == 3


def test_what_was_not_committed_is_not_seen_and_is_dropped(index: KeywordIndex, tmp_path: Path) -> None:
    index.replace([KeywordRow(9, "alpha", "", "", "a.py")])
    assert found(index, "alpha") == []
    index.close()
    again = KeywordIndex(tmp_path / "keywords")
    assert found(again, "alpha") == []
    assert again.payload == "batch 1"
    assert len(again) == 4


def test_a_reader_sees_a_commit_after_reload_and_cannot_make_a_folder(index: KeywordIndex, tmp_path: Path) -> None:
    reader = KeywordIndex(tmp_path / "keywords", writable=False)
    index.replace([KeywordRow(9, "alpha", "", "", "a.py")])
    index.commit("batch 2")
    assert (reader.payload, found(reader, "alpha")) == ("batch 1", [])
    reader.reload()
    assert (reader.payload, found(reader, "alpha")) == ("batch 2", [9])
    with pytest.raises(IndexDamagedError):
        KeywordIndex(tmp_path / "nowhere", writable=False)
    assert not (tmp_path / "nowhere").exists()


def test_searching_goes_on_while_commits_happen(index: KeywordIndex) -> None:
    stop = threading.Event()
    answers: list[list[int]] = []
    failures: list[BaseException] = []

    def search() -> None:
        try:
            while not stop.is_set():
                answers.append(found(index, "HTTPServer"))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    for number in range(4):
        index.replace([KeywordRow(1000 + number, f"filler {number}", "", "", "f.py")])
        index.commit(f"batch {number}")
    stop.set()
    thread.join()
    assert not failures
    assert answers
    assert all(answer[0] == 2 for answer in answers)


def test_held_tells_how_many_stems_each_of_some_chunks_holds(index: KeywordIndex) -> None:
    assert index.held(["server"], [1, 2, 3]) == {2: 1}
    assert index.held(["server"], [1, 3]) == {}
    assert index.held(["server", "server"], [2]) == {2: 2}
    assert index.held(["server", "nowhere"], [1, 2]) == {2: 1}
    assert index.held([], [1]) == index.held(["server"], []) == {}


@pytest.mark.parametrize("part", [".term", ".idx", ".fast", ".fieldnorm", ".store", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "noise", "missing"])
def test_a_damaged_folder_says_so(index: KeywordIndex, tmp_path: Path, part: str, damage: str) -> None:
    """FAULTS M: a damaged index is noticed and can be built anew; it never brings the process down."""
    index.close()
    folder = tmp_path / "keywords"
    for file in folder.iterdir():
        if not file.name.endswith(part):
            continue
        content = file.read_bytes()
        if damage == "missing":
            file.unlink()
        else:
            file.write_bytes(content[: len(content) // 2] if damage == "cut" else os.urandom(len(content)))
    if part == "meta.json" and damage == "missing":
        assert len(KeywordIndex(folder)) == 0
        return
    with pytest.raises(IndexDamagedError):
        KeywordIndex(folder).search("server", 3)


def test_acronyms_end_where_the_next_word_begins() -> None:
    assert words.stems("HTTPServer parseXMLFile URLs IOError") == [
        "http",
        "server",
        "pars",
        "xml",
        "file",
        "ur",
        "ls",
        "io",
        "error",
    ] or (words.stems("HTTPServer parseXMLFile") == ["http", "server", "pars", "xml", "file"])


def test_stop_words_are_left_out_unless_they_are_all_there_is() -> None:
    assert words.question_stems("how does the server start") == ["server", "start"]
    assert words.question_stems("do while") == ["do", "while"]
    assert words.question_stems("") == []
