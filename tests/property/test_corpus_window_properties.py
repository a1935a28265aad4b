"""The preview's window against the whole file, read plainly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgrep_tui.corpus import window
from mgrep_tui.corpus.decode import decode_line, searchable, split_lines
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.corpus.window import read_window

_PIECES = [
    b"a",
    b"bc",
    b"\xc3\xa9",
    "日本".encode(),
    "🙂".encode(),
    b"\xff",
    b"\xe4",
    b"\r",
    b"\t",
    b"\n",
    b"\n",
    b"\r\n",
    b" word",
    b"\xe2\x82",
]
_texts = st.lists(st.sampled_from(_PIECES), max_size=60).map(b"".join)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "_BLOCK_BYTES", 16)
        patch.setattr(window, "_KEPT_BLOCKS", 2)
        yield open_root(tmp_path_factory.mktemp("window"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=_texts,
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    line=st.integers(0, 30),
    before=st.integers(0, 5),
    after=st.integers(0, 5),
    max_chars=st.integers(3, 12),
    column=st.integers(0, 80),
)
def test_a_window_shows_what_the_file_holds(
    root: Root, text: bytes, mark: bytes, line: int, before: int, after: int, max_chars: int, column: int
) -> None:
    (root.path / "file").write_bytes(mark + text)
    found = searchable(mark + text)
    assert found is not None
    lines = [decode_line(item) for item in split_lines(found.data)]
    shown = read_window(root, b"file", line, before, after, max_chars, column=column)
    assert shown.total_lines == len(lines)
    assert shown.size_bytes == len(mark + text)
    if line - before < len(lines):
        assert shown.first_line == max(0, line - before)
        assert len(shown.lines) == max(0, min(len(lines), line + after + 1) - shown.first_line)
    else:
        assert shown.first_line + len(shown.lines) == len(lines)
    for index, part in enumerate(shown.lines):
        whole = lines[shown.first_line + index]
        offset = shown.offsets[index]
        assert whole[offset : offset + max_chars] == part
        assert (shown.first_line + index in shown.cut_lines) == (part != whole)
        if shown.first_line + index == line and column < len(whole):
            assert offset <= column < offset + len(part)
