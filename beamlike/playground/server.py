"""A server of the playground's files, for this machine alone."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

from beamlike.inspect.http.answering import Answering, page_headers
from beamlike.inspect.http.serving import Listening

_CONTENT_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
}
_ANY_TYPE: Final = "application/octet-stream"


class PlaygroundServer(Listening):
    """Serves what is in a folder now, and nothing else, from when it is made until `close`."""

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
        content_type = _CONTENT_TYPES.get(file.suffix, _ANY_TYPE)
        request.answer(HTTPStatus.OK, content_type, file.read_bytes())
