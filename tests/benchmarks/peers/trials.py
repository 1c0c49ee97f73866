"""Runs of an engine: what they took, and whether the sessions are the exact ones."""

import contextlib
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Self

import pyarrow as pa
from attrs import frozen

from tests.benchmarks.measure import refuse_unequal
from tests.benchmarks.peers.events import DELAY_MS, GAP_MS, read_sessions
from tests.benchmarks.workers import cpu_of, descendants
from tests.support.environments import NotHere

ROOT: Final = Path(__file__).resolve().parents[3]
_SECONDS: Final = 3600
_LAST_LINES: Final = 15
_EVERY_SECONDS: Final = 0.02
_PR_SET_CHILD_SUBREAPER: Final = 36


@frozen
class Took:
    """Seconds by the clock, and seconds of processors in all processes below this one."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Self:
        """Until now. Processes that ended count as far as they were waited for."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        alive = sum(cpu_of(process, with_ended=True) for process, _ in descendants())
        return cls(time.monotonic(), ended.ru_utime + ended.ru_stime + alive)

    def __sub__(self, before: "Took") -> "Took":
        return Took(self.wall - before.wall, self.cpu - before.cpu)

    @classmethod
    def median(cls, runs: Sequence["Took"]) -> Self:
        """Of each figure by itself."""
        return cls(
            statistics.median(run.wall for run in runs), statistics.median(run.cpu for run in runs)
        )


def trial(
    title: str, command: Sequence[str | Path], source: Path, exact: pa.Table, runs: int
) -> tuple[Took, Took]:
    """Run an engine in ``runs`` processes once each, and in one process ``runs + 1`` times.

    Returns:
        What a process with a single run took, and what the second and later runs within one, in
        the medians.
    """
    cold = [_process(title, command, source, exact, 1)[0] for _ in range(runs)]
    _, (_, *warm) = _process(title, command, source, exact, runs + 1)
    return Took.median(cold), Took.median(warm)


def _process(
    title: str, command: Sequence[str | Path], source: Path, exact: pa.Table, runs: int
) -> tuple[Took, list[Took]]:
    """What a process took, and what each run in it."""
    # Processes whose parents end become children of this one, and are waited for like them.
    _adopt_orphans(True)
    others = [process for process, _ in descendants()]
    home = Path(tempfile.mkdtemp(prefix="beamlike-peers-"))
    arguments = [*command, source, home, str(runs), str(GAP_MS), str(DELAY_MS)]
    try:
        with (home / "log").open("w+", encoding="utf-8") as log:
            marks = [Took.now()]
            process = subprocess.Popen(
                arguments,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            limit = threading.Timer(_SECONDS, process.kill)
            limit.start()
            assert process.stdout is not None
            marks += [Took.now() for line in process.stdout if line == "run\n"]
            status = process.wait()
            limit.cancel()
            _wait_for_all_but(others)
            whole = Took.now() - marks[0]
            if status or len(marks) != runs + 1:
                log.seek(0)
                last = "\n".join(log.read().splitlines()[-_LAST_LINES:])
                raise NotHere(f"{title} ended with status {status}:\n{last}")
        for run in range(runs):
            found = read_sessions(home / "results" / str(run))
            refuse_unequal((title, found), ("a plain computation", exact))
    finally:
        _adopt_orphans(False)
        shutil.rmtree(home, ignore_errors=True)
    return whole, [after - before for before, after in pairwise(marks)]


def _adopt_orphans(adopt: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def _wait_for_all_but(others: Collection[Path]) -> None:
    while left := [process for process, _ in descendants() if process not in others]:
        for process in left:
            with contextlib.suppress(ChildProcessError):  # it has a parent yet
                os.waitpid(int(process.name), os.WNOHANG)
        time.sleep(_EVERY_SECONDS)
