"""A real HTTP server on the loopback that speaks the embeddings protocol, with faults on demand."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.transformer_double import letters


@dataclass
class Service:
    """`faults` are answered one after the other, then answers are sound: a status, `slow`, `half`, `nonsense`, `fewer`, `redirect`."""

    faults: list[int | str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[dict[str, object]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@contextlib.contextmanager
def serving() -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.requests.append(body)
            service.authorizations.append(self.headers.get("Authorization"))
            fault = service.faults.pop(0) if service.faults else None
            rows = [
                {"index": place, "embedding": [float(x) for x in row]}
                for place, row in enumerate(letters(body["input"]))
            ]
            if isinstance(fault, int):
                self._send(fault, json.dumps({"error": {"message": f"fault {fault}"}}).encode())
                return
            if fault == "slow":
                service.release.wait(30)
                return
            if fault == "redirect":
                self.send_response(307)
                self.send_header("Location", "http://192.0.2.1/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if fault == "fewer":
                rows = rows[:-1]
            whole = json.dumps({"object": "list", "data": rows[::-1], "model": body["model"]}).encode()
            if fault == "nonsense":
                whole = b"<html>busy</html>"
            if fault == "half":
                whole = whole[: len(whole) // 2]
            self._send(200, whole)

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            for name, value in service.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield service
    finally:
        service.release.set()
        server.shutdown()
        server.server_close()
