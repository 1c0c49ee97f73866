"""Install the lower bounds, and run tests with them; see the package."""

import argparse
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.lower_bounds.bounds import ROOT, constraints

__all__ = ["main"]

WITHOUT_SPARK = ("tests/model", "tests/machine", "tests/laws", "tests/hosts", "tests/fuzz")
WITH_SPARK = ("tests/api/test_windowed_batch.py", "tests/api/test_far_future.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a test fails, or the versions do not go together."""
    parser = argparse.ArgumentParser("python -m tests.lower_bounds", description=__doc__)
    parser.add_argument("--print", action="store_true", help="print the constraints, and no more")
    parser.add_argument("--no-spark", action="store_true", help="leave out the tests with Spark")
    options = parser.parse_args(arguments)
    pinned = "".join(f"{line}\n" for line in constraints())
    if options.print:
        print(pinned, end="")
        return 0
    with TemporaryDirectory(prefix="beamlike-bounds-") as made:
        home = Path(made)
        (home / "constraints.txt").write_text(pinned)
        venv.create(home / "env", with_pip=True)
        python = str(home / "env" / "bin" / "python")
        wanted = [line.partition("==")[0] for line in pinned.split()]
        install = ("pip", "install", "--quiet", "-c", str(home / "constraints.txt"))
        steps = [
            [*install, *wanted],
            [*install, "--no-deps", "-e", str(ROOT)],
            ["pytest", "-q", "-m", "not spark and not browser", *WITHOUT_SPARK],
        ]
        if not options.no_spark:
            steps.append(["pytest", "-q", *WITH_SPARK])
        for step in steps:
            if subprocess.run([python, "-m", *step], cwd=ROOT, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
