"""How well real trees are chunked: share parsed, throughput, fallbacks, and functions found against universal-ctags.

    python tests/benchmarks/chunking_report.py [--missing N] [--sample N] [--json FILE] FOLDER…

Throughput is CPU time of one process, reading left out; the column `parse` is tree-sitter alone on the same files, measured in the same
run. Every line that is not blank must be in some chunk (of notebooks, only their sources): files that lose one are listed. `--sample` takes
that many files, evenly spread. A function counts as found when a symbol of its name covers the line that ctags names. `--missing` lists
that many misses a language.

Of ctags' answers those are left out that are plainly no functions: names that it makes up for nameless ones, keywords, constants of a Java
enum, and in JavaScript and TypeScript lines on which no function begins (it takes `const key = find()` for one). Where it gives the name
of a macro that makes a C function (`SYSCALL_DEFINE3`), or of the object that a nameless one is put into (`app[verb] = …`), a function that
begins there counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tree_sitter import Parser

from mgrep_tui.chunking import FileChunks, chunk_file
from mgrep_tui.chunking.grammar import load
from mgrep_tui.chunking.metrics import FileFigures, aggregate
from mgrep_tui.chunking.rules import known_languages, rules_for
from mgrep_tui.corpus.decode import decode_text, searchable
from mgrep_tui.settings.config import ChunkingSettings
from mgrep_tui.text.languages import language_of

# ctags' name of a language and the letters of its kinds that are functions.
CTAGS = {
    "python": ("Python", "fm"),
    "go": ("Go", "f"),
    "java": ("Java", "m"),
    "c": ("C", "f"),
    "javascript": ("JavaScript", "fmgC"),
    "typescript": ("TypeScript", "fm"),
    "rust": ("Rust", "fP"),
}

KEYWORDS = frozenset({"if", "for", "while", "switch", "catch", "return", "function", "new", "await", "typeof"})
FUNCTION_LINE = re.compile(r"\bfunction\b|=>")


@dataclass
class Row:
    """Figures of one language."""

    files: int = 0
    size_bytes: int = 0
    chunks: int = 0
    parsed: int = 0
    cpu_s: float = 0.0
    parse_s: float = 0.0
    expected: int = 0
    found: int = 0
    missing: list[str] = field(default_factory=list)
    slowest_s: float = 0.0


def source_files(folders: list[Path]) -> list[Path]:
    """All files of the folders but for git's own, sorted."""
    found = []
    for folder in folders:
        for place, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name != ".git")
            found += [Path(place) / name for name in sorted(files)]
    return found


def functions_by_ctags(paths: list[Path], language: str) -> dict[Path, list[tuple[str, int]]]:
    """Name and line (from 0) of every function that ctags sees."""
    name, kinds = CTAGS[language]
    run = subprocess.run(
        ["ctags", "-f", "-", "--output-format=json", "--fields=+n", f"--language-force={name}", f"--kinds-{name}={kinds}", "-L", "-"],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    found: dict[Path, list[tuple[str, int]]] = defaultdict(list)
    for line in run.stdout.splitlines():
        try:
            tag = json.loads(line)
        except ValueError:
            continue
        if is_function(language, tag["name"], tag["pattern"]):
            found[Path(tag["path"])].append((tag["name"], tag["line"] - 1))
    return found


def is_function(language: str, name: str, pattern: str) -> bool:
    """Whether a tag is what ctags says, as far as its line tells."""
    if name.lower().startswith(("anonymousfunction", "anonfunc", "__anon")) or name in KEYWORDS:
        return False
    if language == "java":
        return not name.isupper()
    if language in ("javascript", "typescript"):
        own = re.escape(name)
        return (
            re.search(
                rf"(?<![\w.]){own}['\"]?\]?\??(?:\.prototype|\[\w+\])*\s*[=:]\s*(?:async\s+)?(?:function\b|\(|<|\w+\s*=>)",
                pattern,
            )
            or re.search(rf"\bfunction\b\s*\*?\s*{own}\b|{own}['\"]?\??\s*[(<]", pattern)
        ) is not None
    return True


def has_function(result: FileChunks, name: str, line: int) -> bool:
    """Whether a symbol of that name stands there."""
    wanted = name.strip("'\"#")
    return any(
        symbol.first_line <= line <= symbol.last_line
        and (
            symbol.name.strip("'\"#") == wanted
            or (symbol.first_line == line and (name.isupper() or symbol.container.rpartition(".")[2] == wanted))
        )
        for symbol in result.symbols
    )


def loses_lines(result: FileChunks, data: bytes) -> bool:
    """Whether a line that is not blank is in no chunk."""
    if result.grammar == "notebook":
        return False
    covered: set[int] = set()
    for chunk in result.chunks:
        covered.update(range(chunk.first_line, chunk.last_line + 1))
    return any(line.strip() and row not in covered for row, line in enumerate(decode_text(data).split("\n")))


def measure(files: list[Path]) -> tuple[dict[str, Row], list[FileFigures], list[str]]:
    """Chunk every text file; compare with ctags where a language has it. The last of the three names files that lose lines."""
    losing: list[str] = []
    settings = ChunkingSettings()
    rows: dict[str, Row] = defaultdict(Row)
    figures: list[FileFigures] = []
    compared: dict[str, list[Path]] = defaultdict(list)
    warm: set[str] = set()
    for path in files:
        if not path.is_file() or path.is_symlink():
            continue
        seen = searchable(path.read_bytes())
        if seen is None or not seen.data.strip() or len(seen.data) > settings.max_file_bytes:
            continue
        language = language_of(os.fsencode(path), seen.data[:4096])
        rules = rules_for(language)
        if rules is not None and language not in warm:
            load(rules)
            warm.add(language)
        start = time.process_time()
        result = chunk_file(os.fsencode(path), seen.data, language, settings)
        row = rows[language]
        spent = time.process_time() - start
        row.cpu_s += spent
        row.slowest_s = max(row.slowest_s, spent)
        if loses_lines(result, seen.data):
            losing.append(str(path))
        row.files += 1
        row.size_bytes += len(seen.data)
        row.chunks += len(result.chunks)
        row.parsed += bool(result.grammar)
        lengths = tuple(chunk.last_line - chunk.first_line + 1 for chunk in result.chunks)
        figures.append(FileFigures(language, result.grammar, result.fallback, lengths))
        if rules is not None and result.grammar:
            start = time.process_time()
            Parser(load(rules)[0]).parse(seen.data)
            row.parse_s += time.process_time() - start
        if language in CTAGS:
            compared[language].append(path)
    if shutil.which("ctags"):
        for language, paths in compared.items():
            compare(rows[language], language, paths, settings)
    return rows, figures, losing


def compare(row: Row, language: str, paths: list[Path], settings: ChunkingSettings) -> None:
    """Look for the functions that ctags sees. The files are chunked again, so that the first run keeps nothing and is timed fairly."""
    for path, functions in functions_by_ctags(paths, language).items():
        seen = searchable(path.read_bytes())
        assert seen is not None
        result = chunk_file(os.fsencode(path), seen.data, language, settings)
        for name, line in functions:
            row.expected += 1
            if has_function(result, name, line):
                row.found += 1
            else:
                row.missing.append(f"{path}:{line + 1} {name}")


def print_table(rows: dict[str, Row], figures: list[FileFigures], losing: list[str]) -> None:
    """One line a language, then the whole."""
    supported = {*known_languages(), "markdown", "rst", "json", "yaml", "toml", "ini", "sql", "dockerfile", "notebook"}
    print("| language | files | MB | chunks a file | by grammar | MB/s | parse alone MB/s | functions found |")
    print("|---|---|---|---|---|---|---|---|")
    for language, row in sorted(rows.items()):
        size = row.size_bytes / 1e6
        found = f"{row.found / row.expected:.2%} of {row.expected:,}" if row.expected else ""
        parse = f"{size / row.parse_s:.1f}" if row.parse_s > 0.01 else ""
        print(
            f"| {language or 'unknown'} | {row.files:,} | {size:.2f} | {row.chunks / row.files:.1f} | {row.parsed / row.files:.1%} "
            f"| {size / max(row.cpu_s, 1e-9):.1f} | {parse} | {found} |"
        )
    mine = [row for language, row in rows.items() if language in supported]
    size = sum(row.size_bytes for row in mine) / 1e6
    print(
        f"\nsupported languages: {sum(row.parsed for row in mine) / max(1, sum(row.files for row in mine)):.2%} of files by grammar"
    )
    print(f"throughput: {size / max(1e-9, sum(row.cpu_s for row in mine)):.2f} MB/s over {size:.1f} MB")
    print(f"slowest file: {max((row.slowest_s for row in rows.values()), default=0):.2f} s")
    print(f"files that lose a line: {len(losing)} {' '.join(losing[:5])}")
    for label, value in aggregate(figures).rows():
        print(f"{label}: {value}")
    reasons = Counter((item.language, item.fallback) for item in figures if item.fallback)
    for (language, reason), count in reasons.most_common(20):
        print(f"  {language}: {reason} × {count}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="+", type=Path)
    options.add_argument("--missing", type=int, default=0)
    options.add_argument("--sample", type=int, default=0)
    options.add_argument("--json", type=Path)
    arguments = options.parse_args()
    files = source_files(arguments.folders)
    if arguments.sample:
        files = files[:: max(1, len(files) // arguments.sample)]
    rows, figures, losing = measure(files)
    print_table(rows, figures, losing)
    if arguments.json:
        table = {language: asdict(row) for language, row in sorted(rows.items())}
        arguments.json.write_text(json.dumps({"languages": table, "losing": losing, **dict(aggregate(figures).rows())}))
    if arguments.missing:
        for language, row in sorted(rows.items()):
            for miss in row.missing[: arguments.missing]:
                print(f"missing {language}: {miss}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
