"""A fresh environment of some version of Python, and what pip puts into it."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tests.compatibility.steps import Ended, StepFailed, ran


def environment(home: Path, version: str, logs: Path) -> Path:
    """The interpreter of a virtual environment of this Python, which is made if it is not there."""
    python = home / "bin" / "python"
    if python.exists():
        return python
    found = interpreter(version)
    if found is None:
        saw = f"there is no Python {version} on this machine (PATH, pyenv, uv)"
        raise StepFailed(Ended("environment", False, saw, (), 0))
    _done(ran("environment", [found, "-m", "venv", home], log=logs / f"{home.name}-venv.log"))
    return python


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


def install(python: Path, *wanted: str | Path, logs: Path) -> None:
    """Have pip install these."""
    log = logs / f"{python.parent.parent.name}-pip.log"
    _done(ran("pip install", [*_pip(python), "install", "--quiet", *wanted], log=log))


def wheel(python: Path, source: Path, home: Path, logs: Path) -> Path:
    """The package as a wheel that is called ``beamlike.zip``, as the README has it."""
    command = [*_pip(python), "wheel", "--quiet", "--no-deps", "--wheel-dir", home, source]
    _done(ran("pip wheel", command, log=logs / "wheel.log"))
    (made,) = home.glob("beamlike-*.whl")
    return made.rename(home / "beamlike.zip")


def printed_by(python: Path, script: str, logs: Path) -> str:
    """The last line that a script prints."""
    return _done(ran("versions", [python, "-c", script], log=logs / "versions.log")).saw


def _pip(python: Path) -> list[str | Path]:
    return [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]


def _done(ended: Ended) -> Ended:
    if not ended.good:
        raise StepFailed(ended)
    return ended
