"""What goes wrong without a kill: all of these in one run, each in a micro-batch of its own.

A query that fails is started again, in the same session: its Python workers are still there, and
remember what they did in the micro-batch that failed.
"""

import contextlib
import os
import re
import resource
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.crash.child import Queries
from tests.crash.processes import DAEMON, Process, processes_of
from tests.crash.work import Work
from tests.crash.works import WORKS

FIRST: Final = 2
"""The micro-batch of the first fault; the others follow, one in each."""

WORK: Final = "sessions"
_QUIET: Final = 0.3
"""Seconds without a command, after which a file is taken for opened."""


def try_faults(spark: Any, home: Path, feed: Path) -> None:
    """Run the work in ``HOME/faults``, with one fault after the other."""
    work = WORKS[WORK]
    queries = Queries(spark, home / "faults", feed, [work])
    queries.start_all()
    for _ in range(FIRST):
        queries.next()
    for batch, make in enumerate(FAULTS.values(), FIRST):
        fault = make(queries, work, home / "faults" / WORK, batch)
        queries.mend = fault.mend
        fault.strike()
        if not queries.next():
            raise ValueError("there are fewer files than faults")
        fault.strike_again()
    while queries.next():
        pass
    queries.stop_all()


class Fault:
    """Something that goes wrong around a micro-batch; the query rests before it and after it."""

    def __init__(self, queries: Queries, work: Work, home: Path, batch: int) -> None:
        self.queries, self.work, self.home, self.batch = queries, work, home, batch
        self.checkpoint = queries.checkpoint(work)

    def strike(self) -> None:
        """Called before the micro-batch."""

    def mend(self) -> None:
        """Called when the query has failed."""

    def strike_again(self) -> None:
        """Called after the micro-batch."""


class SinkFailsBefore(Fault):
    """The sink raises before it has written anything."""

    point = "before"

    def strike(self) -> None:
        (self.home / "out" / "fail").write_text(f"{self.point} {self.batch}")


class SinkFailsAfter(SinkFailsBefore):
    """The sink raises although everything is written."""

    point = "after"


class _WhileCommitting(Fault):
    """Something that is in the way of the state store when it commits.

    A task first opens the file for its changes, then asks Python, and then commits. So while the
    workers are held, nothing moves on between the first and the last.
    """

    def strike(self) -> None:
        opened = re.compile(rf"\.\.{self.batch + 1}\.changelog.*crc$")
        threading.Thread(target=self._watch, args=(opened,), daemon=True).start()

    def _watch(self, opened: re.Pattern[str]) -> None:
        state = self.checkpoint / "state" / "0" / "0"
        while not any(map(opened.match, os.listdir(state))):
            time.sleep(0.001)
        workers = [process for process in processes_of(os.getpid()) if DAEMON in process.command]
        _send(signal.SIGSTOP, workers)
        _wait_for_chmod()
        self.hinder(state)
        _send(signal.SIGCONT, workers)

    def hinder(self, state: Path) -> None:
        """Have the commit to this folder fail."""
        raise NotImplementedError


class StateCommitFails(_WhileCommitting):
    """The folder of the state is gone, and a file is in its place."""

    def hinder(self, state: Path) -> None:
        state.rename(state.with_name("aside"))
        state.touch()

    def mend(self) -> None:
        state = self.checkpoint / "state" / "0" / "0"
        state.unlink()
        state.with_name("aside").rename(state)


class NoFileMayGrow(_WhileCommitting):
    """No process of Java may write to a file: the same as a full disk, but for the error's name.

    One that is really full needs the right to mount it: see `full_disk`.
    """

    def hinder(self, state: Path) -> None:
        self._limit(0)

    def mend(self) -> None:
        self._limit(None)

    def _limit(self, size: int | None) -> None:
        own = os.getpid()
        for process in processes_of(own):
            if process.parent == own and "java" in process.command:
                _, most = resource.prlimit(process.number, resource.RLIMIT_FSIZE)
                limits = (most if size is None else size, most)
                resource.prlimit(process.number, resource.RLIMIT_FSIZE, limits)


def _wait_for_chmod() -> None:
    """Until Java has opened its file, which it does with the help of a command.

    Between the file and the command there is a moment without either, so it has to be quiet for
    a while. On a machine that takes longer, the file cannot be opened, which is as good a fault.
    """
    since = time.monotonic()
    while time.monotonic() - since < _QUIET:
        if any("chmod" in process.command for process in processes_of(os.getpid())):
            since = time.monotonic()
        time.sleep(0.001)


def _send(number: int, processes: Sequence[Process]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.number, number)


class Replayed(Fault):
    """The micro-batch is run again: that it had ended was not noted."""

    def strike_again(self) -> None:
        self.queries.repeat(self.work)


FAULTS: Final[Mapping[str, Callable[[Queries, Work, Path, int], Fault]]] = {
    "sink fails before": SinkFailsBefore,
    "sink fails after": SinkFailsAfter,
    "state commit fails": StateCommitFails,
    "no file may grow": NoFileMayGrow,
    "replayed": Replayed,
}
