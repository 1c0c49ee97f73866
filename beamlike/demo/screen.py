"""What the demo shows while it runs: a line now and then."""

from collections.abc import Callable, Sequence
from typing import Final

from beamlike.demo.job import Progress
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.results import show_local

_LINES: Final = 12
"""How many lines of progress a run prints."""


class Screen:
    """A line of text each time that a part of the files has been read."""

    def __init__(self, say: Callable[[str], None], files: Sequence[ArrivalFile]) -> None:
        self._say, self._files = say, files
        self._step = max(1, len(files) // _LINES)
        self._next = self._step

    def show(self, progress: Progress) -> None:
        """Say how far the query is, if that is news."""
        if progress.batches < self._next:
            return
        self._next = progress.batches + self._step
        rows = sum(file.rows for file in self._files[: progress.batches])
        counts = ", ".join(
            f"{name.lower().replace('_', ' ')} {progress.counted[name]:,}"
            for name in ("EARLY", "ON_TIME", "LATE", "DROPPED")
        )
        self._say(
            f"rows {rows:,} of {sum(file.rows for file in self._files):,}, "
            f"watermark {self._watermark(progress.watermark_ms)}, {counts}"
        )

    def _watermark(self, watermark: int | None) -> str:
        if watermark is None:
            return "none yet"
        # The closing row moves it a week beyond the last flight, which would puzzle a reader.
        return "past the end" if watermark > self._files[-1].last_ms else show_local(watermark)
