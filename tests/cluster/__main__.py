"""Run a job on a cluster of several hosts, on one machine: ``python -m tests.cluster``.

A standalone master, a driver and three workers of one core are in network namespaces, each with an
address, a work folder and Python from an archive; the state is in a folder that they share. In each
trial something goes wrong, and the result has to equal a plain computation that shares no code with
beamlike. Nothing stays: no process, namespace, mount or file. What came of each trial is kept in
``LATEST.md``; ``--only`` takes some of them, and keeps the rows of the others.

It needs root and the programs ``ip`` and ``java``. Where namespaces are not allowed it says so.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cluster.archive import packed
from tests.cluster.trials import TRIALS, Place
from tests.support.commands import command_parser
from tests.support.environments import NotHere, cache_folder
from tests.support.latest import Latest

LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    """# The latest trials on a cluster

`python -m tests.cluster`: a standalone master, a driver and three workers of one core and 512 MB,
each in a network namespace with its own address, on one machine of two cores.

""",
    ("trial", "PySpark", "result", "seen", "seconds", "on"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one of them fails."""
    parser = command_parser("tests.cluster", __doc__)
    parser.add_argument("--only", nargs="+", choices=[*TRIALS], metavar="TRIAL", help="these")
    parser.add_argument("--list", action="store_true", help="name the trials and stop")
    parser.add_argument("--cache", help="the folder for what is fetched and packed")
    parser.add_argument("--keep", type=Path, help="a folder for logs, which stay there")
    options = parser.parse_args(arguments)
    if options.list:
        print(*TRIALS, sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is stopped
    has_failed = False
    for name in options.only or TRIALS:
        try:
            has_failed |= not _run(name, options.cache, options.keep)
        except NotHere as reason:
            print(f"the cluster is left out: {reason}")
            return 0
    return int(has_failed)


def _run(name: str, cache: str | None, keep: Path | None) -> bool:
    """Whether a trial holds. A row of it is kept."""
    import pyspark

    started = time.monotonic()
    spark = Path(str(pyspark.__file__)).parent
    python = packed(cache_folder(cache))
    with tempfile.TemporaryDirectory(prefix="beamlike-cluster-") as folder:
        try:
            seen, result = TRIALS[name](Place(Path(folder), spark, python)), "holds"
        except (AssertionError, OSError, subprocess.SubprocessError, ValueError) as failure:
            seen, result = f"{type(failure).__name__}: {failure}", "fails"
        if keep is not None:
            unpacked = shutil.ignore_patterns("environment*")
            kept = keep / re.sub(r"\W+", "-", name)
            shutil.copytree(folder, kept, symlinks=True, ignore=unpacked, dirs_exist_ok=True)
    seconds = round(time.monotonic() - started)
    print(f"{name}: {result}, {seconds} s\n{seen}", flush=True)
    cells = (name, pyspark.__version__, result, seen.splitlines()[0][:300], seconds)
    LATEST.keep(*cells, order=[*TRIALS])
    return result == "holds"


if __name__ == "__main__":
    sys.exit(main())
