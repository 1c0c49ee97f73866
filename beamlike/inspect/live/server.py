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
from beamlike.inspect.http.answering import Answering, is_secret, page_headers
from beamlike.inspect.http.serving import Listening
from beamlike.inspect.live.history import History
from beamlike.palette.pages import palette_script, palette_style

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


class PageServer(Listening):
    """Serves a history from when it is made until `close`; see `Listening`."""

    logger, name, headers = logging.getLogger("beamlike.live_view"), "live view", page_headers()

    def __init__(self, history: History, port: int = 0) -> None:
        self._history, self._token = history, secrets.token_hex(_TOKEN_BYTES)
        super().__init__(port)
        self.url += f"{self._token}/"

    def get(self, request: Answering, path: str) -> None:
        sent, slash, name = path.removeprefix("/").partition("/")
        if not (slash and is_secret(sent, self._token)):
            request.say(HTTPStatus.FORBIDDEN, detail=_NO_TOKEN)
        elif name == _DATA:
            self._numbers(request)
        elif name in _PARTS:
            file, content_type = _PARTS[name]
            request.answer(HTTPStatus.OK, content_type, _part(file))
        else:
            request.say(HTTPStatus.NOT_FOUND)

    def loggable(self, path: str) -> str:
        return path.replace(self._token, "TOKEN")

    def _numbers(self, request: Answering) -> None:
        tag = f'"{self._history.version}"'
        if request.headers.get("If-None-Match") == tag:
            request.answer(HTTPStatus.NOT_MODIFIED, None, b"", {"ETag": tag})
            return
        version, queries = self._history.snapshot()
        shown = f'{{"now": {wall_clock_ms()}, "queries": {queries}}}'.encode()
        request.answer(HTTPStatus.OK, "application/json", shown, {"ETag": f'"{version}"'})


def _part(name: str) -> bytes:
    part = files("beamlike.inspect.live").joinpath(name).read_text(encoding="utf-8")
    before = palette_style() if name == "page.css" else ""
    after = palette_script() if name == "page.js" else ""
    return f"{before}{part}{after}".encode()
