"""What the demo shows while it runs: a live panel in a terminal, plain lines elsewhere."""

from collections.abc import Sequence
from typing import Any, Final, Protocol, Self, TextIO

from beamlike.demo.job import Progress
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.results import show_local

_LINES: Final = 12
"""How many lines of progress a run prints where there is no terminal."""


class Screen(Protocol):
    """A place for the progress of one query; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_raised: object) -> None: ...

    def show(self, progress: Progress) -> None: ...


def screen_for(stream: TextIO, files: Sequence[ArrivalFile]) -> Screen:
    """A live panel if ``stream`` is a terminal, plain lines if not."""
    return RichScreen(stream, files) if stream.isatty() else PlainScreen(stream, files)


class PlainScreen:
    """A line of text now and then."""

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


class RichScreen:
    """A panel that is drawn over and over in the same place."""

    def __init__(self, stream: TextIO, files: Sequence[ArrivalFile]) -> None:
        from rich.console import Console
        from rich.live import Live

        self._files = files
        self._live = Live(
            self._panel(Progress.none()), console=Console(file=stream), refresh_per_second=4
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._live.stop()

    def show(self, progress: Progress) -> None:
        self._live.update(self._panel(progress))

    def _panel(self, progress: Progress) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        panel = Table.grid(padding=(0, 2))
        panel.add_column(min_width=10)
        panel.add_column(min_width=40)
        for name, value in _facts(progress, self._files):
            panel.add_row(name, value)
        done = min(progress.batches, len(self._files))
        panel.add_row("", ProgressBar(total=len(self._files), completed=done, width=40))
        return panel


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
