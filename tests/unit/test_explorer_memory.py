"""A session comes back as it was, and a damaged one harms nothing."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.explorer.memory import Memory, fields_of, session_of
from mgrep_tui.explorer.protocol import Configured, SearchOptions, Session
from mgrep_tui.model import Mode
from mgrep_tui.settings.paths import user_folders
from mgrep_tui.settings.state import PastQuery

SESSIONS = st.builds(
    Session,
    text=st.text(),
    mode=st.sampled_from(Mode),
    options=st.builds(
        SearchOptions,
        ratio=st.floats(0, 1),
        case=st.sampled_from(["smart", "yes", "no"]),
        literal=st.booleans(),
        word=st.booleans(),
        sort=st.sampled_from(["rank", "path"]),
        hidden=st.booleans(),
        ignored=st.booleans(),
    ),
    cursor_path=st.binary(),
    cursor_line=st.integers(0, 10**9),
    list_share=st.floats(0.1, 0.9),
    list_height_share=st.floats(0.1, 0.9),
    configured=st.none() | st.builds(Configured, ratio=st.floats(0, 1), case=st.text(), theme=st.text()),
    has_preview=st.booleans(),
    wraps=st.booleans(),
    theme=st.text(),
)


@given(session=SESSIONS)
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    assert session_of(fields_of(session)) == session


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(found=st.dictionaries(st.sampled_from(sorted(fields_of(Session()))), JSON))
def test_fields_of_other_types_take_their_defaults(found: dict[str, object]) -> None:
    session = session_of(found)
    assert session_of(fields_of(session)) == session


def test_the_disk_keeps_history_and_session(tmp_path: Path) -> None:
    """FAULTS J1: a cursor on a file whose name is not UTF-8 survives the restart."""
    folders = user_folders({"MGREP_TUI_HOME": str(tmp_path)})
    memory = Memory(folders.state / "history.jsonl", folders.session_of(Path("/r")))
    assert memory.load_session() is None
    assert memory.is_first_start()
    session = Session(text="a\ud800", mode=Mode.REGEX, cursor_path=b"caf\xe9.py")
    memory.save_session(session)
    memory.remember(PastQuery("x", Mode.SEMANTIC))
    again = Memory(folders.state / "history.jsonl", folders.session_of(Path("/r")))
    assert again.load_session() == session
    assert not Memory(folders.state / "history.jsonl", folders.session_of(Path("/another"))).is_first_start()
    assert list(again.history()) == [PastQuery("x", Mode.SEMANTIC)]
