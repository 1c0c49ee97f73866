"""The playground as a folder of static files, for any server of files, without a network beyond it.

It has Pyodide, the sources of beamlike and attrs, the page and its scripts; of Pyodide's largest
file a compressed copy, which the page unpacks, so that a plain server of files will do.
"""

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from beamlike.errors import EnvironmentProblem
from beamlike.palette.pages import palette_script, palette_style
from beamlike.playground.packages import VERSION, cache_folder, interpreter_files
from beamlike.viz.page import SHARED_SCRIPTS, page_part

_SCRIPTS: Final = (
    *("times.js", "sketch.js", "python.js", "handles.js", "blocks.js", "forms.js"),
    *("systems.js", "exports.js", "gif.js", "app.js"),
)
_PLAIN: Final = ("index.html", "worker.mjs")
_LIBRARIES: Final = ("attr", "attrs", "cloudpickle")
_SOURCES: Final = ("beamlike", "beamlike.testing")
_COMPRESSED: Final = "pyodide.asm.wasm"
_MARK: Final = "playground.json"
_DAY_ONE: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that the same sources are the same bytes."""


def built_folder(pyodide: Path | None = None) -> Path:
    """The folder in the user's cache; it is built where it is not that of this beamlike."""
    folder = cache_folder() / "playground"
    try:
        mark = json.loads((folder / _MARK).read_text())
    except (OSError, ValueError):
        mark = {}
    if mark.get("pages") != _digest(_own_files()):
        build_folder(folder, pyodide)
    return folder


def build_folder(folder: Path, pyodide: Path | None = None) -> list[Path]:
    """Write the playground to a folder, and return the files. Its ``index.html`` is opened through
    a server of files.

    The folder is made, and files of the same names are replaced. The package of Pyodide is as npm
    packs it; None fetches it, or takes a kept one.
    """
    content = playground_files(pyodide)
    try:
        for name, data in content.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise EnvironmentProblem(
            f"the playground cannot be written to {folder} ({error.strerror}); name a folder "
            "that can be written"
        ) from error
    return [folder / name for name in content]


def playground_files(pyodide: Path | None = None) -> Mapping[str, bytes]:
    """All files of the playground, by their paths in the folder."""
    content = dict(_own_files())
    mark = {"pages": _digest(content), "pyodide": VERSION, "attrs": version("attrs")}
    for name, data in interpreter_files(pyodide).items():
        if name == _COMPRESSED:
            content[f"pyodide/{name}.gz"] = gzip.compress(data, mtime=0)
        else:
            content[f"pyodide/{name}"] = data
    content[_MARK] = json.dumps(mark).encode()
    return content


def _own_files() -> Mapping[str, bytes]:
    """The page, its scripts and the sources: all but Pyodide."""
    style = palette_style() + page_part("page.css") + _asset("playground.css")
    scripts = [palette_script(), *map(page_part, SHARED_SCRIPTS), *map(_asset, _SCRIPTS)]
    return {
        **{name: _asset(name).encode() for name in _PLAIN},
        "playground.css": style.encode(),
        "playground.js": ('"use strict";\n(() => {\n' + "\n".join(scripts) + "})();\n").encode(),
        "beamlike.zip": _sources(),
    }


def _asset(name: str) -> str:
    return (files("beamlike.playground") / "assets" / name).read_text(encoding="utf-8")


def _sources() -> bytes:
    """Modules that the browser's Python imports, as an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for package in (*_SOURCES, *_LIBRARIES):
            for path, source in _modules(files(package), package.replace(".", "/")):
                info = zipfile.ZipInfo(path, _DAY_ONE)
                archive.writestr(info, source, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def _modules(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        inside = f"{path}/{entry.name}"
        # In a checkout the harness lies beside the package, with a link to it inside.
        if entry.is_dir() and entry.name != "__pycache__" and inside != "beamlike/testing":
            yield from _modules(entry, inside)
        elif entry.is_file() and entry.name.endswith(".py"):
            yield inside, entry.read_bytes()


def _digest(content: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(VERSION.encode())
    for name, data in sorted(content.items()):
        digest.update(name.encode() + hashlib.sha256(data).digest())
    return digest.hexdigest()
