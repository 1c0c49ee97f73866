"""A fresh environment of some version of Python, and what pip puts into it."""

from pathlib import Path

from tests.compatibility.steps import Ended, StepFailed, ran
from tests.support.environments import interpreter


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
