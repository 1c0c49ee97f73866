"""Environments of Python, and commands that make what is missing on this machine.

No registry is named here: pip and Maven ask those of their own settings.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

_LAST_LINES: Final = 15

BESIDE_PYSPARK: Final = (
    *(("attrs", "26.1.0"), ("cloudpickle", "3.1.2"), ("numpy", "2.4.6"), ("pandas", "2.3.3")),
    *(("pyarrow", "26.0.1"), ("protobuf", "7.36.2"), ("pytest", "9.1.1")),
)
"""What an environment with a PySpark of its own needs for beamlike and its tests."""


class NotHere(Exception):
    """An engine cannot run on this machine, for the reason that the text gives."""


def cache_folder(chosen: str | None = None) -> Path:
    """The folder for what is fetched and built; by default one in the user's cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen) if chosen else base / "beamlike-judges"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(command: Sequence[str | Path], what: str, seconds: float) -> str:
    """The output of a command."""
    try:
        ran = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise NotHere(f"{what} took longer than {seconds:.0f} seconds") from None
    if ran.returncode:
        last = "\n".join(ran.stdout.splitlines()[-_LAST_LINES:])
        raise NotHere(f"{what} failed:\n{last}")
    return ran.stdout


@attrs.frozen
class Requirement:
    """A distribution of Python with its version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


def environment(folder: Path, needed: Sequence[object], python: str = sys.executable) -> Path:
    """The Python of an environment that has these; made in the folder if it is not there.

    Args:
        folder: Where it is kept.
        needed: What pip is asked for.
        python: What it is an environment of.

    Raises:
        NotHere: It cannot be made.
    """
    made, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        run([python, "-m", "venv", "--clear", folder], f"an environment in {folder.name}", 120)
        pip = [made, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        run([*pip, *map(str, needed)], f"pip for {folder.name}", 1200)
        complete.touch()
    return made


def cached_environment(name: str, needed: Sequence[Requirement], cache: Path) -> Path:
    """The Python of an environment in the cache that has exactly these."""
    return environment(_folder(name, needed, cache), needed)


def has_environment(name: str, needed: Sequence[Requirement], cache: Path) -> bool:
    """Whether an environment that has these is in the cache."""
    return (_folder(name, needed, cache) / "complete").exists()


def _folder(name: str, needed: Sequence[Requirement], cache: Path) -> Path:
    return cache / name / "-".join(str(one).replace("==", "-") for one in needed)


def interpreter(version: str) -> str | None:
    """A Python of this version: this one, one on PATH, or one of pyenv's or uv's."""
    if platform.python_version().startswith(f"{version}."):
        return sys.executable
    candidates = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(path / "bin" / "python") for path in sorted(pyenv.glob(f"{version}.*"))]
    if (uv := shutil.which("uv")) is not None:
        asked = subprocess.run(
            [uv, "python", "find", version], capture_output=True, text=True, check=False
        )
        candidates.append(asked.stdout.strip())
    for candidate in filter(None, candidates):
        command = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return candidate
    return None
