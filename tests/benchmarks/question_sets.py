#!/usr/bin/env python3
"""MRR@10 of the whole program on questions about single functions: documentation as questions, and what people typed into a web search.

    question_sets.py docstrings --trees DIR --work DIR [--each 80] [--command 'mgrep-tui search'] [--json FILE]
    question_sets.py cosqa --set DIR --work DIR [--split test] [--command …] [--json FILE]

`docstrings`: every folder in DIR is a Python tree. It is copied without its docstrings; the first sentence of a function's docstring is a
question, and the function is what must be found among all of its tree. Take trees that the static model did not learn from
(`MODEL_CARD.md` lists those).

`cosqa`: the questions and functions of CoSQA (https://github.com/Jun-jie-Huang/CoCLR, `data/search`; its data are under the Computational
Use of Data Agreement and are not part of this project). 500 web queries of people, 6,267 functions, each in a file of its own with a
number for a name.

The command is run once a tree as `COMMAND --mode semantic --limit 10 --json --queries FILE TREE`. A hit counts when it is in the function's
file and holds the line of its `def`.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

DEPTH = 10
LEAST_WORDS = 4
LEAST_LINES = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_SKIPPED = {"test", "tests", "testing", "docs", "docs_src", "examples", "vendor", "_vendor", "node_modules"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and where its answer is: a path relative to the tree and the 1-based line of the `def`."""

    text: str
    path: str
    line: int


def without_docstrings(source: str) -> tuple[str, list[tuple[str, int]]]:
    """The source without its docstrings, and (first sentence, line of the definition in the new text) of each documented function."""
    tree = ast.parse(source)
    lines = source.split("\n")
    dropped: set[int] = set()
    documented = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
            continue
        first = node.body[0]
        if not (
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        ):
            continue
        assert first.end_lineno is not None
        if (
            lines[first.lineno - 1][: first.col_offset].strip()
            or lines[first.end_lineno - 1].encode()[first.end_col_offset or 0 :].strip()
        ):
            continue  # shares its line with code
        if len(node.body) == 1 and not isinstance(node, ast.Module):
            lines[first.lineno - 1] = " " * first.col_offset + "pass"
            dropped.update(range(first.lineno, first.end_lineno))
        else:
            dropped.update(range(first.lineno - 1, first.end_lineno))
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (
            is_function
            and (node.end_lineno or 0) - first.end_lineno >= LEAST_LINES - 1
            and not node.name.startswith("__")
        ):
            documented.append((first.value.value, node.lineno))
    kept = [number for number in range(len(lines)) if number not in dropped]
    new_line = {old + 1: new + 1 for new, old in enumerate(kept)}
    questions = []
    for text, line in documented:
        sentence = " ".join(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].split()).rstrip(".")
        if len(sentence.split()) >= LEAST_WORDS and line in new_line:
            questions.append((sentence, new_line[line]))
    return "\n".join(lines[number] for number in kept), questions


def strip_tree(tree: Path, into: Path) -> list[Asked]:
    """Copy the Python files of a tree without docstrings; what its functions' documentation asks."""
    asked: dict[str, Asked | None] = {}
    for path in sorted(tree.rglob("*.py")):
        name = path.relative_to(tree)
        if _SKIPPED.intersection(part.lower() for part in name.parts[:-1]) or path.name.startswith("test_"):
            continue
        try:
            text, questions = without_docstrings(path.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        for sentence, line in questions:
            asked[sentence] = None if sentence in asked else Asked(sentence, str(name), line)
    return [one for one in asked.values() if one is not None]  # a sentence that stands twice has no one answer


def docstring_sets(trees: Path, work: Path, each: int) -> Iterator[tuple[Path, list[Asked]]]:
    chance = random.Random(20)
    for tree in sorted(path for path in trees.iterdir() if path.is_dir()):
        into = work / "docstrings" / tree.name
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        asked = strip_tree(tree.resolve(), into)
        if len(asked) >= each // 4:
            yield into, chance.sample(asked, min(each, len(asked)))


def cosqa_set(folder: Path, work: Path, split: str) -> tuple[Path, list[Asked]]:
    into = work / "cosqa"
    codes = json.loads((folder / "code_idx_map.txt").read_text("utf-8"))
    if not into.is_dir():
        into.mkdir(parents=True)
        for code, number in codes.items():
            place = into / f"{number // 100:02}"
            place.mkdir(exist_ok=True)
            (place / f"{number:04}.py").write_text(code + "\n", "utf-8")
    asked = []
    for row in json.loads((folder / f"cosqa-retrieval-{split}-500.json").read_text("utf-8")):
        number = int(row["retrieval_idx"])
        code = next(line for line, text in enumerate(row["code"].split("\n"), 1) if "def " in text)
        asked.append(Asked(" ".join(row["doc"].split()), f"{number // 100:02}/{number:04}.py", code))
    return into, asked


def ranks(command: str, tree: Path, asked: Sequence[Asked]) -> list[int]:
    """The rank of each answer, 0 when it is not among the first ten."""
    questions = tree.parent / f"{tree.name}.questions"
    questions.write_text("".join(f"{one.text}\n" for one in asked), "utf-8")
    run = subprocess.run(
        [
            *shlex.split(command),
            "--mode",
            "semantic",
            "--limit",
            str(DEPTH),
            "--json",
            "--queries",
            str(questions),
            str(tree),
        ],
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines() if line.strip()]
    if run.returncode not in (0, 1) or len(answers) != len(asked):
        raise SystemExit(
            f"{tree}: exit {run.returncode}, {len(answers)} answers to {len(asked)} questions\n{run.stderr[-2000:]}"
        )
    return [
        next(
            (
                rank
                for rank, hit in enumerate(answer["hits"], 1)
                if hit["path"] == one.path and hit["start_line"] <= one.line <= hit["end_line"]
            ),
            0,
        )
        for one, answer in zip(asked, answers, strict=True)
    ]


def figures(found: Sequence[int]) -> tuple[float, float, float]:
    """MRR@10, recall at 1, recall at 10."""
    count = max(1, len(found))
    return (
        sum(1 / rank for rank in found if rank) / count,
        sum(rank == 1 for rank in found) / count,
        sum(rank > 0 for rank in found) / count,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("docstrings", "cosqa"))
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--set", type=Path)
    parser.add_argument("--split", default="test", choices=("test", "dev"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--each", type=int, default=80)
    parser.add_argument("--command", default="mgrep-tui search")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    sets = (
        docstring_sets(given.trees, given.work, given.each)
        if given.what == "docstrings"
        else [cosqa_set(given.set, given.work, given.split)]
    )
    every: list[int] = []
    rows = {}
    for tree, asked in sets:
        found = ranks(given.command, tree, asked)
        every += found
        rows[tree.name] = [*figures(found), len(found)]
        print(
            f"{tree.name:24}" + " ".join(f"{value:.3f}" for value in figures(found)) + f"  {len(found)} questions",
            flush=True,
        )
    print(
        f"{'all, MRR@10 R@1 R@10':24}"
        + " ".join(f"{value:.3f}" for value in figures(every))
        + f"  {len(every)} questions"
    )
    if given.json:
        given.json.write_text(json.dumps({"all": [*figures(every), len(every)], "sets": rows}, indent=1))


if __name__ == "__main__":
    main()
