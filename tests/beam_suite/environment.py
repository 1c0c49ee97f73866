"""An environment with Apache Beam, and what its tests need beside it."""

import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

_NEEDED: Final = ("attrs", "cloudpickle", "fsspec", "pyarrow", "numpy", "pandas<3", "pyspark>=4.1")
"""What beamlike needs to run in this process and on Spark, with files of text. Beam reads files by
pandas 2."""
_TESTS_NEED: Final = ("parameterized", "pyhamcrest", "pytest", "mock", "tenacity", "cryptography")


def environment(work: Path, version: str) -> Path:
    """The Python of an environment with this version of Beam; made if there is none."""
    folder = work / f"beam-{version}"
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        wanted = (f"apache-beam=={version}", *_NEEDED, *_TESTS_NEED)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        done.touch()
    return python


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
