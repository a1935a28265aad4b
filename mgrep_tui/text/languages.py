"""Which language a file is written in: by its name, its extension, its `#!` line, and its content only where these leave a doubt."""

from __future__ import annotations

import re

from mgrep_tui.text.language_table import ROWS, Language
from mgrep_tui.text.origin import is_generated, is_minified, is_test_path, is_vendored

__all__ = [
    "HEAD_BYTES",
    "LANGUAGES",
    "Language",
    "is_generated",
    "is_minified",
    "is_test_path",
    "is_vendored",
    "language_of",
]

LANGUAGES: dict[str, Language] = {row.name: row for row in ROWS}
"""Every language by its canonical name."""

_BY_EXTENSION = {extension.encode(): row.name for row in ROWS for extension in row.extensions}
_BY_FILENAME = {filename.encode(): row.name for row in ROWS for filename in row.filenames}
_BY_INTERPRETER = {interpreter.encode(): row.name for row in ROWS for interpreter in row.interpreters}
# Extensions that mean something else in capitals; all others are compared in lower case.
_BY_CAPITAL = {b"C": "cpp", b"H": "cpp", b"M": "objective-c", b"F": "fortran", b"S": "assembly", b"R": "r"}
# Endings behind which the real one stands: `config.yaml.example`, `Makefile.in`.
_WRAPPERS = frozenset(b"in am tmpl tpl template dist example sample orig bak default inc j2 disabled".split())
# How much of a file's start is looked at.
HEAD_BYTES = 8192

_OBJECTIVE_C = re.compile(
    rb"^\s*(?:@(?:interface|implementation|protocol|property|class|import|end)\b|#\s*import\b)", re.MULTILINE
)
_CPP = re.compile(
    rb"^\s*(?:namespace\b[\w:\s]*\{|template\s*<|using\s+(?:namespace\s|\w+\s*=)|(?:public|private|protected)\s*:"
    rb"|(?:enum\s+)?class\s+(?:\w+\s+)*\w+\s*(?:final\s*)?[:{;]|\#\s*include\s*<[a-z_]+>|constexpr\b|virtual\b|friend\b|static_assert\s*\()"
    rb"|\bstd::|\bnullptr\b|\bnoexcept\b|\bstatic_cast<|\boperator\s*[=<>+\-*/\[(]",
    re.MULTILINE,
)
_MATLAB = re.compile(rb"^\s*(?:%|function\b|classdef\b)", re.MULTILINE)
_PROLOG = re.compile(rb"^\s*:-\s|^[a-z]\w*\(.*\)\s*:-", re.MULTILINE)
_PERL = re.compile(
    rb"^\s*(?:use\s+(?:strict|warnings|v?5|[A-Z])|package\s+[\w:]+\s*;|my\s+[$@%]|sub\s+\w+)", re.MULTILINE
)
_MAKE_DEPENDENCIES = re.compile(rb"\A\S+\.o\s*:")
_FORTH = re.compile(rb"^: \S", re.MULTILINE)
_PHP = re.compile(rb"<\?php")
_XML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<\?xml|\A\s*<!DOCTYPE\s+TS")
_MODE_LINE = re.compile(rb"-\*-\s*(?:.*?\bmode:\s*)?([A-Za-z0-9+#-]+)\s*(?:;.*?)?-\*-", re.IGNORECASE)
# Names of Emacs modes that differ from ours.
_MODES = {
    b"c++": "cpp",
    b"cperl": "perl",
    b"sh": "bash",
    b"shell-script": "bash",
    b"makefile": "make",
    b"makefile-gmake": "make",
    b"js": "javascript",
    b"js2": "javascript",
    b"objc": "objective-c",
    b"org": "text",
    b"conf": "ini",
    b"nxml": "xml",
}


def language_of(path: bytes, head: bytes = b"") -> str:
    """The canonical name of the language of the file at `path`, or "" when it is unknown.

    `head` is the start of its content, if at hand (`HEAD_BYTES` are enough); without it the usual meaning of the name is taken. Never
    guesses from words in the text.
    """
    name = path[path.rfind(b"/") + 1 :]
    found = _by_name(name)
    if not found:
        return _by_head(head[:HEAD_BYTES]) if head else ""
    decide = _DOUBTS.get(found)
    if decide is None or not head:
        return found
    return decide(name[name.rfind(b".") + 1 :], head[:HEAD_BYTES]) or found


def _by_name(name: bytes) -> str:
    lower = name.lower()
    found = _BY_FILENAME.get(lower)
    if found is not None:
        return found
    stem, dot, extension = name.rpartition(b".")
    if not dot:
        return ""
    capital = _BY_CAPITAL.get(extension)
    if capital is not None:
        return capital
    found = _BY_EXTENSION.get(extension.lower())
    if found is not None:
        return found
    if extension.lower() in _WRAPPERS and stem:
        return _by_name(stem)
    # `Dockerfile.dev`, `Makefile.am`, `.env.local`: the name before the first dot.
    first = lower.split(b".", 1)[0]
    found = _BY_FILENAME.get(first, "")
    return found if found != "text" else ""


def _by_head(head: bytes) -> str:
    if head.startswith(b"#!"):
        found = _by_shebang(head.split(b"\n", 1)[0])
        if found:
            return found
    mode = _MODE_LINE.search(b"\n".join(head.split(b"\n", 2)[:2]))
    if mode is not None:
        name = mode.group(1).lower()
        return _MODES.get(name) or (name.decode() if name.decode() in LANGUAGES else "")
    if _XML.search(head):
        return "xml"
    if _PHP.match(head):
        return "php"
    return ""


def _by_shebang(line: bytes) -> str:
    """`#!/usr/bin/env -S python3.11 -u` and its like."""
    words = line[2:].split()
    if not words:
        return ""
    program = words[0].rpartition(b"/")[2]
    if program == b"env":
        rest = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
        if not rest:
            return ""
        program = rest[0].rpartition(b"/")[2]
    program = program.lower()
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip(b"0123456789.-"), "")


def _header(extension: bytes, head: bytes) -> str:
    if extension.lower() != b"h":
        return ""
    if _OBJECTIVE_C.search(head):
        return "objective-c"
    mode = _MODE_LINE.search(head[:200])
    if mode is not None and mode.group(1).lower() == b"c++":
        return "cpp"
    return "cpp" if _CPP.search(head) else "c"


def _m_file(extension: bytes, head: bytes) -> str:
    if extension != b"m" or _OBJECTIVE_C.search(head):
        return ""
    return "matlab" if _MATLAB.search(head) else ""


def _perl_file(extension: bytes, head: bytes) -> str:
    if head.startswith(b"#!"):
        return _by_shebang(head.split(b"\n", 1)[0])
    if extension == b"pl" and _PROLOG.search(head) and not _PERL.search(head):
        return "prolog"
    if extension == b"t" and not _PERL.search(head):
        return "text"
    return ""


def _typescript_file(extension: bytes, head: bytes) -> str:
    return "xml" if _XML.search(head) else ""


def _d_file(extension: bytes, head: bytes) -> str:
    return "make" if _MAKE_DEPENDENCIES.search(head) else ""


def _fsharp_file(extension: bytes, head: bytes) -> str:
    return "text" if extension == b"fs" and _FORTH.search(head) and b"let " not in head else ""


def _shell_file(extension: bytes, head: bytes) -> str:
    return _by_shebang(head.split(b"\n", 1)[0]) if head.startswith(b"#!") else ""


_DOUBTS = {
    "c": _header,
    "objective-c": _m_file,
    "perl": _perl_file,
    "typescript": _typescript_file,
    "d": _d_file,
    "fsharp": _fsharp_file,
    "bash": _shell_file,
}
