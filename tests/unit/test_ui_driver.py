"""What is written to a terminal arrives whole, however little it takes at once."""

from __future__ import annotations

import io
import os
import sys
import threading

import pytest

if sys.platform == "win32":
    pytest.skip("the driver is that of a POSIX terminal", allow_module_level=True)

from mgrep_tui.ui.driver import Writer


def written(file: io.TextIOBase, source: int, texts: list[str]) -> bytes:
    """What a reader gets of these texts."""
    found = bytearray()

    def read() -> None:
        while part := os.read(source, 4_096):
            found.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    writer = Writer(file)  # type: ignore[arg-type]
    writer.start()
    for text in texts:
        writer.write(text)
    writer.stop()
    file.close()
    reader.join()
    return bytes(found)


@pytest.mark.parametrize("is_blocking", [True, False])
@pytest.mark.parametrize("buffering", [0, -1])
def test_a_frame_is_not_cut_where_the_terminal_takes_only_a_part(is_blocking: bool, buffering: int) -> None:
    source, target = os.pipe()
    os.set_blocking(target, is_blocking)
    stream = open(target, "wb", buffering)  # noqa: SIM115
    file = io.TextIOWrapper(stream, "utf-8", write_through=not buffering)
    texts = [f"{number}\x1b[1m" + "\N{BOX DRAWINGS LIGHT VERTICAL}x" * 60_000 for number in range(4)]
    assert written(file, source, texts) == "".join(texts).encode()
    os.close(source)


def test_a_terminal_that_is_gone_is_let_alone() -> None:
    source, target = os.pipe()
    os.close(source)
    with open(target, "w") as file:
        writer = Writer(file)
        writer.start()
        for _ in range(100):
            writer.write("x" * 1_000)
        writer.stop()
        assert not writer.is_alive()
