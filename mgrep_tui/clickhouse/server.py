"""An engine on a server or cluster, over HTTP(S): `clickhouse-connect` carries our statements, their parameters and their limits.

Certificates are verified, against the authorities that everybody trusts or against a file of one's own. A search that is no longer wanted
closes its connection and kills its statement by the id it was sent with.
"""

from __future__ import annotations

import contextlib
import io
import ssl
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import clickhouse_connect
import pyarrow as pa
from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError

from mgrep_tui.clickhouse.address import AUTHORITY_VARIABLE, Credentials, ServerAddress
from mgrep_tui.clickhouse.connection import ARROW, ARROW_SETTINGS, SEARCH, WORK, Limits
from mgrep_tui.clickhouse.errors import CANCELLED_CODES, EngineError, code_of, error_of
from mgrep_tui.clickhouse.values import Parameters
from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken

UNKNOWN = "no authority that is trusted here has signed it"
# By OpenSSL's numbers.
WHY = {
    9: "it is not valid yet",
    10: "it has expired",
    18: UNKNOWN,
    19: UNKNOWN,
    20: UNKNOWN,
    21: UNKNOWN,
    62: "it belongs to another host",
    64: "it belongs to another host",
}
CONNECT_S = 5
ANSWER_S = 3_600
WATCH_S = 0.05
"""How often a waiting statement's token is looked at: a thread sits in the socket meanwhile."""


class ServerConnection:
    """A server. Any thread may use it, several at once: there is no session that could hold one up."""

    def __init__(self, address: ServerAddress, credentials: Credentials, authority: str = "") -> None:
        """Connect. `authority` is a file of certificates to trust, in place of the usual. Raises `EngineError`, without a word of the
        credentials."""
        self.database = address.database
        self.cluster = address.cluster
        try:
            self._client: Any = clickhouse_connect.get_client(
                host=address.host,
                port=address.port,
                username=credentials.user,
                password=credentials.password,
                interface="https" if address.is_secure else "http",
                verify=True,
                ca_cert=authority or None,
                connect_timeout=CONNECT_S,
                send_receive_timeout=ANSWER_S,
                autogenerate_session_id=False,
                # A parameter can be a megabyte, which no address line takes.
                form_encode_query_params=True,
                query_limit=0,
                compress=False,
                settings={"distributed_product_mode": "global"} if address.cluster else None,
            )
        except (ClickHouseError, OSError) as error:
            where = f"{address.host}:{address.port}"
            raise _refused(error, where) or _error(error, f"The engine at {where} does not answer.") from error

    def batches(
        self,
        sql: str,
        parameters: Parameters | None = None,
        *,
        limits: Limits = SEARCH,
        cancel: CancelToken | None = None,
    ) -> Iterator[pa.RecordBatch]:
        mark = str(uuid.uuid4())
        watch = _Watch(self, mark, cancel)
        is_ended = False
        stream: Any = None
        try:
            stream = self._client.raw_stream(
                sql,
                parameters=_plain(parameters),
                settings={**limits.settings(), **ARROW_SETTINGS, "query_id": mark},
                fmt=ARROW,
            )
            body = _Body(stream)
            if body.has_any:
                for batch in pa.ipc.open_stream(body):
                    if batch.num_rows:
                        yield batch
            is_ended = True
        except (ClickHouseError, OSError, pa.ArrowInvalid) as error:
            is_ended = True
            if cancel is not None:
                cancel.check()
            raise _error(error, "The engine's answer broke off.") from error
        finally:
            watch.end()
            if stream is not None:
                with contextlib.suppress(Exception):
                    stream.close()
            if not is_ended:
                self._kill_later(mark)

    def _kill_later(self, mark: str) -> None:
        threading.Thread(target=self.kill, args=(mark,), name="engine-kill", daemon=True).start()

    def kill(self, mark: str) -> None:
        """End a statement at the server. Nothing is raised: who asked does not wait for it."""
        with contextlib.suppress(Exception):
            self._client.command("KILL QUERY WHERE query_id = {mark:String} ASYNC", parameters={"mark": mark})

    def run(self, sql: str, parameters: Parameters | None = None, *, limits: Limits = WORK) -> None:
        try:
            self._client.command(sql, parameters=_plain(parameters), settings=limits.settings())
        except (ClickHouseError, OSError) as error:
            raise _error(error, "The engine does not answer.") from error

    def insert(self, table: str, rows: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        try:
            self._client.raw_insert(
                table,
                column_names=rows.column_names,
                insert_block=sink.getvalue().to_pybytes(),
                fmt=ARROW,
            )
        except (ClickHouseError, OSError) as error:
            raise _error(error, "The engine did not take what was sent.") from error

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close()


class _Body(io.RawIOBase):
    """An answer as a file that Arrow reads; one without columns is empty."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._head: bytes = stream.read(8)
        self.has_any = bool(self._head)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._head or size == 0:
            return bytes(self._stream.read(size)) if size else b""
        head, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return head + self.read(size - len(head) if size > 0 else size)


class _Watch:
    """Kills a statement as soon as its token is cancelled, also while nobody can look because the answer is waited for."""

    def __init__(self, connection: ServerConnection, mark: str, cancel: CancelToken | None) -> None:
        self._ended = threading.Event()
        if cancel is None:
            return
        token = cancel

        def look() -> None:
            while not self._ended.wait(WATCH_S):
                if token.is_cancelled:
                    connection.kill(mark)
                    return

        threading.Thread(target=look, name="engine-watch", daemon=True).start()

    def end(self) -> None:
        self._ended.set()


def _plain(parameters: Parameters | None) -> dict[str, Any]:
    """Parameters as the driver escapes them itself; lone surrogates, which no engine takes, become U+FFFD."""
    found: dict[str, Any] = {}
    for name, value in (parameters or {}).items():
        if isinstance(value, str):
            found[name] = _text(value)
        elif isinstance(value, int | float):
            found[name] = value
        else:
            found[name] = [_text(item) if isinstance(item, str) else item for item in value]
    return found


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


def _refused(error: BaseException, where: str) -> EngineError | None:
    """What is wrong with a certificate; None when nothing is."""
    seen: BaseException | None = error
    while seen is not None:
        reason = getattr(seen, "reason", None)
        found = reason if isinstance(reason, ssl.SSLCertVerificationError) else seen
        if isinstance(found, ssl.SSLCertVerificationError):
            why = WHY.get(found.verify_code, found.verify_message)
            return EngineError(
                f"The certificate of {where} is refused: {why}.",
                f"For an authority of your own, name its file in {AUTHORITY_VARIABLE}." if why == UNKNOWN else "",
            )
        seen = seen.__cause__ or seen.__context__
    return None


def _error(error: Exception, otherwise: str) -> EngineError | Cancelled:
    """The driver's complaint as one of ours."""
    text = str(error)
    code = code_of(text)
    if code in CANCELLED_CODES:
        return Cancelled()
    if isinstance(error, DatabaseError) and code:
        return error_of(code, text)
    return EngineError(otherwise)
