"""A file system that is really full: mounted for this, and filled by another process at a moment.

The checkpoint and the output of each work lie in a small file system of their own, and the files
that Spark needs meanwhile in another. When one of them is full, a query fails. Then there is space
again, and it goes on: in the same session, or after a kill and a start. Mounting needs the right to
do so.
"""

import contextlib
import os
import random
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from tests.crash.killing import Kill, Round, deck, failures, judged, kills_of, note, note_kill
from tests.crash.moments import MOMENTS, Victim, wait_until
from tests.crash.processes import Child, ChildFailed
from tests.crash.works import WORKS

FULL_DISK: Final = ("sessions", "chain")
"""The works that this happens to."""

MOMENTS_OF_IT: Final = ("begun", "anywhere", "task", "state", "states", "ended")

TEMPORARY: Final = "tmp"
"""Where a child has what it needs only while it lives."""

SIZE_OF_WORK: Final = "48m"
SIZE_OF_TEMPORARY: Final = "512m"
BLOCK: Final = 4096


def can_mount() -> bool:
    """Whether this process may mount a file system."""
    with TemporaryDirectory(prefix="beamlike-crash-") as folder:
        try:
            with mounted(Path(folder), "1m"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own in a folder, gone with all that is in it afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "beamlike-crash", str(folder)]
    subprocess.run(mount, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


class SomebodyElse:
    """Takes all space of a file system, and what is given back to it, until the block ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".somebody else's"
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._take, daemon=True)

    def __enter__(self) -> Self:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._fill()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._thread.join()
        os.close(self._file)
        self._path.unlink()

    def _take(self) -> None:
        while not self._leave.wait(0.001):
            self._fill()

    def _fill(self) -> None:
        for block in (bytes(256 * BLOCK), bytes(BLOCK)):
            with contextlib.suppress(OSError):  # no space left
                while not self._leave.is_set():
                    os.write(self._file, block)


def fill_until_done(
    home: Path,
    feed: Path,
    undisturbed: Callable[[str], Path],
    times: int,
    draw: random.Random,
    tell: Callable[[Kill], None],
    works: Sequence[str] = FULL_DISK,
) -> Round:
    """Run some works over a feed, while a file system is full so many times at most."""
    files = len(list(feed.iterdir()))
    moments = deck(draw, MOMENTS_OF_IT)
    places = deck(draw, ["work", TEMPORARY])
    with contextlib.ExitStack() as disks:
        for work in works:
            disks.enter_context(mounted(home / work, SIZE_OF_WORK))
        disks.enter_context(mounted(home / TEMPORARY, SIZE_OF_TEMPORARY))
        while not (home / "done").exists():
            note(home / "starts", "nothing")
            with Child.start(home, feed, works) as child:
                before = len(kills_of(home))
                while child.runs and (count := len(kills_of(home))) < times:
                    name, work = next(moments), draw.choice(works)
                    victim = Victim.soon(home, WORKS[work], files, times - count, draw)
                    batch = MOMENTS[name].wait(child, victim, draw)
                    if batch is None:
                        continue
                    place = next(places)
                    if _fill(child, home, home / (work if place == "work" else place), draw):
                        kill = Kill(f"full {place}", work, batch, round(child.age, 1))
                        note_kill(home, kill)
                        tell(kill)
                try:
                    child.finish()
                except ChildFailed:
                    if len(kills_of(home)) == before:  # it was not because of that
                        raise
        return judged(home, feed, undisturbed, works)


def _fill(child: Child, home: Path, folder: Path, draw: random.Random) -> bool:
    """Have no space until a query has failed, once or twice, or the child; whether one has.

    Every other time the child is killed then, while there is still no space.
    """
    before = failures(home)
    enough = before + draw.choice((1, 2))
    with SomebodyElse(folder):
        wait_until(child, lambda: failures(home) >= enough)
        if failures(home) > before and draw.choice((True, False)):
            child.kill()
    return failures(home) > before or not (child.runs or (home / "done").exists())
