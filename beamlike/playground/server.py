"""A server of the playground's files, for this machine alone."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Final

from beamlike.inspect.http.answering import Answering, page_headers
from beamlike.inspect.http.serving import Listening

_KINDS: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
}
_ANY_KIND: Final = "application/octet-stream"


class PlaygroundServer(Listening):
    """Serves a folder from when it is made until `close`, on 127.0.0.1.

    Args:
        folder: The folder. What is in it now is served, and nothing else.
        port: 0 for one that is free.
    """

    logger, name = logging.getLogger("beamlike.playground"), "playground"
    headers = page_headers(
        script_src="'self' 'wasm-unsafe-eval'", worker_src="'self'", img_src="'self' data: blob:"
    ) | {"Cache-Control": "no-cache"}

    def __init__(self, folder: Path, port: int = 0) -> None:
        inside = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
        served = {f"/{name}": path for name, path in inside.items() if path.is_file()}
        self._served = served | {"/": folder / "index.html"}
        super().__init__(port)

    def get(self, request: Answering, path: str) -> None:
        file = self._served.get(path)
        if file is None:
            request.say(HTTPStatus.NOT_FOUND)
            return
        kind = _KINDS.get(PurePosixPath(file.name).suffix, _ANY_KIND)
        request.answer(HTTPStatus.OK, kind, file.read_bytes())
