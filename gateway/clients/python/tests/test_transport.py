"""Tests over real connections: reused, closed, slow, cut, and shared by threads."""

from __future__ import annotations

import socket
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Callable
from urllib.parse import urlsplit

from tollbooth import ConnectionFailedError, TimedOutError, Tollbooth, UnexpectedAnswerError
from tollbooth._transport import Transport

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"data":[]}'
Talk = Callable[[socket.socket, int], None]


class Server:
    """Listens on loopback and calls a function with each connection and its number."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self.is_over = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._run, args=(connection, self.connections), daemon=True).start()

    def _run(self, connection: socket.socket, number: int) -> None:
        try:
            with connection:
                self._talk(connection, number)
        except OSError:
            pass  # the client disconnected

    def close(self) -> None:
        self.is_over.set()
        self._listener.close()


def request_of(connection: socket.socket) -> bytes:
    """Head of a request without a body; empty after the last request."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = connection.recv(4_096)
        if not part:
            return b""
        head += part
    return head


class Connections(unittest.TestCase):
    def serve(self, talk: Talk) -> Server:
        server = Server(talk)
        self.addCleanup(server.close)
        return server

    def transport(self, server: Server, answer_bytes_max: int = 100_000) -> Transport:
        transport = Transport(urlsplit(server.url), context=None, answer_bytes_max=answer_bytes_max)
        self.addCleanup(transport.close)
        return transport

    def get(self, transport: Transport, *, fresh: bool = False, timeout: float = 20.0) -> bytes:
        return transport.send("GET", "/v1/payments", {}, None, timeout=timeout, fresh=fresh).body

    def test_a_failed_connection_names_host_port_and_cause(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        transport = Transport(urlsplit(f"http://127.0.0.1:{port}"), context=None, answer_bytes_max=1_000)
        with self.assertRaisesRegex(ConnectionFailedError, f"127.0.0.1:{port} failed: Connection refused"):
            self.get(transport)
        server = self.serve(lambda connection, _: connection.sendall(b"sk_secret\r\n\r\n"))
        with self.assertRaisesRegex(ConnectionFailedError, "failed: BadStatusLine") as refused:
            self.get(self.transport(server))
        self.assertNotIn("sk_secret", str(refused.exception))

    def test_reuses_a_connection_except_for_requests_that_must_not_be_repeated(self) -> None:
        def talk(connection: socket.socket, _: int) -> None:
            while request_of(connection):
                connection.sendall(ANSWER)

        server = self.serve(talk)
        transport = self.transport(server)
        for _ in range(3):
            self.assertEqual(self.get(transport), b'{"data":[]}')
        self.assertEqual(server.connections, 1)
        self.get(transport, fresh=True)
        self.assertEqual(server.connections, 2)

    def test_replaces_an_idle_connection_that_the_server_closed(self) -> None:
        closed = threading.Event()

        def talk(connection: socket.socket, number: int) -> None:
            request_of(connection)
            connection.sendall(ANSWER)
            if number == 1:
                connection.shutdown(socket.SHUT_RDWR)
                closed.set()
            else:
                request_of(connection)

        server = self.serve(talk)
        transport = self.transport(server)
        self.get(transport)
        self.assertTrue(closed.wait(20))
        self.assertEqual(self.get(transport), b'{"data":[]}')
        self.assertEqual(server.connections, 2)

    def test_uses_new_connections_after_a_fork(self) -> None:
        def talk(connection: socket.socket, _: int) -> None:
            while request_of(connection):
                connection.sendall(ANSWER)

        server = self.serve(talk)
        transport = self.transport(server)
        self.get(transport)
        idle = transport._idle[0][1]
        self.addCleanup(idle.close)
        transport._process = -1  # as in a forked process
        self.get(transport)
        self.get(transport)
        self.assertEqual(server.connections, 2)

    def test_reads_a_response_that_closes_its_connection_to_the_end(self) -> None:
        def talk(connection: socket.socket, _: int) -> None:
            request_of(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 70_000)

        transport = self.transport(self.serve(talk))
        self.assertEqual(len(self.get(transport)), 70_000)
        self.assertEqual(len(self.get(transport)), 70_000)

    def test_times_out_while_bytes_keep_arriving(self) -> None:
        for head in (b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"):
            server = self.serve(lambda connection, _: None)

            def drip(connection: socket.socket, _: int, server: Server = server, head: bytes = head) -> None:
                request_of(connection)
                connection.sendall(head)
                while not server.is_over.wait(0.02):
                    connection.sendall(b"x")

            server._talk = drip
            with self.assertRaises(TimedOutError):
                self.get(self.transport(server), timeout=0.3)

    def test_times_out_without_a_response(self) -> None:
        server = self.serve(lambda connection, _: None)

        def answer_late(connection: socket.socket, _: int) -> None:
            request_of(connection)
            server.is_over.wait(5)
            connection.sendall(ANSWER)

        server._talk = answer_late
        with self.assertRaises(TimedOutError):
            self.get(self.transport(server), timeout=0.3)

    def test_reports_cut_responses_and_closed_ports_as_failed_connections(self) -> None:
        early = [
            b"",
            b"HTTP/1.1 2",
            b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nhalf",
            b"nonsense\r\n\r\n",
        ]
        for response in early:

            def talk(connection: socket.socket, _: int, response: bytes = response) -> None:
                request_of(connection)
                connection.sendall(response)

            with self.assertRaises(ConnectionFailedError, msg=str(response)):
                self.get(self.transport(self.serve(talk)))
        server = self.serve(lambda connection, _: None)
        server.close()
        with self.assertRaises(ConnectionFailedError):
            self.get(self.transport(server))

    def test_limits_the_response_size_and_refuses_redirects(self) -> None:
        def long(connection: socket.socket, _: int) -> None:
            request_of(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 300_000)

        with self.assertRaisesRegex(UnexpectedAnswerError, "more than 100000 bytes"):
            self.get(self.transport(self.serve(long)))

        def redirect(connection: socket.socket, _: int) -> None:
            request_of(connection)
            connection.sendall(b"HTTP/1.1 301 Moved\r\nLocation: https://pay.example\r\nContent-Length: 0\r\n\r\n")

        with self.assertRaisesRegex(UnexpectedAnswerError, "redirect"):
            self.get(self.transport(self.serve(redirect)))

    def test_threads_share_a_client_without_mixing_responses(self) -> None:
        def talk(connection: socket.socket, _: int) -> None:
            while head := request_of(connection):
                name = head.split(b" ")[1].rsplit(b"/", 1)[1]
                body = b'{"id":"' + name + b'"}'
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

        server = self.serve(talk)
        client = Tollbooth(api_key="sk_test_unknown", base_url=server.url)
        self.addCleanup(client.close)
        names = [f"pay_{number}" for number in range(200)]
        with ThreadPoolExecutor(8) as pool:
            seen = list(pool.map(lambda name: client.payments.get(name).id, names))
        self.assertEqual(seen, names)
        self.assertLessEqual(server.connections, 16)


if __name__ == "__main__":
    unittest.main()
