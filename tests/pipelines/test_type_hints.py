"""Type hints: values of a declared type lie in typed columns, in saved state too."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NewType

import pyarrow as pa
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.typehints import KV, with_input_types, with_output_types
from beamlike.errors import PipelineError, PipelineTypeError, StateError, UnsupportedError
from beamlike.model.combine import Max
from beamlike.model.graph import GroupNode
from beamlike.runtime.changes import continues
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.stage import plan_of
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.state import StateLayout
from beamlike.testing import TestStream
from tests.support.refusals import refusal


def annotated(sale: tuple[str, int]) -> tuple[str, int]:
    return sale


@with_output_types(tuple[str, int])
def decorated(sale: Any) -> Any:
    return sale


def twice(sale: tuple[str, int]) -> Iterator[tuple[str, int]]:
    yield sale


def plain(sale: Any) -> Any:
    return sale


Amount = NewType("Amount", int)


def named(sale: Any) -> tuple[str, Annotated[Amount, "cents"]]:
    return sale


def maybe(sale: Any) -> list[tuple[str, int]] | None:
    return [sale]


HINTED: dict[str, Callable[[], Any]] = {
    "an annotation": lambda: beam.Map(annotated),
    "an annotation of a list": lambda: beam.FlatMap(twice),
    "a decorator": lambda: beam.Map(decorated),
    "with_output_types": lambda: beam.Map(plain).with_output_types(tuple[str, int]),
    "Beam's own": lambda: beam.Map(plain).with_output_types(KV[str, int]),
    "a name of a type": lambda: beam.Map(named),
    "an annotation of a list or nothing": lambda: beam.FlatMap(maybe),
}


def plan_after(hinted: Any, group: Any) -> Plan:
    """The plan of the only grouping of a pipeline."""
    pipeline = beam.Pipeline()
    _ = (
        pipeline
        | beam.Create([("tea", 1)])
        | "Hinted" >> hinted
        | beam.WindowInto(beam.FixedWindows("1 minute"))
        | beam.Filter(lambda sale: sale[1] > 0)
        | "Grouped" >> group
    )
    (node,) = (node for node in pipeline.nodes if isinstance(node, GroupNode))
    worker = worker_of(node)
    assert isinstance(worker, StatefulWorker)
    return plan_of(node, worker.machine, Wire.declared(), shards=1, buckets=1, clocks=None)


def accumulators(plan: Plan) -> dict[str, pa.DataType]:
    names = plan.operation.accumulator.types()
    schema = StateLayout(plan).schema
    return {name: schema.field(name).type for name in names}


@pytest.mark.parametrize("hint", HINTED)
def test_sums_of_declared_numbers_rest_as_numbers(hint: str) -> None:
    plan = plan_after(HINTED[hint](), beam.CombinePerKey(sum))

    assert accumulators(plan) == {"acc": pa.int64()}
    assert plan.operation.state_identity["combine"] == "Sum()"
    assert plan.operation.state_identity["values"] == "int"


@pytest.mark.parametrize(
    ("kind", "group", "columns"),
    [
        (int, beam.GroupByKey(), {"acc": pa.list_(pa.int64())}),
        (str, beam.GroupByKey(), {"acc": pa.list_(pa.string())}),
        (int, beam.combiners.Count.PerKey(), {"acc": pa.int64()}),
        (float, beam.combiners.Mean.PerKey(), {"acc_sum": pa.float64(), "acc_count": pa.int64()}),
        (str, beam.combiners.Latest.PerKey(), {"acc_value": pa.string(), "acc_ts": pa.int64()}),
        # Python's mean of whole numbers is exact, and a column of sums would round.
        (int, beam.combiners.Mean.PerKey(), {"_pickled": pa.binary()}),
        # What has no column rests as the object that it is.
        (int, beam.combiners.Top.PerKey(2), {"_pickled": pa.binary()}),
        (bool, beam.GroupByKey(), {"_pickled": pa.binary()}),
        (int | None, beam.GroupByKey(), {"_pickled": pa.binary()}),
    ],
)
def test_how_accumulators_of_declared_values_rest(
    kind: Any, group: Any, columns: dict[str, pa.DataType]
) -> None:
    hinted = beam.Map(plain).with_output_types(tuple[str, kind])

    assert accumulators(plan_after(hinted, group)) == columns


def test_without_a_hint_values_are_objects() -> None:
    plan = plan_after(beam.Map(plain), beam.CombinePerKey(sum))

    assert accumulators(plan) == {"_pickled": pa.binary()}
    assert "values" not in plan.operation.state_identity


def test_explain_plan_names_the_declared_type() -> None:
    pipeline = beam.Pipeline()
    sums = (
        pipeline
        | beam.Create([("tea", 1)])
        | beam.Map(annotated)
        | "Sum" >> beam.CombinePerKey(sum)
    )

    shown = bl.explain_plan(sums).splitlines()

    assert (shown[0], shown[-2:]) == (
        "Sum: columnar machine",
        ["  combine: Sum()", "  values: int"],
    )


def test_state_of_values_without_a_type_is_refused_by_name() -> None:
    before = plan_after(beam.Map(plain), beam.GroupByKey())
    now = plan_after(beam.Map(plain).with_output_types(tuple[str, int]), beam.GroupByKey())

    with pytest.raises(StateError, match="values") as refused:
        continues(before.identity, now.identity)

    assert "int" in str(refused.value)


ACCUMULATION = [beam.AccumulationMode.DISCARDING, beam.AccumulationMode.ACCUMULATING]
GROUPS: dict[str, Callable[[], Any]] = {
    "sum": lambda: beam.CombinePerKey(sum),
    "list": lambda: beam.GroupByKey(),
    "max": lambda: beam.CombinePerKey(Max()),
    "latest": lambda: beam.combiners.Latest.PerKey(),
}


def panes(host: Any, cls: type, group: str, mode: Any, spark: Any = None) -> list[Any]:
    """Of early, on-time and late panes, everything that comes out."""
    values = [cls(it) for it in (3, 1, 2, 5)]
    stream = (
        TestStream()
        .add_elements_at_time("00:00:10", ("tea", values[0]))
        .add_elements_at_time("00:00:20", ("tea", values[1]), ("milk", values[1]))
        .advance_watermark_to("00:01:00")
        .add_elements_at_time("00:00:30", ("tea", values[2]))
        .add_elements_at_time("00:01:30", ("tea", values[3]))
        .advance_watermark_to_infinity()
    )
    pipeline = beam.Pipeline()
    grouped = (
        pipeline
        | stream
        | beam.Map(plain).with_output_types(tuple[str, cls])
        | beam.WindowInto(
            beam.FixedWindows("1 minute"),
            trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
            accumulation_mode=mode,
            allowed_lateness="1 hour",
        )
        | "Grouped" >> GROUPS[group]()
    )
    result = pipeline.run(host=host, spark=spark)
    return [(it.step, it.element) for it in result.out_of(grouped.edge)]


@pytest.mark.parametrize("mode", ACCUMULATION)
@pytest.mark.parametrize("kind", [int, float, str])
@pytest.mark.parametrize("group", GROUPS)
def test_typed_panes_are_those_of_the_reference_machine(kind: type, group: str, mode: Any) -> None:
    if (kind, group) == (str, "sum"):
        kind = int  # texts have no sum

    local = panes("local", kind, group, mode)

    assert local == panes("memory", kind, group, mode)
    assert len(local) == 8


@pytest.mark.nightly
@pytest.mark.spark
def test_on_spark_too(spark: Any) -> None:
    mode = beam.AccumulationMode.ACCUMULATING

    on_spark = panes("spark", int, "sum", mode, spark)

    # Keys are in shards, whose panes of a step come in any order.
    assert sorted(on_spark, key=repr) == sorted(panes("memory", int, "sum", mode), key=repr)


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("misfit", ["x", True, 1.0, None, 2**63])
def test_a_value_that_is_not_what_its_hint_says_is_refused_by_name(host: Any, misfit: Any) -> None:
    pipeline = beam.Pipeline()
    _ = (
        pipeline
        | beam.Create([("tea", 1), ("tea", misfit)])
        | beam.Map(annotated)
        | "Sum" >> beam.CombinePerKey(sum)
    )

    assert refusal(PipelineError, lambda: pipeline.run(host=host)) == (
        "'Sum' groups values that a type hint before it says are int, and got "
        f"{misfit!r}; mend the hint or the function, or leave the hint out: values without one "
        "may be anything"
    )


def test_types_of_more_than_one_output_are_for_beams_own_sdk() -> None:
    with pytest.raises(UnsupportedError, match="of more than the elements is for Beam's own"):
        beam.Map(str).with_output_types(int, odd=float)


def test_a_hint_is_a_type() -> None:
    assert refusal(PipelineTypeError, lambda: beam.Map(str).with_output_types(5)) == (
        "with_output_types needs types such as int or tuple[str, int], got 5, an instance of int"
    )


def test_hints_are_for_readers_and_for_columns_and_are_not_checked() -> None:
    @with_input_types(str, by=int)
    def doubled(number: Any) -> Any:
        return 2 * number

    pipeline = beam.Pipeline()
    numbers = pipeline | beam.Create([1, 2]) | beam.Map(doubled).with_input_types(str)
    assert [came.element.value for came in pipeline.run().out_of(numbers.edge)] == [2, 4]
