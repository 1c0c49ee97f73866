# ruff: noqa: B008 (that is how Beam has it)
"""Pipelines of the Beam SDK on Spark: DataFrames, tables, streams that restart."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.metrics import Metrics
from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions
from apache_beam.runners.runner import PipelineState
from apache_beam.transforms import userstate, window
from apache_beam.transforms.periodicsequence import PeriodicImpulse

from beamlike.errors import PipelineError, StateError, UnsupportedError
from beamlike.hosts.spark.session import local_session
from beamlike.runners.beam import BeamlikeRunner, FromDataFrame, UpsertInto, WriteRows
from beamlike.tables import SQLite
from tests.beam_runner.scenarios.json_files import add_file
from tests.beam_runner.scenarios.visits import Visits

Rows = dict[int, list[tuple[Any, ...]]]
"""The rows of each micro-batch: one that comes again replaces what it brought before."""

SALES = "shop string, item string, price long, sold timestamp"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    session = local_session()
    yield session
    session.stop()


def pipeline(*options: str) -> beam.Pipeline:
    return beam.Pipeline(runner=BeamlikeRunner("spark"), options=PipelineOptions([*options]))


def keeping(rows: Rows) -> Any:
    def write(frame: Any, number: int) -> None:
        rows[number] = [tuple(row) for row in frame.collect()]

    return write


def all_of(rows: Rows) -> list[tuple[Any, ...]]:
    return sorted(row for of_batch in rows.values() for row in of_batch)


def test_from_a_data_frame_to_rows_and_a_table(spark: Any, tmp_path: Path) -> None:
    sales = spark.createDataFrame(
        [
            ("Rome", "tea", 3, "2024-01-01 12:00:00.000001"),
            ("Rome", "milk", 2, "2024-01-01 12:04:59.999999"),
            ("Oslo", "tea", 5, "2024-01-01 12:05:00"),
            ("Oslo", "salt", 1, "no idea"),
        ],
        "shop string, item string, price long, sold string",
    ).selectExpr("shop", "item", "price", "try_cast(sold as timestamp) as sold")
    rows: Rows = {}

    def counted(sale: Any) -> tuple[str, int]:
        Metrics.counter("shop", "sales").inc()
        return sale.shop, sale.price

    p = pipeline("--shards=2")
    sums = (
        p
        | FromDataFrame(sales, timestamp="sold")
        | "Pair" >> beam.Map(counted)
        | beam.WindowInto(window.FixedWindows(300))
        | beam.CombinePerKey(sum)
        | beam.MapTuple(lambda shop, total: {"shop": shop, "total": total})
    )
    sums | WriteRows("shop string, total long", keeping(rows))
    sums | UpsertInto(
        SQLite(f"{tmp_path}/shops.db", "takings"), "shop", "shop string, total long", name="shops"
    )
    result = p.run()
    assert result.wait_until_finish() == PipelineState.DONE
    assert all_of(rows) == [("Oslo", 5), ("Rome", 5)]
    with sqlite3.connect(f"{tmp_path}/shops.db") as database:
        query = "select shop, total, window_start, timing from takings order by shop"
        assert [(row[0], row[1], row[3]) for row in database.execute(query)] == [
            ("Oslo", 5, "ON_TIME"),
            ("Rome", 5, "ON_TIME"),
        ]
    (sales_seen,) = result.metrics().query()["counters"]
    assert (sales_seen.key.step, sales_seen.committed) == ("Pair", 3)


def running_total() -> beam.DoFn:
    """Gives the running total of a shop, by a state."""

    class Running(beam.DoFn):  # it travels with the pipeline: Spark's workers lack this module
        TOTAL = userstate.CombiningValueStateSpec("total", sum)

        def process(self, pair: Any, total: Any = beam.DoFn.StateParam(TOTAL)) -> Any:
            shop, price = pair
            total.add(price)
            yield shop, total.read()

    return Running()


def sales_of(folder: Path, number: int) -> None:
    """Write the sales of one hour as a file."""
    names = "shop", "item", "price", "sold"
    sales = [(f"shop {n % 3}", "tea", n, f"2024-01-01 0{number}:{n:02}:00") for n in range(1, 10)]
    add_file(folder, number, [dict(zip(names, sale, strict=True)) for sale in sales])


def stream_of(spark: Any, folder: Path, checkpoint: Path, hourly: Rows, running: Rows) -> Any:
    """The takings of each shop and hour, with an early pane, and the greatest running total."""
    rows = spark.readStream.schema(SALES).option("maxFilesPerTrigger", 1).json(str(folder))
    p = pipeline("--shards=2", f"--checkpoint={checkpoint}")
    pairs = (
        p
        | FromDataFrame(rows, timestamp="sold", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda sale: (sale.shop, sale.price)).with_output_types(tuple[str, int])
    )
    (
        pairs
        | "Hours" >> beam.WindowInto(window.FixedWindows(3600))
        | "Takings" >> beam.CombinePerKey(sum)
        | "Hourly" >> WriteRows("shop string, total long", keeping(hourly))
    )
    (
        pairs
        | "Running totals" >> beam.ParDo(running_total())
        | "Running" >> WriteRows("shop string, total long", keeping(running))
    )
    return p.run()


def test_a_stream_that_is_stopped_twice_gives_what_a_plain_computation_gives(
    spark: Any, tmp_path: Path
) -> None:
    folder, checkpoint = tmp_path / "sales", tmp_path / "checkpoint"
    folder.mkdir()
    hourly: Rows = {}
    running: Rows = {}
    for run in range(3):
        sales_of(folder, 2 * run)
        result = stream_of(spark, folder, checkpoint, hourly, running)
        assert result.state == PipelineState.RUNNING
        result.query.processAllAvailable()
        sales_of(folder, 2 * run + 1)
        if run < 2:
            assert result.cancel() == PipelineState.CANCELLED
    result.query.processAllAvailable()
    assert result.drain() == PipelineState.DRAINED
    by_shop = {f"shop {k}": [n for n in range(1, 10) if n % 3 == k] for k in range(3)}
    sums = {shop: sum(prices) for shop, prices in by_shop.items()}
    assert all_of(hourly) == sorted((shop, total) for shop, total in sums.items() for _ in range(6))
    greatest = {shop: max(t for s, t in all_of(running) if s == shop) for shop in sums}
    assert greatest == {shop: 6 * total for shop, total in sums.items()}
    assert len(all_of(running)) == 6 * 9


def clicks_of(folder: Path, number: int, *clicks: tuple[int, str]) -> None:
    """Write clicks of Ann's, seconds and names, as a file."""
    rows = [
        {"user": "ann", "click": click, "at": f"2024-01-01 00:{second // 60:02}:{second % 60:02}"}
        for second, click in clicks
    ]
    add_file(folder, number, rows)


def test_windows_of_a_users_class_merge_on_after_a_stop(spark: Any, tmp_path: Path) -> None:
    """What a window says beyond its bounds is saved: in how many parts a visit was seen."""
    folder, checkpoint = tmp_path / "clicks", tmp_path / "checkpoint"
    visits: Rows = {}
    folder.mkdir()

    def run() -> Any:
        rows = spark.readStream.schema("user string, click string, at timestamp")
        rows = rows.option("maxFilesPerTrigger", 1).json(str(folder))
        p = pipeline("--shards=2", f"--checkpoint={checkpoint}")
        (
            p
            | FromDataFrame(rows, timestamp="at", watermark="5 seconds", max_ahead=None)
            | beam.Map(lambda row: (row.user, row.click)).with_output_types(tuple[str, str])
            | beam.WindowInto(Visits())
            | beam.GroupByKey()
            | beam.Map(
                lambda pair, w=beam.DoFn.WindowParam: (
                    "".join(sorted(click[-1] for click in pair[1])),
                    w.device,
                    w.parts,
                    w.end.micros // 1_000_000 - 1_704_067_200,
                )
            )
            | WriteRows("clicks string, device string, parts long, end long", keeping(visits))
        )
        return p.run()

    clicks_of(folder, 0, (1, "phone:a"), (2, "tablet:b"))
    clicks_of(folder, 1, (8, "phone:c"))
    first = run()
    first.query.processAllAvailable()
    assert first.cancel() == PipelineState.CANCELLED
    assert all_of(visits) == []
    clicks_of(folder, 2, (12, "phone:d"))
    second = run()
    second.query.processAllAvailable()
    assert second.cancel() == PipelineState.CANCELLED
    clicks_of(folder, 3, (21, "phone:e"), (60, "tablet:f"))
    clicks_of(folder, 4, (61, "tablet:g"), (3, "phone:h"))  # the last one is late
    third = run()
    third.query.processAllAvailable()
    assert all_of(visits) == [("acde", "phone", 4, 31), ("b", "tablet", 1, 12)]
    assert third.drain() == PipelineState.DRAINED
    expected = [("acde", "phone", 4, 31), ("b", "tablet", 1, 12), ("fg", "tablet", 2, 71)]
    assert all_of(visits) == expected


def test_a_stream_that_keeps_no_state_runs_until_it_is_drained(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "sales"
    folder.mkdir()
    sales_of(folder, 0)
    rows = spark.readStream.schema(SALES).json(str(folder))
    prices: Rows = {}
    p = pipeline("--shards=2")
    (
        p
        | FromDataFrame(rows, timestamp="sold", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda sale: sale.price)
        | WriteRows("price long", keeping(prices))
    )
    result = p.run()
    assert result.wait_until_finish(duration=2_000) == PipelineState.RUNNING
    result.query.processAllAvailable()
    assert result.drain() == PipelineState.DRAINED
    assert all_of(prices) == [(n,) for n in range(1, 10)]


def test_a_pipeline_that_has_changed_is_refused_by_the_name_of_what_changed(
    spark: Any, tmp_path: Path
) -> None:
    folder, checkpoint = tmp_path / "sales", tmp_path / "checkpoint"
    folder.mkdir()
    sales_of(folder, 0)
    result = stream_of(spark, folder, checkpoint, {}, {})
    result.query.processAllAvailable()
    result.cancel()
    rows = spark.readStream.schema(SALES).json(str(folder))
    p = pipeline("--shards=2", f"--checkpoint={checkpoint}")
    (
        p
        | FromDataFrame(rows, timestamp="sold", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda sale: (sale.shop, sale.price))
        | "Hours" >> beam.WindowInto(window.FixedWindows(3600))
        | "Other takings" >> beam.CombinePerKey(max)
        | WriteRows("shop string, total long", keeping({}))
    )
    with pytest.raises(StateError, match=r"'Other takings' keeps state and was not there"):
        p.run()


def test_a_splittable_source_streams_and_goes_on_from_where_it_was_stopped(
    spark: Any, tmp_path: Path
) -> None:
    start = int(time.time()) - 20
    rows: Rows = {}
    panes: dict[int, float] = {}

    def write(frame: Any, number: int) -> None:
        keeping(rows)(frame, number)
        for (second,) in rows[number]:
            panes[second] = time.time()

    def run() -> Any:
        p = pipeline("--shards=2", f"--checkpoint={tmp_path}/checkpoint")
        (
            p
            | PeriodicImpulse(start, start + 60, 1)
            | beam.WindowInto(window.FixedWindows(1))
            | beam.Map(lambda n: (int(n) - start, None)).with_output_types(tuple[int, None])
            | beam.GroupByKey()
            | beam.Keys()
            | WriteRows("second long", write)
        )
        return p.run()

    first = run()
    until = time.time() + 90
    while len(panes) < 25 and time.time() < until and first.state == PipelineState.RUNNING:
        time.sleep(0.5)
    assert first.state == PipelineState.RUNNING, first.query.exception()
    assert first.cancel() == PipelineState.CANCELLED
    before = len(panes)
    assert 25 <= before < 60
    second = run()
    assert second.wait_until_finish() == PipelineState.DONE
    assert all_of(rows) == [(n,) for n in range(60)]
    # Those of the last seconds came when they were, and not together at the end.
    assert panes[59] - panes[before] > 2


@pytest.mark.parametrize("option", ["--checkpoint=/c", "--shards=3", "--trigger_interval=1 second"])
def test_an_option_without_effect_is_refused(option: str) -> None:
    p = beam.Pipeline(runner=BeamlikeRunner(), options=PipelineOptions([option]))
    p | beam.Create([1])
    with pytest.raises(PipelineError, match="has no effect on the host local"):
        p.run()


def test_a_micro_batch_starts_as_often_as_the_trigger_interval_says(spark: Any, tmp_path: Path):
    folder = tmp_path / "sales"
    rows: Rows = {}
    folder.mkdir()
    sales_of(folder, 0)
    stream = spark.readStream.schema(SALES).json(str(folder))
    p = pipeline("--trigger_interval=1 hour")
    (
        p
        | FromDataFrame(stream, timestamp="sold", watermark="1 minute", max_ahead=None)
        | beam.Map(lambda sale: sale.price)
        | WriteRows("price long", keeping(rows))
    )
    result = p.run()
    until = time.time() + 60
    while not rows and time.time() < until:
        time.sleep(0.2)
    sales_of(folder, 1)
    time.sleep(4)
    assert len(all_of(rows)) == 9  # the second file waits for an hour
    assert result.cancel() == PipelineState.CANCELLED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shards=0"], r"--shards=0 is not a number of groups; give 1 or more"),
        (["--checkpoint=/c"], r"--checkpoint=/c is for a stream, and this pipeline ends by itself"),
    ],
)
def test_an_option_that_cannot_be_is_refused_on_spark(spark: Any, options: list[str], message: str):
    p = pipeline(*options)
    p | beam.Create([("k", 1)]) | beam.GroupByKey()
    with pytest.raises(PipelineError, match=message):
        p.run()


def test_a_source_that_is_never_idle_cannot_advance_when_it_is(spark: Any) -> None:
    with pytest.raises(PipelineError, match='idle="advance" says what happens after idle_after'):
        FromDataFrame(spark.range(1), idle="advance")


def test_a_pickler_that_leaves_the_main_program_behind_is_refused() -> None:
    p = pipeline()
    p.options.view_as(SetupOptions).pickle_library = "dill"
    p | beam.Create([1])
    with pytest.raises(PipelineError, match="--pickle_library=dill leaves the functions"):
        p.run()


def test_what_only_spark_does_is_refused_elsewhere() -> None:
    p = beam.Pipeline(runner=BeamlikeRunner())
    p | beam.Create([(1,)]) | "Save" >> WriteRows("n long", keeping({}))
    with pytest.raises(UnsupportedError, match="'Save' writes rows of Spark"):
        p.run()
