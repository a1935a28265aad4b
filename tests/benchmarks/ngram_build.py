"""Build the n-gram index of a tree and measure it: time, memory, size, opening, lookups, and how many candidates are for nothing.

    python -m tests.benchmarks.ngram_build TREE [--json FILE] [--rounds 2] [--no-rg]

The build runs in a fresh process each time (its peak memory holds the interpreter, numba, the list of files and the walk). Precision is
asked of `rg -l` with the same ignore rules; files that ripgrep leaves out as binary do not count.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PATTERNS = [
    "kmalloc_array", "EXPORT_SYMBOL_GPL", "spin_lock_irqsave", "foo.*bar", r"def \w+_handler\(", r"\w+_handler\(",
    r"struct file_operations \w+ = \{", "return -ENOMEM;", r"\bBUG_ON\b", "(?i)kelvin", r"static int __init \w+_init\(void\)",
    "kfree|vfree", r"printk\(KERN_(ERR|WARNING|INFO)", "TODO|FIXME", "ext4_[a-z]+_inode", "tcp_v[46]_rcv",
    r"container_of\(.*struct page", "0x[0-9a-f]{8}", r'pr_err\("[^"]*failed', r"module_param\(\w+, (int|bool), 0644\)", "copyright.*2019",
    r"list_for_each_entry_safe\(", r"#define \w+_MAX\s+\d+", "sched_setaffinity", r"unlikely\(!\w+\)", "goto (out|err|fail);",
    "nvme_.*_queue", r"mutex_(un)?lock\(&\w+->lock\)", '"could not allocate"', r"__attribute__\(\(packed\)\)", r"if \(ret < 0\)",
    "i2c_smbus_read_byte_data", "dma_alloc_coherent", "(?i)raspberry pi", r'MODULE_LICENSE\("GPL v2"\)', "bpf_prog_run", "ENOTSUPP",
    r"netif_rx\b", "page_cache_get_page", "zzyzx_nothing", "kvm_vcpu_ioctl", "atomic_dec_and_test", r"rcu_read_lock\(\);$",
    r"^\s*case [A-Z_]+:$", r"unregister_\w+_driver", "the", "return",
]  # fmt: skip


def build(tree: str, out: str, kernels: str) -> dict[str, Any]:
    """One build, in this process."""
    from mgrep_tui.corpus.root import open_root
    from mgrep_tui.corpus.walk import list_files
    from mgrep_tui.jobs.cancel import CancelToken
    from mgrep_tui.ngram.build import build_segment
    from mgrep_tui.settings.config import Settings

    root = open_root(tree)
    started = time.perf_counter()
    entries = list(list_files(root, Settings().corpus, CancelToken()).entries)
    walked = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF)
    summary = build_segment(root, entries, Path(out), kernel_cache=Path(kernels))
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "files": summary.files,
        "blocks": summary.blocks,
        "keys": summary.keys,
        "text_mb": summary.text_bytes / 1e6,
        "index_mb": summary.size_bytes / 1e6,
        "size_percent": 100 * summary.size_bytes / max(1, summary.text_bytes),
        "walk_s": walked - started,
        "build_s": time.perf_counter() - walked,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
        "load": os.getloadavg()[0],
    }


def ask(out: Path, tree: str, rg: str | None) -> dict[str, Any]:
    """Opening, planning and lookups, warm; and candidates against ripgrep's files."""
    from mgrep_tui.ngram.plan import plan
    from mgrep_tui.ngram.segment import Segment
    from mgrep_tui.ngram.snapshot import make_snapshot

    opened = min(_timed(lambda: Segment.open(out)) for _ in range(5))
    snapshot = make_snapshot([Segment.open(out)])
    rows = []
    for pattern in PATTERNS:
        planned = plan(pattern)
        found = snapshot.candidates(planned)
        row: dict[str, Any] = {
            "pattern": pattern,
            "plan_us": 1e6 * min(_timed(functools.partial(plan, pattern)) for _ in range(7)),
            "lookup_us": 1e6 * min(_timed(functools.partial(snapshot.candidates, planned)) for _ in range(7)),
            "files": len(found),
        }
        paths = {candidate.path for candidate in found}
        if rg:
            command = [rg, "--no-config", "-l", "--null", "--sort=none", "-e", pattern, "."]
            listed = subprocess.run(command, cwd=tree, capture_output=True, check=False).stdout
            matching = {path.removeprefix(b"./") for path in listed.split(b"\0") if path}
            row["matching"] = len(matching)
            row["missed"] = len(matching - paths)
        rows.append(row)
    return {"open_ms": 1000 * opened, "patterns": rows}


def _timed(call: Any) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=2, help="builds; the first compiles the kernels")
    parser.add_argument("--no-rg", action="store_true")
    options = parser.parse_args(arguments)
    rg = None if options.no_rg else shutil.which("rg") or shutil.which("rg", path=os.path.dirname(sys.executable))
    builds = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "base"
        for _ in range(options.rounds):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                builds.append(pool.apply(build, (options.tree, str(out), f"{folder}/kernels")))
            print("  ".join(f"{name} {value:,.1f}" for name, value in builds[-1].items()), flush=True)
        asked = ask(out, options.tree, rg)
    for row in asked["patterns"]:
        print("  ".join(f"{value:>9,.0f}" for value in list(row.values())[1:]), row["pattern"])
    lookups = [row["lookup_us"] for row in asked["patterns"]]
    plans = [row["plan_us"] for row in asked["patterns"]]
    print(f"columns: {', '.join(list(asked['patterns'][0])[1:])}, pattern")
    print(
        f"open {asked['open_ms']:.2f} ms, plan p50 {statistics.median(plans):.0f} µs, "
        f"lookup p50 {statistics.median(lookups):.0f} µs, p90 {sorted(lookups)[len(lookups) * 9 // 10]:.0f} µs"
    )
    if rg:
        ratios = sorted(row["files"] / row["matching"] for row in asked["patterns"] if row["matching"])
        print(
            f"candidate files for each matching one: median {statistics.median(ratios):.2f}, p90 {ratios[len(ratios) * 9 // 10]:.2f}, "
            f"geometric mean {statistics.geometric_mean(ratios):.2f}; missed {sum(row['missed'] for row in asked['patterns'])}"
        )
    if options.json:
        options.json.write_text(json.dumps({"builds": builds, **asked}, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
