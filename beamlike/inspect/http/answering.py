"""How all servers answer a request: GET alone, for names that they know, in plain text if not."""

import hmac
import http.client
import logging
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, BinaryIO, Final, cast

from beamlike.inspect.http.allowed import AllowedHosts

GONE: Final = (ConnectionError, TimeoutError)
"""What is raised once a reader has left."""

TEXT: Final = "text/plain; charset=utf-8"

_PATIENCE: Final = 10
"""Seconds until a connection that says nothing is closed."""

_MOST_BYTES: Final = 2 * 65_537
"""Read of a request: a first line as long as `BaseHTTPRequestHandler` takes, and headers."""


def is_secret(sent: str, secret: str) -> bool:
    """Whether a reader knows the secret; how long the answer takes says nothing about it."""
    return hmac.compare_digest(sent.encode(errors="replace"), secret.encode())


class _Request:
    """The lines of a request, up to `_MOST_BYTES`: a hundred long headers would be megabytes."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines, self._left = lines, _MOST_BYTES

    def readline(self, most: int) -> bytes:
        line = self._lines.readline(most)
        self._left -= len(line)
        if self._left < 0:
            raise http.client.LineTooLong("request")
        return line

    def close(self) -> None:
        self._lines.close()


class Answering(BaseHTTPRequestHandler):
    """Answers one request, and closes the connection.

    A class of its own for each server has the origin of requests in these attributes, and gives
    `get`.

    Attributes:
        allowed: The hosts that it answers to.
        logger: Where it logs what it cannot answer.
        name: What the log calls the server.
        headers_of_all: Stand in each answer.
    """

    allowed: AllowedHosts
    logger: logging.Logger
    name: str
    headers_of_all: Mapping[str, str] = {
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }

    timeout = _PATIENCE
    server_version, sys_version = "beamlike", ""
    default_request_version = "HTTP/1.0"  # older ones would be answered without headers

    def setup(self) -> None:
        super().setup()
        self.rfile = cast(Any, _Request(cast(BinaryIO, self.rfile)))

    def get(self, path: str) -> None:
        """Answer GET of a path, which comes without its query, with one of the methods below."""
        raise NotImplementedError

    def loggable_path(self) -> str:
        """The path of the request as a log may have it, so without secrets."""
        return self.path

    def refused_host(self) -> None:
        """The request names another host: it was sent on by a page, or a name is missing here."""
        self.say(HTTPStatus.MISDIRECTED_REQUEST)

    def do_GET(self) -> None:
        try:
            if self.allowed.permit(self.headers):
                self.get(self.path.partition("?")[0])
            else:
                self.refused_host()
        except GONE:
            raise
        except Exception:
            self.logger.exception("the %s cannot answer GET %r", self.name, self.loggable_path())
            self.say(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _refuse(self) -> None:
        self.say(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET"})

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

    def send_error(self, code: int, *_: Any) -> None:
        self.say(HTTPStatus(code))

    def say(
        self, status: HTTPStatus, more: Mapping[str, str] | None = None, words: str = ""
    ) -> None:
        """Answer with a status, and with what it means in plain text."""
        text = f"{status.phrase}: {words}\n" if words else f"{status.phrase}\n"
        self.answer(status, TEXT, text.encode(), more)

    def answer(
        self,
        status: HTTPStatus,
        kind: str | None,
        body: bytes,
        more: Mapping[str, str] | None = None,
    ) -> None:
        headers = {**self.headers_of_all, **(more or {})}
        if kind is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        self.close_connection = True
        # One that asks for HTTP/0.9 would get the body alone, in which anybody could read anything.
        self.request_version = self.default_request_version
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass
