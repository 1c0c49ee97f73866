"""How often a query is woken while no data comes: as often as what it waits for needs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

import beamlike as bl
import beamlike.beam as beam
from beamlike.hosts.spark import query
from beamlike.hosts.spark.graph import frames
from beamlike.hosts.spark.ticks import pace_ms, ticks
from beamlike.machine.input_clocks import SourceClock
from beamlike.model.graph import ReadNode
from beamlike.model.resolution import Resolution
from beamlike.runtime.graph.layers import Layers


@pytest.mark.parametrize(
    ("silences", "woken"),
    [
        ([], 5_000),
        ([10_000], 5_000),
        ([60_000], 15_000),
        ([600_000, 40_000], 10_000),
        ([3_600_000], 60_000),
    ],
)
def test_a_silence_is_looked_for_four_times_in_it_and_once_a_minute(
    silences: list[int], woken: int
) -> None:
    assert pace_ms(5_000, by_trigger=False, idle_after_ms=silences) == woken
    assert pace_ms(5_000, by_trigger=True, idle_after_ms=silences) == 5_000
    assert pace_ms(2_000, by_trigger=False, idle_after_ms=silences) == 2_000


@pytest.mark.parametrize("resolution", [*Resolution])
def test_a_source_is_silent_as_long_whatever_the_times_of_its_graph_count(resolution: Resolution):
    origin = SimpleNamespace(clock=SourceClock(0, idle_after=120_000))
    rows = ReadNode("rows", (), origin, bounded=False, resolution=resolution)
    layers = Layers.of([rows], ())

    assert layers.resolution is resolution
    assert frames._silences_ms(layers) == [120_000]


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often sources of ticks wake their queries (ms)."""
    seen: list[int] = []

    def noted(spark: Any, every_ms: int) -> Any:
        seen.append(every_ms)
        return ticks(spark, every_ms)

    for module in (query, frames):
        monkeypatch.setattr(module, "ticks", noted)
    return seen


@pytest.mark.spark
@pytest.mark.parametrize("resolution", ["milliseconds", "microseconds"])
def test_a_query_that_waits_for_a_silent_input_is_woken_less_often(
    spark: SparkSession, tmp_path: Path, paces: list[int], resolution: Any
) -> None:
    rows = spark.readStream.schema("user string, at timestamp").json(str(tmp_path))
    options: dict[str, Any] = {"watermark": "1 minute", "idle_after": "2 minutes"}
    stream = bl.stream(rows, timestamp="at", resolution=resolution, **options)
    hours = stream.window(bl.FixedWindows("1 hour"))
    early = bl.AfterWatermark(early=bl.AfterProcessingTime("1 minute"))
    timed = hours.window(
        bl.FixedWindows("1 hour"),
        trigger=early,
        accumulation="accumulating",
        allowed_lateness="0 s",
    )

    hours.group("user", {"n": bl.count()})
    hours.group("user", {"n": bl.count()}, wake_every="7 seconds")
    timed.group("user", {"n": bl.count()})

    assert paces == [30_000, 7_000, 5_000]


@pytest.mark.spark
def test_a_pipeline_that_waits_for_a_silent_input_is_woken_less_often(
    spark: SparkSession, tmp_path: Path, paces: list[int]
) -> None:
    (tmp_path / "in").mkdir()
    pipeline = beam.Pipeline()
    rows = spark.readStream.schema("user string, at timestamp").json(str(tmp_path / "in"))
    users = (
        pipeline
        | beam.FromDataFrame(rows, timestamp="at", watermark="1 minute", idle_after="2 minutes")
        | beam.Map(lambda row: (row.user, 1))
        | beam.WindowInto(beam.FixedWindows("1 hour"))
        | beam.CombinePerKey(sum)
    )
    _ = users | beam.WriteRows("user string, n long", lambda frame, number: None)

    pipeline.run("spark", spark, checkpoint=str(tmp_path / "checkpoint")).cancel()

    assert paces == [30_000]
