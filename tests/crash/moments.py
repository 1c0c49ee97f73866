"""When a child is killed: moments of a micro-batch, seen by the files that appear."""

import contextlib
import os
import random
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import attrs

from tests.crash.noted import last_commit
from tests.crash.processes import PATIENCE, Child
from tests.crash.work import Work


@attrs.frozen
class Victim:
    """A work that is watched, and its next micro-batch that is to be hit."""

    home: Path
    checkpoint: Path
    batch: int
    last: int
    """The last micro-batch that can be hit."""

    @classmethod
    def soon(cls, home: Path, work: Work, files: int, left: int, draw: random.Random) -> "Victim":
        """A work of a run, and a micro-batch that comes soon.

        Args:
            home: The folder of the run.
            work: The work.
            files: So many will have arrived in the end.
            left: So many kills are left, which are spread over the files.
            draw: The chance.
        """
        own = home / work.name
        checkpoint = own / work.checkpoint
        coming = last_commit(checkpoint) + 1
        if work.ticks:  # there is no last one, nor any telling how many there will be
            return cls(own, checkpoint, coming + draw.randrange(6), sys.maxsize)
        last = files - 1 if work.windowing is None else 2 * files
        most = max(1, 2 * (last + 1 - coming) // (left + 1))
        return cls(own, checkpoint, min(coming + draw.randrange(most), last), last)


Reached = Callable[[Victim], bool]


@attrs.frozen
class Moment:
    """A moment, and what is killed then.

    Args:
        title: In words.
        reached: Whether it has come; None: at once.
        late: So many seconds later at most, by chance.
        kills: ``"all"``, ``"java"``, ``"workers"`` or ``"executor"``.
        point: Where the sink kills all by itself, at that very instruction.
    """

    title: str
    reached: Reached | None = None
    late: float = 0.0
    kills: str = "all"
    point: str | None = None

    @property
    def survives(self) -> bool:
        """Whether the child goes on afterwards."""
        return self.kills in ("workers", "executor")

    def strike(self, child: Child, victim: Victim, draw: random.Random) -> int | None:
        """Wait for the moment and kill; in which micro-batch, None if the child ended before.

        A moment that has been is waited for in the micro-batches that come.
        """
        if self.point is not None:
            return victim.batch if self._strike_in_sink(child, victim) else None
        batch = self.wait(child, victim, draw)
        if batch is None:
            return None
        hit = True
        match self.kills:
            case "workers":
                hit = child.kill_workers(draw)
            case "executor":
                hit = child.kill_executor(draw)
            case "java":
                child.kill_java()
            case _:
                child.kill()
        return batch if hit else None

    def wait(self, child: Child, victim: Victim, draw: random.Random) -> int | None:
        """Wait for the moment alone; what it gives is that of `strike`."""
        reached = self.reached
        if reached is not None:
            while reached(victim):
                if victim.batch == victim.last:
                    wait_until(child, lambda: False)
                    return None
                victim = attrs.evolve(victim, batch=victim.batch + 1)
            if not wait_until(child, lambda: reached(victim)):
                return None
        due = time.monotonic() + draw.uniform(0, self.late)
        return victim.batch if wait_until(child, lambda: time.monotonic() >= due) else None

    def _strike_in_sink(self, child: Child, victim: Victim) -> bool:
        out = victim.home / "out"
        out.mkdir(parents=True, exist_ok=True)
        (out / "die obeyed").unlink(missing_ok=True)
        (out / "die").write_text(f"{self.point} {victim.batch}")
        wait_until(child, lambda: (out / "die obeyed").exists())
        if (out / "die obeyed").exists():
            child.kill()
            return True
        (out / "die").unlink()
        return False


def wait_until(child: Child, until: Callable[[], bool]) -> bool:
    """Look every millisecond; False if the child ended before."""
    deadline = time.monotonic() + PATIENCE
    while not until():
        if not child.runs:
            return False
        if time.monotonic() > deadline:
            raise child.failed(f"nothing happened for {PATIENCE} s")
        time.sleep(0.001)
    return True


def _is_begun(victim: Victim) -> bool:
    return (victim.checkpoint / "offsets" / str(victim.batch)).exists()


def _is_ended(victim: Victim) -> bool:
    return (victim.checkpoint / "commits" / str(victim.batch)).exists()


def _names(victim: Victim) -> list[list[str]]:
    """The files of each partition of the first grouping's state."""
    names = []
    with contextlib.suppress(FileNotFoundError):
        for partition in (victim.checkpoint / "state" / "0").iterdir():
            if partition.name.isdecimal():
                names.append(os.listdir(partition))
    return names


def _is_working(victim: Victim) -> bool:
    """A task has opened the state that it will commit."""
    names = re.compile(rf"\.{victim.batch + 1}(_[\w-]+)?\.(changelog|zip)")
    return any(names.match(name) for of_one in _names(victim) for name in of_one)


def _states(victim: Victim) -> list[bool]:
    names = re.compile(rf"{victim.batch + 1}(_[\w-]+)?\.(changelog|zip)$")
    return [any(map(names.match, of_one)) for of_one in _names(victim)]


def _is_one_committed(victim: Victim) -> bool:
    return any(_states(victim))


def _are_all_committed(victim: Victim) -> bool:
    states = _states(victim)
    return bool(states) and all(states)


MOMENTS: Final[Mapping[str, Moment]] = {
    "starting": Moment("while it starts", late=15.0),
    "begun": Moment("a micro-batch has been noted as begun", _is_begun),
    "anywhere": Moment("anywhere in a micro-batch", _is_begun, late=2.0),
    "task": Moment("in the middle of a task", _is_working, late=0.3),
    "state": Moment("the first partition of the state is committed", _is_one_committed),
    "states": Moment("the state is committed, the micro-batch is not", _are_all_committed),
    "sink before": Moment("in the sink, before it has written", point="before"),
    "sink half": Moment("in the sink, when all is written and does not count", point="half"),
    "sink after": Moment("in the sink, after it has written", point="after"),
    "ended": Moment("a micro-batch has been noted as ended", _is_ended),
    "java": Moment("Java alone, anywhere in a micro-batch", _is_begun, late=2.0, kills="java"),
    "workers early": Moment("Python workers, as a micro-batch begins", _is_begun, kills="workers"),
    "workers": Moment("Python workers, in the middle of a task", _is_working, kills="workers"),
    "workers later": Moment(
        "Python workers, anywhere in a micro-batch", _is_begun, late=2.0, kills="workers"
    ),
    "executor": Moment(
        "an executor with its workers, in the middle of a task",
        _is_working,
        late=0.3,
        kills="executor",
    ),
}
