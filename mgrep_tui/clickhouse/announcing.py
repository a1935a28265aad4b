"""What is said of a commit beside its files: that it is there, which branch of its repository is searched, which models have vectors."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pyarrow as pa

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.keys import model_name, state_of
from mgrep_tui.clickhouse.tree import Publication
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import ModelError
from mgrep_tui.index.writer import versions_of
from mgrep_tui.settings.config import Settings


def maker_of(settings: Settings, queries: Path | None) -> str:
    """A name for all that the chunks of a file depend on beside the file."""
    what = versions_of(settings.chunking, queries if queries is not None else Path(os.devnull))
    return hashlib.blake2b(what.encode(), digest_size=8).hexdigest()


def text_of(value: str) -> pa.Array:
    return pa.array([value.encode("utf-8", "surrogateescape")], pa.binary())


def introduce(connection: Connection, publication: Publication, *, chooses_branch: bool = False) -> None:
    """A repository's first push says which branch is searched: the remote's own, else the pushed one. `chooses_branch` says so anew."""
    known = rows(
        connection.batches(
            f"SELECT branch FROM {connection.database}.repositories FINAL WHERE repository = unhex({{name:String}})",
            {"name": publication.repository.encode("utf-8", "surrogateescape").hex()},
            limits=WORK,
        )
    )
    if known and not chooses_branch:
        return
    branch = publication.branch if chooses_branch else publication.default_branch or publication.branch
    connection.insert(
        f"{connection.database}.repositories",
        pa.table(
            {
                "repository": text_of(publication.repository),
                "branch": text_of(branch),
                "remote": text_of(_without_credentials(publication.remote)),
                "at": pa.array([schema.now_us()], pa.uint64()),
            }
        ),
    )


def _without_credentials(remote: str) -> str:
    """A remote's address as everybody may read it."""
    scheme, separator, rest = remote.partition("://")
    if not separator:
        return remote
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def is_published(connection: Connection, publication: Publication) -> bool:
    found = rows(
        connection.batches(
            f"SELECT count() FROM {connection.database}.commits FINAL WHERE state = {{state:UInt64}}"
            " AND branch = unhex({branch:String})",
            {
                "state": state_of(publication.repository, publication.commit),
                "branch": publication.branch.encode("utf-8", "surrogateescape").hex(),
            },
            limits=WORK,
        )
    )
    return bool(found[0][0])


def static_model() -> tuple[str, int]:
    """The model whose vectors are published, and their dimension; empty when it cannot be loaded."""
    try:
        model = load_static()
    except ModelError:
        return "", 0
    return model.model_id, model.dimension


def vectors_of(connection: Connection, model: str, dimension: int) -> str:
    """The table of a model's vectors, which is made when there is none."""
    if not 0 < dimension <= schema.DIMENSION_LIMIT:
        raise EngineError(f"A model of {dimension} dimensions cannot be published.")
    name = model_name(model)
    known = rows(
        connection.batches(
            f"SELECT name FROM {connection.database}.models FINAL WHERE model = {{model:String}}",
            {"model": model},
            limits=WORK,
        )
    )
    if not known:
        table = schema.vectors_table(name, dimension)
        for statement in schema.create_statements(table, connection.database, connection.cluster):
            connection.run(statement)
        connection.insert(
            f"{connection.database}.models",
            pa.table(
                {
                    "model": text_of(model),
                    "name": text_of(name),
                    "dimension": pa.array([dimension], pa.uint32()),
                    "at": pa.array([schema.now_us()], pa.uint64()),
                }
            ),
        )
    return name
