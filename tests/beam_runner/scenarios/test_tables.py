"""beamlike's own words in pipelines of the Beam SDK on Spark: each ends in a table."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState
from apache_beam.transforms import trigger, window

from beamlike.errors import PipelineError, UnsupportedError
from beamlike.hosts.spark.session import local_session
from beamlike.runners.beam import (
    BeamlikeRunner,
    FromDataFrame,
    StrategyOptions,
    UpsertInto,
    retractable,
    to_data_frame,
)
from beamlike.tables import SQLite
from tests.beam_runner.scenarios.json_files import add_file
from tests.beam_runner.scenarios.visits import Visits as VisitsOfDevices

VISITS = "user string, n long, ts timestamp"
ROWS = "user string, total long"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    session = local_session()
    yield session
    session.stop()


class Visits:
    """A stream of files, one for each micro-batch, and the table that a pipeline fills from it."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.files, self.database = spark, folder / "visits", folder / "results.db"
        self.checkpoint, self.number = folder / "checkpoint", 0
        self.files.mkdir()

    def add(self, *visits: tuple[str, int, str]) -> None:
        """Rows of a user, a number and a time of the first of January, each as a file."""
        for user, n, clock in visits:
            add_file(self.files, self.number, [{"user": user, "n": n, "ts": f"2024-01-01 {clock}"}])
            self.number += 1

    def run(self, fn: Any, options: StrategyOptions | None = None, **windowing: Any) -> Any:
        """The sums of each user and window as a table; one file of the stream at a time."""
        rows = self.spark.readStream.schema(VISITS).option("maxFilesPerTrigger", 1)
        flags = ["--shards=2", f"--checkpoint={self.checkpoint}"]
        p = beam.Pipeline(runner=BeamlikeRunner("spark"), options=PipelineOptions(flags))
        pairs = (
            p
            | FromDataFrame(
                rows.json(str(self.files)), timestamp="ts", watermark="1 second", max_ahead=None
            )
            | beam.Map(lambda row: (row.user, row.n)).with_output_types(tuple[str, int])
            | "Windows" >> beam.WindowInto(fn, **windowing)
        )
        if options is not None:
            pairs |= options
        (
            pairs
            | beam.CombinePerKey(sum)
            | beam.Map(retractable(lambda pair: beam.Row(user=pair[0], total=pair[1])))
            | UpsertInto(SQLite(str(self.database), "totals"), "user", ROWS, name="totals")
        )
        return p.run()

    def table(self) -> list[tuple[Any, ...]]:
        """Users with their totals and the timings of the panes that stand."""
        with sqlite3.connect(self.database) as database:
            query = "select user, total, timing from totals order by user, window_start"
            return [*database.execute(query)]


def processed(result: Any) -> None:
    assert result.state == PipelineState.RUNNING, result.query.exception()
    result.query.processAllAvailable()


def test_a_later_pane_replaces_an_earlier_one_also_after_a_restart(spark: Any, tmp_path: Path):
    visits = Visits(spark, tmp_path)
    windowing: dict[str, Any] = {
        "trigger": trigger.AfterWatermark(early=trigger.AfterCount(1), late=trigger.AfterCount(1)),
        "accumulation_mode": trigger.AccumulationMode.ACCUMULATING,
        "allowed_lateness": 3600,
    }
    visits.add(("ann", 1, "12:00:01"), ("bob", 5, "12:00:02"))
    result = visits.run(window.FixedWindows(60), **windowing)
    processed(result)
    assert visits.table() == [("ann", 1, "EARLY"), ("bob", 5, "EARLY")]
    assert result.cancel() == PipelineState.CANCELLED
    visits.add(("ann", 2, "12:00:30"), ("cat", 9, "12:02:00"))
    result = visits.run(window.FixedWindows(60), **windowing)
    processed(result)
    first = [("ann", 3, "ON_TIME"), ("bob", 5, "ON_TIME"), ("cat", 9, "EARLY")]
    assert visits.table() == first
    visits.add(("bob", 1, "12:00:59"))  # late
    processed(result)
    assert visits.table() == [first[0], ("bob", 6, "LATE"), first[2]]
    assert result.drain() == PipelineState.DRAINED
    assert visits.table() == [first[0], ("bob", 6, "LATE"), ("cat", 9, "ON_TIME")]


@pytest.mark.parametrize(
    ("options", "timings"),
    [
        pytest.param(None, "ON_TIME", id="as in Beam, an empty on-time pane comes out"),
        pytest.param({"on_time_behavior": "fire_if_non_empty"}, "EARLY", id="without it"),
    ],
)
def test_whether_an_empty_on_time_pane_comes_out(
    spark: Any, tmp_path: Path, options: Any, timings: str
) -> None:
    visits = Visits(spark, tmp_path)
    visits.add(("ann", 1, "12:00:01"), ("bob", 2, "12:05:00"))
    chosen = None if options is None else StrategyOptions(**options)
    result = visits.run(
        window.FixedWindows(60),
        chosen,
        trigger=trigger.AfterWatermark(early=trigger.AfterCount(1)),
        accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
    )
    processed(result)
    assert visits.table() == [("ann", 1, timings), ("bob", 2, "EARLY")]
    result.cancel()


@pytest.mark.parametrize(("closing", "total"), [("fire_if_non_empty", 1), ("fire_always", 0)])
def test_whether_an_empty_last_pane_comes_out(spark: Any, tmp_path: Path, closing: str, total: int):
    """The sum of a last pane that discards and has nothing new is 0."""
    visits = Visits(spark, tmp_path)
    # The window of ann ends with the second, and its lateness with the third.
    visits.add(("ann", 1, "12:00:01"), ("cat", 3, "12:01:30"), ("bob", 2, "12:05:00"))
    result = visits.run(
        window.FixedWindows(60),
        StrategyOptions(closing_behavior=closing),
        trigger=trigger.AfterWatermark(late=trigger.AfterCount(1)),
        accumulation_mode=trigger.AccumulationMode.DISCARDING,
        allowed_lateness=60,
    )
    processed(result)
    assert visits.table()[0][:2] == ("ann", total)
    result.cancel()


@pytest.mark.parametrize(("late_check", "total"), [("assigned", 1), ("merged", 3)])
def test_which_window_says_that_an_element_is_late(
    spark: Any, tmp_path: Path, late_check: str, total: int
) -> None:
    """The window of the element itself, or the session that it joins."""
    visits = Visits(spark, tmp_path)
    visits.add(("ann", 1, "12:00:50"), ("bob", 4, "12:01:01"), ("ann", 2, "12:00:30"))
    result = visits.run(window.Sessions(25), StrategyOptions(late_check=late_check))
    processed(result)
    assert result.drain() == PipelineState.DRAINED
    assert [row[:2] for row in visits.table()] == [("ann", total), ("bob", 4)]


@pytest.mark.parametrize(
    ("retractions", "rows"),
    [
        pytest.param(False, [("ann", 1), ("ann", 2), ("ann", 7)], id="stay"),
        pytest.param(True, [("ann", 7)], id="go"),
    ],
)
def test_rows_of_sessions_that_became_one(spark: Any, tmp_path: Path, retractions: bool, rows: Any):
    visits = Visits(spark, tmp_path)
    visits.add(("ann", 1, "12:00:00"), ("ann", 2, "12:00:15"), ("ann", 4, "12:00:08"))
    result = visits.run(
        window.Sessions(10),
        StrategyOptions(retractions=True) if retractions else None,
        trigger=trigger.AfterWatermark(early=trigger.AfterCount(1), late=trigger.AfterCount(1)),
        accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
        allowed_lateness=60,
    )
    processed(result)
    assert sorted(row[:2] for row in visits.table()) == rows
    result.cancel()


def sums_of(rows: Any) -> Any:
    """The sums of each user and minute, as a collection."""
    source = FromDataFrame(rows, timestamp="ts", watermark="1 second", max_ahead=None)
    return (
        beam.Pipeline()
        | source
        | beam.Map(lambda row: (row.user, row.n)).with_output_types(tuple[str, int])
        | beam.WindowInto(window.FixedWindows(60))
        | beam.CombinePerKey(sum)
    )


def test_a_collection_is_a_data_frame_of_a_batch(spark: Any) -> None:
    rows = spark.createDataFrame(
        [("ann", 1, "2024-01-01 12:00:01"), ("ann", 2, "2024-01-01 12:00:59.999999")],
        "user string, n long, ts string",
    ).selectExpr("user", "n", "cast(ts as timestamp) as ts")
    frame = to_data_frame(sums_of(rows), ROWS, shards=2)
    assert not frame.isStreaming
    assert [tuple(row) for row in frame.collect()] == [("ann", 3)]


def test_a_collection_is_a_streaming_data_frame_that_ends_in_a_table(spark: Any, tmp_path: Path):
    visits = Visits(spark, tmp_path)
    visits.add(("ann", 1, "12:00:01"), ("ann", 2, "12:00:02"), ("bob", 4, "12:02:00"))
    rows = spark.readStream.schema(VISITS).json(str(visits.files))
    frame = to_data_frame(sums_of(rows), ROWS, shards=2)
    assert frame.isStreaming
    query = (
        frame.writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    written = spark.read.parquet(str(tmp_path / "out"))
    assert [tuple(row) for row in written.collect()] == [("ann", 3)]  # bob's minute is open


def test_what_cannot_be_a_data_frame_is_refused() -> None:
    from apache_beam.transforms.periodicsequence import PeriodicImpulse

    endless = beam.Pipeline() | PeriodicImpulse(0, 10, 1)
    with pytest.raises(UnsupportedError, match="splittable function without an end"):
        to_data_frame(endless, "n double")
    with pytest.raises(PipelineError, match="schema"):
        to_data_frame(beam.Pipeline() | beam.Create([1]), "no schema at all")


def test_windows_without_bounds_have_no_rows_in_a_table(tmp_path: Path) -> None:
    """Those that end together would share a row."""
    p = beam.Pipeline(runner=BeamlikeRunner("spark"))
    counts = (
        p
        | beam.Create([("ann", "phone:a"), ("ann", "tablet:b")])
        | beam.WindowInto(VisitsOfDevices())
        | beam.combiners.Count.PerKey()
        | beam.MapTuple(lambda user, n: beam.Row(user=user, n=n))
    )
    table = SQLite(f"{tmp_path}/visits.db", "visits")
    counts | "Save" >> UpsertInto(table, "user", "user string, n long", name="visits")
    with pytest.raises(UnsupportedError, match=r"'Save' keeps a row for each .* of Visits are of"):
        p.run()
