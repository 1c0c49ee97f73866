"""A small HTTP server for this machine alone: the page, its parts, and the numbers as JSON.

It listens on 127.0.0.1, answers GET of its own few paths, and sends nothing that a page of another
origin may read. A name in the ``Host`` header that is not this machine's is refused: so a web page
that has its own name point to 127.0.0.1 learns nothing. Other users of the machine can read what
the page shows, as with Spark's own UI.
"""

import logging
import socket
import socketserver
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any, Final

from beamlike.hosts.clock import wall_clock_ms
from beamlike.metrics.serving import GONE, HERE, PATIENCE, Listening, is_asked_as_this_machine
from beamlike.viz.live.history import History

__all__ = ["PageServer"]

_LOGGER: Final = logging.getLogger("beamlike.live_view")

_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_DATA: Final = "/data.json"

_HEADERS: Final[Mapping[str, str]] = {
    # Notebooks of this machine may show the page in a frame.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class PageServer:
    """Serves a history from when it is made until `close`.

    Args:
        history: What it shows.
        port: Of 127.0.0.1; 0 for one that is free.

    Raises:
        EnvironmentProblem: The port is taken, or none.
    """

    def __init__(self, history: History, port: int = 0) -> None:
        self._listening = Listening(
            lambda address: _Server(address, _handler(history)), port, HERE, "beamlike live view"
        )
        self.address = self._listening.address
        self.port: int = self.address[1]

    def close(self) -> None:
        """Let go of the port, the connections and all threads."""
        self._listening.close()


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """One thread for each connection, and a browser keeps some open without a word."""

    allow_reuse_address = True
    request_queue_size = 32

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        self._talking: set[threading.Thread] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        # A script that never closes must not wait at its end for somebody to say something, so
        # these are daemons, and those nobody but us waits for when the server closes.
        talk = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._open.add(request)
        talk.start()
        self._talking = {it for it in self._talking if it.is_alive()} | {talk}

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        # Wakes the threads that still wait for a word, and waits until they have ended.
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()
        for talk in self._talking:
            talk.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no news; anything else is logged."""
        if not isinstance(sys.exception(), GONE):
            _LOGGER.exception("the live view lost a connection")


def _handler(history: History) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE
        server_version, sys_version = "beamlike", ""
        default_request_version = "HTTP/1.0"  # older ones would be answered without headers

        def do_GET(self) -> None:
            try:
                self._get()
            except GONE:
                raise
            except Exception:
                _LOGGER.exception("the live view cannot answer GET %r", self.path)
                self._say(HTTPStatus.INTERNAL_SERVER_ERROR)

        def _get(self) -> None:
            path = self.path.partition("?")[0]
            if not is_asked_as_this_machine(self.headers):
                self._say(HTTPStatus.MISDIRECTED_REQUEST)
            elif path == _DATA:
                self._numbers()
            elif path in _PARTS:
                name, kind = _PARTS[path]
                self._answer(HTTPStatus.OK, kind, _part(name))
            else:
                self._say(HTTPStatus.NOT_FOUND)

        def _numbers(self) -> None:
            tag = f'"{history.version}"'
            if self.headers.get("If-None-Match") == tag:
                self._answer(HTTPStatus.NOT_MODIFIED, None, b"", {"ETag": tag})
                return
            version, queries = history.told()
            told = f'{{"now": {wall_clock_ms()}, "queries": {queries}}}'.encode()
            self._answer(HTTPStatus.OK, "application/json", told, {"ETag": f'"{version}"'})

        def _refuse(self) -> None:
            self._say(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET"})

        do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

        def send_error(self, code: int, *_: Any) -> None:
            self._say(HTTPStatus(code))

        def _say(self, status: HTTPStatus, more: Mapping[str, str] | None = None) -> None:
            words = f"{status.phrase}\n".encode()
            self._answer(status, "text/plain; charset=utf-8", words, more)

        def _answer(
            self,
            status: HTTPStatus,
            kind: str | None,
            body: bytes,
            more: Mapping[str, str] | None = None,
        ) -> None:
            headers = {**_HEADERS, **(more or {})}
            if kind is not None:
                headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
            self.close_connection = True
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _part(name: str) -> bytes:
    return files("beamlike.viz.live").joinpath(name).read_bytes()
