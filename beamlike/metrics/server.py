"""The metrics on a port, for a scraper: ``GET /metrics``.

On an address of this machine alone a name in the ``Host`` header that is not this machine's is
refused, so that a web page that has its own name point to 127.0.0.1 learns nothing. Names of
queries and groupings are all that anybody can read here; no key and no value.
"""

import logging
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from beamlike.metrics.families import CONTENT_TYPE
from beamlike.metrics.serving import GONE, HERE, PATIENCE, Listening, is_asked_as_this_machine

__all__ = ["MetricsServer"]

_LOGGER: Final = logging.getLogger("beamlike.metrics")
_PATH: Final = "/metrics"
_LOCAL: Final = (HERE, "localhost")


class MetricsServer:
    """Serves what a function returns, from when it is made until `close`.

    Args:
        text: Returns the metrics as text.
        port: 0 for one that is free.
        host: The address to listen on.

    Raises:
        EnvironmentProblem: The port is taken, or none.
    """

    def __init__(self, text: Callable[[], str], port: int, host: str = HERE) -> None:
        local = host in _LOCAL
        self._listening = Listening(
            lambda address: _Server(address, _handler(text, local=local)),
            port,
            host,
            "beamlike metrics",
        )
        self.port: int = self._listening.address[1]
        self.url = f"http://{host}:{self.port}{_PATH}"

    def close(self) -> None:
        """Let go of the port."""
        self._listening.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no news; anything else is logged."""
        if not isinstance(sys.exception(), GONE):
            _LOGGER.exception("the metrics server lost a connection")


def _handler(text: Callable[[], str], *, local: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE
        server_version, sys_version = "beamlike", ""

        def do_GET(self) -> None:
            if local and not is_asked_as_this_machine(self.headers):
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
