"""`agree`: what it would take to have code of these folders sent to the endpoint that is configured; with `--yes` it may be."""

from __future__ import annotations

import argparse
import os

from mgrep_tui.commands.common import prepare, warn
from mgrep_tui.commands.explorers import Explorers, bring_all
from mgrep_tui.embedding.agreement import Agreements
from mgrep_tui.embedding.remote import RemoteBackend
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.text.sanitize import sanitize

AGREED, NOT_AGREED, ERROR = 0, 1, 2


def agree(arguments: argparse.Namespace) -> int:
    """Say where code would go and what that may cost; `--yes` remembers that it may, `--withdraw` that it may not. Sends nothing."""
    context = prepare(arguments, prefers_git_root=True)
    warn(context)
    semantic = context.settings.semantic
    if not semantic.endpoint:
        raise MgrepError(
            "No endpoint is configured: nothing leaves this machine.",
            "semantic.endpoint in the configuration names one.",
        )
    endpoint = RemoteBackend(semantic.endpoint, semantic.endpoint_model, semantic.endpoint_batch, os.environ)
    if endpoint.reason:
        raise MgrepError(endpoint.reason)
    agreements = Agreements(context.folders.agreements)
    if arguments.engine is not None:
        from mgrep_tui.clickhouse.address import parse_address

        return _one(agreements, endpoint, f"engine {parse_address(arguments.engine).label}", "", arguments)
    context = bring_all(context, CancelToken())
    explorers = Explorers(context, watch=False)
    status = AGREED
    for place in context.targets.places:
        explorer = explorers.local(place)
        explorer.open_as_is()
        try:
            health = explorer.health()
        finally:
            explorer.close()
        cost = (
            str(endpoint.estimate(health.chunks, health.chunked_bytes)) if health.chunks else "It is not indexed yet."
        )
        status = max(status, _one(agreements, endpoint, str(explorer.folder), cost, arguments))
    return ERROR if context.targets.troubles else status


def _one(
    agreements: Agreements, endpoint: RemoteBackend, subject: str, cost: str, arguments: argparse.Namespace
) -> int:
    shown = sanitize(subject)
    if arguments.withdraw:
        agreements.withdraw(endpoint.model_id, [subject])
        print(f"No code of {shown} is sent to {endpoint.host} any more.")
        return AGREED
    if arguments.yes:
        agreements.agree(endpoint.model_id, [subject])
    is_agreed = agreements.holds(endpoint.model_id, subject) or not endpoint.needs_agreement
    print(
        f"Code of {shown} {'is' if is_agreed else 'would be'} sent to {endpoint.title}: the best 50 chunks of"
        f' each question, each once, and with semantic.deep = "background" all of them. {cost}'.rstrip()
    )
    print(
        "Agreed; --withdraw takes it back." if is_agreed else "Nothing is sent before you agree: mgrep-tui agree --yes"
    )
    return AGREED if is_agreed else NOT_AGREED
