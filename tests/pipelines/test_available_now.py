"""Pipelines over streams with ``trigger(availableNow=True)``: as a stream, and with an end."""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.model.triggers import Trigger
from tests.support.pipelines.games import Game, points_of, put_games, stream_of_files

pytestmark = pytest.mark.spark


def take_all(result: Any, trigger: dict[str, Any]) -> None:
    """Let a query take all that is there, and end."""
    if "availableNow" in trigger:
        assert result.wait_until_finish("240 s") == beam.PipelineState.DONE
    else:
        result.query.processAllAvailable()
        result.cancel()


class Games:
    """A folder of Parquet files, read one by one, and what a pipeline writes of them."""

    def __init__(self, spark: Any, home: Path) -> None:
        self._spark, self._home, self._files = spark, home, 0
        self.written: list[tuple[Any, ...]] = []

    def put(self, *rows: Game) -> None:
        put_games(self._spark, self._home / "in", *rows)

    def files(self) -> Any:
        return stream_of_files(self._spark, self._home / "in")

    def run(self, trigger: dict[str, Any], early: Trigger) -> list[tuple[Any, ...]]:
        """What comes out until all files have been taken: micro-batch, user and points."""
        pipeline = beam.Pipeline()
        totals = (
            points_of(
                pipeline, self.files(), timestamp="at", watermark="1 minute", idle_after="1 day"
            )
            | beam.WindowInto(
                beam.FixedWindows("5 minutes"),
                trigger=beam.AfterWatermark(early=early, late=beam.AfterCount(1)),
                accumulation_mode=beam.AccumulationMode.ACCUMULATING,
                allowed_lateness="1 hour",
            )
            | beam.CombinePerKey(sum)
        )
        before = len(self.written)
        totals | beam.WriteRows("user string, points long", self._write)
        result = pipeline.run(
            "spark", self._spark, checkpoint=str(self._home / "checkpoint"), trigger=trigger
        )
        take_all(result, trigger)
        return self.written[before:]

    def _write(self, frame: Any, number: int) -> None:
        self.written += sorted((number, *row) for row in frame.collect())


@pytest.mark.nightly
@pytest.mark.parametrize(
    "early",
    [
        pytest.param(beam.AfterCount(5), id="count", marks=pytest.mark.nightly),
        pytest.param(beam.AfterProcessingTime("1 hour"), id="clock"),
    ],
)
def test_a_backlog_has_its_on_time_and_late_panes(spark: Any, tmp_path: Path, early: Any) -> None:
    games = Games(spark, tmp_path)
    for points, time in enumerate(["12:00:10", "12:10:00", "12:00:20", "12:30:00"], 1):
        games.put(("ann", points, time))

    # A source has its own watermark, which is known in the micro-batch of the row that moves it.
    now = {"availableNow": True}
    assert games.run(now, early) == [(1, "ann", 1), (2, "ann", 4), (3, "ann", 2)]
    assert games.run(now, early) == []
    games.put(("bob", 9, "12:10:00"))
    assert games.run({"processingTime": "0 seconds"}, early) == [(5, "bob", 9)]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param({"availableNow": True}, id="now"),
        pytest.param({"processingTime": "0 seconds"}, id="on"),
    ],
)
def test_a_pipeline_goes_on_without_a_silent_source(
    spark: Any, tmp_path: Path, trigger: dict[str, Any]
) -> None:
    """A source is silent a millisecond after its last file: when another file comes alone."""
    home = tmp_path / "checkpoint"
    busy, silent = Games(spark, tmp_path / "busy"), Games(spark, tmp_path / "silent")
    written: list[tuple[Any, ...]] = []

    def write(frame: Any, number: int) -> None:
        written.extend(sorted((number, *row) for row in frame.collect()))

    def run() -> list[tuple[Any, ...]]:
        before = len(written)
        pipeline = beam.Pipeline()
        games = [
            pipeline
            | f"read {name}"
            >> beam.FromDataFrame(
                source.files(), timestamp="at", watermark="0 s", idle_after=idle_after
            )
            for name, source, idle_after in (("busy", busy, None), ("silent", silent, "1 ms"))
        ]
        totals = (
            games
            | beam.Flatten()
            | beam.Map(lambda row: (row.user, row.points))
            | beam.WindowInto(beam.FixedWindows("10 minutes"))
            | beam.CombinePerKey(sum)
        )
        totals | beam.WriteRows("user string, points long", write)
        take_all(pipeline.run("spark", spark, checkpoint=str(home), trigger=trigger), trigger)
        return written[before:]

    silent.put(("ann", 10, "00:02:00"))
    for points, time in enumerate(["00:01:00", "00:15:00", "00:31:00"], 1):
        busy.put(("ann", points, time))
    # The second and the third file come alone: the watermark is that of their source.
    assert run() == [(1, "ann", 11), (2, "ann", 2)]
    # A row of the silent source counts again, and for as long as it is not silent.
    silent.put(("ann", 20, "00:32:00"))
    for points, time in enumerate(["00:45:00", "00:55:00"], 4):
        busy.put(("ann", points, time))
    assert run() == [(4, "ann", 4), (4, "ann", 23)]
    assert run() == []
