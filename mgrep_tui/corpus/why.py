"""Why a file is searched, or is not: which rule or limit decides."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mgrep_tui.corpus import sources
from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.plain import folder_rules, layer_names
from mgrep_tui.corpus.read import read_file
from mgrep_tui.corpus.root import Root, owner_of
from mgrep_tui.corpus.rules import Verdict
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import UnreadableError
from mgrep_tui.model import SkipReason
from mgrep_tui.settings.config import CorpusSettings


@dataclass(frozen=True, slots=True)
class Answer:
    """`path` is relative to the root where it lies below it; `reason` is a phrase, not sanitised."""

    path: bytes
    is_searched: bool
    reason: str


def explain(root: Root, absolute: bytes, settings: CorpusSettings) -> Answer:
    """What decides about the file at `absolute`. Any thread; takes as long as a listing, since that is what is asked. Never raises."""
    base = os.path.join(os.fsencode(root.path), b"")
    folder, name = os.path.split(os.path.normpath(absolute))
    named = os.path.join(os.path.realpath(folder), name)  # the root is resolved; a link at the end is not
    if os.path.realpath(named) == os.fsencode(root.path):
        return Answer(absolute, False, "it is the root itself; name a file in it")
    if not named.startswith(base):
        return Answer(absolute, False, "it lies outside the root")
    path = named[len(base) :]
    listing = list_files(root, settings)
    decided = _deciding_rule(root, path, settings)
    if any(entry.path == path for entry in listing.entries):
        return _of_listed(root, path, settings, decided)
    for skip in listing.skips:
        if skip.path == path or path.startswith(skip.path + b"/"):
            return Answer(path, False, f"{skip.reason.value}: {skip.detail}" if skip.detail else skip.reason.value)
    return Answer(path, False, _unlisted(root, path, settings, decided))


def _of_listed(root: Root, path: bytes, settings: CorpusSettings, decided: _Decision | None) -> Answer:
    try:
        data = read_file(root, path, settings.max_file_bytes).data
    except UnreadableError as error:
        return Answer(path, False, f"{SkipReason.UNREADABLE.value}: {error.message}")
    if searchable(data) is None:
        return Answer(path, False, f"{SkipReason.BINARY.value}: its bytes are no text")
    if decided is None:
        return Answer(path, True, "no rule leaves it out")
    if decided.verdict.is_ignored:
        return Answer(path, True, f"git tracks it, though {_in_words(decided)}")
    return Answer(path, True, _in_words(decided))


def _unlisted(root: Root, path: bytes, settings: CorpusSettings, decided: _Decision | None) -> str:
    absolute = root.absolute(path)
    parts = path.split(b"/")
    if not os.path.lexists(absolute):
        return "it does not exist"
    if b".git" in parts:
        return "it belongs to git itself"
    if os.path.islink(absolute):
        return f"it is a link to {os.fsdecode(os.readlink(absolute))}; what it points to is searched where it lies"
    hidden = next((part for part in parts if part.startswith(b".")), None)
    if hidden is not None and not settings.hidden:
        return f"its name or a folder's starts with a dot: {os.fsdecode(hidden)}"
    if decided is not None and decided.verdict.is_ignored:
        return _in_words(decided)
    if os.path.isdir(absolute):
        return "it is a folder"
    return "git does not list it"


@dataclass(frozen=True, slots=True)
class _Decision:
    """`at` is the path or the folder above it that the rule is about."""

    at: bytes
    verdict: Verdict


def _in_words(decision: _Decision) -> str:
    rule = decision.verdict.rule
    pattern = f"{'!' if rule.is_negated else ''}{os.fsdecode(rule.pattern)}{'/' if rule.is_folder_only else ''}"
    does = "takes back" if rule.is_negated else "leaves out"
    where = f"{os.fsdecode(decision.verdict.source)}, line {rule.line + 1}"
    return f"the rule {pattern} ({where}) {does} {os.fsdecode(decision.at)}"


def _deciding_rule(root: Root, path: bytes, settings: CorpusSettings) -> _Decision | None:
    """The rule that decides: the first folder that one leaves out, else the one that speaks of the file itself."""
    owner, inner = owner_of(root, path)
    mount = path[: len(path) - len(inner)]
    if mount:
        # Only our own rules reach into a nested repository.
        own = CorpusSettings(use_gitignore=False, ignore_files=settings.ignore_files)
        outer = _decision_in(root, path, own)
        if outer is not None:
            return outer
    found = _decision_in(owner, inner, settings)
    return None if found is None else _Decision(mount + found.at, found.verdict)


def _decision_in(root: Root, path: bytes, settings: CorpusSettings) -> _Decision | None:
    names = layer_names(settings)
    layers = sources.base_layers(root, settings)
    folder = b""
    verdict: Verdict | None = None
    at = path
    parts = path.split(b"/")
    absolute = root.absolute(path)
    is_folder = os.path.isdir(absolute) and not os.path.islink(absolute)
    for number, part in enumerate(parts):
        rules = folder_rules(root, folder, root.prefix, names)
        layers = layers.extended((*rules, *(None,) * (len(layers.sets) - len(rules))))
        at = folder + part
        verdict = layers.verdict(root.prefix + at, is_folder or number < len(parts) - 1)
        if verdict is not None and verdict.is_ignored:
            break
        folder = at + b"/"
    return None if verdict is None else _Decision(at, verdict)
