"""A child and all that it has started: Java, and Python workers in groups of their own.

They are one session of the operating system, by which they are found, and so killed, to the last.
"""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import attrs

ROOT: Final = Path(__file__).resolve().parents[2]
DAEMON: Final = "-m tests.crash.daemon"
"""What Python workers have in their command; Java has the name among its settings."""
EXECUTOR: Final = "CoarseGrainedExecutorBackend"
LOG_LINES: Final = 40
PATIENCE: Final = 900
"""Seconds that a child may take to reach a moment or its end."""


class ChildFailed(Exception):
    """A child ended otherwise than it should; with the last lines of its log."""

    def reason(self) -> str:
        """The line that says why, cut short."""
        lines = str(self).splitlines()
        raised = [line.strip() for line in lines if re.match(r" *[\w.]+(Error|Exception): ", line)]
        return " ".join([*lines[:1], *raised[-1:]])[:400]


@attrs.frozen
class Process:
    """A process that lives, the one that started it, and its command with all arguments."""

    number: int
    parent: int
    command: str


@attrs.frozen
class Child:
    """A running child. Leave it as a context, and no process of it is left."""

    home: Path
    _popen: "subprocess.Popen[bytes]"
    started: float = attrs.field(factory=time.monotonic)

    @classmethod
    def start(
        cls,
        home: Path,
        feed: Path,
        works: Sequence[str],
        *options: str,
        python: str = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Start it, or have it go on in its folder."""
        home.mkdir(parents=True, exist_ok=True)
        kept = home / "tmp"
        kept.mkdir(exist_ok=True)
        command = [python, "-m", "tests.crash.child", str(home), str(feed), *works]
        variables = {"PYTHONPATH": str(ROOT), "TMPDIR": str(kept), "PYSPARK_PYTHON": python}
        with (home / "log").open("ab") as log:
            popen = subprocess.Popen(
                [*command, *options],
                cwd=home,
                env=os.environ | variables | dict(environment or {}),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return cls(home, popen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def runs(self) -> bool:
        return self._popen.poll() is None

    @property
    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def kill(self) -> None:
        """Kill the driver and Java at once, and then whatever is left."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        while left := processes_of(self._popen.pid):
            for process in left:
                _kill(process.number)
            time.sleep(0.01)
        assert self._popen.stdin is not None
        self._popen.stdin.close()

    def kill_java(self) -> None:
        """Kill Java alone. The driver then ends by itself."""
        for process in processes_of(self._popen.pid):
            if process.parent == self._popen.pid and "java" in process.command:
                _kill(process.number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(20)
        self.kill()

    def kill_workers(self, draw: random.Random) -> bool:
        """Kill Python workers: one, or all, or all with the process that starts them.

        Whether there were any.
        """
        found = [process for process in processes_of(self._popen.pid) if DAEMON in process.command]
        numbers = {it.number for it in found}
        workers = [it for it in found if it.parent in numbers]
        chosen = draw.choice([workers, found, draw.sample(workers, min(1, len(workers)))])
        for process in chosen:
            _kill(process.number)
        return bool(chosen)

    def kill_executor(self, draw: random.Random) -> bool:
        """Kill an executor and its Python workers, as if its machine was gone; if there was one."""
        processes = processes_of(self._popen.pid)
        executors = [
            process
            for process in processes
            if EXECUTOR in process.command and "java" in process.command
        ]
        if not executors:
            return False
        numbers = {draw.choice(executors).number}
        for _ in range(3):  # its daemon, and the workers of that
            numbers |= {process.number for process in processes if process.parent in numbers}
        for number in numbers:
            _kill(number)
        return True

    def finish(self) -> None:
        """Wait for its end."""
        try:
            status = self._popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise self.failed(f"it did not end in {PATIENCE} s") from None
        if status or not (self.home / "done").exists():
            raise self.failed(f"its exit status is {status}")

    def failed(self, what: str) -> ChildFailed:
        lines = (self.home / "log").read_text("utf-8", "replace").splitlines()[-LOG_LINES:]
        return ChildFailed("\n  ".join([f"a child failed: {what}; the end of its log:", *lines]))


def processes_of(session: int) -> list[Process]:
    """All of a session that live; what has ended and waits for its parent does not."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    processes = []
    for line in listing.stdout.splitlines():
        number, parent, status, command = (*line.split(None, 3), "")[:4]
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(int(number)) == session and not status.startswith("Z"):
                processes.append(Process(int(number), int(parent), command))
    return processes


def _kill(number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)
