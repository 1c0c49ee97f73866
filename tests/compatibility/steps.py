"""A command that is run, and what came of it: nothing fails without a word.

A step has a name, a log and a limit of time. If it fails, its last lines are there to be shown, and
if it was ended from outside, the signal that ended it.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

LIMIT: Final = 3600.0
"""Seconds that a step may take unless it is told otherwise."""
_GRACE: Final = 60.0
_SHOWN: Final = 25
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?|\S+)(?: - .*)?$", re.MULTILINE)
_SUMMARY: Final = re.compile(r"^=* ?((?:\d+ \w+, )*\d+ \w+)(?:, \d+ \w+)* in [\d.]+s", re.MULTILINE)
_NOT_COPIED: Final = (".git", "__pycache__", "*.egg-info", "build", ".mypy_cache", ".hypothesis")


@attrs.frozen
class Ended:
    """What came of a step."""

    step: str
    good: bool
    saw: str
    last: Sequence[str]
    seconds: int

    def __str__(self) -> str:
        lines = [f"{self.step}: {'ok' if self.good else 'WRONG'}, {self.saw} ({self.seconds} s)"]
        return "\n    | ".join([*lines, *self.last])


class StepFailed(Exception):
    """What comes after this step cannot be tried."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(str(ended))
        self.ended = ended


def ran(
    step: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    limit: float = LIMIT,
    grace: float = _GRACE,
) -> Ended:
    """Run a command to its end, or to its limit.

    Args:
        step: What it is called.
        log: The file that gets all that it writes.
        folder: Where it runs.
        variables: What it finds in its environment, besides what is there.
        limit: Seconds after which it is asked to end.
        grace: Seconds after which it is killed then, with all that it has started.
    """
    began, late = time.monotonic(), False
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(it) for it in command],
            cwd=folder,
            env=os.environ | dict(variables or {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
            asked_to_end(process, grace)
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    seconds = round(time.monotonic() - began)
    said = log.read_text(encoding="utf-8", errors="replace")
    lines = said.strip().splitlines()
    if process.returncode == 0:
        saw = _counted(said) or (lines[-1] if lines else "no words")
        return Ended(step, True, saw.removeprefix("ok: "), (), seconds)
    why = f"it took longer than {limit:g} s" if late else _ending(process.returncode)
    return Ended(step, False, _wrong(said, why), lines[-_SHOWN:] or ["it wrote nothing"], seconds)


def asked_to_end(process: subprocess.Popen[bytes], grace: float = _GRACE) -> None:
    """As Ctrl+C does: pytest then reports what it has seen so far.

    A process that a shell has started in the background ignores that.
    """
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        process.send_signal(signal.SIGINT)
        process.wait(grace)


def _counted(said: str) -> str | None:
    """What pytest counted, without the time."""
    found = list(_SUMMARY.finditer(said))
    return found[-1][0].strip("= ").rpartition(" in ")[0] if found else None


def _wrong(said: str, why: str) -> str:
    counted, failed = _counted(said), _FAILED.findall(said)
    words = [why] if counted is None else [counted, why]
    if failed:
        words.append(f"first {failed[0]}")
    return ", ".join(words)


def _ending(status: int) -> str:
    """How a process ended; shells add 128 to the number of a signal."""
    number = -status if status < 0 else status - 128
    with suppress(ValueError):
        return f"ended by {signal.Signals(number).name} from outside"
    return f"exit status {status}"


def checkout(root: Path, to: Path) -> Path:
    """A copy of the checkout as it is now: what runs long must not see it change."""
    shutil.rmtree(to, ignore_errors=True)
    ignored = shutil.ignore_patterns(*_NOT_COPIED)
    return Path(shutil.copytree(root, to, symlinks=True, ignore=ignored))
