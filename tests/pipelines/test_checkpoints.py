"""Pipelines over streams that go on from a folder: which may, and what is reported meanwhile."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock, call

import attrs
import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.on_spark import RunningResult, SparkOptions, run_on_spark
from beamlike.errors import PipelineError, StateError
from beamlike.hosts.spark.graph.checkpoint import Known, check_nodes, nodes_of
from beamlike.hosts.spark.graph.running import PipelineQuery, RunReport
from beamlike.machine.events import Drop, RowProblem
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.outputs import KEPT_LOST, DroppedElement, PipelineRun
from tests.support.machines.memory import ApplyPerKey

SALES = "user string, points long, at timestamp"


def nodes(*between: Any, group: str = "Total") -> list[Known]:
    """Those of a pipeline that sums pairs, with these transforms before the sum."""
    pairs = beam.Pipeline() | "Pairs" >> beam.Create([("a", 1)])
    for transform in between:
        pairs |= transform
    summed = pairs | group >> beam.CombinePerKey(sum)
    return nodes_of(Layers.of([], [summed.edge]))


def refusal(before: Sequence[Known], now: Sequence[Known]) -> list[str]:
    """What is said of the differences."""
    with pytest.raises(StateError) as refused:
        check_nodes(before, now, "/kept")
    first, *changes, last = str(refused.value).splitlines()
    assert first == (
        "the checkpoint '/kept' belongs to another pipeline and cannot be continued, because state "
        "is found by the place of its transform:"
    )
    assert last == (
        "Run the pipeline as it was, whose drain() brings its windows to their end, or start this "
        "one with a new checkpoint."
    )
    return [change.strip() for change in changes]


def test_a_transform_inserted_before_a_sum_moves_its_state() -> None:
    before, now = nodes(), nodes("Double" >> beam.Map(lambda pair: pair))

    assert refusal(before, now) == [
        "'Total' was transform 1 and is transform 2",
        "inserted: 'Double'",
    ]
    assert refusal(now, before) == [
        "'Total' was transform 2 and is transform 1",
        "removed: 'Double'",
    ]


def test_a_sum_under_another_name_is_another_sum() -> None:
    assert refusal(nodes(), nodes(group="Sum")) == [
        "'Sum' keeps state and was not there",
        "'Total' has state there and is gone",
    ]


def windowed(shards: int = 8, **windowing: Any) -> list[Known]:
    """The nodes of a pipeline that sums pairs in windows."""
    pairs = beam.Pipeline() | "Pairs" >> beam.Create([("a", 1)])
    usual = {"trigger": beam.AfterWatermark(late=beam.AfterCount(1)), "allowed_lateness": "10 s"}
    into = {"windowfn": beam.FixedWindows("1 minute"), "accumulation_mode": "discarding"}
    shown = pairs | beam.WindowInto(**(into | usual | windowing))
    summed = shown | "Total" >> beam.CombinePerKey(lambda values: sum(values))
    return nodes_of(Layers.of([], [summed.edge]), shards)


def test_a_sum_that_is_made_otherwise_is_refused_with_both_values() -> None:
    with pytest.raises(StateError) as refused:
        check_nodes(
            windowed(),
            windowed(4, windowfn=beam.Sessions("1 minute"), accumulation_mode="accumulating"),
            "/kept",
        )

    assert str(refused.value) == (
        "the checkpoint '/kept' has state that this pipeline cannot continue:\n"
        "  'Total', window: the checkpoint has 'FixedWindows(1m)', the query has 'Sessions(1m)'\n"
        "  'Total', accumulation: the checkpoint has 'discarding', the query has 'accumulating'\n"
        "  'Total', shards: the checkpoint has '8', the query has '4'\n"
        "Run the pipeline as it was, whose drain() brings its windows to their end, or start this "
        "one with a new checkpoint."
    )


def test_a_sum_goes_on_with_another_lateness_and_another_count() -> None:
    later = windowed(trigger=beam.AfterWatermark(late=beam.AfterCount(5)), allowed_lateness=0)

    check_nodes(windowed(), later, "/kept")
    check_nodes([attrs.evolve(it, words={}) for it in windowed()], later, "/kept")  # not noted then


def test_a_function_that_moved_to_another_line_goes_on_with_its_state() -> None:
    def summed(combine: beam.CombinePerKey) -> list[Known]:
        pairs = beam.Pipeline() | "Pairs" >> beam.Create([("a", 1)])
        return nodes_of(Layers.of([], [(pairs | combine).edge]))

    here = summed(beam.CombinePerKey(lambda values: sum(values)))
    there = summed(beam.CombinePerKey(lambda values: sum(values)))

    assert here == there
    assert here[-1].words["transform"] == "CombinePerKey(<lambda at test_checkpoints.py>)"


def test_the_memory_of_a_function_that_another_machine_has_saved_is_refused() -> None:
    pairs = beam.Pipeline() | "Pairs" >> beam.Create([("a", 1)])
    counted = pairs | "Count" >> ApplyPerKey(lambda state, pair, at: (state, [pair]))
    now = nodes_of(Layers.of([], [counted.edge]))
    before = [
        attrs.evolve(it, words={**it.words, "machine": "StatefulMap"}) if it.state else it
        for it in now
    ]

    with pytest.raises(StateError) as refused:
        check_nodes(before, now, "/kept")

    assert str(refused.value).splitlines()[:2] == [
        "the checkpoint '/kept' has state that this pipeline cannot continue:",
        "  'Count', machine: the checkpoint has 'StatefulMap', the query has 'StatefulParDo'",
    ]


def test_what_keeps_no_state_may_have_another_name_and_be_on_another_line() -> None:
    first = nodes(beam.Map(lambda pair: pair))
    second = nodes(beam.Map(lambda pair: pair))

    check_nodes(first, second, "/kept")
    check_nodes(first, nodes("Same" >> beam.Map(tuple)), "/kept")

    assert first == second
    assert [(it.label, it.state) for it in first] == [
        ("Pairs", False),
        ("Map(<lambda at test_checkpoints.py>)", False),
        ("Total", True),
    ]


@pytest.fixture
def started() -> PipelineQuery:
    rows = beam.Pipeline() | "Sales" >> beam.Create([1])
    query, checkpoint = Mock(isActive=True), Mock()
    return PipelineQuery(query, RunReport(), Layers.of([], [rows.edge]), checkpoint, False)


def test_a_result_is_waited_for_as_long_as_was_said(started: PipelineQuery) -> None:
    result = RunningResult(started)

    states = {result.wait_until_finish(it) for it in ("1900 ms", "100 ms", "2 s", 0)}

    assert result.wait_until_done("3 s") is result
    waits: Any = started.query.awaitTermination
    assert waits.call_args_list == [call(seconds) for seconds in (1.9, 0.1, 2.0, 0.001, 3.0)]
    assert states == {"RUNNING"}


def test_the_newest_losses_are_kept_and_all_are_counted(started: PipelineQuery) -> None:
    def lost(row_problem: RowProblem, numbers: Iterator[int] | range) -> list[DroppedElement]:
        drops = (Drop(None, None, row_problem, error=str(number)) for number in numbers)
        return [DroppedElement(0, "Sales", None, drop) for drop in drops]

    result = RunningResult(started)
    started.report.lost.add(lost(RowProblem.BAD_VALUE, range(3)))
    started.report.lost.add(lost(RowProblem.NULL_TIMESTAMP, range(3, KEPT_LOST + 1)))

    assert [it.drop.error for it in result.lost] == [
        str(index) for index in range(1, KEPT_LOST + 1)
    ]
    assert result.lost_counts == {
        ("Sales", "bad_value"): 3,
        ("Sales", "null_timestamp"): KEPT_LOST - 2,
    }


def test_a_pipeline_that_has_ended_stays_as_it_is() -> None:
    pipeline = beam.Pipeline()
    pipeline | beam.Create([1])

    result = pipeline.run()

    assert (result.drain(), result.cancel(), result.wait_until_finish("1 s")) == ("DONE",) * 3
    assert result.lost_counts == {}


@pytest.mark.parametrize(
    "given",
    [{"checkpoint": "/kept"}, {"trigger": {"availableNow": True}}, {"wake_every": "5 s"}],
    ids=lambda given: next(iter(given)),
)
def test_what_only_a_stream_takes_is_refused_for_what_ends(given: Mapping[str, Any]) -> None:
    numbers = beam.Pipeline() | beam.Create([1])
    ((name, value),) = given.items()

    with pytest.raises(PipelineError) as refused:
        run_on_spark(numbers.pipeline.nodes, [], [], SparkOptions(**given))

    assert str(refused.value) == (
        f"{name}={value!r} counts only where a stream of Spark is read, and this pipeline comes to "
        "its end by itself; leave it out"
    )


def test_scripts_are_played_with_the_shards_that_were_said(monkeypatch: Any) -> None:
    played: list[dict[str, int]] = []

    def play(pipelines: Any, spark: Any, **options: int) -> list[PipelineRun]:
        played.append(options)
        return [PipelineRun({}, ())]

    monkeypatch.setattr("beamlike.hosts.spark.graph.running.run_pipelines_on_spark", play)
    nodes, session = (beam.Pipeline() | beam.Create([1])).pipeline.nodes, object()
    for shards in (None, 3):
        run_on_spark(nodes, [], [], SparkOptions(spark=cast(Any, session), shards=shards))

    assert played == [{}, {"shards": 3}]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_stream_with_a_table_goes_on_from_a_start_that_broke_off(spark: Any, tmp_path: Path):
    inbox, checkpoint = str(tmp_path / "in"), tmp_path / "checkpoint"
    written: list[tuple[Any, ...]] = []

    def arrive(*rows: tuple[str, int, int]) -> None:
        sales = spark.createDataFrame(list(rows), "user string, points long, second long")
        sales = sales.selectExpr("user", "points", "timestamp_seconds(second) at")
        sales.coalesce(1).write.mode("append").parquet(inbox)

    def run(*inserted: Any) -> Any:
        pipeline = beam.Pipeline()
        stream = spark.readStream.schema(SALES).parquet(inbox)
        sales = pipeline | "Sales" >> beam.FromDataFrame(stream, timestamp="at", watermark="0 s")
        table = spark.createDataFrame([("joe", 10), ("ann", 100)], "user string, factor long")
        factors = (
            pipeline
            | "Factors" >> beam.FromDataFrame(table)
            | "Pairs" >> beam.Map(lambda row: (row.user, row.factor))
        )
        more = pipeline | "More" >> beam.Create([("eva", 1000)])
        known = (factors, more) | "All" >> beam.Flatten()
        scored = sales | "Score" >> beam.Map(
            lambda row, known: (row.user, row.points * known[row.user]), beam.pvalue.AsDict(known)
        )
        for transform in inserted:
            scored |= transform
        totals = scored | beam.WindowInto(beam.FixedWindows("1 minute")) | beam.CombinePerKey(sum)
        totals | beam.WriteRows(
            "user string, points long", lambda rows, _: written.extend(map(tuple, rows.collect()))
        )
        result = pipeline.run(
            "spark", spark, checkpoint=f"{checkpoint}/", trigger={"availableNow": True}, shards=1
        )
        result.wait_until_finish()
        return result

    arrive(("joe", 1, 10), ("ann", 2, 20), ("eva", 3, 30))
    (checkpoint / "letters").mkdir(parents=True)
    (checkpoint / "letters" / "part-00000.parquet").write_bytes(b"cut off")
    run()
    assert written == []

    arrive(("joe", 4, 40), ("joe", 5, 70))
    run()
    assert sorted(written) == [("ann", 200), ("eva", 3000), ("joe", 50)]

    with pytest.raises(StateError, match=r"inserted: 'Same'"):
        run("Same" >> beam.Map(tuple))
