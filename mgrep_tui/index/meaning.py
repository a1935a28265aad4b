"""Keeping search by meaning complete: which files the stores lack, taking them in batch by batch, committing and saving.

What is wrong here never touches regex search: when the disk or a store fails, the stores are closed, the health says why, and it is tried
again later.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from mgrep_tui.corpus.changes import is_settled
from mgrep_tui.embedding.static import StaticModel
from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index.context import Context
from mgrep_tui.index.feeder import Delivery, Feeder, Waiting
from mgrep_tui.index.health import Rate
from mgrep_tui.index.ingest import Plan, Task
from mgrep_tui.index.manifest import Manifest, VectorPart
from mgrep_tui.index.rows import NewFile
from mgrep_tui.index.stores import KEYWORDS, VECTOR_LIMIT, VECTORS, Stores, open_stores
from mgrep_tui.model import FileStat

REST_S = 3.0  # without work for so long, the children end
RETRY_S = 60.0
AGAIN_S = 2.0  # a file that is written all the time is taken in this often at most
SAVE_EVERY_S = 30.0  # vectors are saved this often during a long build
SAVE_SHARE = 20  # saving takes at most a twentieth of the time
DAMAGES = 3  # so many failures of the stores in a row, and the keyword index is thrown away
STUCK_S = 180.0  # no batch came back for so long: the children are started anew


class Meaning:
    """The semantic side of the writer. Belongs to the index worker's thread."""

    def __init__(
        self,
        context: Context,
        published: Callable[[], Manifest],
        look_again: Callable[[Iterable[bytes]], None],
        versions: str,
        model: StaticModel | None,
    ) -> None:
        """`published` answers the current state; `look_again` has files read once their stat can be trusted, which ends in `examined`;
        `versions` names what the chunks depend on beside their files."""
        self._look_again = look_again
        self._context = context
        self._published = published
        self._versions = versions
        self.model = model
        self.stores: Stores | None = None
        self._feeder = Feeder(
            Plan(
                context.root,
                context.settings.chunking,
                context.settings.corpus.max_file_bytes,
                context.folders.config / "queries",
                embeds=model is not None,
                shared=context.folders.shared,
                versions=versions,
                cache_bytes=context.settings.index.embedding_cache_mb * 1_000_000,
            ),
            max(1, context.settings.index.workers),
            self._known,
            lambda delivery: context.loop.post(lambda: self._delivered(delivery)),
            lambda: context.loop.post(self.pump),
        )
        self._taken_at: dict[bytes, float] = {}
        self._dropped: set[bytes] = set()
        self._restat: dict[bytes, FileStat] = {}
        self._total = 0
        self._done = 0
        self._rate = Rate()
        self.rate_per_s = 0.0
        self._saved_at = time.monotonic()
        self._save_took_s = 0.0
        self._is_paused = False
        self.has_failed = False
        self._damages = 0  # since a commit last went well

    # --- opening

    def open(self, published: Manifest | None, *, is_sealed: bool) -> None:
        """Open the stores. Raise `OSError` when the disk does not let us."""
        context = self._context
        self.stores = open_stores(context.folder, self._versions, published, self.model, is_sealed=is_sealed)
        for note in self.stores.notes:
            context.board.say(note)
        self._feeder.faults = set(self.stores.ledger.faults())
        self.has_failed = False

    def begin(self, known: dict[bytes, FileStat]) -> None:
        """The tree looks like this: find out what the stores lack."""
        stores = self.stores
        if stores is None:
            return
        stats = stores.ledger.stats()
        wanted = {path for path, stat in known.items() if stats.get(path) != stat}
        wanted |= (stores.redo_keywords | stores.redo_vectors) & known.keys()
        self._dropped.update(stats.keys() - known.keys())
        edited = bool(stats) and len(wanted) < 200
        self._wait_for(wanted, edited=edited)
        self.pump()

    def warm(self) -> None:
        """Have the children start while the tree is still being listed."""
        self._feeder.warm()

    # --- changes

    @property
    def pending(self) -> int:
        """Files that the stores do not hold as the disk has them."""
        return self._feeder.pending + len(self._dropped)

    @property
    def is_complete(self) -> bool:
        stores = self.stores
        return (
            stores is not None
            and not self.pending
            and not stores.wants_commit
            and not stores.wants_save
            and not stores.redo_keywords
            and not stores.redo_vectors
        )

    @property
    def done(self) -> tuple[int, int]:
        """Files taken in since there was last nothing to do, and how many there were in all."""
        return self._done, max(self._total, self._done)

    def changed(self, paths: Iterable[bytes]) -> None:
        """These files look different, are new, or are gone."""
        stores = self.stores
        if stores is None:
            return
        coverage = self._context.coverage
        now = time.monotonic()
        present = []
        for path in paths:
            if coverage.stat(path) is None:
                self._feeder.forget((path,))
                self._dropped.add(path)
                self._taken_at.pop(path, None)
            elif now - self._taken_at.get(path, -AGAIN_S) >= AGAIN_S:
                self._dropped.discard(path)
                present.append(path)  # one taken in a moment ago is read again when it has settled
        self._wait_for(present, edited=True)
        self.pump()

    def examined(self, path: bytes, stat: FileStat, digest: bytes) -> None:
        """A settled file was read elsewhere and holds this."""
        stores = self.stores
        if stores is None:
            return
        if stores.ledger.content_hash(path) == digest:
            self._restat[path] = stat
            self._context.loop.at("restat", 0.2, self._write_restat)
        else:
            self._wait_for((path,), edited=True)
            self.pump()

    def _write_restat(self) -> None:
        if self.stores is not None and self._restat:
            restat, self._restat = self._restat, {}
            self._guarded(lambda stores: stores.ledger.restat(restat.items()))

    def _wait_for(self, paths: Iterable[bytes], *, edited: bool) -> None:
        known = self._context.coverage.known()
        items = []
        for path in paths:
            stat = known.get(path)
            if stat is not None:
                items.append(Waiting(path, stat.size_bytes, stat.mtime_ns / 1e9, edited))
        if items:
            self._feeder.add(items, time.time())
            self._total = self._done + self._feeder.pending
            self._context.loop.drop("rest")

    def _known(self, path: bytes) -> tuple[bytes, frozenset[bytes]]:
        stores = self.stores
        if stores is None or path in stores.redo_keywords or path in stores.redo_vectors:
            return b"", frozenset()
        return stores.ledger.known(path)

    # --- working

    def pause(self) -> None:
        """Give no more files to the children."""
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self.pump()

    def pump(self) -> None:
        """Keep the children at work; finish when there is nothing left."""
        context = self._context
        stores = self.stores
        if stores is None or context.cancel.is_cancelled:
            return
        if self._dropped:
            dropped, self._dropped = sorted(self._dropped), set()
            if not self._guarded(lambda stores: stores.drop(dropped)):
                return
        if not self._is_paused:
            self._feeder.embeds = self.model is not None and not stores.is_full
            if stores.is_full:
                context.board.say(
                    f"Vectors are kept for {VECTOR_LIMIT:,} chunks; the others are found by words.", once=True
                )
            try:
                self._feeder.pump()
            except RuntimeError as error:
                context.board.fail(f"The child processes ended: {error}.")
                context.loop.at("pump", RETRY_S, self.pump)
        if self._feeder.pending:
            if self._feeder.is_working:
                context.loop.at("stuck", STUCK_S, self._stuck, sooner=False)
            else:
                context.loop.drop("stuck")
            self._commit_if_due()
        else:
            self._finish()
        context.moved()

    def _stuck(self) -> None:
        self._context.board.fail("The child processes do not answer; they are started anew.")
        self._feeder.restart()
        self.pump()

    def _delivered(self, delivery: Delivery) -> None:
        stores = self.stores
        culprit = self._feeder.settle(delivery)
        if stores is None or self._context.cancel.is_cancelled:
            return
        if culprit is not None:
            self._blame(culprit, delivery.error)
        elif delivery.files:
            self._take(delivery.files)
        self.pump()

    def _blame(self, task: Task, error: BaseException | None) -> None:
        """One file alone killed or overran its child, or failed in it: by lines, and never otherwise while it holds this content."""
        reason = type(error).__name__ if error is not None else "unknown"
        if self._feeder.retry_by_lines(task):
            self._context.board.say(f"A file could not be parsed ({reason}) and is cut by lines.")
            return
        stat = self._context.coverage.stat(task.path)
        self._done += 1
        if stat is not None:
            self._guarded(
                lambda stores: stores.take([NewFile(task.path, stat, skip_reason="cannot be read in", detail=reason)])
            )

    def _take(self, files: Iterable[NewFile]) -> None:
        coverage = self._context.coverage
        now = time.monotonic()
        now_ns = time.time_ns()
        whole = []
        unsettled: list[bytes] = []
        same = {}
        count = 0
        for file in files:
            count += 1
            if file.is_gone or file.stat is None:
                continue  # the next look at the disk says what became of it
            self._taken_at[file.path] = now
            if not is_settled(file.stat, now_ns):
                unsettled.append(file.path)
            if file.is_same:
                same[file.path] = file.stat
            elif coverage.stat(file.path) is not None:
                whole.append(file)
                if file.by_lines:
                    self._feeder.faults.add(file.content_hash)
                    self._note_fault(file.content_hash)
        if len(self._taken_at) > 10_000:
            self._taken_at = {path: at for path, at in self._taken_at.items() if now - at < AGAIN_S}
        if same:
            self._guarded(lambda stores: stores.ledger.restat(same.items()))
        if whole:
            self._guarded(lambda stores: stores.take(whole))
        if unsettled:
            self._look_again(unsettled)
        self._done += count
        self.rate_per_s = self._rate.note(now, self._done)

    def _note_fault(self, key: bytes) -> None:
        self._guarded(lambda stores: stores.ledger.note_fault(key, "killed or overran the parser"))

    def _commit_if_due(self) -> None:
        stores = self.stores
        if stores is not None and stores.commit_is_due(time.monotonic()):
            self._guarded(lambda stores: stores.commit())
        now = time.monotonic()
        if now - self._saved_at > max(SAVE_EVERY_S, SAVE_SHARE * self._save_took_s):
            self._saved_at = now
            self._context.publish(0.0)

    def _finish(self) -> None:
        stores = self.stores
        context = self._context
        if stores is None:
            return
        if stores.wants_commit and not self._guarded(lambda stores: stores.commit()):
            return
        self._damages = 0
        if self._total:
            self._total = self._done = 0
            self._rate.reset()
            self.rate_per_s = 0.0
        context.loop.drop("stuck")
        context.loop.at("rest", 0.0 if self._feeder.is_in_the_way else REST_S, self._rest, sooner=False)
        if stores.wants_save:
            context.publish(0.0 if stores.is_small or not self._save_took_s else SAVE_EVERY_S)

    def _rest(self) -> None:
        """Nothing was to be done for a while: give back processes and memory."""
        if not self._feeder.pending:
            self._feeder.rest()
            self._guarded(lambda stores: stores.rest())

    def save(self, folder: Path, generation_path: str) -> VectorPart | None:
        """Write the vectors of a new generation; None when what is published still holds. Raise `OSError`."""
        stores = self.stores
        if stores is None or not stores.wants_save:
            return None
        began = time.monotonic()
        part = stores.save_vectors(folder, f"{generation_path}/{VECTORS}")
        self._saved_at = time.monotonic()
        self._save_took_s = self._saved_at - began
        return part

    def trim(self) -> None:
        """A generation was published: forget the dropped ids that both stores are past."""
        self._guarded(lambda stores: stores.trim())

    # --- trouble

    def _guarded(self, write: Callable[[Stores], object]) -> bool:
        """Run a write; when it fails, close the stores and try again later. Whether it went well."""
        stores = self.stores
        if stores is None:
            return False
        try:
            write(stores)
        except (OSError, IndexDamagedError) as error:
            self.fail(error)
            return False
        return True

    def fail(self, error: OSError | IndexDamagedError) -> None:
        """Close the stores, say why, and open them again after a while."""
        context = self._context
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            context.board.fail(
                f"The index cannot be written in {context.folder}: {reason}. Search by meaning waits; regular expressions work."
            )
        else:
            context.board.fail(error.message)
            self._damages += 1
        self.close()
        if self._damages >= DAMAGES:
            # Opening it again did not help: it looks whole and does not work.
            self._damages = 0
            context.board.say("The keyword index is made anew: it failed again and again.")
            shutil.rmtree(context.folder / KEYWORDS, ignore_errors=True)
        self.has_failed = True
        context.loop.at("reopen", RETRY_S if isinstance(error, OSError) else 0.0, self.reopen, sooner=False)
        context.moved()

    def reopen(self) -> None:
        """Open the stores and begin with what they lack."""
        context = self._context
        try:
            self.open(self._published(), is_sealed=False)
        except (OSError, IndexDamagedError) as error:
            self.fail(error if isinstance(error, OSError) else OSError(error.message))
            return
        context.board.fail("")
        self.begin(dict(context.coverage.known()))

    def close(self) -> None:
        """Kill the children, let go of the stores."""
        self._feeder.reset()
        stores, self.stores = self.stores, None
        if stores is not None:
            stores.close()
