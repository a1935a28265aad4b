"""What to try when a query finds nothing: one filter less, another case, another spelling, the other mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from mgrep_tui.explorer.protocol import Chip, SearchOptions, Variant
from mgrep_tui.model import Mode

Count = Callable[[str, Mode, SearchOptions], tuple[int, bool] | None]
Nearest = Callable[[str], str]

MAX_VARIANTS = 6
WORD = re.compile(r"\w{3,}")


def variants_of(
    text: str, mode: Mode, options: SearchOptions, chips: Sequence[Chip], count: Count, nearest: Nearest
) -> tuple[Variant, ...]:
    """The variants that find something, those with the smallest change first.

    `count` gives the hits of a query, with whether there are more, or None when it could not tell in time; `nearest` gives the name in the
    symbol table that is most like a word, or an empty text.
    """
    found: list[Variant] = []
    for variant in _candidates(text, mode, options, chips, nearest):
        counted = count(variant.text, variant.mode, variant.options)
        if counted is None:
            found.append(variant)
        elif counted[0]:
            found.append(replace(variant, hits=counted[0], is_more=counted[1]))
        if len(found) == MAX_VARIANTS:
            break
    return tuple(found)


def _candidates(
    text: str, mode: Mode, options: SearchOptions, chips: Sequence[Chip], nearest: Nearest
) -> list[Variant]:
    found = [Variant(f"without {chip.label}", without(text, [chip]), mode, options) for chip in chips]
    if len(chips) > 1:
        found.append(Variant("without any filter", without(text, chips), mode, options))
    if mode is Mode.REGEX:
        if options.case == "yes" or (options.case == "smart" and text != text.lower()):
            found.append(Variant("in any case", text, mode, replace(options, case="no")))
        if options.word:
            found.append(Variant("also inside words", text, mode, replace(options, word=False)))
        if not options.literal and re.search(r"[.*+?()\[\]{}|^$\\]", without(text, chips)):
            found.append(Variant("as plain text", text, mode, replace(options, literal=True)))
    for match in WORD.finditer(text):
        if any(chip.start <= match.start() < chip.end for chip in chips):
            continue
        name = nearest(match.group())
        if name and name != match.group():
            found.append(Variant(f"with {name}", text[: match.start()] + name + text[match.end() :], mode, options))
    other = Mode.SEMANTIC if mode is Mode.REGEX else Mode.REGEX
    label = "by meaning" if other is Mode.SEMANTIC else "as a regular expression"
    found.append(Variant(label, text, other, options))
    return [variant for variant in found if variant.text.strip()]


def without(text: str, chips: Sequence[Chip]) -> str:
    """The query with these filters taken out, and the gap closed."""
    for chip in sorted(chips, key=lambda chip: chip.start, reverse=True):
        before, after = text[: chip.start].rstrip(), text[chip.end :].lstrip()
        text = f"{before} {after}" if before and after else before + after
    return text
