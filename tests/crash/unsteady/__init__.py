"""A file system that fails at random, or at which Java dies: Hadoop's for this machine, in Java.

It is compiled for a run.
"""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyspark

FAILS_ONE_IN: Final = 400
"""Operations on checkpoints, of which one fails."""


def can_be_unsteady() -> bool:
    """Whether there is a compiler of Java."""
    return shutil.which("javac") is not None


def unsteady(home: Path) -> Mapping[str, str]:
    """Settings of a session under which one of so many operations on its checkpoints fails."""
    return {**_used(home), "spark.hadoop.beamlike.crash.fails.one.in": str(FAILS_ONE_IN)}


def dying_at(home: Path, operation: str) -> Mapping[str, str]:
    """Settings of a session whose Java is gone when it comes to an operation on a file.

    Args:
        home: The folder for what is compiled.
        operation: A regular expression for the operation and the path: ``rename before``, ``rename
            after``, ``create`` and others, see ``Unsteady.java``.
    """
    return {**_used(home), "spark.hadoop.beamlike.crash.dies.at": operation}


def _used(home: Path) -> Mapping[str, str]:
    classes = home / "unsteady"
    if not classes.exists():
        jars = Path(pyspark.__file__).with_name("jars") / "*"
        source = Path(__file__).with_name("Unsteady.java")
        subprocess.run(["javac", "-d", str(classes), "-cp", str(jars), str(source)], check=True)
    return {
        "spark.driver.extraClassPath": str(classes),
        "spark.executor.extraClassPath": str(classes),
        "spark.hadoop.fs.file.impl": "beamlike.crash.Unsteady$Checked",
        "spark.hadoop.fs.AbstractFileSystem.file.impl": "beamlike.crash.Unsteady$Context",
    }
