"""Pyodide, the Python of a browser: of one version, checked by its hash and kept.

It is fetched by npm, as that is configured on this machine, once; after that it is in the user's
cache. Nothing of it is part of beamlike.
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

VERSION: Final = "314.0.7"
_PACKAGE: Final = f"pyodide@{VERSION}"
_SHA_512: Final = (
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
"""Of the package, as the registry states it."""
_BY_HAND: Final = "name it with --pyodide FILE"

_PATIENCE: Final = 300
"""Seconds for npm."""

FILES: Final = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"),
    "pyodide-lock.json",
)
"""What a browser needs of it."""


def interpreter_files(package: Path | None = None) -> Mapping[str, bytes]:
    """The files of Pyodide, by name.

    Args:
        package: The package as npm packs it; None fetches it, or takes the one in the cache.

    Raises:
        EnvironmentProblem: It cannot be had, or is another package.
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
            f"`npm pack {_PACKAGE}` writes"
        ) from error
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != _SHA_512:
        raise EnvironmentProblem(
            f"{package} is not the package {_PACKAGE}; remove it, so that it is fetched anew"
        )
    with tarfile.open(package) as archive:
        found = {name: archive.extractfile(f"package/{name}") for name in FILES}
        return {name: file.read() for name, file in found.items() if file is not None}


def _fetch(package: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise EnvironmentProblem(
            "the playground needs Pyodide, which npm fetches, and there is no npm here; install "
            f"Node.js, or get the file of `npm pack {_PACKAGE}` elsewhere and {_BY_HAND}"
        )
    package.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=package.parent) as folder:
        command = [npm, "pack", _PACKAGE, "--pack-destination", folder, "--silent"]
        try:
            npm_run = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_PATIENCE, cwd=folder
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentProblem(
                f"npm did not fetch {_PACKAGE} within {_PATIENCE} s; try again, or get the file of "
                f"`npm pack {_PACKAGE}` elsewhere and {_BY_HAND}"
            ) from None
        packed = list(Path(folder).glob("*.tgz"))
        if npm_run.returncode or len(packed) != 1:
            last = npm_run.stderr.strip().splitlines()[-1:] or ["it says nothing"]
            raise EnvironmentProblem(
                f"npm cannot fetch {_PACKAGE} ({last[0]}); run `npm pack {_PACKAGE}` yourself, and "
                f"{_BY_HAND}"
            )
        packed[0].replace(package)


def cache_folder() -> Path:
    """Where what is fetched or built is kept: ``$XDG_CACHE_HOME/beamlike``, or the like."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "beamlike"
