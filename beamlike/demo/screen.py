"""What the demo shows while it runs: a line now and then."""

from collections.abc import Sequence
from typing import Final, Self, TextIO

from beamlike.demo.job import Progress
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.results import show_local

_LINES: Final = 12
"""How many lines of progress a run prints."""


class Screen:
    """A line of text now and then; a context manager, which prints the last one at its end."""

    def __init__(self, stream: TextIO, files: Sequence[ArrivalFile]) -> None:
        self._stream, self._files = stream, files
        self._step = max(1, len(files) // _LINES)
        self._next = self._step
        self._unprinted: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._unprinted is not None:
            self._print(self._unprinted)

    def show(self, progress: Progress) -> None:
        if progress.batches < self._next:
            self._unprinted = progress
            return
        self._next = progress.batches + self._step
        self._unprinted = None
        self._print(progress)

    def _print(self, progress: Progress) -> None:
        facts = ", ".join(f"{name} {value}" for name, value in _facts(progress, self._files))
        print(facts, file=self._stream, flush=True)


def _facts(progress: Progress, files: Sequence[ArrivalFile]) -> list[tuple[str, str]]:
    rows = sum(file.rows for file in files[: progress.batches])
    return [
        ("rows", f"{rows:,} of {sum(file.rows for file in files):,}"),
        ("watermark", _watermark(progress.watermark_ms, files)),
        ("early", f"{progress.panes['EARLY']:,}"),
        ("on time", f"{progress.panes['ON_TIME']:,}"),
        ("late", f"{progress.panes['LATE']:,}"),
        ("dropped", f"{progress.dropped:,}"),
    ]


def _watermark(at: int | None, files: Sequence[ArrivalFile]) -> str:
    if at is None:
        return "none yet"
    # The closing row moves it a week beyond the last flight, which would puzzle a reader.
    return "past the end" if at > files[-1].last_ms else show_local(at)
