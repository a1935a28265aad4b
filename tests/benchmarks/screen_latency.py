"""How quick the screen is, through a real pseudo-terminal: `python -m tests.benchmarks.screen_latency [TREE] [--json FILE]`.

Prints a table and writes JSON. Each part can be run alone (`--part typing-indexing`):

- `typing-idle`: the screen over hits in memory: the floor that Textual sets.
- `typing-indexing`: the real program on TREE with no index yet, so that it is being indexed while one types. TREE should be large.
- `typing-at-once`: the same, but one types as soon as there is a screen, while the index is still being opened and the tree listed.
- `preview`: a file of 20 MB with 400,000 lines, and one of 20 MB in one line: until the code is seen, and jumps from hit to hit in it.
- `scrolling`: pages through 100 hits and through 100,000, and a cursor that is held down.
- `start`: the first paint, the end, and `--help`; processor time as well, which counts on a busy machine.

`echo` is from a key to its letter on the screen, `list` from the last key to the hits of the word (with the pause in typing of 0.1 s).
`cpu` is the processor time of the interface process for each key, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.display import Display
from tests.support.terminal import ROOT, Terminal, terminal

WORDS = ("retry", "return", "import", "class", "value", "error", "buffer", "token", "index", "state", "write", "count")
KEY_S = 0.08  # between two letters, as a quick typist
DOWN, PAGE_DOWN, PAGE_UP, END, HOME = "\x1b[B", "\x1b[6~", "\x1b[5~", "\x1b[1;5F", "\x1b[1;5H"
CTRL_C, CTRL_U = "\x03", "\x15"
BIG_BYTES = 20_000_000
TICK_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Figure:
    """Times of one thing in milliseconds, and what the issue asks of it (0: nothing)."""

    part: str
    name: str
    median_ms: float
    p95_ms: float
    worst_ms: float
    count: int
    wanted_p95_ms: float

    @property
    def line(self) -> str:
        wanted = f"≤ {self.wanted_p95_ms:,.0f}" if self.wanted_p95_ms else ""
        mark = "" if not wanted else "yes" if self.p95_ms <= self.wanted_p95_ms else "NO"
        return (
            f"{self.part:<16} {self.name:<34} {self.median_ms:>9,.1f} {self.p95_ms:>9,.1f} {self.worst_ms:>9,.1f} {self.count:>6,}"
            f"  {wanted:<8} {mark}"
        )


def figure(part: str, name: str, seconds: list[float], wanted_ms: float = 0) -> Figure:
    ordered = sorted(1000 * each for each in seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return Figure(part, name, statistics.median(ordered), p95, ordered[-1], len(ordered), wanted_ms)


class Person:
    """Presses keys and looks at the screen."""

    def __init__(self, source: Terminal) -> None:
        self.source = source
        self.display = Display(source)

    def until(self, condition: Callable[[str], bool], what: str, patience_s: float = 60) -> float:
        """Seconds until the screen is as wanted."""
        begun = time.perf_counter()
        while not condition(text := self.display.text()):
            assert time.perf_counter() - begun < patience_s, f"{what} did not come:\n{text}"
            self.source.read(0.002)
        return time.perf_counter() - begun

    def rest(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.source.read(left)
            self.display.follow()  # or a second's frames would have to be taken in by who measures next

    def echo(self, letter: str, typed: str) -> float:
        """From the key to the moment when the box, the second line, shows what was typed."""
        begun = time.perf_counter()
        self.source.send(letter)
        self.until(lambda text: query_of(text).startswith(typed), f"the echo of {typed!r}")
        return time.perf_counter() - begun

    def cpu_s(self) -> float:
        """Processor time that the program has used so far, its children apart."""
        fields = Path(f"/proc/{self.source.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK_S


def query_of(text: str) -> str:
    lines = text.split("\n")
    return lines[1][3:] if len(lines) > 1 else ""


def summary_of(text: str) -> str:
    lines = text.split("\n")
    return lines[2] if len(lines) > 2 else ""


def lists(word: str) -> Callable[[str], bool]:
    """Whether the list's first lines show hits of the word: a line's number and the word in it."""
    hit = re.compile(rf"[▌ ][✓ ] *\d+ .*{word}", re.IGNORECASE)
    return lambda text: any(hit.match(line[:54]) for line in text.split("\n")[4:12])


def type_words(person: Person, part: str, words: tuple[str, ...], wanted: bool) -> list[Figure]:
    echoes: list[float] = []
    answers: list[float] = []
    keys = 0
    before = person.cpu_s()
    for word in words:
        for size in range(1, len(word) + 1):
            last = time.perf_counter()
            echoes.append(person.echo(word[size - 1], word[:size]))
            keys += 1
            if size < len(word):
                person.rest(max(0.0, KEY_S - echoes[-1]))
        person.until(lists(word), f"hits of {word!r}")
        answers.append(time.perf_counter() - last)
        person.rest(0.3)
        person.source.send(CTRL_U)
        person.until(lambda text: "what are you looking for" in text, "an empty query")
        person.rest(0.2)
    cpu = (person.cpu_s() - before) / keys
    return [
        figure(part, "echo", echoes, 50 if wanted else 0),
        figure(part, "list", answers, 150 if wanted else 0),
        figure(part, "cpu for each key", [cpu]),
    ]


def typing_idle(_tree: Path, _folder: Path) -> list[Figure]:
    with terminal(["-m", "tests.support.fake_program"], size=(120, 36)) as source:
        person = Person(source)
        person.until(lambda text: "F1" in text, "the first paint")
        person.rest(1)
        found = type_words(person, "typing-idle", ("retry", "return", "class", "error", "delay", "clock") * 2, True)
        source.send(CTRL_C)
        source.end()
        return found


def status_of(text: str) -> str:
    lines = text.split("\n")
    return lines[-2] if len(lines) > 2 else ""


def typing_indexing(tree: Path, folder: Path) -> list[Figure]:
    words = ["-m", "mgrep_tui", "--mode", "regex", "--no-restore", str(tree)]
    with terminal(words, size=(120, 36), environ={"MGREP_TUI_HOME": str(folder / "home")}) as source:
        person = Person(source)
        person.until(lambda text: "F1" in text, "the first paint")
        person.until(lambda text: "building" in status_of(text), "the index at work", 120)
        found = type_words(person, "typing-indexing", WORDS, True)
        if "ready" in status_of(person.display.text()):
            print("(the index was ready before the typing was over: take a larger tree)", file=sys.stderr)
        source.send(CTRL_C)
        source.end()
        return found


def typing_at_once(tree: Path, folder: Path) -> list[Figure]:
    words = ["-m", "mgrep_tui", "--mode", "regex", "--no-restore", str(tree)]
    echoes: list[float] = []
    answers: list[float] = []
    for number, word in enumerate(WORDS[:5]):
        with terminal(words, size=(120, 36), environ={"MGREP_TUI_HOME": str(folder / f"home-{number}")}) as source:
            person = Person(source)
            person.until(lambda text: "F1" in text, "the first paint")
            for size in range(1, len(word) + 1):
                last = time.perf_counter()
                echoes.append(person.echo(word[size - 1], word[:size]))
                if size < len(word):
                    person.rest(max(0.0, KEY_S - echoes[-1]))
            person.until(lists(word), f"hits of {word!r}")
            answers.append(time.perf_counter() - last)
            source.send(CTRL_C)
            source.end()
    return [figure("typing-at-once", "echo", echoes), figure("typing-at-once", "list", answers)]


def preview(_tree: Path, folder: Path) -> list[Figure]:
    tree = folder / "big"
    tree.mkdir()
    step, lines = 20_000, 400_000
    row = "entry %07d is of no interest to anyone at all\n"
    with (tree / "log.txt").open("w") as file:
        for number in range(lines):
            file.write(row % number if number % step else f"needle at {number}\n")
    with (tree / "one.js").open("w") as file:
        for number in range(BIG_BYTES // 1_000_000):
            file.write("x" * 500_000 + f" needle_{number:02d} " + "y" * 499_000)
    (tree / "small.py").write_text("needle = 1\n")
    environ = {"MGREP_TUI_HOME": str(folder / "home-big")}
    found: list[Figure] = []
    for name, query, shown in (
        ("20 MB in 400,000 lines", "needle path:log.txt or needle path:small.py", "log.txt"),
        ("20 MB in one line", "needle path:one.js or needle path:small.py", "one.js"),
    ):
        words = ["-m", "mgrep_tui", "--mode", "regex", "--no-restore", "--query", query.partition(" or ")[0], str(tree)]
        opened: list[float] = []
        jumps: list[float] = []
        for _ in range(5):
            with terminal(words, size=(120, 36), environ=environ) as source:
                person = Person(source)
                # From the list's first lines to the code beside them.
                person.until(
                    lambda text: "needle" in text[text.find("─") :] and " hit" in summary_of(text), "hits", 120
                )
                opened.append(person.until(lambda text: right_of(text).count("needle") >= 1, "the preview"))
                person.rest(0.5)
                for jump in range(1, 6):
                    wanted = f"needle at {jump * step}" if shown == "log.txt" else f"needle_{jump:02d}"
                    begun = time.perf_counter()
                    source.send(DOWN)
                    if shown == "one.js":
                        break  # all its needles are one hit, the line
                    person.until(lambda text, wanted=wanted: wanted in right_of(text), wanted)
                    jumps.append(time.perf_counter() - begun)
                    person.rest(0.2)
                source.send(CTRL_C)
                source.end()
        found.append(figure("preview", f"{name}: there", opened, 300))
        if jumps:
            found.append(figure("preview", f"{name}: jump", jumps, 100))
    return found


def right_of(text: str) -> str:
    return "\n".join(line[55:] for line in text.split("\n")[4:])


def scrolling(_tree: Path, folder: Path) -> list[Figure]:
    tree = folder / "many"
    tree.mkdir()
    for number in range(1_000):
        (tree / f"module_{number:04d}.py").write_text("".join(f"entry_{line} = {number}\n" for line in range(100)))
    config = folder / "many.toml"
    config.write_text("[regex]\nmax_hits = 200000\n")
    environ = {"MGREP_TUI_HOME": str(folder / "home-many")}
    found: list[Figure] = []
    for query, hits in (("entry_1?\\d = 77$", 20), ("entry", 100_000)):
        total = f"/{hits:,}"
        words = [
            "-m",
            "mgrep_tui",
            "--mode",
            "regex",
            "--no-restore",
            "--config",
            str(config),
            "--query",
            query,
            str(tree),
        ]
        with terminal(words, size=(120, 36), environ=environ) as source:
            person = Person(source)
            person.until(lambda text, total=total: total in text, f"{hits} hits", 120)
            person.rest(2)
            pages: list[float] = []
            before = person.cpu_s()
            for key in [END, HOME] + [PAGE_DOWN, PAGE_UP] * 10:
                place = place_of(person.display.text())
                begun = time.perf_counter()
                source.send(key)
                person.until(lambda text, place=place: place_of(text) != place, "another place")
                pages.append(time.perf_counter() - begun)
                person.rest(0.05)
            found.append(figure("scrolling", f"a page or an end of {hits:,} hits", pages, 200))
            found.append(
                figure("scrolling", f"cpu for a page of {hits:,} hits", [(person.cpu_s() - before) / len(pages)])
            )
            if hits > 1_000:
                found += hold_down(person)
            source.send(CTRL_C)
            source.end()
    return found


def hold_down(person: Person, times: int = 90) -> list[Figure]:
    """A key that repeats thirty times a second: how far the cursor is behind when it is let go."""
    person.source.send(HOME)
    person.until(lambda text: place_of(text).startswith("1/"), "the first hit")
    before = person.cpu_s()
    for _ in range(times):
        person.source.send(DOWN)
        person.rest(1 / 30)
    behind = person.until(lambda text: place_of(text).startswith(f"{times + 1}/"), "the last step")
    return [
        figure("scrolling", "the cursor held down: behind by", [behind], 100),
        figure("scrolling", "cpu for each step", [(person.cpu_s() - before) / times]),
    ]


def place_of(text: str) -> str:
    """`3/1,234`, at the end of the line above the last."""
    lines = text.split("\n")
    return lines[-2].rsplit(maxsplit=1)[-1] if len(lines) > 2 and lines[-2].strip() else ""


def start(tree: Path, folder: Path) -> list[Figure]:
    painted: list[float] = []
    ended: list[float] = []
    used: list[float] = []
    environ = {"MGREP_TUI_HOME": str(folder / "home-start")}
    for _ in range(7):
        begun = time.perf_counter()
        with terminal(["-m", "mgrep_tui", str(ROOT / "assets")], size=(120, 36), environ=environ) as source:
            person = Person(source)
            person.until(lambda text: "F1" in text, "the first paint")
            painted.append(time.perf_counter() - begun)
            used.append(person.cpu_s())
            person.rest(1.5)
            begun = time.perf_counter()
            source.send(CTRL_C)
            while source.process.poll() is None:
                source.read(0.002)
            ended.append(time.perf_counter() - begun)
    helped = [children_cpu_s([sys.executable, "-m", "mgrep_tui", "--help"]) for _ in range(7)]
    return [
        figure("start", "first paint", painted, 700),
        figure("start", "cpu until the first paint", used, 700),
        figure("start", "end", ended, 300),
        figure("start", "--help (cpu)", helped, 150),
    ]


def children_cpu_s(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PARTS: dict[str, Callable[[Path, Path], list[Figure]]] = {
    "start": start,
    "typing-idle": typing_idle,
    "typing-indexing": typing_indexing,
    "typing-at-once": typing_at_once,
    "preview": preview,
    "scrolling": scrolling,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT, help="a large tree, to be indexed while one types")
    parser.add_argument("--part", action="append", choices=sorted(PARTS), help="only this part; can be given again")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    print(f"{'part':<16} {'':<34} {'median':>9} {'p95':>9} {'worst':>9} {'n':>6}  wanted   met   (milliseconds)")
    found: list[Figure] = []
    for name in arguments.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            for each in PARTS[name](arguments.tree, Path(folder)):
                print(each.line, flush=True)
                found.append(each)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
