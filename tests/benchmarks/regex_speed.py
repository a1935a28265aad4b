"""How quick regex mode is, beside `rg`, `csearch` and `rgx` where they are installed, in one run on one tree.

    python tests/benchmarks/regex_speed.py TREE [--index FOLDER] [--json FILE] [--rounds N] [--rgx]

Builds the n-gram index of TREE in FOLDER (kept there for the next run; built by a child process, whose time and memory are told), and
csearch's index beside it. Each pattern is run `--rounds` times by each program, all programs taking turns, and the best time counts, as all
of them read from memory. Ours is a warm process, as the screen is; the others are processes of their own, since that is what they are.

A hit is made when it is looked at, so ours looks at the first page of them, as the screen does.
"first" is the time to the first result, "1,000" to the thousandth line or the end, "all" to the end; all in ms. Where the screen
stops at its cap, "all" is the time of the exhaustive answer as for a pipe.
`rgx` (PyPI: ripgrepx) is measured last, with `--rgx`.
Lines are compared with those of `rg`; `csearch` leaves out files that it takes for no text, and is not compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from mgrep_tui.commands.screen import GARBAGE_THRESHOLD
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Hit, Mode, Progress
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import Snapshot, make_snapshot
from mgrep_tui.search.query import parse
from mgrep_tui.search.regex import RegexEngine
from mgrep_tui.settings.config import Settings

PATTERNS = (
    # names, rare and common
    "kmalloc_array",
    "sched_setaffinity",
    "i2c_smbus_read_byte_data",
    "kvm_vcpu_ioctl",
    "bpf_prog_run",
    "page_cache_get_page",
    "ext4_map_blocks",
    "tcp_retransmit_skb",
    "usb_hcd_giveback_urb",
    "nvme_submit_cmd",
    "xfs_bmap_add_extent",
    "list_for_each_entry_safe",
    "EXPORT_SYMBOL_GPL",
    "dma_alloc_coherent",
    # messages
    "could not allocate",
    "failed to allocate memory",
    "out of range",
    "Raspberry Pi",
    'pr_err\\("[^"]*failed',
    # shapes
    r"def \w+_handler\(",
    r"\w+_handler\(",
    r"tcp_v[46]_rcv",
    r"ext4_[a-z]+_inode",
    r"nvme_.*_queue",
    r"unregister_\w+_driver",
    r"container_of\(.*struct page",
    r"module_param\(\w+, (int|bool), 0644\)",
    r"struct file_operations \w+ = \{",
    r"#define \w+_MAX_SIZE\s+\d+",
    r"static int __init \w+_probe",
    "foo.*bar",
    r"mutex_(un)?lock\(&\w+->lock\)",
    # alternatives, classes, anchors, words
    "ENOTSUPP|EOPNOTSUPP",
    "raw_spin_lock_irq|raw_spin_unlock_irq",
    "(ipv4|ipv6)_dst_check",
    r"\bBUG_ON\b",
    r"netif_rx\b",
    r"^#include <linux/kvm",
    r"rcu_read_lock\(\);$",
    "0xdead[0-9a-f]{4}",
    "[Tt]imed? ?out waiting",
    # any case
    "(?i)kelvin",
    "(?i)fixme.*later",
    "(?i)copyright.*red hat.*2019",
    # nothing
    "zzyzx_nothing",
    # dense
    "kfree|vfree",
    "TODO|FIXME",
    "return -ENOMEM",
    "the",
)
FEW_CANDIDATES = 8000
PAGE_LINES = 50
RGX_START_S = 900.0


@dataclass
class Timed:
    """The times of one program for one pattern, in ms, best of the rounds."""

    first: float = math.inf
    thousand: float = math.inf
    all: float = math.inf
    lines: int = 0

    def better(self, other: Timed) -> Timed:
        return Timed(
            min(self.first, other.first), min(self.thousand, other.thousand), min(self.all, other.all), other.lines
        )


@dataclass
class Row:
    pattern: str
    candidates: int = 0
    programs: dict[str, Timed] = field(default_factory=dict)


class Clock:
    """A sink that keeps times. It does with hits what the screen does: keeps them all, and looks at a page of them, from the top."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.batches: list[Sequence[Hit]] = []
        self.page: list[Hit] = []
        self.first = self.thousand = math.inf

    def _note(self) -> None:
        for hits in self.batches:
            if len(self.page) < PAGE_LINES:
                self.page += hits[: PAGE_LINES - len(self.page)]
        now = (time.perf_counter() - self.began) * 1000
        self.first = min(self.first, now)
        if sum(map(len, self.batches)) >= 1000:
            self.thousand = min(self.thousand, now)

    def batch(self, hits: Sequence[Hit]) -> None:
        self.batches.append(hits)
        self._note()

    def replace(self, hits: Sequence[Hit]) -> None:
        self.batches[:] = [hits]
        self.page = []
        self._note()

    def progress(self, progress: Progress) -> None:
        return None


class Pipe(Clock):
    """A sink for printed lines."""

    prefix = b""

    def lines(self, text: bytes, count: int) -> None:
        return None


def ours(engine: RegexEngine, snapshot: Snapshot, pattern: str) -> tuple[Timed, int]:
    query = parse(pattern, Mode.REGEX, case="yes")
    clock = Clock()
    outcome = engine.search(query, snapshot, None, clock, CancelToken())
    total = (time.perf_counter() - clock.began) * 1000
    timed = Timed(min(clock.first, total), min(clock.thousand, total), total, outcome.hits)
    if outcome.is_capped:
        pipe = Pipe()
        timed.lines = engine.search(query, snapshot, None, pipe, CancelToken(), is_exhaustive=True).hits
        timed.all = (time.perf_counter() - pipe.began) * 1000
    return timed, outcome.candidate_files


def process(argv: Sequence[str], cwd: Path, environ: dict[str, str]) -> Timed:
    """Run a program and read its lines as they come."""
    began = time.perf_counter()
    timed = Timed()
    with subprocess.Popen(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ) as running:
        assert running.stdout is not None
        while block := running.stdout.read1(1 << 16):
            now = (time.perf_counter() - began) * 1000
            timed.first = min(timed.first, now)
            timed.lines += block.count(b"\n")
            if timed.lines >= 1000:
                timed.thousand = min(timed.thousand, now)
    timed.all = (time.perf_counter() - began) * 1000
    timed.first, timed.thousand = min(timed.first, timed.all), min(timed.thousand, timed.all)
    return timed


def rivals(tree: Path, index: Path) -> dict[str, Callable[[str], Timed]]:
    """The programs that are installed here."""
    found: dict[str, Callable[[str], Timed]] = {}
    environ = dict(os.environ)
    scripts = sysconfig.get_path("scripts")
    if rg := shutil.which("rg", path=scripts) or shutil.which("rg"):
        found["rg"] = lambda pattern: process(
            [rg, "--no-config", "--no-heading", "-n", "-e", pattern, "."], tree, environ
        )
    if (csearch := shutil.which("csearch")) and (cindex := shutil.which("cindex")):
        theirs = environ | {"CSEARCHINDEX": str(index / "csearch.index")}
        if not (index / "csearch.index").exists():
            began = time.perf_counter()
            subprocess.run([cindex, str(tree)], env=theirs, check=True, stderr=subprocess.DEVNULL)
            print(f"cindex: {time.perf_counter() - began:.1f} s")
        found["csearch"] = lambda pattern: process([csearch, "-n", pattern], tree, theirs)
    return found


def measure_rgx(tree: Path, index: Path, rows: Sequence[Row], rounds: int) -> None:
    """Add the times of `rgx` to the rows, where it is installed. It comes last and alone: its server takes the better part of a core, also
    when it is idle. The server is ended in any case."""
    rgx = shutil.which("rgx", path=sysconfig.get_path("scripts")) or shutil.which("rgx")
    if rgx is None:
        return
    environ = dict(os.environ) | {"RGX_CACHE_DIR": str(index / "rgx")}

    def server(command: str) -> str:
        done = subprocess.run(
            [rgx, "--server", command], cwd=tree, env=environ, capture_output=True, text=True, check=False, timeout=60
        )
        return done.stdout + done.stderr

    began = time.perf_counter()
    try:
        print(server("start").strip())
        while "ready" not in (said := server("status").lower()) and time.perf_counter() - began < RGX_START_S:
            time.sleep(1.0)
        print(
            f"rgx: {time.perf_counter() - began:.1f} s until its server says: {said.strip().splitlines()[:1]}",
            flush=True,
        )
        for row in rows:
            for _ in range(rounds):
                timed = process([rgx, "-n", row.pattern], tree, environ)
                row.programs["rgx"] = row.programs.get("rgx", Timed()).better(timed)
            print(_line(row), flush=True)
    finally:
        server("stop")


def open_index(root: Root, folder: Path) -> Segment:
    """The segment in `folder`, built there when it is missing."""
    name = folder / "segment"
    if not name.with_suffix(".lookup").exists():
        folder.mkdir(parents=True, exist_ok=True)
        began = time.perf_counter()
        subprocess.run([sys.executable, __file__, str(root.path), "--build", str(name)], check=True)
        peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
        print(f"index: {time.perf_counter() - began:.1f} s, {peak_mb:.0f} MB at its peak")
    began = time.perf_counter()
    segment = Segment.open(name)
    opened_ms = (time.perf_counter() - began) * 1000
    size = sum(path.stat().st_size for path in folder.glob("segment.*"))
    print(f"index: {size / 1e6:.0f} MB, {segment.file_count:,} files, opened in {opened_ms:.2f} ms")
    return segment


def build(root: Root, name: Path) -> None:
    from mgrep_tui.ngram.build import build_segment

    entries = list_files(root, Settings().corpus, CancelToken()).entries
    summary = build_segment(root, entries, name, kernel_cache=name.parent / "kernels")
    print(f"index: {100 * summary.size_bytes / summary.text_bytes:.1f} % of {summary.text_bytes / 1e6:,.0f} MB of text")


def measure(tree: Path, index: Path, rounds: int, *, with_rgx: bool) -> list[Row]:
    root = open_root(tree)
    snapshot = make_snapshot([open_index(root, index)], covers=True)
    settings = Settings()
    engine = RegexEngine(root, replace(settings, regex=replace(settings.regex, time_limit_s=600.0)))
    engine.warm()  # as the screen does, and
    gc.set_threshold(GARBAGE_THRESHOLD)
    others = rivals(tree, index)
    rows = []
    for pattern in PATTERNS:
        row = Row(pattern)
        for _ in range(rounds):
            timed, row.candidates = ours(engine, snapshot, pattern)
            row.programs["ours"] = row.programs.get("ours", Timed()).better(timed)
            for name, run in others.items():
                row.programs[name] = row.programs.get(name, Timed()).better(run(pattern))
        rows.append(row)
        print(_line(row), flush=True)
    engine.close()
    if with_rgx:
        measure_rgx(tree, index, rows, rounds)
    return rows


def _line(row: Row) -> str:
    mine = row.programs["ours"]
    cells = [
        f"{row.pattern[:38]:38} {row.candidates:6} {mine.lines:8} {mine.first:7.1f} {mine.thousand:8.1f} {mine.all:9.1f}"
    ]
    cells += [f"{name} {timed.first:7.1f} {timed.all:8.1f}" for name, timed in row.programs.items() if name != "ours"]
    rg = row.programs.get("rg")
    if rg is not None:
        cells.append(f"{rg.all / mine.all:7.1f}x")
        cells.append("" if rg.lines == mine.lines else f"rg has {rg.lines} lines")
    return "  ".join(cells)


def summarise(rows: Sequence[Row]) -> dict[str, float]:
    def middle(values: Sequence[float], share: float = 0.5) -> float:
        return sorted(values)[min(len(values) - 1, int(len(values) * share))]

    few = [row for row in rows if row.candidates <= FEW_CANDIDATES]
    mine = [row.programs["ours"] for row in rows]
    summary = {
        "patterns": len(rows),
        "first_p50_ms": middle([timed.first for timed in mine]),
        "first_p90_ms": middle([timed.first for timed in mine], 0.9),
        "thousand_p50_ms": middle([timed.thousand for timed in mine]),
        "thousand_p90_ms": middle([timed.thousand for timed in mine], 0.9),
        "all_few_candidates_p50_ms": statistics.median([row.programs["ours"].all for row in few]),
    }
    for name in rows[0].programs:
        if name != "ours":
            ratios = [row.programs[name].all / row.programs["ours"].all for row in rows]
            summary[f"times_faster_than_{name}"] = math.exp(statistics.fmean(map(math.log, ratios)))
            summary[f"{name}_all_p50_ms"] = statistics.median([row.programs[name].all for row in rows])
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--index", type=Path, default=Path(".regex-speed"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--rgx", action="store_true", help="measure rgx too: its server is started, and ended at the end"
    )
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    tree = arguments.tree.resolve()
    if arguments.build:
        build(open_root(tree), arguments.build)
        return
    rows = measure(tree, arguments.index.resolve(), arguments.rounds, with_rgx=arguments.rgx)
    summary = summarise(rows)
    for name, value in summary.items():
        print(f"{name:28} {value:10.2f}")
    if arguments.json:
        body = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "summary": summary,
            "rows": [asdict(row) for row in rows],
        }
        arguments.json.write_text(json.dumps(body, indent=1))


if __name__ == "__main__":
    main()
