"""A forge on this machine: git's own HTTP server behind Python's, with archives, passwords, rate limits and hangs, as tests want them."""

from __future__ import annotations

import base64
import io
import os
import subprocess
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.support.git_trees import Tree

BACKEND = (
    Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=False).stdout.strip())
    / "git-http-backend"
)


class Forge:
    """Serves the repositories below `folder` at `http://127.0.0.1:PORT/owner/name.git` until `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.password = ""  # asked of everybody when set
        self.status = 0  # answered to everybody when set
        self.headers: dict[str, str] = {}
        self.archives: dict[str, bytes] = {}  # by path, such as /o/n/archive/main.tar.gz
        self.redirects: dict[str, str] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []  # method, path, headers
        self.hang = threading.Event()  # when `hangs`, answers wait for it
        self.hangs = False
        self.began = threading.Event()
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def url(self, project: str) -> str:
        return f"http://{self.host}/{project}"

    def repository(self, project: str) -> Tree:
        """A repository with a work tree, which is served as a bare one."""
        tree = Tree(self.folder / project).init()
        tree.git("config", "uploadpack.allowAnySHA1InWant", "true")
        return tree

    def pack(self, project: str, ref: str, tree: Path, commit: str = "") -> None:
        """Have an archive of a folder, as a forge makes it."""
        out = io.BytesIO()
        headers = {"comment": commit} if commit else {}
        with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers) as packed:
            packed.add(
                tree,
                f"{project.rpartition('/')[2]}-{ref}",
                filter=lambda member: None if "/.git" in member.name else member,
            )
        self.archives[f"/{project}/archive/{ref}.tar.gz"] = out.getvalue()

    def close(self) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *given: Any) -> None:
                return None

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                path = urlsplit(self.path).path
                forge.asked.append((self.command, self.path, dict(self.headers)))
                forge.began.set()
                if forge.hangs:
                    forge.hang.wait(60)
                if forge.status:
                    self._plain(forge.status, b"no", forge.headers)
                elif forge.password and self.headers.get("Authorization") != _basic(forge.password):
                    self._plain(401, b"who are you", {"WWW-Authenticate": 'Basic realm="forge"'})
                elif path in forge.redirects:
                    self._plain(302, b"", {"Location": forge.redirects[path]})
                elif path in forge.archives:
                    self._plain(200, forge.archives[path], {"Content-Type": "application/gzip"})
                elif found := _asked_of_git(path, forge.folder):
                    self._git(*found)
                else:
                    self._plain(404, b"none", {})

            def _plain(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _git(self, project: str, rest: str) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                environ = {
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(forge.folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_CONFIG_GLOBAL": os.devnull,
                    "PATH_INFO": f"/{project}/.git/{rest}",
                    "QUERY_STRING": parts.query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "REMOTE_ADDR": "127.0.0.1",
                }
                done = subprocess.run([BACKEND], input=body, capture_output=True, env=environ, check=False)
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
                status = int(headers.pop("Status", "200").split()[0])
                self._plain(status, content, headers)

        return Handler


class _Quiet(ThreadingHTTPServer):
    """Says nothing when a client goes away in the middle, which is what the tests are about."""

    def handle_error(self, request: object, client_address: object) -> None:
        return None


def _asked_of_git(path: str, folder: Path) -> tuple[str, str] | None:
    """The repository and the service that a path asks for, with or without `.git`; None when there is none."""
    for service in ("info/refs", "git-upload-pack"):
        if path.endswith("/" + service):
            project = unquote(path.removesuffix("/" + service)).strip("/").removesuffix(".git")
            return (project, service) if (folder / project / ".git").is_dir() else None
    return None


def _basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()
