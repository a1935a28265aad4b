"""Brings archives of packages with the registries' ordinary clients; what was asked for before is not asked for again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_AT_ONCE = 4  # clients that run at the same time
_NAMES_A_CALL = 80  # reading its package lists is most of what a call of apt-get costs
_LIMIT_S = 900


def python_archive(folder: Path, name: str) -> Path | None:
    """The wheel of a package, or None."""
    if not folder.exists():
        folder.mkdir(parents=True)
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--no-cache-dir",
                "--only-binary=:all:",
                "-d",
                str(folder),
                name,
            ]
        )
    return next(folder.glob("*.whl"), None)


def javascript_archive(folder: Path, name: str) -> Path | None:
    if not folder.exists():
        folder.mkdir(parents=True)
        run(["npm", "pack", name, "--silent", "--ignore-scripts", "--pack-destination", str(folder)])
    return next(folder.glob("*.tgz"), None)


def debian_names() -> list[str]:
    """Every binary package that apt could fetch."""
    return sorted(set(re.findall(r"(?m)^Package: (\S+)$", run(["apt-cache", "dumpavail"]))))


def debian_archives(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """The archives of binary packages, by name."""
    _in_parts(["apt-get", "-q", "download"], folder, [name for name in names if not any(folder.glob(f"{name}_*.deb"))])
    return {name: path for name in names for path in folder.glob(f"{name}_*.deb")}


class SourcePackages:
    """Source packages of the sources that apt already knows, listed in a state of its own below `state`."""

    def __init__(self, state: Path) -> None:
        self._options = [
            "-o", f"Dir::Etc::SourceParts={state / 'parts'}", "-o", f"Dir::Etc::SourceList={state / 'none.list'}",
            "-o", f"Dir::State::Lists={state / 'lists'}", "-o", f"Dir::Cache={state / 'cache'}",
        ]  # fmt: skip
        for name in ("parts", "lists/partial", "cache"):
            (state / name).mkdir(parents=True, exist_ok=True)
        for known in Path("/etc/apt/sources.list.d").glob("debian*.sources"):
            (state / "parts" / known.name).write_text(re.sub(r"(?m)^Types:.*$", "Types: deb-src", known.read_text()))
        run(["apt-get", "-q", *self._options, "update"])

    def names(self) -> set[str]:
        lists = run(
            ["apt-get", *self._options, "indextargets", "--format", "$(FILENAME)", "Created-By: Sources"]
        ).split()
        return {
            name
            for file in lists
            for name in re.findall(r"(?m)^Package: (\S+)$", run(["/usr/lib/apt/apt-helper", "cat-file", file]))
        }

    def archives(self, folder: Path, names: Sequence[str]) -> dict[str, list[Path]]:
        """Packaging and upstream archives of source packages, by name."""
        known = self.names()
        wanted = [name for name in names if name in known and not any(folder.glob(f"{name}_*.debian.tar.*"))]
        _in_parts(["apt-get", "-q", *self._options, "source", "--download-only"], folder, wanted)
        return {
            name: sorted(path for path in folder.glob(f"{name}_*.tar.*") if path.suffix != ".asc") for name in names
        }


def _in_parts(command: list[str], folder: Path, names: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    parts = [list(names[start : start + _NAMES_A_CALL]) for start in range(0, len(names), _NAMES_A_CALL)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda part: run([*command, *part], folder), parts))


def run(command: list[str], folder: Path | None = None) -> str:
    """What a client prints; empty with a line on stderr when it is not installed or takes too long."""
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
        return ""
