"""The Python that a browser runs: Pyodide, from the npm registry, of one version."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from beamlike.playground.packages import NpmPackage

VERSION: Final = "314.0.7"
_PYODIDE: Final = NpmPackage(
    "pyodide",
    VERSION,
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    needed="the playground needs Pyodide",
    by_hand="name it with --pyodide FILE",
)

FILES: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
"""What a browser needs of it."""


def interpreter_files(package: Path | None = None) -> Mapping[str, bytes]:
    """The files of Pyodide, by name.

    Args:
        package: The package as npm packs it; None fetches it, or takes the one in the cache.
    """
    return _PYODIDE.files(FILES, package)
