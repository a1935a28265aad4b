"""Where git is missing: the archive that a forge makes of a commit, over HTTPS.

The secret goes into a header, never into the address; a redirect to another host does not get it, and none leads from TLS to the clear.
"""

from __future__ import annotations

import contextlib
import email.message
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

from mgrep_tui import __version__
from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories.addresses import Address
from mgrep_tui.repositories.credentials import Secret, variables_named
from mgrep_tui.repositories.limits import DISK_ERRORS, Limits, check_size
from mgrep_tui.repositories.unpack import Unpacked, unpack

TIMEOUT_S = 30.0
PIECE_BYTES = 1 << 16
MAX_ANSWER_BYTES = 2_000_000
REPORT_S = 0.2
WATCH_S = 0.05
"""How often it is looked whether an answer is still wanted, while a read waits for it."""


def archive_url(address: Address, ref: str) -> str:
    """Where the forge has the archive of `ref` (a branch, tag or commit). Raises `MgrepError` for an address that has none. Pure."""
    _check_scheme(address)
    project = quote(address.project.removesuffix(".git"), safe="/~")
    where = f"{address.scheme}://{address.host}"
    name = quote(ref, safe="/")
    if address.host == "github.com":
        return f"https://codeload.github.com/{project}/tar.gz/{name}"
    match address.forge:
        case "gitlab":
            return (
                f"{where}/api/v4/projects/{quote(project, safe='')}/repository/archive.tar.gz?sha={quote(ref, safe='')}"
            )
        case "bitbucket":
            return f"{where}/{project}/get/{name}.tar.gz"
        case _:  # GitHub's own servers, Gitea, Forgejo, sourcehut
            return f"{where}/{project}/archive/{name}.tar.gz"


def _check_scheme(address: Address) -> None:
    if address.scheme not in ("https", "http"):
        raise MgrepError(
            f"Without git only web addresses can be opened, and {address} is none.", "Install git, or use https://."
        )


def default_ref(address: Address, secret: Secret | None, cancel: CancelToken) -> str:
    """What stands for the default branch in an archive's address; a forge that has no word for it is asked.

    Raises `MgrepError` when it cannot be reached, and `Cancelled`.
    """
    if address.forge in ("github", "gitlab", "bitbucket", "sourcehut"):
        return "HEAD"
    _check_scheme(address)
    project = quote(address.project.removesuffix(".git"), safe="/~")
    url = f"{address.scheme}://{address.host}/api/v1/repos/{project}"
    try:
        with _opened(url, address, secret, cancel) as answer, _given_up(answer, cancel):
            found = json.loads(answer.read(MAX_ANSWER_BYTES))
        branch = found.get("default_branch") if isinstance(found, dict) else None
    except (OSError, http.client.HTTPException) as error:
        cancel.check()
        raise _explained(error, address) from error
    except (ValueError, RecursionError):
        branch = None
    except MgrepError as error:
        if not isinstance(error.__cause__, urllib.error.HTTPError):
            raise
        branch = None
    return branch if isinstance(branch, str) and branch else "HEAD"


def download(
    address: Address,
    secret: Secret | None,
    folder: Path,
    archive: Path,
    limits: Limits,
    cancel: CancelToken,
    report: Callable[[str], None],
) -> Unpacked:
    """Fetch the archive to the file `archive`, which is removed again, and unpack it into the empty `folder`.

    Raises `MgrepError` in a person's words, and `Cancelled`.
    """
    report("asking for the archive")
    url = archive_url(address, address.ref or default_ref(address, secret, cancel))
    try:
        with _opened(url, address, secret, cancel) as answer, _given_up(answer, cancel), archive.open("xb") as out:
            total = _length(answer.headers)
            got, told = 0, 0.0
            while True:
                cancel.check()
                piece = answer.read1(PIECE_BYTES)
                if not piece:
                    break
                got += len(piece)
                check_size(archive.parent, limits, got)
                out.write(piece)
                if time.monotonic() - told > REPORT_S:
                    told = time.monotonic()
                    share = f", {min(100, 100 * got // total)} %" if total else ""
                    report(f"receiving the archive, {got / 1e6:,.1f} MB{share}")
        cancel.check()
        if total and got < total:
            raise MgrepError(f"The connection to {address.host} broke off.", "Try again.")
        report("unpacking")
        return unpack(archive, folder, limits, cancel)
    except (OSError, http.client.HTTPException) as error:
        cancel.check()
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise  # of our own disk
        raise _explained(error, address) from error
    finally:
        archive.unlink(missing_ok=True)


@contextlib.contextmanager
def _given_up(answer: http.client.HTTPResponse, cancel: CancelToken) -> Iterator[None]:
    """Ends the connection when nobody wants the answer any more, so that a read that waits for it comes back at once."""
    connection = socket.fromfd(answer.fileno(), socket.AF_INET, socket.SOCK_STREAM)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_S):
            if cancel.is_cancelled:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                return

    threading.Thread(target=watch, name="archive-watch", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        connection.close()


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, without the secret to another host, and never out of TLS."""

    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme != "https"):
            raise urllib.error.URLError("it leads out of TLS")
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and (old.scheme, old.netloc) != (new.scheme, new.netloc):
            following.remove_header("Authorization")
        return following


def _opened(
    url: str, address: Address, secret: Secret | None, cancel: CancelToken
) -> contextlib.closing[http.client.HTTPResponse]:
    request = urllib.request.Request(url, headers={"User-Agent": f"mgrep-tui/{__version__}", "Accept": "*/*"})
    if secret is not None:
        # GitHub's archives of private repositories are at its interface only, which sends us on with a short-lived address.
        if address.host == "github.com" and "codeload.github.com" in url:
            project, _, ref = urlsplit(url).path.strip("/").partition("/tar.gz/")
            request.full_url = f"https://api.github.com/repos/{project}/tarball/{ref}"
        request.add_header("Authorization", secret.header)
    opener = urllib.request.build_opener(_Redirects, urllib.request.HTTPSHandler(context=ssl.create_default_context()))
    try:
        return contextlib.closing(_awaited(lambda: opener.open(request, timeout=TIMEOUT_S), cancel))
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _explained(error, address) from error


def _awaited(ask: Callable[[], http.client.HTTPResponse], cancel: CancelToken) -> http.client.HTTPResponse:
    """What `ask` returns or raises. It runs in a thread that is left alone when nobody wants the answer any more, since there is no socket
    yet that could be shut. Raises `Cancelled`."""
    answers: Future[http.client.HTTPResponse] = Future()

    def run() -> None:
        try:
            answers.set_result(ask())
        except BaseException as error:
            answers.set_exception(error)

    threading.Thread(target=run, name="archive-request", daemon=True).start()
    while not answers.done():
        if cancel.is_cancelled:
            answers.add_done_callback(_close_answer)
            raise Cancelled
        wait_for([answers], WATCH_S)
    return answers.result()


def _close_answer(answers: Future[http.client.HTTPResponse]) -> None:
    """End what came when nobody wanted it any more."""
    if answers.exception() is None:
        answers.result().close()


def _length(headers: email.message.Message) -> int:
    try:
        return max(0, int(headers.get("Content-Length") or 0))
    except ValueError:
        return 0


def _explained(error: Exception, address: Address) -> MgrepError:
    """What went wrong, as a sentence and what to do. Pure but for the clock."""
    host = address.host
    if isinstance(error, urllib.error.HTTPError):
        headers = error.headers
        if error.code == 429 or (
            error.code == 403 and (headers.get("X-RateLimit-Remaining") == "0" or headers.get("Retry-After"))
        ):
            return MgrepError(
                f"{host} takes no more requests for now{_until(headers)}.", f"Wait, or set {variables_named(address)}."
            )
        if error.code in (401, 403):
            return MgrepError(
                f"{host} does not let us read {address.project}.", f"If it is private, set {variables_named(address)}."
            )
        if error.code == 404:
            what = f"'{address.ref}' of {address.project}" if address.ref else address.project
            return MgrepError(f"There is no {what} at {host}.", f"If it is private, set {variables_named(address)}.")
        return MgrepError(f"{host} answered with an error ({error.code}).", "Try again later.")
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLError):
        return MgrepError(f"The connection to {host} is not safe: {reason.reason or 'TLS failed'}.")
    if isinstance(reason, (socket.gaierror, ConnectionError, TimeoutError)):
        return MgrepError(f"{host} cannot be reached.", "Is there a network?")
    return MgrepError(f"{host} could not be read: {reason}.", "Is there a network?")


def _until(headers: email.message.Message) -> str:
    """` until 14:32`, when the answer says so."""
    try:
        named = headers.get("X-RateLimit-Reset") or headers.get("RateLimit-Reset")
        reset = int(named or 0) or time.time() + int(headers.get("Retry-After") or 0)
    except ValueError:
        return ""
    return f" until {time.strftime('%H:%M', time.localtime(reset))}" if reset > time.time() else ""
