"""What is known about a language: the data files in `queries/`, one a language.

A file is a tree-sitter query. Its captures:

    @function @method @class @interface @struct @enum @trait @impl @module @type @rule @section …   a unit, by its kind
    @constant @macro @property                                              a small definition: a symbol, a unit only when long
    @name        its name; of several the texts are joined by a dot
    @container   what it belongs to when that is not what encloses it (a receiver)
    @body        what follows the signature, where no field says so; it may stand beside the definition
    @package     a statement that opens a container for all that follows it
    @lead        what belongs to the definition below it and is neither comment nor attribute line
    @wrap        what belongs to the unit inside it: decorators, `export`, `template<…>`
    @import      an import; runs of them become a chunk
    @_anything   for predicates only

`(#set! name "…")` in a pattern names what has no name of its own; not together with a predicate, which crashes tree-sitter 0.26.

Lines `;; key: value` in front of the first pattern are settings:

    grammar      the grammar's name where it is not the language's
    inherits     names of other files, whose patterns come first and whose settings hold where this file has none
    comments     what starts a line comment, several by spaces
    block        how a block comment starts and ends
    attributes   what starts a line that belongs to the definition below it (`@`, `#[`)
    separators   what stands between the parts of a qualified name; the last part is the name
    clauses      `yes`: neighbouring definitions of one name are one unit (Haskell, Elixir)
    flat         `yes`: no definition holds another one, whatever the tree says (rules of a makefile between conditions)
    body         field names or node types of the part behind a signature; the field `body` where nothing is said
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Rules:
    """One language's data file, read."""

    language: str
    grammar: str
    query: str
    comments: tuple[str, ...] = ()
    block: tuple[str, str] | None = None
    attributes: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ("body",)
    has_clauses: bool = False
    is_flat: bool = False


@lru_cache(maxsize=256)
def rules_for(language: str, folder: Path | None = None) -> Rules | None:
    """The rules of a language: `<folder>/<language>.scm` (the user's) before ours; None when neither is there.

    Raises `ValueError` when a file names a parent that is not there or that leads back to itself.
    """
    text = _read(language, folder)
    if text is None:
        return None
    settings, query = _resolve(language, text, folder, ())
    block = settings.get("block", "").split()
    return Rules(
        language=language,
        grammar=settings.get("grammar", language),
        query=query,
        comments=tuple(settings.get("comments", "").split()),
        block=(block[0], block[1]) if len(block) == 2 else None,
        attributes=tuple(settings.get("attributes", "").split()),
        separators=tuple(settings.get("separators", "").split()),
        bodies=tuple(settings.get("body", "body").split()),
        has_clauses=settings.get("clauses") == "yes",
        is_flat=settings.get("flat") == "yes",
    )


def known_languages(folder: Path | None = None) -> tuple[str, ...]:
    """The languages that have a data file, sorted. A file whose name starts with `_` is only inherited from."""
    names = {item.name for item in resources.files(__package__).joinpath("queries").iterdir()}
    if folder is not None and folder.is_dir():
        names.update(item.name for item in folder.iterdir())
    return tuple(sorted(name.removesuffix(".scm") for name in names if name.endswith(".scm") and name[0] != "_"))


def _read(language: str, folder: Path | None) -> str | None:
    if not language.replace("_", "").isalnum():
        return None
    name = f"{language}.scm"
    if folder is not None and (folder / name).is_file():
        return (folder / name).read_text("utf-8")
    ours = resources.files(__package__).joinpath("queries", name)
    return ours.read_text("utf-8") if ours.is_file() else None


def _resolve(language: str, text: str, folder: Path | None, seen: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """Settings and query text with everything inherited."""
    if language in seen:
        raise ValueError(f"the query file of {language} inherits from itself")
    own: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(";;") and ":" in line:
            key, _, value = line[2:].partition(":")
            own[key.strip()] = value.strip()
    settings: dict[str, str] = {}
    queries = []
    for parent in own.pop("inherits", "").split():
        # A user's file may inherit ours of the same name: that is how one pattern is added to a language.
        is_same = parent == language
        parent_text = _read(parent, None if is_same else folder)
        if parent_text is None or (is_same and folder is None):
            raise ValueError(f"the query file of {language} inherits from {parent}, which is not there")
        inherited, query = _resolve(
            parent, parent_text, None if is_same else folder, () if is_same else (*seen, language)
        )
        settings.update({"grammar": parent, **inherited})
        queries.append(query)
    settings.update(own)
    queries.append(text)
    return settings, "\n".join(queries)
