"""The entries of a build on their way to its child."""

from __future__ import annotations

import pytest

from mgrep_tui.index.segment_job import PACKED_ENTRIES, Unpacked, packed
from mgrep_tui.model import Entry, FileStat


@pytest.mark.parametrize("count", [0, 1, PACKED_ENTRIES, 3 * PACKED_ENTRIES + 7])
def test_entries_arrive_as_they_were_sent(count: int) -> None:
    sent = [Entry(b"caf\xe9/%07d.py" % number, FileStat(number, -number, 1 << 62, 1 << 63)) for number in range(count)]
    found = Unpacked(packed(sent), count)
    assert list(found) == sent
    assert [found[number] for number in reversed(range(count))] == sent[::-1]
    assert found[2:9] == sent[2:9]
    with pytest.raises(IndexError):
        found[count]
