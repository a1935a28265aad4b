"""Which chunks hold the words of a question, by BM25: the local keyword index's formula over the engine's postings.

First the engine counts in how many chunks each word stands, then it adds up what each word gives to each chunk, and how many of the words
its text has. Words that stand nearly everywhere say little and cost most: past `MOST_POSTINGS` the rare ones choose the candidates, and all
of them score those.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mgrep_tui.clickhouse.allowed import AllowedChunks
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.values import Value
from mgrep_tui.clickhouse.wording import FIELD_NUMBER, FIELDS, K1, LENGTHS, B, keys_of, rarity
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import words
from mgrep_tui.retrieval.keywords import BOOSTS, FEW, FUZZY_BOOST, FUZZY_LENGTH, STEMMED
from mgrep_tui.search.semantic_candidates import BODY, NAMING

BELIEVED_S = 600.0
"""How long it is believed how many chunks there are, how long their fields, and how many hold a word: that moves slowly, and only weighs.
A question is asked again with every key that is typed."""
MOST_WORDS = 50_000  # whose holders are remembered
MOST_STEMS = 200
"""Of a longer question (a text that was pasted) the first words are asked for: what a word costs is the same for each."""
MOST_POSTINGS = 600_000
CHOSEN = 3_000
MOST_VARIANTS = 50  # words that one misspelt word may stand for
MOST_MISSPELT = 6
"""Words of a question whose variants are looked for, each by a walk through a part of all words. A text with more is no typing mistake."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many chunks there are, and how long each field is on average."""

    chunks: int
    averages: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """What a word is worth in the three questions that are asked at once; `is_flat` where how often it stands does not count."""

    words: float
    body: float
    naming: float
    slope: float
    is_flat: bool = False


@dataclass(frozen=True, slots=True)
class WordHits:
    """The best chunks by all words, by their body's and by their names'; best first. `holders` counts chunks by stem.

    `covered` says how many stems of the question stand in the text of a chunk: of those that were scored.
    """

    words: dict[int, float] = field(default_factory=dict)
    body: dict[int, float] = field(default_factory=dict)
    naming: dict[int, float] = field(default_factory=dict)
    holders: dict[str, int] = field(default_factory=dict)
    chunks: int = 0
    weights: dict[int, Weight] = field(default_factory=dict)
    covered: dict[int, int] = field(default_factory=dict)


_Scored = tuple[int, float, float, float, int]
"""A chunk, its three scores, and how many stems stand in its text."""


class WordSearch:
    """Any thread may ask."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._lock = threading.Lock()
        self._totals: tuple[float, Totals] | None = None
        self._holders: tuple[float, dict[int, int]] = time.monotonic(), {}

    def totals(self, cancel: CancelToken) -> Totals:
        with self._lock:
            if self._totals is not None and time.monotonic() - self._totals[0] < BELIEVED_S:
                return self._totals[1]
        found = rows(
            self._connection.batches(
                f"SELECT count(), sumForEach(lengths) FROM {self._connection.database}.chunks",
                limits=self._limits,
                cancel=cancel,
            )
        )
        count, sums = found[0] if found else (0, [])
        averages = tuple(value / count if count else 0.0 for value in (*sums, *([0] * len(FIELDS)))[: len(FIELDS)])
        totals = Totals(count, averages)
        with self._lock:
            self._totals = time.monotonic(), totals
        return totals

    def search(
        self,
        text: str,
        arm: int,
        allowed: AllowedChunks,
        cancel: CancelToken,
        *,
        has_local: bool = False,
    ) -> WordHits:
        """The `arm` best chunks of a question by each kind of its words. Raises `EngineError` and `Cancelled`.

        `has_local` says that others will be scored by the same weights.
        """
        stems = words.question_stems(text)[:MOST_STEMS]
        if not stems:
            return WordHits()
        names = [name for name in dict.fromkeys(words.names(text)) if name not in words.STOP_WORDS][:MOST_STEMS]
        totals = self.totals(cancel)
        known = self.holders(
            [
                *(key for name in STEMMED for key in keys_of(name, stems)),
                *keys_of("names", names),
            ],
            cancel,
        )
        weights = self._weights(stems, names, known, totals, has_local)
        unknown = [
            stem for stem in stems if len(stem) >= FUZZY_LENGTH and not any(key in known for key in _stem_keys(stem))
        ]
        weights |= self._variants(unknown, cancel)
        body = keys_of("body", stems)
        found = self._best(weights, known, body, arm, allowed, cancel)
        if len(found.words) < FEW and len(unknown) < len(stems):
            weights |= self._variants([stem for stem in stems if len(stem) >= FUZZY_LENGTH], cancel)
            found = self._best(weights, known, body, arm, allowed, cancel)
        holders = {stem: known.get(key, 0) for stem, key in zip(stems, body, strict=True)}
        return replace(found, holders=holders, chunks=totals.chunks, weights=weights)

    def holders(self, keys: Iterable[int], cancel: CancelToken) -> dict[int, int]:
        """In how many chunks each word stands; those that stand nowhere are missing."""
        wanted = set(keys)
        with self._lock:
            since, known = self._holders
            if time.monotonic() - since > BELIEVED_S or len(known) > MOST_WORDS:
                known = {}
                self._holders = time.monotonic(), known
            found = {key: known[key] for key in wanted if key in known}
        missing = sorted(wanted - found.keys())
        if missing:
            counted = dict(
                rows(
                    self._connection.batches(
                        f"SELECT word, count() FROM {self._connection.database}.postings"
                        " WHERE word IN {words:Array(UInt64)} GROUP BY word",
                        {"words": missing},
                        limits=self._limits,
                        cancel=cancel,
                    )
                )
            )
            new = {key: counted.get(key, 0) for key in missing}
            with self._lock:
                known.update(new)
            found |= new
        return {key: count for key, count in found.items() if count}

    def _weights(
        self, stems: Sequence[str], names: Sequence[str], known: dict[int, int], totals: Totals, has_local: bool
    ) -> dict[int, Weight]:
        found = {}
        for name, texts in (*((field_name, stems) for field_name in STEMMED), ("names", names)):
            average = totals.averages[FIELD_NUMBER[name]]
            slope = K1 * B / average if average > 0 else K1 * B
            for key in keys_of(name, texts):
                # A word that stands nowhere may stand in a file that was changed here.
                if key in known or has_local:
                    holders = known.get(key, 0)
                    worth = rarity(max(totals.chunks, holders), holders)
                    found[key] = Weight(BOOSTS[name] * worth, BODY[name] * worth, NAMING[name] * worth, slope)
        return found

    def _variants(self, stems: Sequence[str], cancel: CancelToken) -> dict[int, Weight]:
        """The words that a misspelt one may stand for. Its first letter is taken to be right: the engine has its words in that order."""
        found: dict[int, Weight] = {}
        fields = [FIELD_NUMBER[name] for name in ("body", "symbol", "path")]
        for stem in stems[:MOST_MISSPELT]:
            distance = 1 if len(stem) < 8 else 2
            for word, number in rows(
                self._connection.batches(
                    f"SELECT DISTINCT word, field FROM {self._connection.database}.words"
                    " WHERE field IN {fields:Array(UInt8)} AND startsWith(text, {first:String})"
                    " AND abs(toInt64(lengthUTF8(text)) - {length:Int64}) <= {distance:Int64}"
                    " AND damerauLevenshteinDistance(text, {stem:String}) <= {distance:Int64} LIMIT {most:UInt32}",
                    {
                        "fields": fields,
                        "length": len(stem),
                        "distance": distance,
                        "stem": stem,
                        "first": stem[:1],
                        "most": MOST_VARIANTS,
                    },
                    limits=self._limits,
                    cancel=cancel,
                )
            ):
                name = FIELDS[number]
                found[word] = Weight(FUZZY_BOOST, FUZZY_BOOST, FUZZY_BOOST if NAMING[name] else 0.0, 0.0, is_flat=True)
        return found

    def covered(self, stems: Sequence[str], chunks: Sequence[int], cancel: CancelToken) -> dict[int, int]:
        """How many of these stems stand in the text of each chunk; those that have none are missing."""
        if not stems or not chunks:
            return {}
        statement = (
            f"SELECT chunk, toUInt32(uniqExact(word)) FROM {self._connection.database}.postings"
            " WHERE word IN {words:Array(UInt64)} AND chunk IN {chunks:Array(UInt64)} GROUP BY chunk"
        )
        values: dict[str, Value] = {"words": keys_of("body", stems), "chunks": sorted(chunks)}
        return dict(rows(self._connection.batches(statement, values, limits=self._limits, cancel=cancel)))

    def _best(
        self,
        weights: dict[int, Weight],
        known: dict[int, int],
        body: Sequence[int],
        arm: int,
        allowed: AllowedChunks,
        cancel: CancelToken,
    ) -> WordHits:
        """`body` are the stems of the question as words of a text."""
        if not weights:
            return WordHits()
        # Some of what is found belongs to no searched commit any more.
        most = arm if not allowed.is_everything else arm + arm // 2
        rare: list[int] = []
        total = 0
        for key in sorted(weights, key=lambda key: known.get(key, 0)):
            total += known.get(key, 0)
            if rare and total > MOST_POSTINGS:
                break
            rare.append(key)
        chosen: list[int] | None = None
        if len(rare) < len(weights):
            some = {key: weights[key] for key in rare}
            chosen = [chunk for chunk, *_ in self._scores(some, body, CHOSEN, allowed, None, cancel)]
        # What names alone find stands high here too: a symbol's word counts three times.
        scored = self._scores(weights, body, 4 * most, allowed, chosen, cancel)
        return WordHits(
            {chunk: score for chunk, score, *_ in scored[:most]},
            _first(((chunk, score) for chunk, _, score, _, _ in scored), most),
            _first(((chunk, score) for chunk, _, _, score, _ in scored), most),
            covered={chunk: covered for chunk, *_, covered in scored},
        )

    def _scores(
        self,
        weights: dict[int, Weight],
        body: Sequence[int],
        count: int,
        allowed: AllowedChunks,
        chosen: list[int] | None,
        cancel: CancelToken,
    ) -> list[_Scored]:
        """The `count` best by all words."""
        bound = Bound()
        keys = bound.numbers(list(weights))
        places = bound.numbers(list(range(1, len(weights) + 1)))

        def by_place(values: Sequence[float]) -> str:
            return f"arrayElement({bound.add([float(value) for value in values], 'Array(Float32)')}, place)"

        def by_word(name: str) -> str:
            return by_place([getattr(weight, name) for weight in weights.values()])

        tests = [f"word IN {keys}"]
        if chosen is not None:
            tests.append(f"chunk IN {bound.numbers(chosen)}")
        elif not allowed.is_everything:
            tests.append(allowed.sql(bound))
        lengths = bound.add([float(value) for value in LENGTHS], "Array(Float32)")
        part = f"{K1 + 1.0:.3f} * times / (times + {K1 * (1.0 - B):.6f} + {by_word('slope')} * arrayElement({lengths}, length + 1))"
        if any(weight.is_flat for weight in weights.values()):
            part = f"if({by_word('is_flat')} > 0, 1, {part})"
        sums = ", ".join(
            f"sum(part * {by_word(name)}) AS {short}"
            for name, short in (("words", "w"), ("body", "b"), ("naming", "n"))
        )
        in_body = set(body)
        covered = f"toUInt32(sum({by_place([key in in_body for key in weights])})) AS c"
        statement = (
            f"SELECT chunk, {sums}, {covered} FROM (SELECT transform(word, {keys}, {places}, 0) AS place, chunk, {part} AS part"
            f" FROM {self._connection.database}.postings WHERE {' AND '.join(tests)})"
            f" GROUP BY chunk ORDER BY w DESC, chunk LIMIT {count:d}"
        )
        return rows(self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel))


def _first(scores: Iterable[tuple[int, float]], count: int) -> dict[int, float]:
    """The best of those that are any good."""
    good = sorted(((chunk, score) for chunk, score in scores if score > 0), key=lambda one: (-one[1], one[0]))
    return dict(good[:count])


def _stem_keys(stem: str) -> list[int]:
    return [key for name in STEMMED for key in keys_of(name, [stem])]
