"""``python -m tests.packaging.lock`` writes ``.ci/requirements.lock`` anew, with newest versions.

That is ``uv pip compile``, from ``pip install uv``. The file has a version of each distribution
that the tests need, and the hashes of all its files; it names no index.
"""

import configparser
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.packaging.sbom import LOCK

_OPTIONS: Final = (
    *("--quiet", "--upgrade", "--generate-hashes", "--python", sys.executable),
    *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
)


def wanted() -> list[str]:
    """What the package and its tests ask for, as ``setup.cfg`` says."""
    config = configparser.ConfigParser()
    config.read(LOCK.parents[1] / "setup.cfg", encoding="utf-8")
    listed = config["options"]["install_requires"] + config["options.extras_require"]["test"]
    lines = (line.strip() for line in listed.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


if __name__ == "__main__":
    with TemporaryDirectory() as home:
        asked = Path(home) / "wanted.in"
        asked.write_text("\n".join(wanted()), encoding="utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", *_OPTIONS]
        sys.exit(subprocess.run([*command, "-o", str(LOCK), str(asked)], check=False).returncode)
