"""Nothing goes to an endpoint before somebody agreed for the folder, once."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from mgrep_tui import cli
from mgrep_tui.embedding.agreement import Agreements
from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.deep import DeepTier
from mgrep_tui.embedding.remote import KEY_VARIABLE, RemoteBackend
from mgrep_tui.errors import MgrepError, ModelError
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.settings.config import SemanticSettings, Settings
from mgrep_tui.settings.paths import user_folders

ENDPOINT = SemanticSettings(endpoint="https://api.example.org/v1", endpoint_model="text-embedding-3-small")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was sent; nothing leaves."""
    sent: list[str] = []

    def refuse(self: object, request: urllib.request.Request, *args: object, **kwargs: object) -> None:
        sent.append(request.full_url)
        raise OSError("no network in a test")

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", refuse)
    monkeypatch.setattr("mgrep_tui.embedding.remote.FIRST_PAUSE_S", 0.0)
    return sent


def test_an_agreement_is_for_a_model_and_a_folder_and_what_lies_below(tmp_path: Path) -> None:
    agreements = Agreements(tmp_path / "state" / "agreements.json")
    assert not agreements.holds("endpoint:a", "/srv/me/work")
    agreements.agree("endpoint:a", ["/srv/me/work", "/srv/f\udce9"])
    again = Agreements(tmp_path / "state" / "agreements.json")
    assert again.holds("endpoint:a", "/srv/me/work") and again.holds("endpoint:a", "/srv/me/work/api")
    assert again.holds("endpoint:a", "/srv/f\udce9/x")
    assert not again.holds("endpoint:a", "/srv/me/work2") and not again.holds("endpoint:a", "/srv/me")
    assert not again.holds("endpoint:b", "/srv/me/work")
    again.withdraw("endpoint:a", ["/srv/me/work"])
    assert not agreements.holds("endpoint:a", "/srv/me/work") and agreements.holds("endpoint:a", "/srv/f\udce9")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"endpoint:a": 3}', '{"endpoint:a": null}'])
def test_a_file_that_cannot_be_understood_agrees_to_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "agreements.json").write_text(content)
    agreements = Agreements(tmp_path / "agreements.json")
    assert not agreements.holds("endpoint:a", "/home")
    agreements.agree("endpoint:a", ["/home"])
    assert agreements.holds("endpoint:a", "/home")


def test_an_agreement_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(MgrepError, match=r"agreements\.json cannot be written"):
        Agreements(tmp_path / "state" / "agreements.json").agree("endpoint:a", ["/home"])


def test_a_tier_that_nobody_agreed_to_sends_nothing(tmp_path: Path, requests: list[str]) -> None:
    agreed = False
    tier = DeepTier(ENDPOINT, EmbeddingCache(tmp_path / "c.sqlite3"), {}, is_agreed=lambda model: agreed)
    assert not tier.available and tier.notice == ""
    assert "before you agree" in tier.asks and tier.asks in tier.state
    tier.start()
    for call in (lambda: tier.embed(["x"]), lambda: tier.embed_query("x"), lambda: tier.rescore("x", ["y"])):
        with pytest.raises(ModelError, match=r"Nothing is sent to api\.example\.org"):
            call()
    assert requests == []
    agreed = True  # in another process, say
    assert tier.available and tier.asks == "" and "api.example.org" in tier.notice
    with pytest.raises(ModelError):
        tier.embed_query("x")
    tier.close()
    assert requests


def test_a_server_on_this_machine_needs_no_agreement_unless_it_wants_a_key() -> None:
    def needs(endpoint: str, environ: dict[str, str]) -> bool:
        return RemoteBackend(endpoint, "m", 20, environ).needs_agreement

    assert not needs("http://localhost:11434/v1", {}) and not needs("http://[::1]:1/v1", {})
    assert needs("http://localhost:11434/v1", {KEY_VARIABLE: "k"})
    assert needs("http://10.0.0.7/v1", {}) and needs("https://api.example.org/v1", {})


def test_all_that_is_open_must_be_agreed_to(tmp_path: Path) -> None:
    folders = user_folders({"MGREP_TUI_HOME": str(tmp_path)})
    shared = SharedModels(Settings(semantic=ENDPOINT), folders)
    one, two = (lambda: None), (lambda: None)
    tier = shared.deep(one, "/srv/me/a")
    Agreements(folders.agreements).agree(tier.model_id, ["/srv/me/a"])
    assert tier.available
    assert shared.deep(two, "/srv/me/b") is tier and not tier.available
    Agreements(folders.agreements).agree(tier.model_id, ["/srv/me/b"])
    assert tier.available
    shared.leave(one)
    shared.leave(two)


def run(*words: str) -> int:
    return cli.run(list(words))


def test_the_command_says_what_it_takes_before_it_is_agreed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], requests: list[str]
) -> None:
    monkeypatch.setenv("MGREP_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    config = tmp_path / "config.toml"
    config.write_text(
        '[semantic]\nendpoint = "https://api.example.org/v1"\nendpoint_model = "text-embedding-3-small"\n'
    )
    tree = tmp_path / "tree"
    tree.mkdir()
    options = ("--config", str(config), str(tree))
    assert run("agree", *options) == 1
    said = capsys.readouterr().out
    assert (
        f"Code of {tree} would be sent to text-embedding-3-small at api.example.org" in said and "agree --yes" in said
    )
    assert run("agree", "--yes", *options) == 0
    assert run("agree", *options) == 0
    assert "Agreed" in capsys.readouterr().out
    kept = json.loads((tmp_path / "home" / "state" / "agreements.json").read_text())
    assert list(kept.values()) == [[str(tree)]]
    assert run("agree", "--withdraw", *options) == 0
    assert run("agree", *options) == 1
    assert requests == []
    with pytest.raises(MgrepError, match="No endpoint is configured"):
        run("agree", str(tree))
