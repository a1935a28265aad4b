"""The command line as a shell sees it: the real program, its output, its exit status."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "mgrep_tui"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    (root / "src").mkdir()
    (root / "src" / "upload.py").write_text(
        "class Uploader:\n"
        "    def retry_upload(self, job):\n"
        '        """Try a failed upload again, waiting longer each time."""\n'
        "        for attempt in range(5):\n"
        "            self.send(job)\n"
    )
    (root / "src" / "parse.py").write_text("def parse_date(text):\n    return text.split('-')\n")
    (root / "plain.txt").write_text("one\ntwo needle\n")
    (root / "bell\x07.txt").write_text("needle \x1b[31mred\n")
    return root


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def run(home: Path, words: Sequence[str], cwd: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "MGREP_TUI_HOME": str(home)}
    return subprocess.run(
        [*PROGRAM, *words],
        cwd=cwd,
        env=environ,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )


def test_regex_hits_are_printed_as_grep_does(home: Path, tree: Path) -> None:
    found = run(home, ["search", "--mode", "regex", r"needle$"], tree)
    assert (found.returncode, found.stdout) == (0, b"plain.txt:2:5:two needle\n")
    assert run(home, ["search", "--mode", "regex", "nowhere_at_all"], tree).returncode == 1
    wrong = run(home, ["search", "--mode", "regex", "needle("], tree)
    assert wrong.returncode == 2 and b"Traceback" not in wrong.stderr and wrong.stderr


def test_regex_hits_that_are_explained_come_best_first(home: Path, tmp_path: Path) -> None:
    """`--explain` said nothing in regex mode, where hits come by path and are not ranked."""
    for name, text in {"a/test_use.py": "needle()", "b/use.py": "x(needle)", "c/made.py": "def needle():"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    found = run(home, ["search", "--mode", "regex", "needle", "--explain", "--limit", "2"], tmp_path)
    assert found.stdout.decode().splitlines() == [
        "c/made.py:1:5:def needle():",
        "    word +4.000  definition +8.000",
        "b/use.py:1:3:x(needle)",
        "    word +4.000",
    ]


def test_a_path_is_printed_so_that_it_opens_from_here(home: Path, tree: Path) -> None:
    found = run(home, ["search", "--mode", "regex", "parse_date", "src"], tree)
    assert found.stdout.startswith(b"src/parse.py:1:5:")


def test_a_question_finds_its_function_and_json_has_every_field(home: Path, tree: Path) -> None:
    found = run(home, ["search", "where do we retry failed uploads", "--json", "--limit", "3"], tree)
    assert found.returncode == 0, found.stderr
    first = json.loads(found.stdout.split(b"\n")[0])
    assert set(first) == {
        "path",
        "line",
        "column",
        "start_line",
        "end_line",
        "text",
        "symbol",
        "kind",
        "language",
        "score",
    }
    assert (first["path"], first["language"]) == ("src/upload.py", "python")
    assert 1 <= first["start_line"] <= first["line"] <= first["end_line"]


def test_many_queries_are_answered_in_their_order(home: Path, tree: Path, tmp_path: Path) -> None:
    queries = tmp_path / "queries.txt"
    queries.write_text("parse a date\nretry upload\n")
    found = run(home, ["search", "--queries", str(queries), "--json", "--limit", "2", str(tree)], tmp_path)
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [answer["query"] for answer in answers] == ["parse a date", "retry upload"]
    assert [answer["hits"][0]["path"] for answer in answers] == ["src/parse.py", "src/upload.py"]
    assert all(answer["elapsed_ms"] >= 0 and len(answer["hits"]) <= 2 for answer in answers)


def test_an_edit_is_found_by_the_next_search(home: Path, tree: Path) -> None:
    """FAULTS L1."""
    (tree / "fresh.txt").write_text("token_just_written\n")
    found = run(home, ["search", "--mode", "regex", "token_just_written"], tree)
    assert found.stdout == b"fresh.txt:1:1:token_just_written\n"
    (tree / "fresh.txt").unlink()
    assert run(home, ["search", "--mode", "regex", "token_just_written"], tree).returncode == 1


def test_status_index_why_and_clean_say_what_is(home: Path, tree: Path) -> None:
    made = run(home, ["index", "--json"], tree)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["chunks"] > 0
    shown = json.loads(run(home, ["status", "--json"], tree).stdout)
    assert shown["files_seen"] == 4 and shown["chunks"] == json.loads(made.stdout)["chunks"]
    assert run(home, ["why", "plain.txt"], tree).returncode == 0
    assert run(home, ["why", "not-there.txt"], tree).returncode == 1
    assert b"Removed" in run(home, ["clean"], tree).stdout
    assert b"no index" in run(home, ["clean"], tree).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
def test_an_index_that_cannot_be_written_is_not_called_made(tmp_path: Path, tree: Path) -> None:
    """M3: on a full disk `index` said that it was done, and a script believed it."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    found = run(tmp_path, ["index"], tree, preexec_fn=limit)
    assert found.returncode == 2 and found.stdout.startswith(b"The index could not be made whole")
    assert b"cannot be written" in found.stdout


def test_a_reader_that_goes_away_is_no_error(home: Path, tree: Path) -> None:
    for number in range(300):
        (tree / "src" / f"many{number}.txt").write_text("needle\n" * 300)
    try:
        command = " ".join([*PROGRAM, "search", "--mode", "regex", "needle", "|", "head", "-1"])
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tree,
            env={**os.environ, "MGREP_TUI_HOME": str(home)},
            capture_output=True,
            check=False,
        )
        assert done.stdout.count(b"\n") == 1 and done.stderr == b""
    finally:
        for number in range(300):
            (tree / "src" / f"many{number}.txt").unlink()


def test_an_interrupt_ends_with_130_and_a_sound_index(tmp_path: Path) -> None:
    root, home = tmp_path / "big", tmp_path / "home"
    root.mkdir()
    for number in range(400):
        (root / f"f{number}.py").write_text(
            "".join(f"def f{number}_{k}(x):\n    return x + {k}\n\n" for k in range(40))
        )
    environ = {**os.environ, "MGREP_TUI_HOME": str(home)}
    process = subprocess.Popen(
        [*PROGRAM, "index"], cwd=root, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    # The index folder is there: the build has begun.
    while process.poll() is None and not any(home.glob("cache/roots/*/catalog.sqlite3")):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (130, 0), errors
    assert b"Traceback" not in errors
    found = run(home, ["search", "--mode", "regex", "def f399_39"], root)
    assert found.stdout == b"f399.py:118:1:def f399_39(x):\n"


def test_one_question_waits_for_no_index(tmp_path: Path, tree: Path) -> None:
    """The files are read sooner than an index of them could be made; a question for symbols needs one."""
    found = run(tmp_path, ["search", "--mode", "regex", "parse_d..e"], tree)
    assert found.stdout == b"src/parse.py:1:5:def parse_date(text):\n"
    assert not any(tmp_path.glob("cache/roots/*/*"))
    found = run(tmp_path, ["search", "--mode", "regex", "text sym:parse_date"], tree)
    assert found.stdout.count(b"\n") == 2 and b"src/parse.py:2" in found.stdout
    assert any(tmp_path.glob("cache/roots/*/*"))
