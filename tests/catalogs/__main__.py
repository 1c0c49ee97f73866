"""Run the trials of tables of Spark's catalogs: ``python -m tests.catalogs [FORMAT ...]``.

Each format has an environment of its own, with the PySpark that its jar runs on, in a cache folder;
pip and Maven fetch what is missing. What came of each trial is kept in ``LATEST.md``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.catalogs.formats import FORMATS, Format
from tests.judges.building import NotHere, cache_folder

__all__ = ["main"]

ROOT: Final = Path(__file__).resolve().parents[2]
LATEST: Final = Path(__file__).with_name("LATEST.md")
TRIALS: Final = (
    "batches land once",
    "drivers killed before, within and after the commit",
    "two queries into one table",
    "a restored checkpoint",
    "values come back",
    "writers that conflict, and columns that change",
    "over Spark Connect",
)
_HEADING: Final = """# The latest trials of Delta Lake and Iceberg by Spark

`python -m tests.catalogs`. A driver is killed with SIGKILL to its process group, Java and workers
with it; its job is the one of [a web server](../landing/test_web_server.py).

| format | PySpark | jar | trial | result | seconds | on |
|---|---|---|---|---|---|---|
"""
_SECONDS: Final = 1800


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one of them fails."""
    parser = argparse.ArgumentParser("python -m tests.catalogs", description=__doc__)
    parser.add_argument("format", nargs="*", choices=[*FORMATS, []], help="by default all")
    parser.add_argument("--only", choices=TRIALS, help="one trial")
    parser.add_argument("--cache", help="the folder for what is fetched")
    parser.add_argument("--python", type=Path, help="a Python with this PySpark, in place of one")
    options = parser.parse_args(arguments)
    rows = _kept()
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
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            cells = (name, table_format.pyspark, f"{artifact} {version}", trial)
            rows["|".join((name, trial))] = (
                f"| {' | '.join(cells)} | {result} | {seconds} | {today} |\n"
            )
    LATEST.write_text(_HEADING + "".join(rows.values()), encoding="utf-8")
    return int(has_failed)


def failure_of(table_format: Format, trial: str, python: Path, jars: str) -> str:
    """What went wrong in a trial; empty if it holds."""
    with tempfile.TemporaryDirectory(prefix="beamlike-catalogs-") as home:
        command = [python, "-m", "tests.catalogs.trials", table_format.name, trial, home]
        ran = subprocess.run(
            command,
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


def _kept() -> dict[str, str]:
    """The rows of earlier runs, by format and trial."""
    if not LATEST.exists():
        return {}
    lines = [
        line for line in LATEST.read_text(encoding="utf-8").splitlines() if line.count("|") > 7
    ]
    cells = [(line, line.split(" | ")) for line in lines[2:]]
    return {f"{cell[0].strip('| ')}|{cell[3]}": f"{line}\n" for line, cell in cells}


if __name__ == "__main__":
    sys.exit(main())
