"""Which ignore files speak about a folder, and what they say together.

Three layers, the first that has a matching rule decides: our own ignore files (`.mgrepignore` before `.ignore`), then git's per-folder
`.gitignore`, then the user's and the repository's excludes. Within a layer, the file nearest to the path decides.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from mgrep_tui.corpus.ignore import Rule, RuleSet

# Far more than any real ignore file; the rest of a larger one is not read.
_MAX_IGNORE_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What decided about a path: the rule and the file it stands in."""

    rule: Rule
    source: bytes

    @property
    def is_ignored(self) -> bool:
        return not self.rule.is_negated


@dataclass(frozen=True, slots=True)
class Layers:
    """The rule sets in force in one folder: one tuple for each layer, nearest first. Immutable; a folder below extends it."""

    sets: tuple[tuple[RuleSet, ...], ...]

    @property
    def is_empty(self) -> bool:
        return not any(self.sets)

    @property
    def has_negations(self) -> bool:
        return any(rules.has_negations for layer in self.sets for rules in layer)

    def verdict(self, path: bytes, is_folder: bool) -> Verdict | None:
        """Who decides about `path`, which lies directly in the folder of these layers; None when nobody does."""
        for layer in self.sets:
            for rules in layer:
                rule = rules.match(path, is_folder)
                if rule is not None:
                    return Verdict(rule, rules.source)
        return None

    def is_ignored(self, path: bytes, is_folder: bool) -> bool:
        for layer in self.sets:
            for rules in layer:
                rule = rules.match(path, is_folder)
                if rule is not None:
                    return not rule.is_negated
        return False

    def extended(self, additions: tuple[RuleSet | None, ...]) -> Layers:
        """These layers with one more rule set on top of each layer where there is one."""
        if not any(additions):
            return self
        return Layers(tuple((new, *layer) if new else layer for new, layer in zip(additions, self.sets, strict=True)))


def read_rules(path: bytes, base: bytes, source: bytes) -> RuleSet | None:
    """The rules in the file at the absolute `path`; None when it is missing, unreadable, no regular file or without rules."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)  # a link is not followed, as git does not
    except OSError:
        return None
    try:
        content = os.read(descriptor, _MAX_IGNORE_FILE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    rules = RuleSet(content, base, source)
    return rules if rules else None
