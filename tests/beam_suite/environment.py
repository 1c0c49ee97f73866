"""An environment with Apache Beam, and what its tests need beside it."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.environments import environment

_NEEDED: Final = ("attrs", "cloudpickle", "fsspec", "pyarrow", "numpy", "pandas<3", "pyspark>=4.1")
"""What beamlike needs to run in this process and on Spark, with files of text. Beam reads files by
pandas 2."""
_TESTS_NEED: Final = ("parameterized", "pyhamcrest", "pytest", "mock", "tenacity", "cryptography")


def beam_environment(work: Path, version: str) -> Path:
    """The Python of an environment with this version of Beam; made if there is none."""
    wanted = (f"apache-beam=={version}", *_NEEDED, *_TESTS_NEED)
    return environment(work / f"beam-{version}", wanted)


def beam_folder(python: Path) -> Path:
    """Where the ``apache_beam`` of a Python is."""
    find = "import importlib.util as u; print(u.find_spec('apache_beam').origin)"
    return Path(_said(python, find)).parent


def version_of(python: Path) -> str:
    """The version of Beam that a Python has."""
    return _said(python, "import importlib.metadata as m; print(m.version('apache-beam'))")


def _said(python: Path, script: str) -> str:
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} has no apache_beam; leave out --beam, or install it there")
    return done.stdout.strip()
