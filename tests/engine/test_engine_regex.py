"""Regex mode on an engine: the very answers of a scan with the same matcher, whatever the pattern and the filters."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mgrep_tui.clickhouse import lines
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import Cancelled, QueryError
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode, Outcome
from mgrep_tui.search import running
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.settings.config import RegexSettings, Settings
from tests.support.engines import pushed, searched, tree

FILES: dict[str, str | bytes] = {
    "src/server.py": "import socket\n\n\nclass Server:\n    def start(self, port):\n        self.port = port  # TODO\n"
    "        return listen(port)\n\n    def close(self):\n        pass\n",
    "src/client.go": "package main\n\nfunc Connect(addr string) error {\n\treturn dial(addr)\n}\n",
    "src/Größe.py": "def straße():\n    return 'ÉCOLE' + 'école' + '\u212aelvin'\n",
    "tests/test_server.py": "def test_start():\n    assert Server().start(80)\n",
    "vendor/lib.js": "function listen(port) { return port }\n",
    "broken.txt": b"caf\xe9 listen \xff\xfe port\nnext \xe2line\n",
    "nul.txt": b"listen \0 port\n" * 30,
    "crlf.txt": b"listen here\r\nand there\r\n",
    "wide.txt": "listen wide\n".encode("utf-16"),
    "long.min.js": b"x" * 30_000 + b" listen(port) " + b"y" * 30_000,
    "many.txt": "".join(f"line {number} of port {number % 7}\n" for number in range(4_000)),
    "empty.txt": "",
    "no-newline.txt": "listen",
}
PATTERNS = (
    "listen",
    r"listen\(",
    r"\bport\b",
    "(?i)SERVER",
    "école",
    "(?i)école",
    "kelvin",
    "(?i)kelvin",
    "straße",
    "caf.",
    "^next",
    "there$",
    "x{3}y*",
    "[0-9]{4}",
    "line 1.*port 3$",
    "foo|listen|dial",
    r"def \w+\(self",
    "nothing of the kind",
    r"port\n.*return",
    "return.*\\n\\}",
    "lang:python port",
    "-lang:python listen",
    "path:src/** port",
    "path:*.txt listen",
    "path:src/Größe.py return",
    "is:test start",
    "-is:test start",
    "is:vendored listen",
    "-(is:vendored or lang:python) port",
    "lang:go or path:broken.txt",
    "is:dirty listen",
    "-is:dirty listen",
    r"(?<=listen )port|listen(?=\()",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tree(tmp_path / "project", FILES)


def found(hits: Collected) -> list[tuple[Any, ...]]:
    return sorted((hit.path, hit.line, hit.column, hit.text, hit.spans, hit.score, hit.last_line) for hit in hits.hits)


def ask(
    engine: EmbeddedConnection, text: str, settings: Settings | None = None, **more: Any
) -> tuple[Collected, Outcome]:
    hits = Collected()
    every = published(engine)
    heads = heads_of(every, every[0].state) if len(every) == 1 else searched(engine)
    outcome = LineSearch(engine, settings or Settings()).search(
        parse(text, Mode.REGEX), heads, None, hits, CancelToken(), **more
    )
    return hits, outcome


def test_answers_are_those_of_a_scan(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    scan = RegexEngine(open_root(folder), Settings())
    counts = []
    for text in PATTERNS:
        wanted = Collected()
        scan.search(parse(text, Mode.REGEX), None, None, wanted, CancelToken())
        hits, outcome = ask(engine, text)
        assert found(hits) == found(wanted), text
        assert outcome.hits == len(wanted.hits)
        counts.append(len(wanted.hits))
    assert sum(count > 0 for count in counts) > 25


def test_a_pattern_without_literals_is_a_scan_and_says_so(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    _, outcome = ask(engine, "[0-9]{4}")
    assert outcome.engine == "scan" and "no literal" in outcome.notes[0]
    _, outcome = ask(engine, "listen")
    assert outcome.engine == "index" and not outcome.notes and outcome.candidate_files < len(FILES)


def test_filters_by_symbols(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    hits, _ = ask(engine, "sym:start port")
    assert [(hit.path, hit.line) for hit in hits.hits] == [
        (b"src/server.py", 4),
        (b"src/server.py", 5),
        (b"src/server.py", 6),
    ]
    hits, _ = ask(engine, "class:Server def")
    assert {hit.path for hit in hits.hits} == {b"src/server.py"}
    hits, _ = ask(engine, "kind:function lang:go")
    assert [(hit.path, hit.line) for hit in hits.hits] == [(b"src/client.go", 2)]


def test_several_repositories_are_folders(engine: EmbeddedConnection, folder: Path, tmp_path: Path) -> None:
    pushed(engine, folder, name="acme/one")
    pushed(engine, tree(tmp_path / "two", {"src/listen.py": "def listen():\n    pass\n"}), name="acme/two")
    hits, _ = ask(engine, "listen")
    assert {hit.path.split(b"/")[1] for hit in hits.hits} == {b"one", b"two"}
    for text, wanted in (
        ("repo:acme/two listen", {b"acme/two/src/listen.py"}),
        ("-repo:one listen", {b"acme/two/src/listen.py"}),
        ("path:acme/two/** listen", {b"acme/two/src/listen.py"}),
        ("path:src/listen.py listen", {b"acme/two/src/listen.py"}),
        ("repo:nowhere listen", set()),
        ("repo:two or lang:go", None),
    ):
        hits, _ = ask(engine, text)
        if wanted is None:
            assert {b"acme/two/src/listen.py", b"acme/one/src/client.go"} <= {hit.path for hit in hits.hits}
        else:
            assert {hit.path for hit in hits.hits} == wanted, text


def test_a_cap_is_a_cap(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    hits, outcome = ask(engine, "port", limit=10)
    assert (len(hits.hits), outcome.is_capped) == (10, True)


def test_a_limit_of_time_is_said(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    settings = Settings(regex=RegexSettings(time_limit_s=0.000001))
    _, outcome = ask(engine, "[a-z]", settings)
    assert outcome.is_partial and outcome.notes


def test_a_limit_of_time_holds_where_nothing_is_found(
    engine: EmbeddedConnection, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(engine, folder)
    monkeypatch.setattr(lines, "TELL_S", 0.0)
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 60.0))
    hits, outcome = ask(engine, "[0-9]zzz")
    assert not hits.hits and outcome.is_partial
    assert any("Stopped after" in note for note in outcome.notes)


def test_a_cancelled_search_ends(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        LineSearch(engine, Settings()).search(parse("port", Mode.REGEX), searched(engine), None, Collected(), token)


def test_a_wrong_pattern_is_told_by_its_place(engine: EmbeddedConnection, folder: Path) -> None:
    pushed(engine, folder)
    with pytest.raises(QueryError):
        ask(engine, "lang:python (port")


@pytest.mark.parametrize("text", ["'; DROP TABLE mgrep.files; --", "\\\\", "\\'", "%s{p0:String}", "a\\x00b", "`\"'"])
def test_hostile_patterns_are_patterns(engine: EmbeddedConnection, folder: Path, text: str) -> None:
    tree(folder, {"hostile.txt": b"x '; DROP TABLE mgrep.files; -- \\ \\' %s{p0:String} a\0b `\"'\n" * 20})
    pushed(engine, folder)
    wanted = Collected()
    RegexEngine(open_root(folder), Settings()).search(parse(text, Mode.REGEX), None, None, wanted, CancelToken())
    hits, _ = ask(engine, text)
    assert found(hits) == found(wanted)
    assert hits.hits
