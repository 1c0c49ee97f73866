"""Run the trials of tables of Spark's catalogs: ``python -m tests.catalogs [FORMAT ...]``.

Each format has an environment of its own, with the PySpark that its jar runs on, in a cache folder;
pip and Maven fetch what is missing. What came of each trial is kept in ``LATEST.md``.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.catalogs.formats import FORMATS, Format
from tests.support.commands import command_parser
from tests.support.environments import NotHere, cache_folder
from tests.support.latest import Latest

ROOT: Final = Path(__file__).resolve().parents[2]
TRIALS: Final = (
    "batches land once",
    "drivers killed before, within and after the commit",
    "two queries into one table",
    "a restored checkpoint",
    "values come back",
    "writers that conflict, and columns that change",
    "over Spark Connect",
)
LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    """# The latest trials of Delta Lake and Iceberg by Spark

`python -m tests.catalogs`. A driver is killed with SIGKILL to its process group, Java and workers
with it; its job is the one of [a web server](../landing/test_web_server.py).

""",
    ("format", "PySpark", "jar", "trial", "result", "seconds", "on"),
    named_by=(0, 3),
)
_SECONDS: Final = 1800


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one of them fails."""
    parser = command_parser("tests.catalogs", __doc__)
    parser.add_argument("format", nargs="*", choices=[*FORMATS, []], help="by default all")
    parser.add_argument("--only", choices=TRIALS, help="one trial")
    parser.add_argument("--cache", help="the folder for what is fetched")
    parser.add_argument("--python", type=Path, help="a Python with this PySpark, in place of one")
    options = parser.parse_args(arguments)
    has_failed = False
    for name in options.format or FORMATS:
        table_format = FORMATS[name]
        try:
            folder = cache_folder(options.cache)
            python = options.python or table_format.python(folder)
            jars = table_format.class_path(folder)
        except NotHere as reason:
            print(f"{name} is left out: {reason}")
            continue
        for trial in [options.only] if options.only else TRIALS:
            started = time.monotonic()
            failure = failure_of(table_format, trial, python, jars)
            seconds = round(time.monotonic() - started)
            result = "fails" if failure else "holds"
            print(f"{name}: {trial}: {result}, {seconds} s", failure or "", sep="\n", flush=True)
            has_failed |= bool(failure)
            _, artifact, version = table_format.jars[0]
            cells = (name, table_format.pyspark, f"{artifact} {version}", trial, result, seconds)
            LATEST.keep(*cells, order=tuple(FORMATS))
    return int(has_failed)


def failure_of(table_format: Format, trial: str, python: Path, jars: str) -> str:
    """What went wrong in a trial; empty if it holds."""
    with tempfile.TemporaryDirectory(prefix="beamlike-catalogs-") as home:
        ran = subprocess.run(
            [python, "-m", "tests.catalogs.trials", table_format.name, trial, home],
            cwd=ROOT,
            env=os.environ | {"BEAMLIKE_JARS": jars, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    # Plans of Spark are left out, which follow what went wrong.
    spoken = (line[:300] for line in ran.stdout.splitlines() if " +- " not in line)
    lines = list(spoken)[-60:]
    return "\n".join(lines) if ran.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
