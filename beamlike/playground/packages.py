"""Packages of the npm registry: each of one version, checked by its hash and kept.

A package is fetched by npm, as that is configured on this machine, once; after that it is in the
user's cache. Nothing of it is part of beamlike.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs

from beamlike.errors import EnvironmentProblem

_PATIENCE: Final = 300
"""Seconds for npm."""


@attrs.frozen
class NpmPackage:
    """A package that npm fetches.

    Args:
        name: What the registry calls it.
        version: Its version.
        integrity: The SHA-512 of the package, as the registry states it.
        needed: What needs it, for errors: "the playground needs Pyodide".
        by_hand: What to do with a package that was fetched elsewhere: "name it with ...".
    """

    name: str
    version: str
    integrity: str
    needed: str
    by_hand: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def files(self, names: Iterable[str], packed: Path | None = None) -> Mapping[str, bytes]:
        """Some files of it, by name. ``packed`` is the package as npm packs it; None fetches it, or
        takes the one in the cache."""
        if packed is None:
            packed = cache_folder() / f"{self.name}-{self.version}.tgz"
            if not packed.exists():
                self._fetch(packed)
        try:
            content = packed.read_bytes()
        except OSError as error:
            raise EnvironmentProblem(
                f"the package {packed} cannot be read ({error.strerror}); name the file that "
                f"`npm pack {self}` writes"
            ) from error
        if base64.b64encode(hashlib.sha512(content).digest()).decode() != self.integrity:
            raise EnvironmentProblem(
                f"{packed} is not the package {self}; remove it, so that it is fetched anew"
            )
        with tarfile.open(packed) as archive:
            files = {name: archive.extractfile(f"package/{name}") for name in names}
            return {name: file.read() for name, file in files.items() if file is not None}

    def _fetch(self, packed: Path) -> None:
        npm, elsewhere = shutil.which("npm"), f"get the file of `npm pack {self}` elsewhere"
        if npm is None:
            raise EnvironmentProblem(
                f"{self.needed}, which npm fetches, and there is no npm here; install Node.js, "
                f"or {elsewhere} and {self.by_hand}"
            )
        packed.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=packed.parent) as folder:
            command = [npm, "pack", str(self), "--pack-destination", folder, "--silent"]
            try:
                pack = subprocess.run(
                    command, capture_output=True, text=True, timeout=_PATIENCE, cwd=folder
                )
            except subprocess.TimeoutExpired:
                raise EnvironmentProblem(
                    f"npm did not fetch {self} within {_PATIENCE} s; try again, or {elsewhere} and "
                    f"{self.by_hand}"
                ) from None
            archives = list(Path(folder).glob("*.tgz"))
            if pack.returncode or len(archives) != 1:
                last = pack.stderr.strip().splitlines()[-1:] or ["it says nothing"]
                raise EnvironmentProblem(
                    f"npm cannot fetch {self} ({last[0]}); run `npm pack {self}` yourself, and "
                    f"{self.by_hand}"
                )
            archives[0].replace(packed)


def cache_folder() -> Path:
    """Where what is fetched or built is kept: ``$XDG_CACHE_HOME/beamlike``, or the like."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "beamlike"


VERSION: Final = "314.0.7"
_PYODIDE: Final = NpmPackage(
    "pyodide",
    VERSION,
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
    needed="the playground needs Pyodide",
    by_hand="name it with --pyodide FILE",
)

FILES: Final = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
    *("python_stdlib.zip", "pyodide-lock.json"),
)
"""What a browser needs of it."""


def interpreter_files(package: Path | None = None) -> Mapping[str, bytes]:
    """The files of Pyodide, by name; see `NpmPackage.files`."""
    return _PYODIDE.files(FILES, package)
