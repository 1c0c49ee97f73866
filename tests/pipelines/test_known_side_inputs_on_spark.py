"""Side inputs that come to an end, in streams and batches of Spark."""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.frames import FromDataFrame, to_data_frame
from beamlike.beam.pvalue import AsDict, AsSingleton
from tests.support.pipelines.games import put_games, stream_of_files

pytestmark = pytest.mark.spark

TEAMS = [("joe", "red"), ("ann", "blue"), (None, "no time")]


def in_team(row: Any, teams: dict[str, str], bonus: int) -> tuple[str, int]:
    return teams.get(row.user, "nobody's"), row.points + bonus


def played(spark: Any, folder: Path) -> Any:
    pipeline = beam.Pipeline()
    batch = spark.createDataFrame(TEAMS, "user string, team string").where("user is not null")
    teams = (
        pipeline
        | "Teams" >> FromDataFrame(batch)
        | "Pairs" >> beam.Map(lambda row: (row.user, row.team))
    )
    bonus = pipeline | beam.Create([100])
    stream = stream_of_files(spark, folder)
    games = pipeline | "Games" >> FromDataFrame(stream, timestamp="at", watermark="1 minute")
    return games | "In team" >> beam.Map(in_team, AsDict(teams), bonus=AsSingleton(bonus))


def test_a_stream_looks_into_side_inputs_that_end_and_keeps_no_state(spark: Any, tmp_path: Path):
    put_games(spark, tmp_path / "in", ("joe", 1, "00:00:10"), ("ann", 5, "00:01:10"))
    put_games(spark, tmp_path / "in", ("eva", 7, "00:00:50"))
    rows = to_data_frame(played(spark, tmp_path / "in"), "team string, n long")
    written = rows.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = written.option("checkpointLocation", str(tmp_path / "checkpoint"))
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()

    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(tuple(row) for row in found) == [("blue", 105), ("nobody's", 107), ("red", 101)]
    progress = running.recentProgress
    assert [batch["stateOperators"] for batch in progress] == [[]] * 2
    assert [batch["observedMetrics"]["Games"]["elements"] for batch in progress] == [2, 1]


def test_elements_that_have_looked_are_grouped_in_a_stream(spark: Any, tmp_path: Path) -> None:
    put_games(spark, tmp_path / "in", ("joe", 1, "00:00:10"), ("eva", 7, "00:00:20"))
    put_games(spark, tmp_path / "in", ("joe", 2, "00:10:00"))
    window = beam.WindowInto(beam.window.FixedWindows(60))
    totals = played(spark, tmp_path / "in") | window | beam.CombinePerKey(sum)

    rows = to_data_frame(totals, "team string, n long")
    writer = rows.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()

    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(tuple(row) for row in found) == [("nobody's", 107), ("red", 101)]


def test_what_a_side_input_drops_and_counts_is_in_the_result_once(spark: Any) -> None:
    counter = beam.metrics.Metrics.counter("side", "pairs")

    def pair(row: Any) -> tuple[str, str]:
        counter.inc()
        return row.user, row.team

    pipeline = beam.Pipeline()
    batch = spark.createDataFrame(
        [("joe", "red", "2020-01-01 00:00:00Z"), ("ann", "blue", "no time")],
        "user string, team string, at string",
    )
    teams = pipeline | "Teams" >> FromDataFrame(batch, timestamp="at") | "Pairs" >> beam.Map(pair)
    users = pipeline | "Users" >> beam.Create(["joe", "ann"])
    known = users | "Known" >> beam.Map(lambda user, teams: (user, teams.get(user)), AsDict(teams))
    written: list[Any] = []
    known | beam.WriteRows(
        "user string, team string", lambda rows, _: written.extend(map(tuple, rows.collect()))
    )

    result = pipeline.run("spark", spark)

    assert sorted(written) == [("ann", None), ("joe", "red")]
    assert result.lost_counts == {("Teams", "bad_timestamp"): 1}
    (counted,) = result.metrics().query()["counters"]
    assert (counted.key.step, counted.committed) == ("Pairs", 1)
