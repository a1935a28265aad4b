"""For which folders somebody agreed that their code is sent to an endpoint: asked once, kept in the state folder."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from mgrep_tui.errors import MgrepError


class Agreements:
    """One JSON file, `{model id: [folder, …]}`; who agreed for a folder agreed for all below it. Safe from any thread: it is read whole
    and replaced whole. What cannot be read holds nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, model_id: str, subject: str) -> bool:
        """Whether somebody agreed for this folder (or address of an engine), or for one above it."""
        agreed = self._read().get(model_id, [])
        return any(subject == one or subject.startswith(one.rstrip("/") + "/") for one in agreed)

    def agree(self, model_id: str, subjects: Iterable[str]) -> None:
        """Remember it. Raises `MgrepError` when it cannot be kept."""
        every = self._read()
        every[model_id] = sorted({*every.get(model_id, []), *subjects})
        self._write(every)

    def withdraw(self, model_id: str, subjects: Iterable[str]) -> None:
        """Forget it. Raises `MgrepError` when it cannot be kept."""
        every = self._read()
        every[model_id] = sorted({*every.get(model_id, [])} - {*subjects})
        self._write(every)

    def _read(self) -> dict[str, list[str]]:
        try:
            found = json.loads(self._path.read_text("ascii"))
            return {str(name): [str(one) for one in some] for name, some in found.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def _write(self, every: dict[str, list[str]]) -> None:
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(every, indent=1), "ascii")
            os.replace(temporary, self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise MgrepError(f"{self._path} cannot be written: {error.strerror}.") from error
