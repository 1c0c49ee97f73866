"""What a worker is about to do, noted on its machine, for when it does not come back.

A process that the system kills, because memory has run out, says nothing, and neither does one that
``os._exit`` ends. So a worker notes each step before it, and takes the note away after it: a file
in a folder for temporary files, a hundred bytes. What is left is of steps that ended a worker.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

RECENT: Final = 600
"""For so many seconds a note of a dead worker is of a failure that is being looked at."""


def _folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"beamlike-steps-{user}"


@contextmanager
def step_noted(words: str) -> Iterator[None]:
    """Keep a note of this process while the block runs. What the disk refuses is not kept.

    Args:
        words: What the step is.
    """
    path = _folder() / str(os.getpid())
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(words, "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def steps_that_ended_workers() -> list[str]:
    """The last steps of workers of this machine that are gone, the newest first.

    A note is read once, and one of long ago not at all.
    """
    found = []
    with suppress(OSError):
        for path in _folder().iterdir():
            with suppress(OSError, ValueError):
                if _is_alive(int(path.name)):
                    continue
                written = path.stat().st_mtime
                if time.time() - written < RECENT:
                    found.append((written, path.read_text("utf-8")))
                path.unlink()
    return [words for _, words in sorted(found, reverse=True)]


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
