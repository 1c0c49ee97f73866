"""What a worker is about to do, noted on its machine, for when it does not come back.

A process that the system kills, because memory has run out, says nothing, and neither does one that
``os._exit`` ends. So a worker notes each step before it, and takes the note back after it: a
hundred bytes in a file of its own, among temporary files. What is left is of steps that ended it.
"""

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from beamlike.hosts.clock import wall_clock_seconds

RECENT: Final = 600
"""For so many seconds a note of a dead worker is of a failure that is being looked at."""

_SIZE: Final = 2_048
_END: Final = b"\0"


def _folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"beamlike-steps-{user}"


@contextmanager
def step_noted(description: str) -> Iterator[None]:
    """Keep a note of this process while the block runs. What the disk refuses is not kept."""
    note = None
    with suppress(OSError, ValueError):
        note = _note_of(os.getpid())
        text = f"{wall_clock_seconds():.0f} {description}".encode("utf-8", "replace")[: _SIZE - 1]
        note[: len(text) + 1] = text + _END
    try:
        yield
    finally:
        if note is not None:
            note[:1] = _END


@lru_cache(maxsize=1)
def _note_of(process: int) -> mmap.mmap:
    """The file of this process, in memory: what is written there stays if the process is killed,
    and takes a thousandth of the time of a call to the system."""
    path = _folder() / str(process)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600), "r+b") as file:
        file.truncate(_SIZE)
        return mmap.mmap(file.fileno(), _SIZE)


def steps_that_ended_workers() -> list[str]:
    """The last steps of workers of this machine that are gone, the newest first.

    A note is read once, and one of long ago not at all.
    """
    notes = []
    with suppress(OSError):
        for path in _folder().iterdir():
            with suppress(OSError, ValueError):
                if _is_alive(int(path.name)):
                    continue
                text = path.read_bytes().partition(_END)[0].decode("utf-8", "replace")
                path.unlink()
                written, _, description = text.partition(" ")
                if description and wall_clock_seconds() - int(written) < RECENT:
                    notes.append((int(written), description))
    return [description for _, description in sorted(notes, reverse=True)]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is there, and of another user
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """Whether it has ended, and its parent has not taken notice yet."""
    with suppress(OSError):
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2]
        return state.split()[0] == "Z"
    return False
