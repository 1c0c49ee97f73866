"""The sessions on engines of Python. A Python that has one of them runs this file.

``jobs.py NAME EVENTS HOME RUNS GAP_MS DELAY_MS``: each run writes its sessions into a folder
``results/NUMBER`` of HOME, and then a line is printed.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Task:
    """One run of a job."""

    source: Path
    results: Path
    """The folder for the sessions."""
    work: Path
    """A folder for checkpoints."""
    gap_ms: int
    delay_ms: int


def play(job: Callable[[Task], None], arguments: list[str]) -> None:
    """Run a job as often as the command line says."""
    source, home, runs, gap_ms, delay_ms = arguments
    for run in map(str, range(int(runs))):
        results, work = Path(home, "results", run), Path(home, "work", run)
        results.mkdir(parents=True)
        job(Task(Path(source), results, work, int(gap_ms), int(delay_ms)))
        print("run", flush=True)


def event(line: str) -> tuple[str, tuple[int, int]]:
    """The key of a line, and its time (ms) and value."""
    key, time, value = line.split(",")
    return key, (int(time), int(value))


# -- Bytewax ---------------------------------------------------------------------------------

Total = tuple[int, int, int, int]
"""Number, sum, first and last time."""


def _merged(one: Total, other: Total) -> Total:
    return one[0] + other[0], one[1] + other[1], min(one[2], other[2]), max(one[3], other[3])


def bytewax(task: Task) -> None:
    """A fold over session windows."""
    import bytewax.operators as op
    import bytewax.operators.windowing as win
    from bytewax.connectors.files import FileSink, FileSource
    from bytewax.dataflow import Dataflow
    from bytewax.testing import run_main

    # The watermark goes on with the clock of the machine: two minutes more, for a slow one.
    clock: Any = win.EventClock(
        ts_getter=lambda pair: datetime.fromtimestamp(pair[0] / 1000, UTC),
        wait_for_system_duration=timedelta(milliseconds=task.delay_ms, minutes=2),
    )
    flow = Dataflow("sessions")
    # With batches of a tenth of the rows it takes several times as long.
    lines = op.input("input", flow, FileSource(task.source, batch_size=10_000))
    windows = win.fold_window(
        "sessions",
        op.map("events", lines, event),
        clock,
        win.SessionWindower(gap=timedelta(milliseconds=task.gap_ms)),
        builder=lambda: (0, 0, sys.maxsize, 0),
        folder=lambda total, pair: _merged(total, (1, pair[1], pair[0], pair[0])),
        merger=_merged,
    )

    def line(item: tuple[str, tuple[int, Total]]) -> tuple[str, str]:
        key, (_, (number, total, first, last)) = item
        return key, f"{key},{first},{last + task.gap_ms},{number},{total}"

    op.output("output", op.map("lines", windows.down, line), FileSink(task.results / "all.csv"))
    run_main(flow)


# -- Pathway ---------------------------------------------------------------------------------


def pathway(task: Task) -> None:
    """Session windows of a file that ends: Pathway takes it as one batch."""
    import pathway as pw

    pw.internals.parse_graph.G.clear()
    schema = pw.schema_from_types(key=str, ts=int, v=int)
    table = pw.io.csv.read(str(task.source), schema=schema, mode="static")
    window = pw.temporal.session(max_gap=task.gap_ms)
    sessions = table.windowby(table.ts, window=window, instance=table.key).reduce(
        key=pw.this._pw_instance,
        start=pw.this._pw_window_start,
        end=pw.this._pw_window_end + task.gap_ms,
        n=pw.reducers.count(),
        s=pw.reducers.sum(pw.this.v),
    )
    pw.io.csv.write(sessions, str(task.results / "all.csv"))
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


# -- Beam ------------------------------------------------------------------------------------


def beam_python(task: Task) -> None:
    """A pipeline over a file that ends, on the runner that Beam has for one machine."""
    import apache_beam as beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    from apache_beam.utils.timestamp import Timestamp

    class CountAndSum(beam.CombineFn):  # type: ignore[misc]
        def create_accumulator(self) -> tuple[int, int]:
            return 0, 0

        def add_input(self, accumulator: tuple[int, int], value: int) -> tuple[int, int]:
            return accumulator[0] + 1, accumulator[1] + value

        def merge_accumulators(self, accumulators: Any) -> tuple[int, int]:
            numbers, sums = zip(*accumulators, strict=True)
            return sum(numbers), sum(sums)

        def extract_output(self, accumulator: tuple[int, int]) -> tuple[int, int]:
            return accumulator

    def stamped(line: str) -> Any:
        key, (time, value) = event(line)
        return beam.window.TimestampedValue((key, value), Timestamp(micros=time * 1000))

    def line(pair: Any, window: Any = beam.DoFn.WindowParam) -> str:
        key, (number, total) = pair
        bounds = f"{window.start.micros // 1000},{window.end.micros // 1000}"
        return f"{key},{bounds},{number},{total}"

    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        (
            pipeline
            | beam.io.ReadFromText(str(task.source))
            | "Stamp" >> beam.Map(stamped)
            | beam.WindowInto(beam.window.Sessions(task.gap_ms / 1000))
            | beam.CombinePerKey(CountAndSum())
            | "Line" >> beam.Map(line)
            | beam.io.WriteToText(str(task.results / "part"))
        )


JOBS: Mapping[str, Callable[[Task], None]] = {
    job.__name__: job for job in (bytewax, pathway, beam_python)
}

if __name__ == "__main__":
    play(JOBS[sys.argv[1]], sys.argv[2:])
