"""Which licence statements are permissive in the sense of this project: MIT, BSD, ISC, Apache, Zlib and PSF, nothing else."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

_PERMISSIVE = re.compile(
    r"(expat|mit([ -/](expat|style|cmu|x11|old.*|license))?|x11|bsd([ -]?[0-4])?([ -]?clause)?([ -](new|simplified|like|style))?"
    r"|(new|modified|simplified|revised|2-clause|3-clause) bsd|isc|apache([ -](license|software license))?[ ,-]*(version)?[ -v]*(2(\.0)?)?"
    r"|zlib(/libpng)?|psf(-2(\.0)?)?|python software foundation|python-2(\.0)?|0bsd)(-?licen[cs]e(d)?| licen[cs]e)?"
)


def is_permissive(statement: str) -> bool:
    """Whether a licence expression allows use under one of our licences: `or` needs one permissive side, `and` and `,` need all."""
    plain = re.sub(r"[()]", " ", statement.lower()).replace("the ", "").strip()
    if not plain:
        return False
    alternatives = re.split(r"\s+or\s+|\s*\|\s*|(?<=[a-z0-9])/(?=apache|mit)", plain)
    return any(
        all(
            _PERMISSIVE.fullmatch(part.strip())
            for part in re.split(r"\s+and\s+|\s*,\s+|\s*;\s*", alternative)
            if part.strip()
        )
        for alternative in alternatives
        if alternative.strip()
    )


@dataclass(frozen=True, slots=True)
class Stanza:
    """One `Files:` paragraph of a Debian copyright file."""

    globs: tuple[str, ...]
    licence: str


def stanzas(copyright_text: str) -> tuple[Stanza, ...]:
    """The `Files:` paragraphs of a machine-readable copyright file (DEP-5); empty when it is not one."""
    found = []
    for paragraph in re.split(r"\n\s*\n", copyright_text):
        fields = dict(re.findall(r"(?m)^([A-Za-z-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)", paragraph))
        if "Files" in fields and "License" in fields:
            found.append(Stanza(tuple(fields["Files"].split()), fields["License"].split("\n")[0].strip()))
    return tuple(found)


def licence_of_all(copyright_text: str) -> str | None:
    """The licences of a package when every file of it (its packaging aside) is permissive, else None."""
    upstream = [
        stanza for stanza in stanzas(copyright_text) if not all(glob.startswith("debian/") for glob in stanza.globs)
    ]
    if not upstream or not all(is_permissive(stanza.licence) for stanza in upstream):
        return None
    return ", ".join(sorted({stanza.licence for stanza in upstream}))


def licence_of_file(path: str, paragraphs: tuple[Stanza, ...]) -> str:
    """The licence that the last matching paragraph gives to a file; empty when none matches."""
    for stanza in reversed(paragraphs):
        if any(fnmatch.fnmatchcase(path, glob) for glob in stanza.globs):
            return stanza.licence
    return ""
