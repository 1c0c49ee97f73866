"""The metrics on a port, for a scraper: ``GET /metrics``.

On an address of this machine alone a name in the ``Host`` header that is not this machine's is
refused, so that a web page that has its own name point to 127.0.0.1 learns nothing. Names of
queries and groupings are all that anybody can read here; no key and no value.
"""

import logging
import re
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from beamlike.errors import EnvironmentProblem
from beamlike.metrics.families import CONTENT_TYPE

__all__ = ["MetricsServer"]

_LOGGER: Final = logging.getLogger("beamlike.metrics")
_LAST_PORT: Final = 65_535
_PATH: Final = "/metrics"
_PATIENCE: Final = 10
"""Seconds until a connection that says nothing is closed."""
_LOCAL: Final = ("127.0.0.1", "localhost")
_OWN_NAMES: Final = re.compile(r"(?:127\.0\.0\.1|localhost)(?::\d{1,5})?", re.IGNORECASE)


class MetricsServer:
    """Serves what a function returns, from when it is made until `close`.

    Args:
        text: Returns the metrics as text.
        port: 0 for one that is free.
        host: The address to listen on.

    Raises:
        EnvironmentProblem: The port is taken, or none.
    """

    def __init__(self, text: Callable[[], str], port: int, host: str = "127.0.0.1") -> None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= _LAST_PORT:
            raise EnvironmentProblem(
                f"port={port!r} must be a whole number from 0 to {_LAST_PORT}; 0 takes one that "
                "is free"
            )
        try:
            self._server = _Server((host, port), _handler(text, local=host in _LOCAL))
        except OSError as error:
            raise EnvironmentProblem(
                f"port={port} of {host} cannot be had ({error.strerror}); pass another, or 0 for "
                "one that is free"
            ) from error
        self.port: int = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}{_PATH}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="beamlike metrics", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Let go of the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no news; anything else is logged."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            _LOGGER.exception("the metrics server lost a connection")


def _handler(text: Callable[[], str], *, local: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE
        server_version, sys_version = "beamlike", ""

        def do_GET(self) -> None:
            hosts = self.headers.get_all("Host") or []
            own = len(hosts) == 1 and _OWN_NAMES.fullmatch(hosts[0].strip())
            if local and not own:
                self._answer(HTTPStatus.MISDIRECTED_REQUEST)
            elif self.path.partition("?")[0] == _PATH:
                self._answer(HTTPStatus.OK, CONTENT_TYPE, text())
            else:
                self._answer(HTTPStatus.NOT_FOUND)

        def _answer(
            self, status: HTTPStatus, kind: str = "text/plain; charset=utf-8", body: str = ""
        ) -> None:
            content = (body or f"{status.phrase}\n").encode()
            self.close_connection = True
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
