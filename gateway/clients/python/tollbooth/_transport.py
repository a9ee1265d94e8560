"""Sends a request once over HTTP/1.1, with limits of time and size. Reuses connections and follows no redirect."""

from __future__ import annotations

import io
import os
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Mapping, NamedTuple
from urllib.parse import SplitResult

from ._errors import ConnectionFailedError, TimedOutError, UnexpectedAnswerError

# More than a backend's threads use at once; further connections are closed after their response.
_IDLE_MAX = 16
# Shorter than the service's keepalive (65 s), so few are found closed.
_IDLE_SECONDS = 50.0
_CHUNK = 65_536


class WireAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Transport:
    """Connections to one origin; safe to use from many threads."""

    def __init__(self, origin: SplitResult, *, context: ssl.SSLContext | None, answer_bytes_max: int) -> None:
        self._host = origin.hostname or ""
        self._port = origin.port
        default_port = 443 if origin.scheme == "https" else 80
        self._address = f"{self._host}:{origin.port or default_port}"
        self._context = context if origin.scheme == "https" else None
        self._answer_bytes_max = answer_bytes_max
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Any]] = []

    def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, *, timeout: float, fresh: bool
    ) -> WireAnswer:
        """Raises ConnectionFailedError or TimedOutError without a complete response.

        `fresh`: use a new connection. The server may just have closed an idle one, which would fail a request that
        must not be repeated.
        """
        deadline = time.monotonic() + timeout
        try:
            idle = None if fresh else self._take_idle()
            if idle is not None:
                try:
                    return self._exchange(idle, method, target, headers, body, deadline)
                except ConnectionError:
                    pass  # the server had closed the idle connection
            connection = self._connection(timeout)
            return self._exchange(connection, method, target, headers, body, deadline)
        except TimeoutError as error:
            raise TimedOutError(f"no complete response within {timeout:g} s", code="timed_out") from error
        except (OSError, HTTPException) as error:
            # The status line of a broken response is the server's, so it is not repeated.
            cause = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            problem = f"the connection to {self._address} failed: {cause}"
            raise ConnectionFailedError(problem, code="connection_failed") from error

    def _exchange(
        self,
        connection: Any,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float,
    ) -> WireAnswer:
        is_reusable = False
        try:
            connection.sock.bound(deadline)
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            status = response.status
            if 300 <= status < 400:
                raise UnexpectedAnswerError(
                    f"the base URL redirects (HTTP {status}), which is not followed: set base_url to the target",
                    code="unexpected_answer",
                    status=status,
                )
            read = self._read(response)
            is_reusable = not response.will_close
            return WireAnswer(status, {name.lower(): value for name, value in response.getheaders()}, read)
        finally:
            if is_reusable:
                self._release(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Closes idle connections."""
        self._leave_parent()
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _read(self, response: HTTPResponse) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := response.read(_CHUNK):
            size += len(part)
            if size > self._answer_bytes_max:
                problem = f"the response has more than {self._answer_bytes_max} bytes"
                raise UnexpectedAnswerError(problem, code="unexpected_answer", status=response.status)
            parts.append(part)
        if response.length:
            raise HTTPException("the response ended early")
        return b"".join(parts)

    def _connection(self, timeout: float) -> Any:
        connection: Any = (
            HTTPConnection(self._host, self._port, timeout=timeout)
            if self._context is None
            else HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        )
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        connection.sock = _BoundedSocket(connection.sock)
        return connection

    def _leave_parent(self) -> None:
        """Drops the parent's connections after a fork: both processes would use them."""
        if self._process != os.getpid():
            self._process, self._lock, self._idle = os.getpid(), threading.Lock(), []

    def _take_idle(self) -> Any:
        self._leave_parent()
        oldest = time.monotonic() - _IDLE_SECONDS
        with self._lock:
            stale = [connection for since, connection in self._idle if since < oldest]
            self._idle = [entry for entry in self._idle if entry[0] >= oldest]
            taken = self._idle.pop()[1] if self._idle else None
        for connection in stale:
            connection.close()
        return taken

    def _release(self, connection: Any) -> None:
        self._leave_parent()
        with self._lock:
            is_kept = len(self._idle) < _IDLE_MAX
            if is_kept:
                self._idle.append((time.monotonic(), connection))
        if not is_kept:
            connection.close()


class _BoundedSocket:
    """A connected socket with one deadline for all reads and writes: a socket's own timeout restarts with each byte, so
    a slow response could last forever."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._deadline = 0.0
        self._readers = 0
        self._is_ended = False

    def bound(self, deadline: float) -> None:
        self._deadline = deadline

    def _restrict(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)

    def sendall(self, data: bytes) -> None:
        self._restrict()
        self._inner.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._readers += 1
        return io.BufferedReader(_BoundedReader(self))

    def recv_into(self, buffer: memoryview) -> int:
        self._restrict()
        return self._inner.recv_into(buffer)

    def close(self) -> None:
        """A response that is still being read keeps the connection open, as with a socket's own files."""
        self._is_ended = True
        if self._readers == 0:
            self._inner.close()

    def reader_closed(self) -> None:
        self._readers -= 1
        if self._is_ended:
            self.close()


class _BoundedReader(io.RawIOBase):
    """The file that http.client reads a response from."""

    def __init__(self, source: _BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._source.reader_closed()
        super().close()
