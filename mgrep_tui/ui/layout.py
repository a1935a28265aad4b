"""How the screen is divided at a given size. Pure."""

from __future__ import annotations

import enum

MIN_WIDTH, MIN_HEIGHT = 40, 8
WIDE_FROM = 100
MEDIUM_FROM = (60, 18)
# A side-by-side screen needs some lines for both.
WIDE_MIN_HEIGHT = 12
DEFAULT_SHARE = 0.45
MIN_SHARE, MAX_SHARE = 0.2, 0.8
SHARE_STEP = 0.05
# Below each other the preview gets a third of the body: what is left of the height without the single lines.
DEFAULT_HEIGHT_SHARE = 0.64
SINGLE_LINES = 7
# Lines that the list keeps, and the preview.
LEAST_LINES = 5


class Step(enum.StrEnum):
    """WIDE: list beside preview. MEDIUM: list over preview. NARROW: one of them. TINY: a sentence."""

    WIDE = "wide"
    MEDIUM = "medium"
    NARROW = "narrow"
    TINY = "tiny"


def step_of(width: int, height: int) -> Step:
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return Step.TINY
    if width >= WIDE_FROM and height >= WIDE_MIN_HEIGHT:
        return Step.WIDE
    if width >= MEDIUM_FROM[0] and height >= MEDIUM_FROM[1]:
        return Step.MEDIUM
    return Step.NARROW


def list_width(width: int, share: float) -> int:
    """Columns of the list in a wide screen; the border takes one more."""
    return max(24, min(round(width * share), width - 30))


def preview_height(height: int, share: float) -> int:
    """Lines of the preview in a medium screen of this height, whose list takes `share` of the body."""
    body = height - SINGLE_LINES
    return max(LEAST_LINES, min(round(body * (1 - share)), body - LEAST_LINES))


def height_share_of(height: int, line: int) -> float:
    """The list's share of the body when its lower border is dragged to a line of the screen."""
    above = SINGLE_LINES - 3  # the border, the status and the footer lie below the list
    return clamp_share((line - above) / max(1, height - SINGLE_LINES))


def share_of(width: int, columns: int) -> float:
    """The list's share when its border is dragged to a column."""
    return clamp_share(columns / max(1, width))


def clamp_share(share: float) -> float:
    return min(MAX_SHARE, max(MIN_SHARE, share))
