"""A server of the playground's files, for this machine alone."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Final

from beamlike.inspect.http.allowed import AllowedHosts
from beamlike.inspect.http.answering import Answering
from beamlike.inspect.http.serving import HERE, Listening

_LOGGER: Final = logging.getLogger("beamlike.playground")
_NAME: Final = "playground"
_KINDS: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
}
_ANY_KIND: Final = "application/octet-stream"
_HEADERS: Final[Mapping[str, str]] = {
    # Notebooks of this machine may show the page in a frame.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
        "connect-src 'self'; worker-src 'self'; img-src 'self' data: blob:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self' http://127.0.0.1:* http://localhost:*"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class PlaygroundServer(Listening):
    """Serves a folder from when it is made until `close`, on 127.0.0.1.

    Args:
        folder: The folder. What is in it now is served, and nothing else.
        port: 0 for one that is free.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        inside = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
        served = {f"/{name}": path for name, path in inside.items() if path.is_file()}
        served |= {"/": folder / "index.html"}
        super().__init__(lambda _: _handler(served), port, HERE, _NAME, _LOGGER)


def _handler(served: Mapping[str, Path]) -> type[Answering]:
    class Handler(Answering):
        allowed, logger, name = AllowedHosts(), _LOGGER, _NAME
        headers_of_all = _HEADERS

        def get(self, path: str) -> None:
            file = served.get(path)
            if file is None:
                self.say(HTTPStatus.NOT_FOUND)
                return
            kind = _KINDS.get(PurePosixPath(file.name).suffix, _ANY_KIND)
            self.answer(HTTPStatus.OK, kind, file.read_bytes())

    return Handler
