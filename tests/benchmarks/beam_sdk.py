"""A pipeline of the Beam SDK on Spark: ``python -m tests.benchmarks.beam_sdk``.

The same sessions as those of `tests.benchmarks`, written with the Apache Beam SDK and run by
`BeamlikeRunner`, beside Spark's own ``session_window``, over the same files and by the same rules:
the results are compared before a time is printed. The Python that runs it needs apache-beam.

Exit status: 1 if results differ, 2 if a bar is missed at full size.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import apache_beam as beam
from pyspark.sql import DataFrame

from beamlike.cli.silence_spark import quiet_session
from beamlike.runners.beam import FromDataFrame, to_data_frame
from tests.benchmarks.data import Stream, benchmark_files
from tests.benchmarks.measure import Unequal, check, timed_run
from tests.benchmarks.queries import DELAY, native_sessions
from tests.benchmarks.works import Contender

GAP_SECONDS: Final = 120
LEAST: Final = 0.7
"""So many times as fast as ``session_window`` the pipeline is, at least."""
EVENTS: Final = 500_000
_ROWS: Final = "key string, start timestamp, end timestamp, {}"


def _pair(row: Any) -> tuple[str, int]:
    return row.key, row.v


def _row(pair: tuple[str, int], window: Any = beam.DoFn.WindowParam) -> tuple[str, Any, Any, int]:
    key, value = pair
    return key, window.start, window.end, value


def sessions_by(combine: Any, name: str) -> Callable[[DataFrame], DataFrame]:
    """Rows to pairs, sessions, the values of each key and session combined, and rows again."""

    def query(df: DataFrame) -> DataFrame:
        pipeline = beam.Pipeline()
        combined = (
            pipeline
            | FromDataFrame(df, timestamp="ts", watermark=DELAY)
            | "Pair" >> beam.Map(_pair).with_output_types(tuple[str, int])
            | beam.WindowInto(beam.window.Sessions(GAP_SECONDS))
            | beam.CombinePerKey(combine)
            | "Row" >> beam.Map(_row)
        )
        return to_data_frame(combined, _ROWS.format(f"{name} long"))

    return query


PIPELINES: Final = {"count": (beam.combiners.CountCombineFn(), "n"), "sum": (sum, "s")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.beam_sdk")
    parser.add_argument("--events", type=int, default=EVENTS, help="those of a micro-batch")
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each contender")
    parser.add_argument("--batches", type=int, default=8, help="micro-batches of a run")
    parser.add_argument("--only", choices=PIPELINES)
    options = parser.parse_args(arguments)
    shape = Stream(options.events, options.events * 2 // 5, options.batches)
    missed = False
    with benchmark_files() as files, quiet_session("beamlike benchmarks") as spark:
        for title, (combine, name) in PIPELINES.items():
            if options.only not in (None, title):
                continue
            columns = "key", "start", "end", name
            ours = Contender("beam SDK", "beamlike", sessions_by(combine, name), shape)
            native = Contender(
                *("native", "native", native_sessions(), shape),
                lambda results, columns=columns: results.select(*columns),
            )
            try:
                compared = check(spark, files, ours, native)
            except Unequal as difference:
                print(f"{title}: the results differ.\n{difference}", file=sys.stderr)
                return 1
            print(f"{title}: {compared:,} results are equal", flush=True)
            times: dict[str, list[int]] = {ours.name: [], native.name: []}
            for number in range(options.rounds):
                for contender in (ours, native)[:: -1 if number % 2 else 1]:
                    run = timed_run(spark, files, contender)
                    times[contender.name] += run.times_ms[options.events]
                    print(f"  {contender.name}: {run.times_ms[options.events]} ms", flush=True)
            medians = {who: statistics.median(taken) for who, taken in times.items()}
            ratio = medians[native.name] / medians[ours.name]
            print(
                f"sessions of {options.events:,} events, {title} by key: beam SDK "
                f"{medians[ours.name]:,.0f} ms, session_window {medians[native.name]:,.0f} ms, "
                f"{ratio:.2f} times as fast; at least {LEAST}"
            )
            missed |= ratio < LEAST
    return 2 if missed and options.events >= EVENTS else 0


if __name__ == "__main__":
    sys.exit(main())
