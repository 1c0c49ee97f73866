"""What memory and processor time a query took, read from ``/proc`` of Linux."""

import os
import re
import threading
from pathlib import Path
from typing import Final, Self

from attrs import frozen

_PROC: Final = Path("/proc")
_EVERY_SECONDS: Final = 0.5


_TICKS: Final = os.sysconf("SC_CLK_TCK")


@frozen
class CpuSeconds:
    """Processor time of a query: of its driver, of Java, and of the Python workers."""

    driver: float
    jvm: float
    workers: float

    @property
    def total(self) -> float:
        return self.driver + self.jvm + self.workers

    def __sub__(self, before: "CpuSeconds") -> "CpuSeconds":
        return CpuSeconds(
            self.driver - before.driver, self.jvm - before.jvm, self.workers - before.workers
        )


def cpu_seconds() -> CpuSeconds:
    """What this process, and those below it, have taken until now. Zeros without ``/proc``."""
    jvm = workers = 0.0
    for process, program in descendants():
        if program.startswith("java"):
            # With the processes that it started for files of checkpoints, and that are gone.
            jvm += cpu_of(process, with_ended=True)
        elif program.startswith("python"):
            # With what ended below it: a worker that is gone counts at the daemon it came from.
            workers += cpu_of(process, with_ended=True)
    return CpuSeconds(cpu_of(_PROC / "self"), jvm, workers)


def cpu_of(process: Path, *, with_ended: bool = False) -> float:
    """Processor time (s) of a process, given by its folder in ``/proc``.

    Args:
        process: The folder.
        with_ended: Whether with that of the processes below it that ended, and were waited for.
    """
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0  # ended meanwhile
    user, system, ended_user, ended_system = map(int, fields[11:15])
    ended = ended_user + ended_system if with_ended else 0
    return (user + system + ended) / _TICKS


class WorkerMemory:
    """The greatest resident memory of any one worker while this context is open.

    Workers are the Python processes below this one: Spark's Java forks them through a daemon,
    and several may work at once. Linux keeps the peak of each process (``VmHWM``); a worker that
    served the run before would bring its old peak along, so peaks start over when this opens.
    """

    def __init__(self) -> None:
        self.peak_bytes: int | None = None
        """None if there was no worker, or no ``/proc`` to read."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        for process in _workers():
            try:
                (process / "clear_refs").write_text("5")  # 5: forget the peak
            except OSError:
                continue  # ended meanwhile
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            over = self._over.wait(_EVERY_SECONDS)
            peaks = [
                peak
                for process in _workers()
                if (peak := status_bytes(process, "VmHWM")) is not None
            ]
            self.peak_bytes = max((*peaks, self.peak_bytes or 0)) or None
            if over:
                return


def _workers() -> list[Path]:
    return [process for process, program in descendants() if program.startswith("python")]


def descendants() -> list[tuple[Path, str]]:
    """The processes below this one: their folders in ``/proc``, and what programs they run."""
    children: dict[int, list[int]] = {}
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            # "pid (name) state parent ...", and a name may hold anything.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found: list[tuple[Path, str]] = []
    ahead = [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        ahead += below
        found += [(_PROC / str(pid), _program(_PROC / str(pid))) for pid in below]
    return found


def _program(process: Path) -> str:
    try:
        return Path(os.readlink(process / "exe")).name
    except OSError:
        return ""  # ended meanwhile


def status_bytes(process: Path, field: str) -> int | None:
    """A size that Linux tells of a process, such as ``VmHWM``; None if the process has ended."""
    try:
        text = (process / "status").read_text()
    except OSError:
        return None
    match = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
