"""Kill what writes to each kind of table fifty times, and run the job of a web server over 300,000
lines: ``python -m tests.landing``.

Each trial is a test of this folder with another size, and is named with what came of it. A trial
that is left out with ``--only`` keeps its row in ``LATEST.md``.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.support.commands import command_parser
from tests.support.latest import Latest

ROOT: Final = Path(__file__).resolve().parents[2]
_KILLED: Final = "tests/landing/test_kills.py::test_each_batch_lands_once"
_JOB: Final = "tests/landing/test_web_server.py::test_on_spark_too"
LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    """# The latest long run

`python -m tests.landing`: each trial with what came of it. Killed means SIGKILL to the process that
writes, and what it started; the job is killed twice in each of its two queries.

""",
    ("trial", "size", "result", "seconds", "on"),
)


@attrs.frozen
class Trial:
    """A test, and the variable of the environment that says how large it is."""

    test: str
    variable: str
    what: str


TRIALS: Final[Mapping[str, Trial]] = {
    **{
        f"kills {kind}": Trial(f"{_KILLED}[{kind}]", "BEAMLIKE_KILLS", "kills")
        for kind in ("sqlite", "duckdb", "delta", "iceberg", "postgres", "jdbc")
    },
    **{
        f"job {kind}": Trial(f"{_JOB}[{kind}]", "BEAMLIKE_LINES", "lines")
        for kind in ("delta", "postgres")
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one of them fails."""
    parser = command_parser("tests.landing", __doc__)
    parser.add_argument("--kills", type=int, default=50, help="of each table, %(default)s")
    parser.add_argument("--lines", type=int, default=300_000, help="of the job, %(default)s")
    parser.add_argument("--only", nargs="+", choices=TRIALS, default=list(TRIALS), metavar="TRIAL")
    asked = parser.parse_args(arguments)
    sizes = {"kills": asked.kills, "lines": asked.lines}
    failed = []
    for name in asked.only:
        trial = TRIALS[name]
        size, begun = sizes[trial.what], time.monotonic()
        good = _passes(trial, size)
        seconds = round(time.monotonic() - begun)
        result = "every row and dead letter as expected" if good else "failed"
        print(f"{name}: {size:,} {trial.what}, {result}, {seconds} s", flush=True)
        LATEST.keep(name, f"{size:,} {trial.what}", result, seconds, order=[*TRIALS])
        failed += [] if good else [name]
    return 1 if failed else 0


def _passes(trial: Trial, size: int) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "--nightly", trial.test]
    environment = os.environ | {trial.variable: str(size)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
