"""A server over TLS: its certificate is verified, and one that is not good is refused in a sentence, before anything is sent."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from mgrep_tui.clickhouse.address import parse_address
from mgrep_tui.clickhouse.connecting import connect
from mgrep_tui.clickhouse.connection import rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError
from tests.support.clickhouse_server import TestServer

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificates with openssl")
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of an authority of our own."""
    folder = tmp_path_factory.mktemp("authority")
    openssl(folder, "req", "-x509", *CURVE, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=Ours")
    return folder


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def signed(authority: Path, name: str, host: str, days: int = 30) -> ssl.SSLContext:
    """How a server presents a certificate for `host` that the authority signed."""
    openssl(authority, "req", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={host}")
    (authority / f"{name}.ext").write_text(f"subjectAltName=DNS:{host}\n")
    openssl(
        authority, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
        "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.pem",
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / f"{name}.pem", authority / f"{name}.key")
    return context


def test_a_certificate_of_ones_own_authority_is_accepted(engine: EmbeddedConnection, authority: Path) -> None:
    running = TestServer(engine, tls=signed(authority, "good", "localhost"))
    try:
        connection = connect(parse_address(running.address), {"MGREP_TUI_ENGINE_CA": str(authority / "ca.pem")})
        assert rows(connection.batches("SELECT 1")) == [(1,)]
        connection.close()
    finally:
        running.close()


@pytest.mark.parametrize(
    ("host", "days", "is_trusted", "said"),
    [
        ("localhost", 30, False, "no authority that is trusted here has signed it"),
        ("elsewhere.example", 30, True, "it belongs to another host"),
        ("localhost", -1, True, "it has expired"),
    ],
)
def test_a_certificate_that_is_not_good_is_refused(
    engine: EmbeddedConnection, authority: Path, host: str, days: int, is_trusted: bool, said: str
) -> None:
    running = TestServer(engine, tls=signed(authority, "bad", host, days))
    environ = {"MGREP_TUI_ENGINE_PASSWORD": "hunter2"}
    if is_trusted:
        environ["MGREP_TUI_ENGINE_CA"] = str(authority / "ca.pem")
    try:
        with pytest.raises(EngineError, match=f"certificate of localhost:[0-9]+ is refused: {said}") as caught:
            connect(parse_address(running.address), environ)
        assert ("MGREP_TUI_ENGINE_CA" in (caught.value.hint or "")) == (not is_trusted)
        assert running.statements == [] and running.requests == 0
    finally:
        running.close()


def test_an_authority_that_is_not_there_is_said() -> None:
    with pytest.raises(EngineError, match="no file"):
        connect(parse_address("https://localhost:9/mgrep"), {"MGREP_TUI_ENGINE_CA": "/nowhere/ca.pem"})


def test_what_speaks_no_tls_is_no_engine(server: TestServer) -> None:
    with pytest.raises(EngineError, match="does not answer"):
        connect(parse_address(server.address.replace("http://", "https://")), {})
