"""Is a file nested so deep that a parser would take very long or die? Answered from its bytes, before any parse."""

from __future__ import annotations

import re

import numpy as np

# Hand-written code stays under 50. Beyond a few hundred, tree-sitter's error recovery takes seconds and walks over the tree are at risk.
MAX_DEPTH = 400

_STEPS = np.zeros(256, np.int8)
for _open, _close in ("()", "[]", "{}"):
    _STEPS[ord(_open)] = 1
    _STEPS[ord(_close)] = -1

_BRACKETS = bytes(range(256)).translate(None, b"()[]{}")

# Type arguments within type arguments: `<` after `<` with only names, commas and white space between.
_GENERICS = re.compile(rb"(?:<[\w\s,:&'.\[\]?*]{0,80}+){150}")


def is_too_deep(buffer: bytes) -> bool:
    """True when brackets or type arguments nest beyond `MAX_DEPTH`. Strings and comments count too: the answer errs to caution, and a file
    whose brackets merely do not balance passes until it is far out."""
    brackets = np.frombuffer(buffer.translate(None, _BRACKETS), np.uint8)
    if len(brackets) > MAX_DEPTH:
        depth = np.cumsum(_STEPS[brackets], dtype=np.int32)
        # Measured from the lowest point so far: closers too many at the front must not hide what opens behind.
        if int((depth - np.minimum(np.minimum.accumulate(depth), 0)).max()) > MAX_DEPTH:
            return True
    return buffer.count(b"<") > 150 and _GENERICS.search(buffer) is not None
