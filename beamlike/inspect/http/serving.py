"""A server on a port of this machine: the port checked, a thread of its own, and an end.

Whoever can reach the port can open connections. So a server keeps a fixed number of them: one more
takes the place of the oldest, and none stays longer than an answer takes. A reader that asks and
reads is done in milliseconds; those that send a byte now and then keep nobody out.
"""

import logging
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from beamlike.errors import EnvironmentProblem
from beamlike.inspect.http.allowed import AllowedHosts
from beamlike.inspect.http.answering import GONE, HEADERS, Answering
from beamlike.model.fingerprint import visible

HERE: Final = "127.0.0.1"
"""The address that this machine alone can reach."""

CONNECTIONS: Final = 64
"""Connections that a server keeps. One more takes the place of the oldest."""

LIFETIME: Final = 30
"""Seconds after which a connection is closed, whatever it does."""

_LAST_PORT: Final = 65_535


class Listening:
    """A server that answers from when this is made until `close`.

    A class of its own for each server gives `get`, and what stands in all of its answers.

    Args:
        port: 0 for one that is free.
        allowed_hosts: More names of hosts that it answers to.

    Attributes:
        logger: Where it logs what it cannot answer.
        name: What its thread is called, and its log lines call it.
        headers: Stand in each answer.
        address: Where it listens; ``port`` is a part of it.
        url: Its address for a browser.

    Raises:
        EnvironmentProblem: The port is taken, or none; the address is none, or the names are none.
    """

    logger: logging.Logger
    name: str
    headers: Mapping[str, str] = HEADERS

    def __init__(self, port: int, host: str = HERE, allowed_hosts: Iterable[str] = ()) -> None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= _LAST_PORT:
            raise EnvironmentProblem(
                f"port={port!r} must be a whole number from 0 to {_LAST_PORT}; 0 takes one that "
                "is free"
            )
        if not isinstance(host, str) or not host.strip():
            # Of an empty name Python would make every address that this machine has.
            raise EnvironmentProblem(
                f"host={host!r} is no address; leave it out for this machine alone, or give "
                '"0.0.0.0" for everybody who can reach it'
            )
        self.allowed = AllowedHosts(host, allowed_hosts)
        try:
            self._server = _Server((host, port), self)
        except (OSError, TypeError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise EnvironmentProblem(
                f"port={port} of {visible(host)} cannot be had ({why}); pass another, or 0 for "
                "one that is free"
            ) from error
        self.address: tuple[str, int] = self._server.socket.getsockname()[:2]
        self.port = self.address[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(0.1,),
            name=f"beamlike {self.name}",
            daemon=True,
        )
        self._thread.start()

    def get(self, request: Answering, path: str) -> None:
        """Answer GET of a path, which comes without its query, by a method of the request."""
        raise NotImplementedError

    def loggable(self, path: str) -> str:
        """The path of a request as a log may have it, so without secrets."""
        return path

    def refused_host(self, request: Answering) -> None:
        """The request names another host: it was sent on by a page, or a name is missing here."""
        request.say(HTTPStatus.MISDIRECTED_REQUEST)

    def close(self) -> None:
        """Release the port, the connections and all threads."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """One thread for each connection, and a browser keeps some open without a word."""

    allow_reuse_address = True
    request_queue_size = 32

    def __init__(self, address: tuple[str, int], site: Listening) -> None:
        self._open: dict[socket.socket, float] = {}  # the oldest first, with when it was opened
        self._lock = threading.Lock()
        self._talking: set[threading.Thread] = set()
        self.site = site
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Answering)

    def process_request(self, request: Any, client_address: Any) -> None:
        # A script that never closes must not wait at its end for a connection to say something, so
        # these are daemons, and only `server_close` waits for them.
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        with self._lock:
            oldest = list(self._open)[: len(self._open) + 1 - CONNECTIONS]
            self._open[request] = time.monotonic()
            self._hang_up(oldest)
        thread.start()
        self._talking = {talk for talk in self._talking if talk.is_alive()} | {thread}

    def service_actions(self) -> None:
        """Close what stays too long. A server asks for this ten times a second."""
        opened_before = time.monotonic() - LIFETIME
        with self._lock:
            self._hang_up([peer for peer, opened in self._open.items() if opened < opened_before])

    def _hang_up(self, connections: list[socket.socket]) -> None:
        """Have the threads of these connections end. They close them; the lock is held."""
        for connection in connections:
            self._open.pop(connection)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def server_close(self) -> None:
        # Ends the threads that still wait for a request, and waits for them.
        with self._lock:
            self._hang_up(list(self._open))
        super().server_close()
        for thread in self._talking:
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that disconnected is not logged; anything else is."""
        if not isinstance(sys.exception(), GONE):
            self.site.logger.exception("the %s lost a connection", self.site.name)
