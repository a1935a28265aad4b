"""A ClickHouse server for tests: HTTP on loopback, every statement handed with its parameters to the embedded engine.

It speaks as much of the protocol as `clickhouse-connect` uses: statements in the address, the body or a form, parameters as `param_…`, the
format at the statement's end, settings in the address, user and password in the headers, `KILL QUERY` by the id a statement came with.
"""

from __future__ import annotations

import base64
import re
import ssl
import threading
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken

FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
INSERT = re.compile(rb"(\s*INSERT\b.*?\bFORMAT\s+\w+)[ ]*\n", re.IGNORECASE | re.DOTALL)
SETTINGS = re.compile(r"max_(?:execution_time|memory_usage|threads)|output_format_arrow_\w+")
NUMBERED = re.compile(r"\d+(?:\.\d+)?")


class TestServer:
    """One server. `statements` are those that it was given, in order, without their parameters."""

    __test__ = False

    def __init__(
        self, engine: EmbeddedConnection, user: str = "default", password: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self.engine = engine
        self.credentials = user, password
        self.statements: list[str] = []
        self.parameters: list[dict[str, str]] = []
        self.running: dict[str, CancelToken] = {}
        self.killed: list[str] = []
        self.fails = False
        self.requests = 0
        self._tls = tls

        class Handler(_Handler):
            owner = self

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            # The handshake is the request's own thread's, so that one that fails ends nothing else.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
            self._server.handle_error = lambda *of: None  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        start = "http://127.0.0.1" if self._tls is None else "https://localhost"
        return f"{start}:{self._server.server_address[1]}/mgrep"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: TestServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        return None

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            self._answer(b"".join(self._chunks()))
            return
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, body: bytes) -> None:
        self.owner.requests += 1
        if self.owner.fails:
            self._fail(503, 0, "out of service")
            return
        if self._who() != self.owner.credentials:
            self._fail(403, 516, "default: Authentication failed: password is incorrect")
            return
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True, errors="surrogateescape"))
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            fields |= _form(kind, body)
            body = b""
        elif kind.startswith("application/x-www-form-urlencoded"):
            fields |= dict(parse_qsl(body.decode(), keep_blank_values=True))
            body = b""
        sql = fields.get("query", "")
        whole = INSERT.match(body)
        if not sql and whole is not None:
            sql, body = whole[1].decode(), body[whole.end() :]
        if not sql or not sql.lstrip().upper().startswith("INSERT"):
            sql += body.decode() if body else ""
            body = b""
        parameters = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        self.owner.statements.append(sql)
        self.owner.parameters.append(parameters)
        try:
            self._run(sql.strip(), parameters, fields, body)
        except EngineError as error:
            code = {"The engine stopped the search at its time limit.": 159}.get(error.message, 1)
            self._fail(500, code, error.message)
        except Cancelled:
            self._fail(500, 394, "Query was cancelled")

    def _run(self, sql: str, parameters: dict[str, str], fields: dict[str, str], body: bytes) -> None:
        found = FORMAT.search(sql)
        shape = found[1] if found else ""
        sql = sql[: found.start()] if found else sql
        settings = {
            name: float(value) if "." in value else int(value)
            for name, value in fields.items()
            if SETTINGS.fullmatch(name) and NUMBERED.fullmatch(value)
        }
        if sql.upper().startswith("KILL QUERY"):
            mark = parameters.get("mark", "")
            self.owner.killed.append(mark)
            if mark in self.owner.running:
                self.owner.running[mark].cancel()
            self._send(b"")
            return
        if sql.upper().startswith("INSERT") and body:
            self.owner.engine.insert_raw(sql, shape, body)
            self._send(b"")
            return
        if re.match(r"(?:CREATE|DELETE|ALTER|INSERT|OPTIMIZE|DROP)\b", sql, re.IGNORECASE):
            for _ in self.owner.engine.pieces(sql, parameters, "", {}):
                pass
            self._send(b"")
            return
        token = CancelToken()
        mark = fields.get("query_id", "")
        self.owner.running[mark] = token
        try:
            pieces = list(self.owner.engine.pieces(sql, parameters, shape or "TabSeparated", settings, token))
        finally:
            self.owner.running.pop(mark, None)
        self._send(_one_stream(pieces) if shape == "ArrowStream" else b"".join(pieces))

    def _who(self) -> tuple[str, str]:
        user, password = self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")
        given = self.headers.get("Authorization", "")
        if given.startswith("Basic "):
            user, _, password = base64.b64decode(given[6:]).decode().partition(":")
        return user or "default", password or ""

    def _send(self, content: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.send_header("X-ClickHouse-Summary", "{}")
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, status: int, code: int, text: str) -> None:
        content = f"Code: {code}. DB::Exception: {text}. (TEST)".encode()
        self.send_response(status)
        self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _form(kind: str, body: bytes) -> dict[str, str]:
    """The fields of a form."""
    whole: Message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    found = {}
    for part in whole.get_payload():
        assert isinstance(part, Message)
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(name)] = content.decode()
    return found


def _one_stream(pieces: list[bytes]) -> bytes:
    """The library writes a stream for every block; a server writes one for all."""
    import io

    import pyarrow as pa

    source = io.BytesIO(b"".join(pieces))
    sink = io.BytesIO()
    writer = None
    while source.tell() < len(source.getvalue()):
        reader = pa.ipc.open_stream(source)
        for batch in reader:
            writer = writer or pa.ipc.new_stream(sink, batch.schema)
            writer.write_batch(batch)
        writer = writer or pa.ipc.new_stream(sink, reader.schema)
    if writer is not None:
        writer.close()
    return sink.getvalue()
