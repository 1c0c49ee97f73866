"""What an engine needs, in a cache folder: jars and classes by Maven, or an environment of Python.

No registry is named here: Maven and pip ask those of their own settings.
"""

import os
import shutil
import subprocess
import venv
from collections.abc import Sequence
from hashlib import sha256
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


def class_path(source: Path, cache: Path) -> str:
    """The class path of an adapter in Java, compiled anew where the source changed."""
    for program in ("mvn", "java", "javac"):
        if shutil.which(program) is None:
            raise NotHere(f"{program} is not installed")
    home = cache / source.name
    home.mkdir(exist_ok=True)
    pom, jars, classes = source / "pom.xml", home / "class_path.txt", home / "classes"
    found, compiled = home / "found", home / "compiled"
    if not _is_of(found, [pom]) or not all(map(os.path.exists, _jars(jars))):
        command = ["mvn", "-q", "-B", "-f", pom, "dependency:build-classpath"]
        run([*command, f"-Dmdep.outputFile={jars}"], f"Maven for {source.name}", 1200)
        found.write_text(_digest([pom]), encoding="utf-8")
    sources = sorted(source.glob("*.java"))
    path = jars.read_text(encoding="utf-8").strip()
    if not _is_of(compiled, [*sources, jars]):
        shutil.rmtree(classes, ignore_errors=True)
        command = ["javac", "-nowarn", "-Xlint:none", "-cp", path, "-d", classes]
        run([*command, *sources], f"javac for {source.name}", 300)
        compiled.write_text(_digest([*sources, jars]), encoding="utf-8")
    return f"{classes}{os.pathsep}{path}"


def _jars(listed: Path) -> list[str]:
    return listed.read_text(encoding="utf-8").strip().split(os.pathsep)


def _is_of(note: Path, files: Sequence[Path]) -> bool:
    """Whether what was made is of these files. A new checkout has new times for old files."""
    return note.exists() and note.read_text(encoding="utf-8") == _digest(files)


def _digest(files: Sequence[Path]) -> str:
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


@attrs.frozen
class Requirement:
    """A distribution of Python with its version."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


def environment(name: str, needed: Sequence[Requirement], cache: Path) -> Path:
    """The Python of an environment that has these; made if there is none."""
    folder = _folder(name, needed, cache)
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        venv.create(folder, with_pip=True, clear=True)
        run([python, "-m", "pip", "install", "--quiet", *map(str, needed)], f"pip for {name}", 1200)
        complete.touch()
    return python


def has_environment(name: str, needed: Sequence[Requirement], cache: Path) -> bool:
    """Whether an environment that has these is in the cache."""
    return (_folder(name, needed, cache) / "complete").exists()


def _folder(name: str, needed: Sequence[Requirement], cache: Path) -> Path:
    return cache / name / "-".join(str(one).replace("==", "-") for one in needed)
