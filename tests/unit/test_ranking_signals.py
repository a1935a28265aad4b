"""Each rule alone, by hand; then the order they make together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mgrep_tui.retrieval import paths, weights
from mgrep_tui.retrieval.forms import Asked, is_form
from mgrep_tui.retrieval.opposites import opposes, sides_of
from mgrep_tui.retrieval.question import read
from mgrep_tui.retrieval.ranking import SATURATION, evidence, rank, refine, saturated
from mgrep_tui.retrieval.signals import (
    SIGNALS,
    Candidate,
    defines,
    is_foreign,
    is_named_after,
    is_other_platform,
    measure,
)

PLAIN = Candidate(1, "src/a.py", "function", "f", "", 0, 9, words=5.0, meaning=0.4)


def column(name: str, question: str, candidates: Sequence[Candidate], mentions: int = 0) -> list[float]:
    matrix, _ = measure(read(question), candidates, {}, lambda _: mentions)
    return [round(float(value), 3) for value in matrix[:, SIGNALS.index(name)]]


def first(question: str, *candidates: Candidate, ratio: float = 0.5) -> str:
    numbered = [replace(candidate, chunk_id=number) for number, candidate in enumerate(candidates)]
    ranking = rank(read(question), numbered, {}, lambda _: 0, ratio=ratio)
    return numbered[int(ranking.order[0])].path


def test_forms_of_a_word_share_their_first_three_letters() -> None:
    assert is_form("conn", "connect")
    assert not is_form("co", "connect")
    asked = Asked(("connect", "pool"), {"connect": 2.0, "pool": 0.5})
    met, precision = asked.met([("conn", "pool"), ("conn", "other"), (), ("conn", "connect"), ("conn", "pool")])
    assert met.tolist() == [[0.8, 1.0], [0.8, 0.0], [0.0, 0.0], [1.0, 0.0], [0.8, 1.0]]
    assert asked.share(met) == pytest.approx([2.1 / 2.5, 1.6 / 2.5, 0.0, 2.0 / 2.5, 2.1 / 2.5])
    assert precision == pytest.approx([0.9, 0.4, 0.0, 0.9, 0.9])


def test_nothing_is_met_where_nothing_is_asked_or_named() -> None:
    met, precision = Asked((), {}).met([("conn",), ()])
    assert Asked((), {}).share(met).tolist() == precision.tolist() == [0.0, 0.0]
    assert Asked(("x",), {}).met([])[0].shape == (0, 1)


def test_scores_of_the_arms_are_relative_to_the_best() -> None:
    two = [PLAIN, replace(PLAIN, chunk_id=2, path="b.py", words=10.0, meaning=0.2)]
    assert column("words", "x", two) == [0.5, 1.0]
    assert column("meaning", "x", two) == [1.0, 0.0]


def test_a_chunk_without_a_vector_stands_in_the_middle() -> None:
    three = [replace(PLAIN, meaning=value) for value in (0.0, 0.5, None, 1.0)]
    assert column("meaning", "x", three) == [0.0, 0.5, 0.5, 1.0]


def test_the_definition_of_the_name_asked_for() -> None:
    assert defines(read("ZodError"), "ZodError", "") == 1.0
    assert defines(read("ZodError"), "zoderror", "") == pytest.approx(0.8)
    assert defines(read("ZodError"), "a, ZodError, b", "") == 1.0
    assert defines(read("ZodError"), "ZodErrorMap", "") == 0.0
    assert defines(read("how ZodError is made"), "ZodError", "") == pytest.approx(0.6)
    assert defines(read("Outer::inner"), "inner", "Outer") > defines(read("Outer::inner"), "inner", "Else")


def test_a_file_named_after_what_is_asked() -> None:
    assert is_named_after(paths.facts("src/Options.hs"), "Option")
    assert is_named_after(paths.facts("src/router_group.go"), "RouterGroup")
    assert not is_named_after(paths.facts("src/router.go"), "RouterGroup")


def test_platform_twins() -> None:
    watching = read("watching with inotify")
    assert is_other_platform(watching, paths.facts("src/win/fs-event.c"))
    assert not is_other_platform(watching, paths.facts("src/unix/linux.c"))
    assert not is_other_platform(read("watching files"), paths.facts("src/win/fs-event.c"))
    assert is_foreign(read("watching files"), paths.facts("src/win/fs-event.c"), "posix")
    assert not is_foreign(read("watching files"), paths.facts("src/win/fs-event.c"), "nt")
    assert not is_foreign(read("watching files on windows"), paths.facts("src/win/fs-event.c"), "posix")


@pytest.mark.parametrize(
    ("role", "path", "plain", "wished"),
    [
        ("test", "tests/a.py", "retry upload", "tests of retry upload"),
        ("example", "examples/a.py", "retry upload", "example of a retry upload"),
        ("old", "compat/a.py", "retry upload", "legacy retry upload"),
        ("docs", "docs/a.md", "retry upload", "documentation of retry upload"),
    ],
)
def test_roles_count_unless_they_are_asked_for(role: str, path: str, plain: str, wished: str) -> None:
    assert column(role, plain, [replace(PLAIN, path=path)]) == [1.0]
    assert column(role, wished, [replace(PLAIN, path=path)]) == [0.0]


def test_an_old_version_counts_unless_it_is_asked_for() -> None:
    both = [replace(PLAIN, path="v3/a.ts"), replace(PLAIN, path="v4/a.ts")]
    assert column("old version", "errors", both) == [1.0, 0.0]
    assert column("old version", "errors in v3", both) == [0.0, 0.0]
    assert column("old version", "errors", [replace(PLAIN, path="v1/a.py", has_younger_twin=True)]) == [1.0]


def test_a_files_hits_add_up_for_it() -> None:
    three = [PLAIN, replace(PLAIN, chunk_id=2), replace(PLAIN, chunk_id=3, path="b.py")]
    assert column("file words", "x", three) == [1.0, 1.0, 0.5]


def test_no_candidates_and_no_words_are_no_problem() -> None:
    assert rank(read(""), [], {}, lambda _: 0).order.size == 0
    assert rank(read("?"), [PLAIN], {}, lambda _: 0).order.tolist() == [0]


def test_signals_stay_between_zero_and_one() -> None:
    many = [
        replace(
            PLAIN, path=f"a/b{n}/c.py", words=float(n), meaning=n / 9, file_chunks=n * 90, last_line=n * 999, part=n + 1
        )
        for n in range(9)
    ]
    matrix, _ = measure(read("how does Retry work in c b3"), many, {"retri": 3.0}, lambda _: 100_000)
    assert np.isfinite(matrix).all()
    assert matrix.min() >= 0.0
    assert matrix.max() <= 1.001


def test_an_implementation_comes_before_its_test() -> None:
    assert (
        first("retry upload", replace(PLAIN, path="tests/test_retry.py"), replace(PLAIN, path="src/retry.py"))
        == "src/retry.py"
    )


def test_a_file_that_is_named_so_comes_before_one_that_mentions() -> None:
    one = replace(PLAIN, path="src/other.py", words=6.0, meaning=0.45)
    two = replace(PLAIN, path="src/recovery.py", words=5.5, meaning=0.4)
    assert first("recovery after a panic", one, two) == "src/recovery.py"


def test_the_newer_version_comes_first() -> None:
    assert (
        first("error formatting", replace(PLAIN, path="src/v3/errors.ts"), replace(PLAIN, path="src/v4/errors.ts"))
        == "src/v4/errors.ts"
    )


def test_a_definition_comes_before_its_uses() -> None:
    use = replace(PLAIN, path="src/a.py", symbol="run", words=9.0, meaning=0.5)
    definition = replace(PLAIN, path="src/b.py", symbol="RouterGroup", kind="class", words=6.0, meaning=0.4)
    other = replace(PLAIN, path="src/c.py", symbol="stop", words=1.0, meaning=0.0)
    assert first("RouterGroup", use, definition, other) == "src/b.py"


def test_the_ratio_moves_between_words_and_meaning() -> None:
    wordy = replace(PLAIN, path="src/w.py", words=9.0, meaning=0.1)
    meant = replace(PLAIN, path="src/m.py", words=1.0, meaning=0.9)
    assert first("x", wordy, meant, ratio=0.0) == "src/w.py"
    assert first("x", wordy, meant, ratio=1.0) == "src/m.py"
    silent = weights.mixed(weights.table("sentence", False), 0.0)
    assert silent[SIGNALS.index("meaning")] == 0.0
    assert silent[SIGNALS.index("words")] > 0.0


def test_other_files_have_their_turn_before_a_files_second_chunk() -> None:
    scores = saturated(np.array([5.0, 4.9, 4.0], np.float32), np.array([0, 0, 1]), 2.0)
    assert scores.tolist() == pytest.approx([5.0, 2.9, 4.0])
    assert SATURATION["deed"] < SATURATION["sentence"]


def test_the_deep_model_can_turn_the_order() -> None:
    candidates = [replace(PLAIN, chunk_id=n, path=f"src/{name}.py") for n, name in enumerate(("a", "b", "c"))]
    ranking = rank(read("x"), candidates, {}, lambda _: 0)
    again = refine(ranking, [0, 1, 2], [0.1, 0.2, 0.9])
    assert again.candidates[int(again.order[0])].path == "src/c.py"


def test_signals_tell_what_each_gave() -> None:
    ranking = rank(read("RouterGroup"), [replace(PLAIN, symbol="RouterGroup", path="tests/a.py")], {}, lambda _: 0)
    told = {signal.name: signal.value for signal in ranking.signals_of(0)}
    assert told["definition"] > 0 > told["test"]
    assert sum(told.values()) == pytest.approx(float(ranking.scores[0]), abs=0.5)
    assert 0.0 < ranking.shown_score(0) < 1.0


def test_a_question_about_nothing_has_no_good_answer() -> None:
    far = replace(PLAIN, words=0.0, coverage=0.0, meaning=0.1)
    near = replace(PLAIN, words=3.0, coverage=1.0, meaning=0.6)
    assert evidence([far, far]) == pytest.approx(0.2)
    assert evidence([far, near]) == 1.0
    assert evidence([]) == 0.0
    assert rank(read("zqxv"), [far], {}, lambda _: 0).shown_score(0) < 0.2


def test_what_writes_is_on_the_other_side_of_what_reads() -> None:
    asked = sides_of(("docbook", "read"))
    assert opposes(asked, ("writer", "docbook"))
    assert not opposes(asked, ("reader", "docbook"))
    assert not opposes(asked, ("reader", "writer"))  # it does both
    assert not opposes(sides_of(("read", "write")), ("writer",))  # both were asked for
    assert not opposes(sides_of(("docbook",)), ("writer",))
    both = [replace(PLAIN, path="src/writers/docbook.py"), replace(PLAIN, path="src/readers/docbook.py")]
    assert column("opposite", "how docbook documents are read", both) == [1.0, 0.0]


def test_another_case_of_a_name_counts_less_where_the_very_name_is_defined() -> None:
    method = replace(PLAIN, symbol="register, helpers", container="Base")
    module = replace(PLAIN, symbol="Helpers", container="Base", path="src/b.py")
    assert column("definition", "Base::Helpers", [method]) == [0.8]
    assert column("definition", "Base::Helpers", [method, module]) == [0.4, 1.0]


def test_where_a_project_keeps_what_it_is_about() -> None:
    three = [replace(PLAIN, path=path) for path in ("core/a.py", "app/lib.rs", "score/core_a.py")]
    assert column("core", "x", three) == [1.0, 1.0, 0.0]


def test_a_chunk_without_a_name_and_a_file_of_one_chunk() -> None:
    two = [replace(PLAIN, symbol=""), replace(PLAIN, path="src/b.py", file_chunks=4)]
    assert column("nameless", "x", two) == [1.0, 0.0]
    assert column("whole file", "x", two) == [1.0, 0.0]


def test_every_kind_of_question_has_weights_for_both_tiers() -> None:
    for text in ("RouterGroup", "check if a path is absolute", "path resolution"):
        for has_deep in (False, True):
            assert weights.table(read(text).kind, has_deep)[SIGNALS.index("words")] > 0


def test_every_weight_names_a_signal() -> None:
    for table in weights._tables().values():
        assert set(table) <= set(SIGNALS)
