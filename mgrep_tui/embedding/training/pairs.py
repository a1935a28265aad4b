"""Takes (documentation, code) pairs out of source files: a comment or docstring, and the definition that it stands over.

One rule serves all languages but Python and Elixir: a comment block whose next sibling in the syntax tree is a definition documents it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import cast

from pebble import ProcessExpired, ProcessPool
from tree_sitter import Language, Node, Query, QueryCursor
from tree_sitter_language_pack import SupportedLanguage, get_language, get_parser

from mgrep_tui.embedding.training.prose import clean_comment, first_words

FILES_PER_PACKAGE = 500
PAIRS_PER_PACKAGE = 900
_MAX_CODE_CHARS = 2_400
_MAX_CODE_LINES = 60
_MAX_NAME_CHARS = 80
_PACKAGE_LIMIT_S = 180

GRAMMARS = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript",
    ".tsx": "tsx", ".go": "go", ".rs": "rust", ".rb": "ruby", ".php": "php", ".lua": "lua", ".java": "java", ".c": "c", ".h": "cpp",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".hxx": "cpp", ".kt": "kotlin", ".scala": "scala",
    ".hs": "haskell", ".ex": "elixir", ".cs": "csharp", ".swift": "swift", ".jl": "julia", ".ml": "ocaml", ".sh": "bash",
    ".bash": "bash", ".zig": "zig",
}  # fmt: skip
_DEFINITION = re.compile(
    r"function|method|class|struct|interface|enum|impl|trait|mod_item|module|type_|type$|export|pair|assignment|expression_statement|definition"
    r"|signature|const|macro|namespace|object|protocol|instance|extension|declaration|property|template|singleton|data|decl|bind"
)
_TRANSPARENT = re.compile(r"attribute|annotation|decorator|pragma")
_CONTAINER = re.compile(
    r"class|struct|interface|enum|impl|trait|mod_item|module|namespace|object_decl|protocol|extension"
)
_BODIES = frozenset(
    ["body_statement", "declarations"]
)  # where a grammar puts the first comment before the body and not into it
_NAME_FIELDS = ("name", "declarator", "declaration", "definition", "left", "key", "type", "pattern", "target")
_NAMED_BY_FIRST_CHILD = frozenset(
    [
        "expression_statement",
        "lexical_declaration",
        "export_statement",
        "value_definition",
        "signature",
        "type_declaration",
    ]
)
_PYTHON_DOCSTRINGS = """
(module . (string) @doc) @definition
(function_definition body: (block . (string) @doc)) @definition
(class_definition body: (block . (string) @doc)) @definition
"""
_ELIXIR_DOCS = '((unary_operator operand: (call target: (identifier) @kind (arguments (string) @doc))) @attribute (#match? @kind "doc$"))'


@dataclass(frozen=True, slots=True)
class Pair:
    """`prose` is the documentation's first sentences, `code` the definition without it, `path` within the package."""

    package: str
    path: str
    language: str
    container: str
    symbol: str
    prose: str
    code: str


@cache
def _query(grammar: str, source: str) -> Query:
    return Query(get_language(cast(SupportedLanguage, grammar)), source)


def pairs_of_file(package: str, path: str, content: bytes) -> Iterator[Pair]:
    """The pairs of one file, in its order."""
    grammar = GRAMMARS.get(Path(path).suffix.lower())
    if grammar is None:
        return
    root = get_parser(cast(SupportedLanguage, grammar)).parse(content).root_node
    documented = (
        _docstrings(root)
        if grammar == "python"
        else _elixir_docs(root)
        if grammar == "elixir"
        else _comments(root, grammar)
    )
    for comment, definition, code in documented:
        symbol = _name_of(definition)
        prose = first_words(clean_comment(comment), symbol)
        if prose and _is_worth(code):
            yield Pair(package, path, grammar, _container_of(definition), symbol, prose, _cut(code))


def _comments(root: Node, grammar: str) -> Iterator[tuple[str, Node, str]]:
    seen: set[int] = set()
    kinds = (
        "(comment) @c"
        if grammar not in ("java", "kotlin", "rust", "scala", "haskell", "swift")
        else _comment_kinds(grammar)
    )
    nodes = sorted(QueryCursor(_query(grammar, kinds)).captures(root).get("c", []), key=lambda node: node.start_byte)
    for node in nodes:
        if node.id in seen:
            continue
        block = [_text(node)]
        last, after = node, node.next_named_sibling
        while after is not None and "comment" in after.type and after.start_point.row <= last.end_point.row + 1:
            seen.add(after.id)
            block.append(_text(after))
            last, after = after, after.next_named_sibling
        while after is not None and _TRANSPARENT.search(after.type):
            last, after = after, after.next_named_sibling
        while after is not None and after.type in _BODIES:
            after = next(iter(after.named_children), None)
        if after is None or after.start_point.row > last.end_point.row + 1 or not _DEFINITION.search(after.type):
            continue
        yield "\n".join(block), after, _with_equations(after) if grammar == "haskell" else _text(after)


def _comment_kinds(grammar: str) -> str:
    language = _query_language(grammar)
    kinds = ("comment", "line_comment", "block_comment", "multiline_comment", "haddock")
    return " ".join(f"({kind}) @c" for kind in kinds if language.id_for_node_kind(kind, True))


def _query_language(grammar: str) -> Language:
    return get_language(cast(SupportedLanguage, grammar))


def _docstrings(root: Node) -> Iterator[tuple[str, Node, str]]:
    for _, found in QueryCursor(_query("python", _PYTHON_DOCSTRINGS)).matches(root):
        doc, definition = found["doc"][0], found["definition"][0]
        whole = definition.text or b""
        start, end = doc.start_byte - definition.start_byte, doc.end_byte - definition.start_byte
        yield _text(doc), definition, (whole[:start] + whole[end:]).decode(errors="replace")


def _elixir_docs(root: Node) -> Iterator[tuple[str, Node, str]]:
    for _, found in QueryCursor(_query("elixir", _ELIXIR_DOCS)).matches(root):
        attribute = found["attribute"][0]
        after = attribute.next_named_sibling
        while after is not None and after.type in ("unary_operator", "comment"):
            after = after.next_named_sibling
        if after is not None:
            yield _text(found["doc"][0]), after, _text(after)


def _with_equations(signature: Node) -> str:
    parts, after = [_text(signature)], signature.next_named_sibling
    while after is not None and len(parts) < 12 and after.type in ("function", "bind"):
        parts.append(_text(after))
        after = after.next_named_sibling
    return "\n".join(parts)


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _name_of(node: Node) -> str:
    """The last identifier of what a definition defines; empty when it has none."""
    for _ in range(6):
        inner = None
        for field in _NAME_FIELDS:
            inner = node.child_by_field_name(field)
            if inner is not None:
                break
        if inner is None and node.type in _NAMED_BY_FIRST_CHILD:
            inner = next(iter(node.named_children), None)
        elif inner is None:  # Kotlin's grammar names no fields
            inner = next(
                (child for child in node.named_children if child.type in ("simple_identifier", "type_identifier")), None
            )
        if inner is None:
            break
        node = inner
    text = _text(node)
    return _last_word(text) if len(text) < _MAX_NAME_CHARS else ""


def _last_word(text: str) -> str:
    words: list[str] = re.findall(r"[\w$]+", text)
    return words[-1] if words else ""


def _container_of(node: Node) -> str:
    receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if receiver is not None:
        return _last_word(_text(receiver))
    names: list[str] = []
    above = node.parent
    while above is not None and len(names) < 4:
        if (
            _CONTAINER.search(above.type)
            and above.type not in ("export_statement", "class_body", "module")
            and above.parent is not None
        ):
            name = _name_of(above)
            if name and (not names or names[-1] != name):
                names.append(name)
        above = above.parent
    return ".".join(reversed(names))


def _is_worth(code: str) -> bool:
    return len(code) >= 60 and (code.count("\n") >= 2 or len(code) >= 120)


def _cut(code: str) -> str:
    return "\n".join(code.split("\n")[:_MAX_CODE_LINES])[:_MAX_CODE_CHARS]


def pairs_of_package(folder: Path, package: str, seed: int) -> list[Pair]:
    """A sample of the pairs of an unpacked package, without repeats."""
    random_ = random.Random(f"{seed} {package}")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    random_.shuffle(paths)
    found: dict[str, Pair] = {}
    for path in paths[:FILES_PER_PACKAGE]:
        for pair in pairs_of_file(package, str(path.relative_to(folder)), path.read_bytes()):
            found.setdefault(pair.prose, pair)
        if len(found) > 3 * PAIRS_PER_PACKAGE:
            break
    kept = list(found.values())
    random_.shuffle(kept)
    return kept[:PAIRS_PER_PACKAGE]


def extract(work: Path, seed: int) -> int:
    """Write WORK/pairs/<ecosystem>/<package>.jsonl for every source; returns the number of pairs. Packages done before stay."""
    total = 0
    with ProcessPool(max_workers=2, context=get_context("spawn")) as pool:
        futures = []
        for source in json.loads((work / "sources.json").read_text()):
            flat = source["name"].replace("/", "__")
            target = work / "pairs" / source["ecosystem"] / f"{flat}.jsonl"
            if not target.exists():
                folder = work / "sources" / source["ecosystem"] / flat
                package = f"{source['ecosystem']}/{flat}"
                futures.append(
                    (target, pool.schedule(pairs_of_package, (folder, package, seed), timeout=_PACKAGE_LIMIT_S))
                )
        for target, future in futures:
            try:
                pairs = future.result()
            except (FutureTimeoutError, ProcessExpired, OSError, ValueError) as error:
                print(f"left out {target.stem}: {error}")
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(json.dumps(asdict(pair)) + "\n" for pair in pairs))
            total += len(pairs)
    return total
