"""The values that filters know: languages and their short names, kinds of chunks, properties of files."""

from __future__ import annotations

from mgrep_tui.text.languages import LANGUAGES

LANGUAGE_ALIASES = {
    "bat": "batch",
    "c#": "csharp",
    "c++": "cpp",
    "cc": "cpp",
    "cs": "csharp",
    "cxx": "cpp",
    "docker": "dockerfile",
    "ex": "elixir",
    "golang": "go",
    "hs": "haskell",
    "htm": "html",
    "ipynb": "notebook",
    "jl": "julia",
    "js": "javascript",
    "kt": "kotlin",
    "makefile": "make",
    "md": "markdown",
    "ml": "ocaml",
    "node": "javascript",
    "objc": "objective-c",
    "pl": "perl",
    "protobuf": "proto",
    "ps1": "powershell",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "shell": "bash",
    "terraform": "hcl",
    "tf": "hcl",
    "ts": "typescript",
    "yml": "yaml",
    "zsh": "bash",
}

KINDS = frozenset(
    (
        *(
            "function",
            "method",
            "class",
            "interface",
            "struct",
            "enum",
            "trait",
            "impl",
            "module",
            "type",
            "constant",
            "macro",
        ),
        *("property", "outline", "code", "section", "object", "table", "cell", "statement", "rule", "lines"),
    )
)
KIND_ALIASES = {
    "def": {"function", "method"},
    "fn": {"function", "method"},
    "func": {"function", "method"},
    "const": {"constant"},
}
PROPERTIES = ("dirty", "untracked", "test", "generated", "vendored")


_FAMILIES = {"javascript": {"jsx"}, "typescript": {"tsx"}}


def languages_named(value: str) -> frozenset[str]:
    """The canonical languages that a value such as `python`, `py`, `c,cpp` or the half-typed `pyth` stands for; empty when none."""
    names: set[str] = set()
    for part in value.lower().split(","):
        name = LANGUAGE_ALIASES.get(part, part)
        if name in LANGUAGES:
            names |= {name, *_FAMILIES.get(name, ())}
        elif part:
            names |= {known for known in LANGUAGES if known.startswith(part)}
    return frozenset(names)
