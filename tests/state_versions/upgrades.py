"""Do queries go on with another PySpark and another Python?

``python -m tests.state_versions.upgrades``: a session of the first Python leaves a checkpoint of
each work, one of each other goes on from a copy, and what comes out has to be what comes out
without an upgrade. What came of each is kept in ``UPGRADES.md``. Where no Pythons are named,
environments are made of those on this machine, in a cache folder.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.state_versions.expected import CAME, gone_on
from tests.state_versions.works import WORKS
from tests.support.commands import command_parser
from tests.support.environments import (
    BESIDE_PYSPARK,
    NotHere,
    Requirement,
    cache_folder,
    environment,
    interpreter,
    run,
)
from tests.support.latest import Latest

ROOT: Final = Path(__file__).resolve().parents[2]
Versions = tuple[str, str]
FROM: Final[Versions] = ("3.11", "4.1.4")
"""The Python and the PySpark that leave the checkpoints."""

TO: Final[Sequence[Versions]] = (("3.11", "4.2.0"), ("3.11", "4.3.0"), ("3.13", "4.3.0"))
"""Those that go on."""

LATEST: Final = Latest(
    Path(__file__).with_name("UPGRADES.md"),
    """# The latest upgrades

`python -m tests.state_versions.upgrades`: a session leaves each work, and another goes on.

""",
    ("left by", "goes on with", "works", "result", "on"),
    named_by=(0, 1),
)
_SECONDS: Final = 900
_VERSIONS: Final = (
    "import platform, pyspark; print('Python', platform.python_version(), 'PySpark', "
    "pyspark.__version__)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 if a query did not go on as it has to."""
    parser = command_parser("tests.state_versions.upgrades", __doc__)
    parser.add_argument("--left-by", type=Path, metavar="PYTHON")
    parser.add_argument("--goes-on-with", type=Path, nargs="+", metavar="PYTHON")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--step", nargs=2, metavar=("STEP", "HOME"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        return _step(options.step[0], Path(options.step[1]), options.works)
    try:
        first = options.left_by or _environment(*FROM)
        others = options.goes_on_with or [_environment(*versions) for versions in TO]
    except NotHere as reason:
        print(f"upgrades are left out: {reason}")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="beamlike-upgrades-") as folder:
        home = Path(folder) / "left"
        _run(first, "leave", home, options.works)
        for number, python in enumerate(others):
            came = _went_on(home, Path(folder) / str(number), python, options.works)
            failed = [name for name in options.works if came.get(name) != sorted(CAME[name])]
            result = f"differs: {', '.join(failed)}" if failed else "the same panes"
            cells = (_versions(first), _versions(python), ", ".join(options.works), result)
            print(*cells, sep=" | ", flush=True)
            LATEST.keep(*cells)
            for name in failed:
                print(name, came.get(name), sep="\n")
            wrong += len(failed)
    return int(wrong > 0)


def _went_on(left: Path, home: Path, python: Path, works: Sequence[str]) -> dict[str, list[str]]:
    """What came out of works that went on from copies of their checkpoints, by name."""
    from tests.state_versions.stored import rewrite

    for name in works:
        shutil.copytree(left / name / "checkpoint", home / name / "checkpoint")
        for checksum in (home / name).rglob(".*.crc"):  # paths change
            checksum.unlink()
        rewrite(home / name / "checkpoint", f"{left / name}/", f"{home / name}/")
    _run(python, "go-on", home, works)
    came = {name: home / name / "came.json" for name in works}
    return {name: json.loads(path.read_text()) for name, path in came.items() if path.exists()}


def _run(python: Path, step: str, home: Path, works: Sequence[str]) -> None:
    home.mkdir(exist_ok=True)
    command = [python, "-m", __spec__.name, "--works", *works, "--step", step, str(home)]
    variables = {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": str(python)}
    # What did not go on is missing, and its reason is printed.
    subprocess.run(command, cwd=home, env=os.environ | variables, timeout=_SECONDS)


def _step(step: str, home: Path, works: Sequence[str]) -> int:
    """What runs in an environment: leave works in their folders, or go on with them."""
    from beamlike.hosts.spark.session import local_session
    from tests.state_versions.__main__ import leave

    spark = local_session("beamlike upgrades", cores=3 if step == "leave" else 2)
    for name in works:
        folder = home / name
        folder.mkdir(exist_ok=True)
        if step == "leave":
            leave(spark, WORKS[name], folder)
        else:
            (folder / "came.json").write_text(json.dumps(gone_on(spark, WORKS[name], folder)))
    spark.stop()
    return 0


def _versions(python: Path) -> str:
    return run([python, "-c", _VERSIONS], "the versions", 60).strip()


def _environment(version: str, pyspark: str) -> Path:
    """The Python of an environment with these versions, made if it is not in the cache."""
    if (python := interpreter(version)) is None:
        raise NotHere(f"there is no Python {version} on this machine")
    folder = cache_folder() / "upgrades" / f"python-{version}-pyspark-{pyspark}"
    needed = [Requirement(*pair) for pair in (("pyspark", pyspark), *BESIDE_PYSPARK)]
    return environment(folder, needed, python)


if __name__ == "__main__":
    sys.exit(main())
