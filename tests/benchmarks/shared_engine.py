"""How an embedded shared engine grows: push rate, latency, size and memory at 0.1, 0.5, 1 and 2 million chunks.

    python -m tests.benchmarks.shared_engine --engine FOLDER --trees TREE… [--sizes 0.1,0.5,1,2] [--json FILE] [--snapshots]
    python -m tests.benchmarks.shared_engine --measure FOLDER-100000 FOLDER-500000 …

The first chunks are those of the trees, cut and embedded by the children as in a real push. From there on the engine grows by repositories
made of these: each copies documents of the real ones under a path and a name of its own, with a third of their identifiers renamed (so that
the words grow as they do in new code) and their vectors turned a little (so that no two are equal). Written by the code that a push uses,
vectors at hand; the push rate is by the processor time of both processes, words, inserts and merges included.

At each size, with the merges done: regular expressions with a selective literal (through grams, files and our matcher), questions by
meaning (words, vectors, ranking, texts), sizes on disk by table, memory of the engine's process. Latencies are wall time and depend on what
else the machine does; the processor time of both processes for each is printed beside them. With `--snapshots` the engine is kept as it is
at each size, beside the folder, and `--measure` asks such a copy again: what was changed in asking needs no second growth. A folder that
holds an engine of this kind is grown on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.address import parse_address
from mgrep_tui.clickhouse.announcing import vectors_of
from mgrep_tui.clickhouse.connecting import connect
from mgrep_tui.clickhouse.connection import WORK, rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.keys import document_of, state_of
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.clickhouse.making import Made, Making
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.merging import hold_merges, join_parts
from mgrep_tui.clickhouse.push import BATCH_BYTES, BATCH_CHUNKS
from mgrep_tui.clickhouse.rows import HASH, Batch, Document, Writer
from mgrep_tui.clickhouse.tree import publication_of, read_files
from mgrep_tui.corpus.root import open_root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.index.ingest import content_hash
from mgrep_tui.index.rows import NewChunk, NewFile
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings

LARGE = 4_096  # bytes of a file that is linked, not copied
PATTERNS = "patterns.json"
REPOSITORY_DOCUMENTS = 1_000
RENAMED = 0.33
TURN = 0.25
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
QUESTIONS = (
    "how are connections pooled",
    "parse command line arguments",
    "websocket handshake",
    "retry with exponential backoff",
    "read a file line by line",
    "validate the fields of a model",
    "cancel a running task",
    "serialize to json",
    "route requests to handlers",
    "where are errors reported to the user",
    "http client session",
    "escape html in templates",
    "event loop and timers",
    "hash table lookup",
    "download a file over ssl",
    "merge two sorted lists",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", type=Path)
    parser.add_argument("--trees", nargs="+", default=[], type=Path)
    parser.add_argument("--snapshots", action="store_true")
    parser.add_argument("--measure", nargs="+", default=[], type=Path)
    parser.add_argument("--sizes", default="0.1,0.5,1,2")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--limit-s", type=float, default=1e9, help="begin no further size after so many seconds")
    arguments = parser.parse_args()
    for folder in arguments.measure:
        connection = _opened(folder)
        try:
            asked = json.loads((folder / PATTERNS).read_text())
            print(json.dumps({"engine": folder.name, **_measure(connection, asked)}), flush=True)
        finally:
            connection.close()
    if arguments.engine is None:
        return
    connection = _opened(arguments.engine)
    results = []
    began = time.monotonic()
    try:
        schema.prepare(connection)
        growth = _Growth(connection)
        for size in (int(float(word) * 1e6) for word in arguments.sizes.split(",")):
            if time.monotonic() - began > arguments.limit_s:
                print("no time for more", flush=True)
                break
            cost = growth.to(size, arguments.trees)
            settle_cpu_s, settle_s = _settle(connection)
            asked = _selective(growth)
            if arguments.snapshots:
                _copy(arguments.engine, arguments.engine.with_name(f"{arguments.engine.name}-{size}"), asked)
            result = {**cost, "merge_cpu_s": settle_cpu_s, "settle_s": settle_s, **_measure(connection, asked)}
            result["load"] = os.getloadavg()[0]
            results.append(result)
            print(json.dumps(result), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(results, indent=1))
    finally:
        connection.close()
    print(_table(results))


def _opened(folder: Path) -> EmbeddedConnection:
    connection = connect(parse_address(str(folder)))
    assert isinstance(connection, EmbeddedConnection)
    return connection


def _copy(folder: Path, target: Path, patterns: Sequence[str]) -> None:
    """The engine as it is now, while nothing is written or merged: what is large never changes, and is linked."""
    for place, _, names in os.walk(folder):
        own = target / Path(place).relative_to(folder)
        own.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = Path(place, name)
            if source.stat().st_size > LARGE:
                os.link(source, own / name)
            else:
                shutil.copy2(source, own / name)
    (target / PATTERNS).write_text(json.dumps(list(patterns)))


class _Growth:
    """Writes repositories until there are enough chunks."""

    def __init__(self, connection: EmbeddedConnection) -> None:
        self.connection = connection
        self.model = load_static()
        self.vectors = vectors_of(connection, self.model.model_id, self.model.dimension)
        self.writer = Writer(connection, 1, self.model.model_id, self.vectors, self.model.dimension)
        self.real: list[Made] = []
        there = published(connection)
        self.chunks = sum(one.chunks for one in there)
        self.text_bytes = sum(one.text_bytes for one in there)
        self.repositories = len(there)
        self._random = random.Random(8 + len(there))
        self._turn = np.random.default_rng(8 + len(there))

    def to(self, size: int, trees: Sequence[Path]) -> dict[str, float]:
        """Grow to `size` chunks; what it cost since the last size, with vectors at hand."""
        if not self.real:
            self._make_real(trees, size)
        before, wall_s = self.chunks, time.monotonic()
        hold_merges(self.connection)
        self._making_s, cpu_s = 0.0, self._cpu_s()
        text_before = self.text_bytes
        if not self.repositories:
            for name, some in self._by_tree():
                self._write(f"real/{name}", some)
        while self.chunks < size:
            making = time.process_time()
            grown = list(self._grown())
            self._making_s += time.process_time() - making
            self._write(f"grown/repository-{self.repositories}", grown)
        self.writer.finish()
        written = self.chunks - before
        cpu_s, wall_s = self._cpu_s() - cpu_s - self._making_s, time.monotonic() - wall_s
        return {
            "chunks": self.chunks,
            "repositories": self.repositories,
            "text_mb": self.text_bytes / 1e6,
            "written": written,
            "written_mb": (self.text_bytes - text_before) / 1e6,
            "push_cpu_s": cpu_s,
            "push_s": wall_s,
            "chunks_per_cpu_s": written / cpu_s if cpu_s else 0.0,
        }

    def _cpu_s(self) -> float:
        return time.process_time() + _cpu_of(self.connection.pid)

    def _make_real(self, trees: Sequence[Path], size: int) -> None:
        """Cut and embed the trees; not part of what is measured."""
        settings, cancel, count = Settings(), CancelToken(), 0
        self.trees: list[tuple[str, int]] = []
        for tree in trees:
            root = open_root(tree)
            publication = publication_of(root, settings, cancel)
            start = len(self.real)
            with Making(root, settings, None) as making:
                files = read_files(publication, settings.corpus.max_file_bytes, cancel)
                wanted = ((file, document_of(file.path, file.content), True) for file in files if file.seen is not None)
                for made in making.made(wanted, cancel):
                    self.real.append(made)
                    count += len(made.file.chunks)
                    if count >= size:
                        break
            self.trees.append((tree.name, len(self.real) - start))
            print(f"{tree.name}: {count:,} chunks", flush=True)
            if count >= size:
                break

    def _by_tree(self) -> Iterator[tuple[str, list[Made]]]:
        start = 0
        for name, count in self.trees:
            yield name, self.real[start : start + count]
            start += count

    def _grown(self) -> Iterator[Made]:
        """The documents of one more repository."""
        number = self.repositories
        for made in self._random.choices(self.real, k=REPOSITORY_DOCUMENTS):
            yield self._variant(made, number)

    def _variant(self, made: Made, number: int) -> Made:
        """A document like this one, in other words."""
        text = made.text
        try:
            plain = text.decode("utf-8")
        except UnicodeDecodeError:
            plain = text.decode("latin-1")
        new_names: dict[str, str] = {}

        def renamed(match: re.Match[str]) -> str:
            name = match.group()
            if name not in new_names:
                is_other = self._random.random() < RENAMED
                new_names[name] = f"{name}{_suffix(self._random)}" if is_other else name
            return new_names[name]

        renamed_text = NAME.sub(renamed, plain)
        changed = renamed_text.encode()
        lines = renamed_text.split("\n")
        path = b"part%d/%s" % (number, made.file.path)
        chunks = tuple(
            NewChunk(
                chunk.language,
                chunk.kind,
                new_names.get(chunk.symbol, chunk.symbol),
                chunk.container,
                chunk.first_line,
                chunk.last_line,
                chunk.part,
                chunk.parts,
                os.urandom(16),
                "\n".join(lines[chunk.first_line : chunk.last_line + 1]),
            )
            for chunk in made.file.chunks
        )
        vectors = made.file.vectors
        if vectors is not None and len(vectors):
            own = vectors.astype(np.float32)
            noise = self._turn.standard_normal(own.shape, np.float32)
            noise *= TURN / np.linalg.norm(noise, axis=1, keepdims=True)
            own = own + noise
            vectors = (own / np.linalg.norm(own, axis=1, keepdims=True)).astype(np.float16)
        content = content_hash(changed)
        file = replace(
            made.file, path=path, content_hash=content, chunks=chunks, vectors=vectors, text_bytes=len(changed)
        )
        return Made(document_of(path, content), file, changed)

    def _write(self, repository: str, made: Sequence[Made]) -> None:
        batch = Batch()
        for one in made:
            batch.add(Document(one.number, one.file, one.text))
            if batch.chunks >= BATCH_CHUNKS or batch.text_bytes >= BATCH_BYTES:
                self.writer.write(batch)
                batch = Batch()
        self.writer.write(batch)
        self._announce(repository, [one.file for one in made])
        self.repositories += 1
        self.chunks += sum(len(one.file.chunks) for one in made)
        self.text_bytes += sum(len(one.text) for one in made)

    def _announce(self, repository: str, files: Sequence[NewFile]) -> None:
        """The commit of a made-up repository."""
        connection, now = self.connection, schema.now_us()
        state = state_of(repository, "1")
        named = [file.language.encode() for file in files]
        connection.insert(
            f"{connection.database}.files",
            pa.table(
                {
                    "content": pa.array([file.content_hash for file in files], HASH),
                    "state": pa.array([state] * len(files), pa.uint64()),
                    "path": pa.array([file.path for file in files], pa.binary()),
                    "document": pa.array([document_of(file.path, file.content_hash) for file in files], pa.uint64()),
                    "language": pa.array(named, pa.binary()),
                    "flags": pa.array([file.flags for file in files], pa.uint8()),
                    "named": pa.array(named, pa.binary()),
                    "named_flags": pa.array([file.flags for file in files], pa.uint8()),
                    "size": pa.array([file.text_bytes for file in files], pa.uint64()),
                    "is_text": pa.array([1] * len(files), pa.uint8()),
                }
            ),
        )
        name = pa.array([repository.encode()], pa.binary())
        empty = pa.array([b""], pa.binary())
        number = pa.array([now], pa.uint64())
        connection.insert(
            f"{connection.database}.commits",
            pa.table(
                {
                    "repository": name,
                    "branch": empty,
                    "commit": pa.array([b"1"], pa.binary()),
                    "state": pa.array([state], pa.uint64()),
                    "committed_s": pa.array([0], pa.uint64()),
                    "at": number,
                    "files": pa.array([len(files)], pa.uint32()),
                    "chunks": pa.array([sum(len(file.chunks) for file in files)], pa.uint64()),
                    "text_bytes": pa.array([sum(file.text_bytes for file in files)], pa.uint64()),
                    "model": pa.array([self.model.model_id.encode()], pa.binary()),
                }
            ),
        )
        connection.insert(
            f"{connection.database}.repositories",
            pa.table({"repository": name, "branch": empty, "remote": empty, "at": number}),
        )


def _suffix(source: random.Random) -> str:
    return "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=3))


def _settle(connection: EmbeddedConnection) -> tuple[float, float]:
    """Merge as a push does, and wait until nothing is merged any more: processor time and wall time that it took."""
    cpu_s, began, quiet = _cpu_of(connection.pid), time.monotonic(), 0
    join_parts(connection, CancelToken())
    while quiet < 3 and time.monotonic() - began < 900:
        running = rows(connection.batches("SELECT count() FROM system.merges", limits=WORK))[0][0]
        quiet = quiet + 1 if not running else 0
        time.sleep(1.0)
    return _cpu_of(connection.pid) - cpu_s, time.monotonic() - began


def _measure(connection: EmbeddedConnection, patterns: Sequence[str]) -> dict[str, Any]:
    """Latencies, sizes and memory as they are now."""
    heads = heads_of(published(connection))
    settings = Settings()
    lines = LineSearch(connection, settings)
    meaning = MeaningSearch(connection, load_static())
    found: dict[str, Any] = {}
    for name, texts, mode in (("regex", patterns, Mode.REGEX), ("semantic", QUESTIONS, Mode.SEMANTIC)):
        wall: list[float] = []
        cpu: list[float] = []
        hits = 0
        for turn in range(3):
            for text in texts:
                query, sink = parse(text, mode), Collected()
                began, before = time.perf_counter(), time.process_time() + _cpu_of(connection.pid)
                if mode is Mode.REGEX:
                    outcome = lines.search(query, heads, None, sink, CancelToken())
                else:
                    outcome = meaning.search(query, heads, sink, CancelToken())
                if turn:  # the first is for the caches
                    wall.append((time.perf_counter() - began) * 1e3)
                    cpu.append((time.process_time() + _cpu_of(connection.pid) - before) * 1e3)
                    hits += outcome.hits
        found[f"{name}_p50_ms"] = statistics.median(wall)
        found[f"{name}_p90_ms"] = statistics.quantiles(wall, n=10)[-1]
        found[f"{name}_cpu_p50_ms"] = statistics.median(cpu)
        found[f"{name}_hits"] = hits / (2 * len(texts))
    meaning.close()
    sizes = rows(
        connection.batches(
            "SELECT table, sum(bytes_on_disk), sum(secondary_indices_compressed_bytes), count() FROM system.parts"
            f" WHERE active AND database = '{connection.database}' GROUP BY table"
        )
    )
    tables = {
        ("vectors" if name.startswith(b"vectors") else name.decode()): {
            "mb": size / 1e6,
            "index_mb": index / 1e6,
            "parts": parts,
        }
        for name, size, index, parts in sizes
    }
    found["disk_mb"] = sum(table["mb"] for table in tables.values())
    found["tables"] = tables
    found["engine_rss_mb"] = _memory_of(connection.pid)
    return found


def _selective(growth: _Growth) -> list[str]:
    """Patterns with a literal that few files hold: names from the real text, as a person would take them."""
    source = random.Random(3)
    counts: dict[str, int] = {}
    for made in growth.real[:3_000]:
        for name in set(NAME.findall((made.text).decode("utf-8", "replace"))):
            if len(name) >= 9:
                counts[name] = counts.get(name, 0) + 1
    names = sorted(name for name, count in counts.items() if 2 <= count <= 5)
    chosen = source.sample(names, 12)
    shapes = ("{}", r"\b{}\b", r"{}\(", r"(?i){}", r"[a-z_.]*{}", r"{}.*[;:)]")
    return [shapes[number % len(shapes)].format(name) for number, name in enumerate(chosen)]


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_of(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    return 0.0


def _table(results: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| chunks | text MB | disk MB | engine memory MB | push, chunks/s a core | regex p50 / p90 ms (CPU)"
        " | semantic p50 / p90 ms (CPU) |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in results:
        total = one["push_cpu_s"] + one["merge_cpu_s"]
        lines.append(
            f"| {one['chunks']:,} | {one['text_mb']:,.0f} | {one['disk_mb']:,.0f} | {one['engine_rss_mb']:,.0f}"
            f" | {one['written'] / total:,.0f}"
            f" | {one['regex_p50_ms']:.0f} / {one['regex_p90_ms']:.0f} ({one['regex_cpu_p50_ms']:.0f})"
            f" | {one['semantic_p50_ms']:.0f} / {one['semantic_p90_ms']:.0f} ({one['semantic_cpu_p50_ms']:.0f}) |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
