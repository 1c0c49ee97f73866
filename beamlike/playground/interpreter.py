"""The Python that a browser runs: Pyodide, from the npm registry, checked and kept.

The version is pinned, with the hash of its package. It is fetched by npm, as that is configured on
this machine, once; after that it is in the user's cache. Nothing of it is part of beamlike.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from beamlike.errors import EnvironmentProblem

__all__ = ["FILES", "VERSION", "cache_folder", "interpreter_files"]

VERSION: Final = "314.0.7"
_INTEGRITY: Final = (
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
"""The SHA-512 of the package, as the registry states it."""

FILES: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
"""What a browser needs of it."""

_PATIENCE: Final = 300
"""Seconds for npm."""


def interpreter_files(package: Path | None = None) -> Mapping[str, bytes]:
    """The files of Pyodide, by name.

    Args:
        package: The package as npm packs it; None fetches it, or takes the one in the cache.

    Raises:
        EnvironmentProblem: It cannot be had, or it is another package.
    """
    if package is None:
        package = cache_folder() / f"pyodide-{VERSION}.tgz"
        if not package.exists():
            _fetch(package)
    try:
        content = package.read_bytes()
    except OSError as error:
        raise EnvironmentProblem(
            f"the package {package} cannot be read ({error.strerror}); name the file that "
            f"`npm pack pyodide@{VERSION}` writes"
        ) from error
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != _INTEGRITY:
        raise EnvironmentProblem(
            f"{package} is not the package pyodide@{VERSION}; remove it, so that it is fetched anew"
        )
    with tarfile.open(package) as archive:
        found = {name: archive.extractfile(f"package/{name}") for name in FILES}
        return {name: file.read() for name, file in found.items() if file is not None}


def cache_folder() -> Path:
    """Where what is fetched or built is kept: ``$XDG_CACHE_HOME/beamlike``, or the like."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "beamlike"


def _fetch(package: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise EnvironmentProblem(
            "the playground needs Pyodide, which npm fetches, and there is no npm here; install "
            f"Node.js, or get the file of `npm pack pyodide@{VERSION}` elsewhere and name it with "
            "--pyodide FILE"
        )
    package.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=package.parent) as folder:
        command = [npm, "pack", f"pyodide@{VERSION}", "--pack-destination", folder, "--silent"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_PATIENCE, cwd=folder
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentProblem(
                f"npm did not fetch pyodide@{VERSION} within {_PATIENCE} s; try again, or name "
                "the package with --pyodide FILE"
            ) from None
        found = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(found) != 1:
            last = done.stderr.strip().splitlines()[-1:] or ["it says nothing"]
            raise EnvironmentProblem(
                f"npm cannot fetch pyodide@{VERSION} ({last[0]}); run `npm pack "
                f"pyodide@{VERSION}` yourself, and name the package with --pyodide FILE"
            )
        found[0].replace(package)
