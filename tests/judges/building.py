"""What an engine of Java needs, in a cache folder: jars and classes, by Maven."""

import os
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tests.support.environments import NotHere, run


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
