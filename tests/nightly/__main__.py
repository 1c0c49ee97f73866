"""Everything that takes too long for each change: ``python -m tests.nightly``.

From the top of the checkout, with nothing else on the machine. The trials run one after the other,
and each keeps its last results beside itself, in a ``LATEST.md``. ``--only`` takes some of them,
``--list`` names them. Exit status: 0 if all is well, 1 if something is wrong.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

from tests.support.commands import command_parser

TRIALS: Final = {
    "tests": ("pytest", "-q", "--nightly", "-n", "2", "--dist", "loadgroup"),
    "crash": ("tests.crash", "--kills", "55"),
    "landing": ("tests.landing",),
    "catalogs": ("tests.catalogs",),
    "kafka": ("tests.kafka",),
    "cluster": ("tests.cluster",),
    "endurance": ("tests.endurance",),
    "exhaustive": ("tests.exhaustive", "--report", "tests/exhaustive/LATEST.md"),
    "differential": ("tests.differential", "--report", "tests/differential/LATEST.md"),
    "stateful": ("tests.stateful", "--spark", "40", "--report", "tests/stateful/LATEST.md"),
    "beam_runner": ("tests.beam_runner",),
    "beam_suite": ("tests.beam_suite",),
    "judges": ("tests.judges", "--random", "10000", "--keep"),
    "fuzz": ("tests.fuzz", "--minutes", "30"),
    "large": ("tests.large",),
    "benchmarks": ("tests.benchmarks",),
    "growth": ("tests.growth",),
    "compatibility": ("tests.compatibility", "--write"),
}
"""By name, the module that is run and its arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; the exit status."""
    parser = command_parser("tests.nightly", __doc__)
    parser.add_argument("--list", action="store_true", help="name the trials, and run none")
    parser.add_argument("--only", nargs="+", choices=TRIALS, default=list(TRIALS), metavar="TRIAL")
    asked = parser.parse_args(arguments)
    if asked.list:
        for name in asked.only:
            print(f"{name:<14} python -m {' '.join(TRIALS[name])}")
        return 0
    failed = [name for name in asked.only if not run(name)]
    print(f"failed: {', '.join(failed)}" if failed else "all is well")
    return 1 if failed else 0


def run(name: str) -> bool:
    """Run one trial, and print how long it took; whether all is well."""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", *TRIALS[name]], check=False)
    minutes = (time.monotonic() - begun) / 60
    print(f"{name}: exit status {done.returncode} after {minutes:.0f} minutes", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
