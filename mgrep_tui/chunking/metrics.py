"""How the chunking of a whole tree went: counts for the health panel and `status`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# Upper bounds of the size classes, in lines of a chunk; the last class is open.
SIZE_CLASSES = (5, 10, 20, 40, 80, 160, 320)


@dataclass(frozen=True, slots=True)
class FileFigures:
    """What one file adds: its language ("" when unknown), the parser used ("" = by lines), why it fell back ("" = it did not), and the
    number of lines of each of its chunks."""

    language: str
    grammar: str
    fallback: str
    chunk_lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkingMetrics:
    """Figures of many files. Counts are of files unless named otherwise; the tuples are sorted by count, largest first.

    `sizes` gives for each class of `SIZE_CLASSES` (and one for all above) the number of chunks. `fallen_files` had a parser for their
    language that was not used.
    """

    files: int
    parsed_files: int
    fallen_files: int
    chunks: int
    largest_chunk_lines: int
    languages: tuple[tuple[str, int], ...]
    fallbacks: tuple[tuple[str, int], ...]
    sizes: tuple[tuple[str, int], ...]

    @property
    def by_grammar_share(self) -> float:
        """From 0 to 1; 1 where nothing was to be parsed."""
        expected = self.parsed_files + self.fallen_files
        return self.parsed_files / expected if expected else 1.0

    @property
    def fallback_share(self) -> float:
        """From 0 to 1."""
        return 1.0 - self.by_grammar_share

    @property
    def chunks_per_file(self) -> float:
        return self.chunks / self.files if self.files else 0.0

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Label and value of each figure, as the health panel shows them."""
        fallbacks = ", ".join(f"{reason} {count:,}" for reason, count in self.fallbacks) or "none"
        return (
            ("files chunked", f"{self.files:,}"),
            ("by syntax", f"{self.parsed_files:,} ({self.by_grammar_share:.1%} of those with a grammar)"),
            ("fallen back to lines", f"{self.fallen_files:,} ({self.fallback_share:.1%})"),
            ("reasons", fallbacks),
            ("chunks", f"{self.chunks:,}"),
            ("chunks a file", f"{self.chunks_per_file:.1f}"),
            ("lines a chunk", ", ".join(f"{name}: {count:,}" for name, count in self.sizes if count)),
            ("largest chunk", f"{self.largest_chunk_lines:,} lines"),
        )


def from_counts(
    parsed_files: int, languages: Mapping[str, int], fallbacks: Mapping[str, int], chunk_lines: Mapping[int, int]
) -> ChunkingMetrics:
    """The figures from counts: files by language and by reason, chunks by their number of lines."""
    sizes = [0] * (len(SIZE_CLASSES) + 1)
    for lines, count in chunk_lines.items():
        sizes[bisect_left(SIZE_CLASSES, lines)] += count
    return ChunkingMetrics(
        files=sum(languages.values()),
        parsed_files=parsed_files,
        fallen_files=sum(fallbacks.values()),
        chunks=sum(chunk_lines.values()),
        largest_chunk_lines=max(chunk_lines, default=0),
        languages=_by_count(languages),
        fallbacks=_by_count(fallbacks),
        sizes=tuple(zip(_size_names(), sizes, strict=True)),
    )


def aggregate(files: Iterable[FileFigures]) -> ChunkingMetrics:
    """The figures of files one by one; those without a chunk (empty ones) are left out."""
    languages: Counter[str] = Counter()
    fallbacks: Counter[str] = Counter()
    lines: Counter[int] = Counter()
    parsed = 0
    for item in files:
        if not item.chunk_lines:
            continue
        parsed += bool(item.grammar)
        languages[item.language or "unknown"] += 1
        lines.update(item.chunk_lines)
        if item.fallback:
            fallbacks[item.fallback] += 1
    return from_counts(parsed, languages, fallbacks, lines)


def _by_count(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _size_names() -> list[str]:
    lows = [1, *[bound + 1 for bound in SIZE_CLASSES]]
    return [f"{low}–{high}" for low, high in zip(lows, SIZE_CLASSES, strict=False)] + [f"over {SIZE_CLASSES[-1]}"]
