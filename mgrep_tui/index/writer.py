"""The writing side of an index: the one copy that holds the lock keeps both searches up to date and publishes generations."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.embedding.static import StaticModel
from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import generations, seal
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.context import Context
from mgrep_tui.index.grams import Grams
from mgrep_tui.index.manifest import Manifest, SegmentPart
from mgrep_tui.index.meaning import Meaning
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.stores import CATALOG, KEYWORDS
from mgrep_tui.model import FileStat
from mgrep_tui.settings.config import ChunkingSettings

RETRY_S = 60.0
SMALL_TREE = 5_000  # files; below, grams and chunks are made at the same time: neither needs a core for long
# The note of how much was complete when it was published: `ALL`, `REGEX` (by a copy without search by meaning), or nothing.
COMPLETE = "complete"
ALL, REGEX = "1", "regex"
LAST_PUBLISH_S = 0.05


class Writing:
    """Belongs to the index worker's thread; `view` may be called from any."""

    def __init__(self, context: Context, manifest: Manifest, *, semantic: bool, model: StaticModel | None) -> None:
        self._context = context
        self.manifest = manifest
        self.grams = Grams(context, lambda: self.manifest, self._examined)
        self.meaning: Meaning | None = None
        if semantic:
            versions = versions_of(context.settings.chunking, context.folders.config / "queries")
            self.meaning = Meaning(context, lambda: self.manifest, self.grams.look_at, versions, model)
        self.waits_for_base = False
        self._has_begun = False
        self._published_complete = False
        self._has_failed = False

    def open(self, parts: Iterable[SegmentPart]) -> None:
        """Take over what is there: `parts` are the segments that coverage has restored. Never raises for what is broken."""
        context = self._context
        self.grams.parts = list(parts)
        generations.collect(context.folder, self.manifest)
        if self.meaning is None:
            return
        try:
            verdict = seal.judge(context.folder)
            if verdict is seal.Verdict.TOUCHED:
                self.discard(CATALOG)
                context.board.say("The catalog was changed by something else and is made anew.")
            seal.remove(context.folder)
            self.meaning.open(self.manifest, is_sealed=verdict is not seal.Verdict.CRASHED)
        except (OSError, IndexDamagedError) as error:
            self.meaning.fail(error)

    def begin(self) -> None:
        """The tree has been listed: start on what is missing."""
        context = self._context
        known = dict(context.coverage.known())
        self.grams.look_at(context.coverage.extra())
        self.grams.build_if_due()
        if self.meaning is not None:
            self.waits_for_base = self.grams.job is not None and len(known) > SMALL_TREE
            if not self.waits_for_base:
                self.meaning.begin(known)
        self._has_begun = True
        is_covered = not context.coverage.segments or not context.coverage.extra_count
        if self.is_complete and is_covered and self.manifest.notes.get(COMPLETE) == self._how_complete:
            self._published_complete = True
        elif self.is_complete:
            self.publish(0.0)

    def changed(self, paths: Iterable[bytes]) -> None:
        """These files look different, are new or are gone; coverage knows already."""
        paths = list(paths)
        self.grams.look_at(paths)
        if self.meaning is not None and not self.waits_for_base:
            self.meaning.changed(paths)
        self.publish(5.0)

    def _examined(self, path: bytes, stat: FileStat, digest: bytes) -> None:
        if self.meaning is not None and not self.waits_for_base:
            self.meaning.examined(path, stat, digest)

    # --- publishing

    def publish(self, delay_s: float) -> None:
        self._context.loop.at("publish", delay_s, self._publish)

    def publish_if_complete(self) -> None:
        """The last step to completeness can come after the last publication, and nothing else would say so."""
        if self.is_complete and not self._published_complete and not self._has_failed:
            self.publish(LAST_PUBLISH_S)

    def _publish(self) -> None:
        context = self._context
        generation = generations.next_free(context.folder, self.manifest)
        folder = generations.folder_of(context.folder, generation)
        covers = context.coverage.covers
        head = git.head(context.root)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            vectors = self.manifest.vectors
            if self.meaning is not None:
                vectors = self.meaning.save(context.folder, f"{generations.FOLDER}/{generation:06d}") or vectors
            dispositions = None
            if covers:
                dispositions = generations.write_disposition(context.folder, generation, context.coverage.disposition())
            manifest = Manifest(
                generation=generation,
                segments=tuple(self.grams.parts) if covers else (),
                dispositions=dispositions,
                vectors=vectors,
                commit=head.commit,
                branch=head.branch,
                notes={COMPLETE: self._how_complete},
            )
            manifests.store(context.folder, manifest)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            self._has_failed = True
            context.board.fail(
                f"The index cannot be written in {context.folder}: {error.strerror or error}. Search works without it."
            )
            context.loop.at("publish", RETRY_S, self._publish, sooner=False)
            context.moved()
            return
        self.manifest = manifest
        self._has_failed = False
        self._published_complete = self.is_complete
        keep = frozenset() if self.grams.building is None else frozenset((self.grams.building,))
        generations.collect(context.folder, manifest, keep=keep)
        if self.meaning is not None:
            self.meaning.trim()
        if self.waits_for_base and covers:
            self.waits_for_base = False
            if self.meaning is not None:
                self.meaning.begin(dict(context.coverage.known()))
        context.moved()

    @property
    def is_complete(self) -> bool:
        """Nothing is left to be done but for files that were written a moment ago."""
        return (
            self._context.coverage.covers
            and self.grams.job is None
            and not self.waits_for_base
            and (self.meaning is None or self.meaning.is_complete)
        )

    @property
    def _how_complete(self) -> str:
        if not self.is_complete:
            return ""
        return REGEX if self.meaning is None else ALL

    @property
    def is_published(self) -> bool:
        """What is complete can be found by the next copy too."""
        return self.is_complete and self._published_complete

    @property
    def is_semantic_published(self) -> bool:
        """Search by meaning is complete, and the next copy will find it so."""
        return self.meaning is not None and not self.waits_for_base and self.meaning.is_complete

    @property
    def is_broken(self) -> bool:
        """Something could not be written; it is tried again later, but nobody should wait for it."""
        return (
            self._has_failed
            or (self.meaning is not None and self.meaning.has_failed)
            or (self.grams.has_failed and not self._context.coverage.covers)
        )

    # --- the rest

    def view(self) -> SemanticView:
        """What a search by meaning searches now. Any thread."""
        meaning = self.meaning
        stores = meaning.stores if meaning is not None else None
        if meaning is None or stores is None:
            notice = "The index is not open yet."
            if meaning is not None and meaning.has_failed:
                notice = f"Search by meaning is off. {self._context.board.health().last_error}".strip()
            return SemanticView(model=meaning.model if meaning is not None else None, notice=notice)
        return SemanticView(
            stores.catalog,
            stores.vectors,
            stores.keywords,
            meaning.model,
            stores.coverage(),
            # Before the tree is listed nothing is known to be missing, which is not the same as nothing missing.
            stores.keywords_ready and self._has_begun and not self.waits_for_base and not meaning.pending,
        )

    def rebuild(self, part: str) -> None:
        """Make a part anew: `ngrams`, `keywords`, `vectors` or `all`."""
        context = self._context
        if part in ("ngrams", "all"):
            self.grams.rebuild_wanted = True
            self.grams.build_if_due()
        if self.meaning is not None and part in ("keywords", "vectors", "all"):
            self.meaning.close()
            if part in ("vectors", "all"):
                self.manifest = replace(self.manifest, vectors=None)
            if part in ("keywords", "all"):
                self.discard(KEYWORDS)
            if part == "all":
                self.discard(CATALOG)
            self.meaning.reopen()
        context.board.say(f"Building anew: {part}.")
        context.moved()

    def discard(self, part: str) -> None:
        """Remove a store."""
        folder = self._context.folder
        if part == KEYWORDS:
            shutil.rmtree(folder / KEYWORDS, ignore_errors=True)
        else:
            for path in folder.glob(f"{CATALOG}*"):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Kill the children, close the stores, seal the catalog."""
        self.grams.close()
        if self.meaning is not None:
            was_open = self.meaning.stores is not None
            self.meaning.close()
            if was_open:
                seal.write(self._context.folder)


def versions_of(settings: ChunkingSettings, queries: Path) -> str:
    """What the chunks of an unchanged file depend on: our own code and queries, the user's queries, the settings."""
    digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
    package = Path(__file__).parents[1]
    files = [path for path in (package / "chunking").rglob("*") if path.suffix in (".py", ".scm", ".toml", ".json")]
    files += [package / "embedding/text.py", package / "embedding/words.py", package / "text/language_table.py"]
    files += [package / "text/languages.py", package / "text/origin.py"]
    if queries.is_dir():
        files += [path for path in queries.rglob("*") if path.is_file()]
    for path in sorted(files):
        digest.update(path.name.encode("utf-8", "surrogateescape"))
        try:
            digest.update(path.read_bytes())
        except OSError:
            continue
    return digest.hexdigest()
