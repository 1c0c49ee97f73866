"""A small HTTP server for this machine alone: the page, its parts, and the numbers as JSON.

It listens on 127.0.0.1, answers GET of its own few paths, and sends nothing that a page of another
origin may read. It answers to ``localhost`` and to IP addresses, so a web page that has its own
name resolve to 127.0.0.1 cannot read it (`beamlike.inspect.http.allowed`). All paths begin with a
token that only the address of the view has, so other users of the machine cannot read the page: the
error of a query that failed may name keys and values.
"""

import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from beamlike.hosts.clock import wall_clock_ms
from beamlike.inspect.http.allowed import AllowedHosts
from beamlike.inspect.http.answering import Answering, is_secret
from beamlike.inspect.http.serving import HERE, Listening
from beamlike.inspect.live.history import History
from beamlike.palette.pages import palette_script, palette_style

_LOGGER: Final = logging.getLogger("beamlike.live_view")
_NAME: Final = "live view"

_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_DATA: Final = "data.json"
_TOKEN_BYTES: Final = 16
_NO_TOKEN: Final = (
    "the address of a live view ends in a token, and changes with each view; open LiveView.url as "
    "it is"
)

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


class PageServer(Listening):
    """Serves a history from when it is made until `close`.

    Args:
        history: What it shows.
        port: 0 for one that is free.

    Raises:
        EnvironmentProblem: The port is taken, or is not a port.
    """

    def __init__(self, history: History, port: int = 0) -> None:
        token = secrets.token_hex(_TOKEN_BYTES)
        super().__init__(lambda _: _handler(history, token), port, HERE, _NAME, _LOGGER)
        self.url += f"{token}/"


def _handler(history: History, token: str) -> type[Answering]:
    class Handler(Answering):
        allowed, logger, name = AllowedHosts(), _LOGGER, _NAME
        headers_of_all = _HEADERS

        def get(self, path: str) -> None:
            sent, slash, name = path.removeprefix("/").partition("/")
            if not (slash and is_secret(sent, token)):
                self.say(HTTPStatus.FORBIDDEN, words=_NO_TOKEN)
            elif name == _DATA:
                self._numbers()
            elif name in _PARTS:
                file, content_type = _PARTS[name]
                self.answer(HTTPStatus.OK, content_type, _part(file))
            else:
                self.say(HTTPStatus.NOT_FOUND)

        def loggable_path(self) -> str:
            return self.path.replace(token, "TOKEN")

        def _numbers(self) -> None:
            tag = f'"{history.version}"'
            if self.headers.get("If-None-Match") == tag:
                self.answer(HTTPStatus.NOT_MODIFIED, None, b"", {"ETag": tag})
                return
            version, queries = history.snapshot()
            shown = f'{{"now": {wall_clock_ms()}, "queries": {queries}}}'.encode()
            self.answer(HTTPStatus.OK, "application/json", shown, {"ETag": f'"{version}"'})

    return Handler


def _part(name: str) -> bytes:
    own = files("beamlike.inspect.live").joinpath(name).read_text(encoding="utf-8")
    match name:
        case "page.css":
            own = palette_style() + own
        case "page.js":
            own += palette_script()
    return own.encode()
