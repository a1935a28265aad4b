r"""Our answers beside those of `rg`: the same files, lines and columns, for some 300 patterns.

Where we differ on purpose, and why:

- A match of the empty text is no hit (`x*`, `^`): it would list every line. `rg` prints those lines.
- `\A` and `\z` are the ends of the file; `rg` takes them for the ends of a line. `^` and `$` are there for that.
- `$` stands before `\r\n` (`rg` needs `--crlf`), and the `\r` belongs to no match unless the pattern names it.
- A pattern that names the newline matches across lines; `rg` refuses it without `-U`.
- A text file that holds a NUL is searched to its end; `rg` stops at the NUL or leaves the file out.
- The syntax is RE2's: `[a&&b]` and nested classes mean what they say letter by letter, `{,3}` and a lone `{` are text, `\<` is `<`, and
  `(?x)` goes to the backtracking engine, which also has look-around and back-references (`rg` needs `-P`).
- `(?-u)` changes nothing: text is always UTF-8, and a byte that is not matches nothing.
- Across lines, matches follow each other at once; `rg` goes on with the line after a match.
- Columns count characters (`rg` counts bytes); here both are compared in characters.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import Root
from mgrep_tui.ngram.snapshot import Snapshot
from tests.support.regex_patterns import all_patterns
from tests.support.regex_ways import ask, snapshot_of, write_tree

RG = shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")
PROJECT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")

ODD_FILES: dict[str | bytes, bytes | str] = {
    "crlf.txt": b"needle\r\nfoo bar\r\n  trailing  \r\nfoo\r\nx needle\r\n",
    "latin1.txt": b"L\xfcnen\nna\xefve test\nsearch \xe9\nk\xe9k\n",
    "words.txt": "école éa aé a é Straße STRASSE straße\nпривет Привет ПРИВЕТ\n\u212aelvin Kelvin kelvin\nmag\u0301ic \u017fearch\n",
    "no_newline.txt": "one\nneedle",
    "mark.txt": b"\xef\xbb\xbfneedle first\nself.path\n",
    "utf16.txt": "\ufeffneedle é\nimport self\n".encode("utf-16-le"),
    "empty.txt": b"",
    "blank.txt": b"\n\n \n\t\n",
    "long.txt": "a" * 30_000 + " needle self.path(" + "b" * 30_000 + "\n",
    b"caf\xe9.txt": "needle in a name that is no text\n",
    "deep/er/and/er/file.c": "int main(void)\n{\n\treturn foo_bar(0x1F, 'x');\n}\n",
    "-dash.txt": "import path\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Root, Snapshot | None]]:
    """The project's own sources and files of every odd kind, indexed."""
    folder = tmp_path_factory.mktemp("differential")
    files = dict(ODD_FILES)
    for path in sorted(
        [
            *PROJECT.glob("mgrep_tui/search/*.py"),
            *PROJECT.glob("mgrep_tui/corpus/*.py"),
            *PROJECT.glob("tests/support/*.py"),
        ]
    ):
        files[str(path.relative_to(PROJECT))] = path.read_bytes()
    files["pyproject.toml"] = (PROJECT / "pyproject.toml").read_bytes()
    root = write_tree(folder / "tree", files)
    yield root, snapshot_of(root, folder / "index", "indexed")


def rg_places(root: Root, pattern: str, *options: str) -> list[tuple[bytes, int, list[tuple[int, int]]]]:
    """(path, line, spans in characters), by path and line."""
    assert RG is not None
    argv = [RG, "--json", "--no-config", "--no-ignore", "--crlf", "--sort=path", *options, "-e", pattern, "."]
    run = subprocess.run(argv, cwd=root.path, capture_output=True, check=False)
    assert run.returncode in (0, 1), run.stderr.decode()
    found = []
    for line in run.stdout.splitlines():
        event = json.loads(line)
        if event["type"] == "match":
            body = event["data"]
            text = _bytes(body["lines"])
            spans = [(_chars(text, part["start"]), _chars(text, part["end"])) for part in body["submatches"]]
            found.append((_bytes(body["path"]).removeprefix(b"./"), body["line_number"], spans))
    return sorted(found)


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else b64decode(value["bytes"])


def _chars(text: bytes, place: int) -> int:
    return len(text[:place].decode("utf-8", "replace"))


def our_places(
    root: Root, snapshot: Snapshot | None, pattern: str, **options: object
) -> list[tuple[bytes, int, list[tuple[int, int]]]]:
    answer = ask(root, pattern, snapshot, is_exhaustive=True, **options)  # type: ignore[arg-type]
    return sorted(
        (hit.path, hit.line + 1, [(span.start + hit.text_offset, span.end + hit.text_offset) for span in hit.spans])
        for hit in answer.hits
    )


def without_far_spans(
    places: list[tuple[bytes, int, list[tuple[int, int]]]],
) -> list[tuple[bytes, int, int, list[tuple[int, int]]]]:
    """Path, line, column and spans; of a very long line only the column, since a hit shows but a window of it."""
    return [(path, line, spans[0][0], [] if path == b"long.txt" else spans[:200]) for path, line, spans in places]


@pytest.mark.parametrize("pattern", all_patterns())
def test_same_places_as_rg(tree: tuple[Root, Snapshot | None], pattern: str) -> None:
    root, snapshot = tree
    ours = our_places(root, snapshot, pattern)
    assert without_far_spans(ours) == without_far_spans(rg_places(root, pattern, "--smart-case"))


@pytest.mark.parametrize("pattern", all_patterns()[::7])
def test_same_places_as_rg_for_whole_words(tree: tuple[Root, Snapshot | None], pattern: str) -> None:
    root, snapshot = tree
    ours = our_places(root, snapshot, pattern, is_word=True)
    assert without_far_spans(ours) == without_far_spans(rg_places(root, pattern, "--smart-case", "--word-regexp"))


@pytest.mark.parametrize(
    "text", ["self.path", "foo(", "[", "a.b", "*", "(?", "\\", "$", "^", "needle", "É", "import os"]
)
def test_same_places_as_rg_for_literals(tree: tuple[Root, Snapshot | None], text: str) -> None:
    root, snapshot = tree
    for case, option in (("yes", "--case-sensitive"), ("no", "--ignore-case")):
        ours = our_places(root, snapshot, text, is_literal=True, case=case)
        assert without_far_spans(ours) == without_far_spans(rg_places(root, text, "--fixed-strings", option))


@pytest.mark.parametrize(
    "pattern",
    ["foo\\nbar", "\\)\\n\\n", "import annotations\\n\\nimport", "(?s)needle.foo", "\\{\\n\\s+return", "x\\n*y"],
)
def test_same_first_lines_as_rg_across_lines(tree: tuple[Root, Snapshot | None], pattern: str) -> None:
    root, snapshot = tree
    ours = [
        (path, line) for path, line, _ in our_places(root, snapshot, pattern, is_multiline=True) if path != b"crlf.txt"
    ]
    theirs = {(path, line) for path, line, _ in rg_places(root, pattern, "--smart-case", "-U") if path != b"crlf.txt"}
    assert set(ours) == theirs


def test_patterns_are_many() -> None:
    assert len(set(all_patterns())) >= 200
