"""What the planner claims about a pattern, and where it says nothing."""

from __future__ import annotations

import pytest

from mgrep_tui.ngram.plan import ALL, And, Literal, Or, Plan, plan, plan_literal


def tree(pattern: str) -> object:
    return plan(pattern).tree


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("foo_bar", Literal(b"foo_bar")),
        ("FOO", Literal(b"foo")),
        ("(?i)Foo", Literal(b"foo")),
        ("foo.*bar", And((Literal(b"foo"), Literal(b"bar")))),
        ("^foo$", Literal(b"foo")),
        (r"\bfoo\b", Literal(b"foo")),
        (r"foo\(x\)", Literal(b"foo(x)")),
        (r"\Qa.b*\E+c", And((Literal(b"a.b*"), ))),
        ("foo|bar", Or((Literal(b"bar"), Literal(b"foo")))),
        ("(foo|bar)_x", Or((Literal(b"bar_x"), Literal(b"foo_x")))),
        ("[fb]oo", Or((Literal(b"boo"), Literal(b"foo")))),
        (r"\x{66}\x6fo", Literal(b"foo")),
        ("(foo)+bar", Literal(b"foobar")),
        ("foo{2}", Literal(b"fooo")),
        ("fo{2,}bar", And((Literal(b"foo"), Literal(b"oobar")))),
        ("if (x) {", Or((Literal(b"if x {"),))),
        (r"(?P<name>foo)bar", Literal(b"foobar")),
        (r"(?<name>foo)bar", Literal(b"foobar")),
        ("foo(?=.*bar)baz", Literal(b"foobaz")),
        ("(?<!foo)bar", Literal(b"bar")),
        ("foo\nbar", And((Literal(b"foo"), Literal(b"bar")))),
    ],
)  # fmt: skip
def test_what_every_match_must_hold(pattern: str, expected: object) -> None:
    if isinstance(expected, And | Or) and len(expected.parts) == 1:
        expected = expected.parts[0]
    assert tree(pattern) == expected


def test_an_optional_group_is_not_required() -> None:
    """A3: `(bar_)?` may be absent, and what stands beside it joins over it."""
    assert set(plan("foo_(bar_)?").literals()) == {b"foo_"}
    assert set(plan("foo_b(ar_)?").literals()) == {b"foo_b"}
    assert tree("foo(bar)?baz") == Or((Literal(b"foobarbaz"), Literal(b"foobaz")))
    assert tree("foo(bar)*baz") == And((Literal(b"foo"), Literal(b"baz")))
    assert tree("foo(bar){0,3}baz") == And((Literal(b"foo"), Literal(b"baz")))


@pytest.mark.parametrize(
    "pattern",
    ["", "x*", "foo?|b", "()", "^", "$", r"\b", "|", "a", "ab", ".", r"\w+", "foo|", "(foo|)", "(foo)?", "foo|.", "[a-z]+", "é", r"\d{4}",
     "(?i)k", "(?:)", "foo{0}", "(?!foo)"],
)  # fmt: skip
def test_patterns_that_may_match_little_are_scans(pattern: str) -> None:
    """B1: what can match nothing, or next to nothing, claims nothing."""
    assert plan(pattern).is_all


@pytest.mark.parametrize(
    "pattern",
    ["foo(", "foo)", "[", "[a", "*foo", "(?P<x", "\\", "foo**", "foo{2}{3}", "a{3,2}foo", "(?x)foo bar", "(?-u)foo", "foo[a[b]]",
     "foo[a&&b]", r"foo\Kbar", r"foo\N{DASH}", "foo{,3}", "(?R)foo", "(?(1)a|b)foo", "(?|foo|foo)", "(?#c)foo", r"\ud800foo",
     "\ud800foo", "foo\ufffd", r"\x{110000}foo", r"\b{start}foo", "x(?i)*foo", r"x\Q\E*foo", "(?=x)foo{e}", r"(a)\1foo{i<=1}",
     "(*UTF)foo", "(" * 200 + "foo" + ")" * 200, "x" * 30_000],
)  # fmt: skip
def test_what_is_not_understood_is_a_scan_and_never_an_error(pattern: str) -> None:
    """B7: half-typed and foreign syntax."""
    assert plan(pattern).tree == ALL


def test_case_is_folded_for_all_scripts() -> None:
    """A9, D1: one plan for all spellings, with the signs that fold to k and s."""
    assert tree("ПРИВЕТ") == tree("привет") == tree("(?i)пРиВеТ")
    assert tree("\u212aELVIN") == tree("kelvin")
    assert tree("ma\u017fk") == tree("MASK")
    assert tree("ſtraße") == tree("STRAẞE")


def test_limits_bound_the_work() -> None:
    """C: nested counts and products of classes stay small."""
    for pattern in [
        "((a{99}){99}){99}",
        "[a-p][a-p][a-p][a-p][a-p]foo",
        "(a|b|c|d)" * 50,
        "(?:foo?)" * 200,
        "x{1000}",
        "(((x+)+)+)+y{3}",
    ]:
        literals = list(plan(pattern).literals())
        assert sum(map(len, literals)) < 100_000
        assert len(literals) < 3_000


def test_a_literal_needs_no_parser() -> None:
    assert plan_literal("a.b(") == Plan(Literal(b"a.b("))
    assert plan_literal("a\nlong\nb") == Plan(Literal(b"long"))
    assert plan_literal("ab").is_all
    assert plan_literal("\ufffdabc").is_all
