"""DataFrames as sources of pipelines, and collections of pipelines as DataFrames."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.frames import FromDataFrame, to_data_frame
from beamlike.beam.transforms.userstate import CombiningValueStateSpec, on_window_expiration
from beamlike.errors import PipelineError, UnsupportedError
from beamlike.inspect.opening import open_state
from beamlike.model.sessions import Sessions
from beamlike.model.windowfns import FixedWindows
from tests.support.pipelines.games import games, points_of, put_games, stream_of_files
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark

TOTALS = "user string, points long, window string"


def totals(rows: Any, window: Any, **options: Any) -> Any:
    """Points of each user and window."""
    pipeline = beam.Pipeline()
    return (
        points_of(pipeline, rows, timestamp="at", **options)
        | beam.WindowInto(window)
        | beam.CombinePerKey(sum)
        | "Row" >> beam.Map(_row)
    )


def _row(pair: tuple[str, int], window: Any = beam.DoFn.WindowParam) -> dict[str, Any]:
    start, end = window.start.to_utc_datetime(), window.end.to_utc_datetime()
    return {"user": pair[0], "points": pair[1], "window": f"[{start}, {end})"}


def collected(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


FIRST = [("joe", 1, "00:00:10"), ("ann", 5, "00:01:10"), ("joe", 2, "00:00:50")]


def test_a_batch_goes_through_a_pipeline_and_comes_out_as_rows(spark: Any) -> None:
    rows = to_data_frame(totals(games(spark, FIRST), FixedWindows("1 minute")), TOTALS)

    assert collected(rows) == [
        ("ann", 5, "[2020-01-01 00:01:00, 2020-01-01 00:02:00)"),
        ("joe", 3, "[2020-01-01 00:00:00, 2020-01-01 00:01:00)"),
    ]


def test_a_row_without_a_time_is_left_out_and_the_others_are_not(spark: Any) -> None:
    rows = games(spark, [*FIRST, ("zed", 9, None)])

    assert collected(to_data_frame(totals(rows, Sessions("1 minute")), TOTALS)) == [
        ("ann", 5, "[2020-01-01 00:01:10, 2020-01-01 00:02:10)"),
        ("joe", 3, "[2020-01-01 00:00:10, 2020-01-01 00:01:50)"),
    ]


def test_a_text_that_is_no_time_is_left_out_and_the_others_are_not(spark: Any) -> None:
    rows = spark.createDataFrame(
        [("joe", 1, "2020-01-01 00:00:10Z"), ("zed", 9, "no idea"), ("eva", 9, "00:00:10")],
        "user string, points long, at string",
    )

    written: dict[str, list[tuple[Any, ...]]] = {}
    pipeline = beam.Pipeline()
    read = pipeline | "Games" >> FromDataFrame(rows, timestamp="at")
    read | beam.Map(lambda row: row.user) | beam.WriteRows("user string", kept(written, "users"))
    result = pipeline.run("spark", spark)

    assert written == {"users": [("joe",)]}
    assert [it.drop.reason.value for it in result.lost] == ["bad_timestamp"] * 2
    assert sorted(it.drop.error for it in result.lost) == [
        "{'user': 'eva', 'points': 9, 'at': '00:00:10'}: its 'at' is no time",
        "{'user': 'zed', 'points': 9, 'at': 'no idea'}: its 'at' is no time",
    ]


def test_times_come_and_go_as_they_are(spark: Any) -> None:
    rows = games(spark, FIRST[:1])
    times = (
        beam.Pipeline()
        | FromDataFrame(rows, timestamp="at")
        | beam.FlatMap(lambda row: [("read", row.at), ("made", datetime(2020, 1, 1, 12))])
    )

    found = to_data_frame(times, "what string, at timestamp")

    assert collected(found.selectExpr("what", "unix_seconds(at)")) == [
        ("made", 1_577_880_000),
        ("read", 1_577_836_810),
    ]


def test_values_of_any_kind_come_and_go_by_a_declared_coder(spark: Any) -> None:
    coder = beam.coders.PickleCoder()
    given = [(coder.encode({"user": "joe", "at": 1j}),), (coder.encode({"user": "ann"}),)]
    encoded = spark.createDataFrame([*given, (b"no pickle",)], "body binary")
    pipeline = beam.Pipeline()
    users = (
        pipeline
        | "Games" >> beam.FromDataFrame(encoded, encoded="body", coder=coder)
        | beam.Map(lambda game: (game["user"], game.get("at")))
    )
    written: list[Any] = []

    def write(frame: Any, number: int) -> None:
        written.extend(coder.decode(bytes(row.value)) for row in frame.collect())

    users | beam.WriteRows(coder, write)
    result = pipeline.run("spark", spark)

    assert sorted(written, key=repr) == [("ann", None), ("joe", 1j)]
    (lost,) = result.lost
    assert (lost.label, lost.drop.reason.value) == ("Games", "bad_value")
    assert "UnpicklingError" in lost.drop.error


@pytest.mark.parametrize(
    ("coder", "value", "encoded"),
    [
        (beam.coders.BytesCoder(), b"\x00", b"\x00"),
        (beam.coders.StrUtf8Coder(), "é", b"\xc3\xa9"),
        (beam.coders.JsonCoder(), {"b": [1, None], "a": "x"}, b'{"a":"x","b":[1,null]}'),
    ],
    ids=["bytes", "text", "json"],
)
def test_a_coder_is_what_its_name_says(coder: Any, value: Any, encoded: bytes) -> None:
    assert (coder.encode(value), coder.decode(encoded)) == (encoded, value)


def test_a_column_of_encoded_elements_needs_its_coder(spark: Any) -> None:
    assert refusal(
        PipelineError, lambda: beam.FromDataFrame(games(spark, FIRST), encoded="user")
    ) == ("encoded= names the column and coder= how to read it; say both, or neither")


def test_a_batch_without_event_time_is_one_window(spark: Any) -> None:
    pipeline = beam.Pipeline()
    counted = points_of(pipeline, games(spark, FIRST).drop("at")) | beam.CombinePerKey(sum)

    assert collected(to_data_frame(counted, "user string, points long")) == [("ann", 5), ("joe", 3)]


def test_elements_of_a_batch_meet_elements_that_were_created(spark: Any) -> None:
    pipeline = beam.Pipeline()
    played = points_of(pipeline, games(spark, FIRST).drop("at"))
    teams = pipeline | beam.Create([("joe", "red"), ("ann", "blue")])
    together = {"points": played, "team": teams} | beam.CoGroupByKey()
    shown = together | "Show" >> beam.Map(
        lambda pair: (pair[0], sorted(pair[1]["points"]), pair[1]["team"][0])
    )

    rows = to_data_frame(shown, "user string, points array<long>, team string")

    assert collected(rows) == [("ann", [5], "blue"), ("joe", [1, 2], "red")]


def test_a_batch_without_partitions_comes_to_its_end_too(spark: Any) -> None:
    pipeline = beam.Pipeline()
    nobody = pipeline | "Nobody" >> FromDataFrame(
        spark.range(0).selectExpr("'joe' user", "id points")
    )
    played = nobody | beam.Map(lambda row: (row.user, row.points))
    created = pipeline | beam.Create([("ann", 5), ("ann", 1)])
    summed = (played, created) | beam.Flatten() | beam.CombinePerKey(sum)

    assert nobody.edge.node.origin.rows.rdd.getNumPartitions() == 0
    assert collected(to_data_frame(summed, "user string, points long")) == [("ann", 6)]


def test_a_stream_goes_on_where_it_stopped(spark: Any, tmp_path: Path) -> None:
    inbox, checkpoint, out = (tmp_path / name for name in ("in", "checkpoint", "out"))

    def run() -> None:
        stream = stream_of_files(spark, inbox)
        panes = totals(stream, Sessions("1 minute"), watermark="10 seconds")
        writer = to_data_frame(panes, TOTALS).writeStream.format("parquet").option("path", str(out))
        writer.option("checkpointLocation", str(checkpoint)).trigger(
            availableNow=True
        ).start().awaitTermination()

    put_games(spark, inbox, *FIRST)
    run()
    put_games(spark, inbox, ("joe", 4, "00:01:30"))
    run()
    put_games(spark, inbox, ("eva", 7, "00:10:00"))
    run()

    assert collected(spark.read.parquet(str(out))) == [
        ("ann", 5, "[2020-01-01 00:01:10, 2020-01-01 00:02:10)"),
        ("joe", 7, "[2020-01-01 00:00:10, 2020-01-01 00:02:30)"),
    ]


def test_a_stream_needs_event_time_and_a_watermark(spark: Any, tmp_path: Path) -> None:
    stream = stream_of_files(spark, tmp_path)

    assert refusal(PipelineError, lambda: FromDataFrame(stream, timestamp="at")) == (
        "the rows of a stream need event time: write FromDataFrame(df, "
        'timestamp="ts", watermark="1 minute")'
    )


def test_a_stream_and_what_comes_to_an_end_are_not_one_query(spark: Any, tmp_path: Path) -> None:
    pipeline = beam.Pipeline()
    stream = stream_of_files(spark, tmp_path)
    played = pipeline | "Games" >> FromDataFrame(stream, timestamp="at", watermark="1 minute")
    joined = (played, pipeline | "Others" >> beam.Create([1])) | beam.Flatten()

    assert refusal(UnsupportedError, lambda: to_data_frame(joined, "value long")) == (
        "'Others' comes to an end and 'Games' is a stream; Spark cannot read both in one query of "
        "a DataFrame: write the result with WriteRows(...) and run() the pipeline, or read the "
        "first one as a stream too"
    )


def test_two_frames_of_one_pipeline_can_be_united(spark: Any, tmp_path: Path) -> None:
    pipeline = beam.Pipeline()
    stream = stream_of_files(spark, tmp_path)
    totals = (
        points_of(pipeline, stream, timestamp="at", watermark="1 minute")
        | beam.WindowInto(beam.FixedWindows("1 hour"))
        | "Totals" >> beam.CombinePerKey(sum)
    )
    many = totals | beam.Filter(lambda pair: pair[1] > 10)
    frames = [to_data_frame(it, "user string, points long") for it in (totals, many)]

    # Spark refuses two metrics with one name, as soon as both are in one query.
    together = frames[0].unionByName(frames[1])

    plan = together._jdf.queryExecution().analyzed().toString()
    names = re.findall(r"CollectMetrics ([\w ]+),", plan)
    assert sorted(names) == ["Games", "Games 2", "Totals", "Totals 2"]


def test_an_element_that_is_no_such_row_is_named(spark: Any) -> None:
    rows = to_data_frame(beam.Pipeline() | beam.Create([("a", 1, 2)]), "name string, n long")

    with pytest.raises(Exception, match="has 3 parts, and the schema has 2 columns: name, n"):
        rows.collect()


def kept(rows: dict[str, list[tuple[Any, ...]]], name: str) -> Any:
    """A writer that keeps rows in this process."""

    def write(frame: Any, number: int) -> None:
        rows.setdefault(name, []).extend(collected(frame))

    return write


def test_a_batch_is_written_by_several_writers_in_schemas_of_their_own(spark: Any) -> None:
    written: dict[str, list[tuple[Any, ...]]] = {}
    pipeline = beam.Pipeline()
    played = points_of(pipeline, games(spark, FIRST), timestamp="at")
    played | "Points" >> beam.WriteRows("user string, points long", kept(written, "points"))
    played | "Floats" >> beam.WriteRows("who string, points double", kept(written, "floats"))
    totals = played | beam.CombinePerKey(sum)
    totals | "Totals" >> beam.WriteRows("user string, points long", kept(written, "totals"))

    assert pipeline.run("spark", spark).state == beam.PipelineState.DONE
    assert written == {
        "points": [("ann", 5), ("joe", 1), ("joe", 2)],
        "floats": [("ann", 5.0), ("joe", 1.0), ("joe", 2.0)],
        "totals": [("ann", 5), ("joe", 3)],
    }


def test_a_stream_that_is_not_grouped_goes_through_as_it_comes(spark: Any, tmp_path: Path) -> None:
    inbox, out = tmp_path / "in", str(tmp_path / "out")
    put_games(spark, inbox, *FIRST, ("zed", 9, None))
    stream = stream_of_files(spark, inbox)
    users = points_of(beam.Pipeline(), stream, timestamp="at", watermark="10 seconds")

    rows = to_data_frame(users, "user string, points long")
    writer = rows.writeStream.format("parquet").option("path", out)
    query = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    ended = query.start()
    ended.awaitTermination()

    assert collected(spark.read.parquet(out)) == [("ann", 5), ("joe", 1), ("joe", 2)]
    counted = ended.lastProgress["observedMetrics"]["Games"]
    assert (counted.elements, counted.dropped_null_timestamp) == (4, 1)


class Summing(beam.DoFn):
    """Adds up the points of a user, and raises for points that are not positive."""

    STATE = beam.DoFn.StateParam(CombiningValueStateSpec("sum", sum))

    def process(self, pair: tuple[str, int], total: Any = STATE) -> Any:
        total.add(pair[1])
        if pair[1] <= 0:
            raise ValueError("no points")
        yield pair[0], total.read()


def positive(row: Any) -> tuple[str, int]:
    if row.points <= 0:
        raise ValueError("no points")
    return row.user, row.points


@pytest.mark.parametrize("fails", ["element by element", "with states"])
def test_a_stream_goes_on_as_the_error_of_its_function_says(fails: str, spark: Any, tmp_path: Path):
    inbox, checkpoint = tmp_path / "in", str(tmp_path / "checkpoint")
    put_games(spark, inbox, *FIRST, ("zed", 0, "00:00:20"))
    written: dict[str, list[tuple[Any, ...]]] = {}
    with_states = fails == "with states"

    def run(*, mended: bool) -> Any:
        pipeline, take = beam.Pipeline(), beam.FlatMap(lambda row: [(row.user, row.points)])
        if not with_states:
            take = beam.FlatMap(
                lambda row: [positive(row)] if row.points or not mended else []  # left out
            )
        stream = stream_of_files(spark, inbox)
        summing = beam.ParDo(Summing()).with_on_error("drop" if mended else "fail")
        sums = (
            pipeline
            | beam.FromDataFrame(stream, timestamp="at", watermark="10 seconds")
            | "Take" >> take
            | "Sum" >> summing
        )
        sums | beam.WriteRows("user string, points long", kept(written, "sums"))
        return pipeline.run("spark", spark, checkpoint=checkpoint, trigger={"availableNow": True})

    with pytest.raises(ValueError, match="no points") as stopped:
        run(mended=False).wait_until_finish()
    assert stopped.value.__notes__[-1:] == [
        "Nothing of the micro-batch is lost. Mend the function, or have it leave out what it "
        "cannot take, and run the pipeline again with this checkpoint: the micro-batch is done "
        "again. A function with states and timers may drop what it raises for: "
        'ParDo(...).with_on_error("drop").'
    ]
    assert written.get("sums", []) == []

    run(mended=True).wait_until_finish()
    assert sorted(written["sums"]) == [("ann", 5), ("joe", 1), ("joe", 3)]


@pytest.mark.nightly
def test_a_stream_meets_what_was_created_and_drains(spark: Any, tmp_path: Path) -> None:
    inbox, checkpoint = tmp_path / "in", str(tmp_path / "checkpoint")
    put_games(spark, inbox, *FIRST, ("zed", 9, None))
    written: dict[str, list[tuple[Any, ...]]] = {}
    pipeline = beam.Pipeline()
    seen = beam.metrics.Metrics.counter("games", "seen")

    def counted(row: Any) -> tuple[str, int]:
        seen.inc()
        return row.user, row.points

    stream = stream_of_files(spark, inbox)
    played = (
        pipeline
        | "Games" >> beam.FromDataFrame(stream, timestamp="at", watermark="10 seconds")
        | beam.Map(counted)
        | beam.WindowInto(beam.FixedWindows("1 hour"))
    )
    first = beam.TimestampedValue(("joe", 100), "2020-01-01T00:00:00")
    more = pipeline | beam.Create([first]) | "In" >> beam.WindowInto(beam.FixedWindows("1 hour"))
    totals = (played, more) | beam.Flatten() | beam.CombinePerKey(sum)
    totals | beam.WriteRows("user string, points long", kept(written, "totals"))

    result = pipeline.run("spark", spark, checkpoint=checkpoint)
    result.query.processAllAvailable()
    before = list(written["totals"])
    assert (before, result.drain()) == ([], beam.PipelineState.DRAINED)
    assert written["totals"] == [("ann", 5), ("joe", 103)]
    assert open_state(spark, checkpoint).windows.num_rows == 0
    assert [it.committed for it in result.metrics().query()["counters"]] == [3]
    assert [(it.label, it.drop.reason.value, it.drop.error) for it in result.lost] == [
        ("Games", "null_timestamp", "{'user': 'zed', 'points': 9, 'at': None}: its 'at' is null")
    ]


class Points(beam.DoFn):
    """The sum of a key and window, at its end."""

    POINTS = CombiningValueStateSpec("points", sum)

    def process(self, pair: Any, points: Any = beam.DoFn.StateParam(POINTS)) -> None:  # noqa: B008
        points.add(pair[1])

    @on_window_expiration
    def on_end(
        self,
        user: Any = beam.DoFn.KeyParam,
        points: Any = beam.DoFn.StateParam(POINTS),  # noqa: B008
    ) -> Any:
        yield user, points.read()


@pytest.mark.nightly
def test_a_drain_ends_the_windows_of_a_function_with_states(spark: Any, tmp_path: Path) -> None:
    inbox, checkpoint = tmp_path / "in", str(tmp_path / "checkpoint")
    put_games(spark, inbox, *FIRST)
    written: dict[str, list[tuple[Any, ...]]] = {}
    stream = stream_of_files(spark, inbox)
    pipeline = beam.Pipeline()
    played = points_of(pipeline, stream, timestamp="at", watermark="10 seconds") | beam.WindowInto(
        beam.FixedWindows("1 hour"), accumulation_mode="discarding", allowed_lateness="1 day"
    )
    totals = played | "Points" >> beam.ParDo(Points())
    totals | beam.WriteRows("user string, points long", kept(written, "totals"))

    result = pipeline.run("spark", spark, checkpoint=checkpoint)
    result.query.processAllAvailable()
    before, cells = list(written["totals"]), open_state(spark, checkpoint).cells.num_rows
    result.drain()

    assert (before, cells) == ([], 2)
    assert written["totals"] == [("ann", 5), ("joe", 3)]
    after = open_state(spark, checkpoint)
    assert (after.cells.num_rows, after.timers.num_rows) == (0, 0)


@pytest.mark.nightly
def test_what_arrived_before_a_drain_is_in_its_windows(spark: Any, tmp_path: Path) -> None:
    """Files are read one by one, so that the end would be read before most of them."""
    inbox, checkpoint = tmp_path / "in", str(tmp_path / "checkpoint")
    late = [("old", 7, "00:00:00"), ("zed", 9, None)]
    for row in [*FIRST, ("eva", 1, "00:01:20"), ("eva", 2, "00:01:30"), *late]:
        put_games(spark, inbox, row)
    written: dict[str, list[tuple[Any, ...]]] = {}
    stream = stream_of_files(spark, inbox)
    played = totals(stream, FixedWindows("1 hour"), watermark="0 s")
    played | beam.WriteRows(TOTALS, kept(written, "totals"))

    result = played.pipeline.run("spark", spark, checkpoint=checkpoint)
    result.drain()

    hour = "[2020-01-01 00:00:00, 2020-01-01 01:00:00)"
    assert written["totals"] == [
        ("ann", 5, hour),
        ("eva", 3, hour),
        ("joe", 3, hour),
        ("old", 7, hour),
    ]
    # Also if nobody has asked before.
    assert [it.drop.reason.value for it in result.outputs.lost] == ["null_timestamp"]
    assert result.lost == result.outputs.lost


def test_a_stream_is_run_with_a_folder_to_go_on_from(spark: Any, tmp_path: Path) -> None:
    pipeline = beam.Pipeline()
    stream = stream_of_files(spark, tmp_path)
    rows = pipeline | beam.FromDataFrame(stream, timestamp="at", watermark="1 minute")
    rows | beam.WriteRows("user string, points long, at timestamp", kept({}, "rows"))

    assert refusal(PipelineError, lambda: pipeline.run("spark", spark)) == (
        "a pipeline over a stream needs a folder to go on from: write "
        'run(host="spark", checkpoint="/path/of/its/own")'
    )


def test_rows_are_not_written_in_memory() -> None:
    pipeline = beam.Pipeline()
    pipeline | "Numbers" >> beam.Create([1]) | beam.WriteRows("n long", kept({}, "rows"))

    assert refusal(PipelineError, pipeline.run) == (
        "what 'Numbers' brings out is written as rows, which Spark does: run(host=\"spark\")"
    )
