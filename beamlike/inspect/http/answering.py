"""How all servers answer a request: GET alone, for names that they know, in plain text if not."""

import hmac
import http.client
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, BinaryIO, Final, cast

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


HEADERS: Final = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
"""In each answer of a server that says nothing else."""


def page_headers(**sources: str) -> dict[str, str]:
    """The headers of a page that reaches nothing but its server, and that shows in a notebook.

    Args:
        sources: Where else it may take something from, such as ``script_src="'self'"``.
    """
    policy = {
        **dict.fromkeys(("default_src", "base_uri", "form_action"), "'none'"),
        **dict.fromkeys(("script_src", "style_src", "connect_src"), "'self'"),
        "img_src": "data:",
        # Notebooks of this machine may show the page in a frame.
        "frame_ancestors": "'self' http://127.0.0.1:* http://localhost:*",
    }
    said = (f"{name.replace('_', '-')} {source}" for name, source in (policy | sources).items())
    return HEADERS | {
        "Content-Security-Policy": "; ".join(said),
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
    }


class Answering(BaseHTTPRequestHandler):
    """Answers one request to the site of its server, and closes the connection."""

    timeout = _PATIENCE
    server_version, sys_version = "beamlike", ""
    default_request_version = "HTTP/1.0"  # older ones would be answered without headers

    def setup(self) -> None:
        super().setup()
        self.rfile = cast(Any, _Request(cast(BinaryIO, self.rfile)))

    @property
    def _site(self) -> Any:
        """The `beamlike.inspect.http.serving.Listening` whose request it is."""
        return self.server.site  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        site = self._site
        try:
            if site.allowed.permit(self.headers):
                site.get(self, self.path.partition("?")[0])
            else:
                site.refused_host(self)
        except GONE:
            raise
        except Exception:
            site.logger.exception(
                "the %s cannot answer GET %r", site.name, site.loggable(self.path)
            )
            self.say(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _refuse(self) -> None:
        self.say(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET"})

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

    def send_error(self, code: int, *_: Any) -> None:
        self.say(HTTPStatus(code))

    def say(
        self, status: HTTPStatus, extra_headers: Mapping[str, str] | None = None, detail: str = ""
    ) -> None:
        """Answer with a status, and with what it means in plain text."""
        text = f"{status.phrase}: {detail}\n" if detail else f"{status.phrase}\n"
        self.answer(status, TEXT, text.encode(), extra_headers)

    def answer(
        self,
        status: HTTPStatus,
        content_type: str | None,
        body: bytes,
        extra_headers: Mapping[str, str] | None = None,
    ) -> None:
        headers = {**self._site.headers, **(extra_headers or {})}
        if content_type is not None:
            headers |= {"Content-Type": content_type, "Content-Length": str(len(body))}
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
