"""Elements of pipelines combined before the shuffle: no pane changes, and little crosses it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike.beam as beam
from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.errors import PipelineError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.spark.graph.scripts import mails_of
from beamlike.hosts.spark.graph.stages import fanout_stage, fused_stage
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.liftable import why_one_by_one
from beamlike.model.combine import CollectSet, Count, Latest, Max, Mean, Sum
from beamlike.model.graph import Fanout, GroupNode
from beamlike.model.strategy import LateCheck, TimestampCombiner, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import AfterCount, AfterWatermark, Repeatedly
from beamlike.model.windowfns import FixedWindows, SlidingWindows
from beamlike.runtime.envelope import is_lifted
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.stage import Stage
from beamlike.runtime.script import Arrive
from tests.support.examples import examples
from tests.support.generated.early_combining import Grouped, MeanFn, any_combined, windowed
from tests.support.generated.pipelines import From
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.pipelines.results_of_runs import readable_run


@settings(max_examples=examples(300), deadline=None)
@given(seed=st.integers(0, 2**32))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_combined_early_gives_what_memory_gives_of_raw_elements(seed: int) -> None:
    dice = Random(seed)
    pipeline = any_combined(dice)
    in_memory = run_pipeline(pipeline.nodes)

    found = run_in_letters(
        pipeline.nodes,
        dice=dice,
        wanted=list(in_memory.came),
        shards=dice.randint(1, 3),
        buckets=dice.randint(1, 3),
    )

    assert _without_hints(readable_run(found)) == _without_hints(readable_run(in_memory))
    assert found.metrics == in_memory.metrics


def _without_hints(run: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The run without the nearest sessions of drops: those that came combined are not searched."""
    return {
        what: sorted(re.sub(r"nearest_session=(None|\w+\(.*?\))", "", line) for line in lines)
        for what, lines in run.items()
    }


def test_the_random_streams_are_combined_early(monkeypatch: pytest.MonkeyPatch) -> None:
    lift, combined = Stage.lift, list[int]()

    def counted(stage: Stage, tables: Sequence[pa.Table], watermark: int | None) -> pa.Table:
        lifted = lift(stage, tables, watermark)
        combined.append(lifted.num_rows)
        return lifted

    monkeypatch.setattr(Stage, "lift", counted)
    for seed in range(40):
        dice = Random(seed)
        run_in_letters(any_combined(dice).nodes, dice=dice)

    assert len(combined) > 40


# -- what crosses the shuffle -----------------------------------------------------------------


def crossing(
    build: Callable[[beam.Pipeline], Any], tasks: int = 1, layer: int = 0
) -> list[list[tuple[str, int]]]:
    """What each task of a pipeline's source sends to shards: tables by form, and their rows."""
    pipeline = beam.Pipeline()
    build(pipeline)
    layers = Layers.of(pipeline.nodes, [])
    (mail, *_) = mails_of(layers, layers.sources)
    fused = fused_stage(Spread(layers, 4, 2), layer)
    return [sent_by(fused, layers.sent(mail)) for _ in range(tasks)]


def sent_by(fused: Callable[[Any], Any], blobs: Sequence[bytes]) -> list[tuple[str, int]]:
    (batch,) = fused(iter([pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})]))
    found = Mail.opened(batch.column("blob").to_pylist())
    return [
        ("combined" if is_lifted(table) else "one by one", table.num_rows)
        for tables in found.tables.values()
        for table in tables
    ]


@pytest.mark.parametrize("fn", [sum, Sum(), MeanFn(), beam.combiners.CountCombineFn()], ids=str)
def test_a_task_sends_one_combined_element_of_a_thousand(fn: Any) -> None:
    def build(pipeline: beam.Pipeline) -> Any:
        return pipeline | beam.Create(range(1_000)) | beam.CombineGlobally(fn).without_defaults()

    assert crossing(build, tasks=3) == [[("combined", 1)]] * 3


@pytest.mark.parametrize(
    ("kind", "fn"),
    [
        *((int, fn) for fn in (Count(), Max(), MeanFn(), CollectSet(), Latest(), sum)),
        *((str, fn) for fn in (Count(), Max(), CollectSet(), Latest())),
    ],
    ids=str,
)
def test_values_of_a_declared_type_are_combined_early_too(kind: type, fn: Any) -> None:
    pipeline = beam.Pipeline()
    values = [("a", kind(n)) for n in (5, 7, 5, 9)]
    pairs = pipeline | beam.Create(values).with_output_types(tuple[str, kind])  # type: ignore[valid-type]
    combined = pairs | beam.CombinePerKey(fn)

    found = run_in_letters(pipeline.nodes, dice=Random(1), wanted=[combined.edge])

    in_memory = run_pipeline(pipeline.nodes)
    (node,) = (node for node in pipeline.nodes if isinstance(node, GroupNode))
    assert node.value_type is kind
    assert readable_run(found) == readable_run(in_memory)


def test_a_task_sends_one_combined_element_of_each_key_and_window() -> None:
    def build(pipeline: beam.Pipeline) -> Any:
        stamped = (beam.window.TimestampedValue(("ab"[n % 2], n), n) for n in range(40))
        pairs = pipeline | beam.Create(stamped) | beam.WindowInto(beam.window.FixedWindows(20))
        return pairs | beam.CombinePerKey(Sum())

    (sent,) = crossing(build)

    assert {form for form, _ in sent} == {"combined"}
    assert sum(rows for _, rows in sent) == 4


@pytest.mark.parametrize(
    ("fn", "values"),
    [
        (sum, [0.1, 0.2, 0.3, 0.4]),
        (Mean(), [1, 2.5, 3, 4]),
        (beam.combiners.ToListCombineFn(), [1, 2, 3, 4]),
        (len, [1, 2, 3, 4]),
        (sorted, [1, 2, 3, 4]),
    ],
    ids=str,
)
def test_what_early_combining_would_change_or_not_make_smaller_goes_one_by_one(
    fn: Any, values: list[Any]
) -> None:
    def build(pipeline: beam.Pipeline) -> Any:
        return pipeline | beam.Create(values) | beam.CombineGlobally(fn).without_defaults()

    assert crossing(build) == [[("one by one", 4)]]


def test_elements_of_as_many_keys_as_elements_go_one_by_one() -> None:
    def build(pipeline: beam.Pipeline) -> Any:
        return pipeline | beam.Create([(n, n) for n in range(8)]) | beam.CombinePerKey(Sum())

    (sent,) = crossing(build)

    assert {form for form, _ in sent} == {"one by one"}


def test_a_fanout_lets_floats_be_combined_early() -> None:
    def build(pipeline: beam.Pipeline) -> Any:
        fn = beam.CombineGlobally(sum).without_defaults().with_fanout(3)
        return pipeline | beam.Create([0.1, 0.2, 0.3]) | fn

    assert crossing(build) == [[("combined", 1)]]


def test_of_a_fanout_of_two_at_most_two_combined_elements_of_a_key_reach_its_shard() -> None:
    pipeline = beam.Pipeline()
    hot = beam.CombinePerKey(Sum()).with_hot_key_fanout(lambda key: 2 if key == "hot" else 1)
    _ = pipeline | beam.Create([("hot", 1), ("cold", 1)] * 5) | hot
    layers = Layers.of(pipeline.nodes, [])
    (mail, *_) = mails_of(layers, layers.sources)
    ways: dict[int, list[tuple[int | None, bytes]]] = {}
    for part in range(6):  # as of six tasks
        context = pytest.MonkeyPatch()
        context.setattr("pyspark.TaskContext.get", lambda part=part: _Task(part))
        blob = pa.RecordBatch.from_pydict({"blob": pa.array(layers.sent(mail), pa.binary())})
        (batch,) = fused_stage(Spread(layers, 4, 2), 0)(iter([blob]))
        context.undo()
        for shard, letter, way in zip(*batch.to_pydict().values(), strict=True):
            ways.setdefault(way, []).append((shard, letter))

    spread = [sum(shard is None for shard, _ in letters) for letters in ways.values()]
    rows = dict.fromkeys(("hot", "cold"), 0)
    for letters in ways.values():
        shards, blobs = zip(*letters, strict=True)
        columns = [pa.array(shards, pa.int32()), pa.array(blobs, pa.binary())]
        batch = pa.RecordBatch.from_arrays(columns, ["shard", "blob"])
        for out in fanout_stage(Spread(layers, 4, 2))(iter([batch])):
            for tables in Mail.opened(out.column("blob").to_pylist()).tables.values():
                for key in (key for table in tables for key in table.column("key_key").to_pylist()):
                    rows["hot" if b"hot" in key else "cold"] += 1

    assert sorted(spread) == [0, 0, 3, 3]
    assert rows == {"hot": 2, "cold": 6}


class _Task:
    def __init__(self, part: int) -> None:
        self.part = part

    def partitionId(self) -> int:
        return self.part


# -- what goes one by one ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (WindowingStrategy(FixedWindows(10)), None),
        (WindowingStrategy(SlidingWindows(10, 5)), None),
        (WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(3)), "accumulating"), None),
        (
            WindowingStrategy(FixedWindows(10), timestamp_combiner=TimestampCombiner.LATEST),
            "elements cannot be combined before they are grouped: timestamp_combiner='latest' "
            "needs the time of each",
        ),
        (
            WindowingStrategy(FixedWindows(10), late_check=LateCheck.ELEMENT),
            "elements cannot be combined before they are grouped: late_check='element' judges each "
            "by its own time",
        ),
        (
            WindowingStrategy(FixedWindows(10), AfterCount(3)),
            "its trigger may finish, and what comes after that is dropped one by one",
        ),
        (WindowingStrategy(FixedWindows(10), AfterWatermark(early=AfterCount(3))), None),
    ],
    ids=str,
)
def test_which_windowings_need_each_element(strategy: WindowingStrategy, reason: str | None):
    assert why_one_by_one(strategy, Sum()) == reason


def test_late_elements_are_dropped_one_by_one_and_the_others_combined() -> None:
    late = Arrive(tuple((None, Element(("a", n), n)) for n in (3, 4, 25, 26)))
    script = (AdvanceWatermark(20), late, AdvanceWatermark(MAX_TIMESTAMP))
    pipeline = beam.Pipeline()
    pairs = pipeline | "source" >> From(script, False)
    pairs = windowed(pairs, WindowingStrategy(FixedWindows(10)))
    _ = pairs | "sum" >> Grouped(Sum(), None)

    run = run_in_letters(pipeline.nodes, dice=Random(1))

    (node,) = (node for node in pipeline.nodes if isinstance(node, GroupNode))
    assert [lost.drop.value for lost in run.lost] == [3, 4]
    assert [
        output.element.value
        for edge, out in run.came.items()
        if edge.node is node
        for output in out
    ] == [("a", 51)]


# -- errors and options -----------------------------------------------------------------------


class Unlucky(MeanFn):
    """A mean that cannot take a 13."""

    def add_input(self, accumulator: list[int], element: int) -> list[int]:
        if element == 13:
            raise ValueError("13 is unlucky")
        return super().add_input(accumulator, element)


def test_what_raises_while_it_is_combined_early_names_its_key_and_its_step() -> None:
    pipeline = beam.Pipeline()
    values = [("ann", 1), ("ann", 2), ("joe", 13), ("joe", 4)]
    _ = pipeline | beam.Create(values) | "Mean" >> beam.CombinePerKey(Unlucky())
    with pytest.raises(TransformError) as in_memory:
        run_pipeline(pipeline.nodes)

    with pytest.raises(TransformError) as combined:
        run_in_letters(pipeline.nodes, dice=Random(1))

    assert str(combined.value) == str(in_memory.value)


class Counting(MeanFn):
    """A mean that counts what it adds."""

    def add_input(self, accumulator: list[int], element: int) -> list[int]:
        beam.metrics.Metrics.counter("means", "added").inc()
        return super().add_input(accumulator, element)


def test_what_a_function_counts_while_it_combines_early_is_counted_for_its_step() -> None:
    pipeline = beam.Pipeline()
    values = [("ann", 1), ("ann", 2), ("joe", 3), ("joe", 4)]
    _ = pipeline | beam.Create(values) | "Mean" >> beam.CombinePerKey(Counting())

    found = run_in_letters(pipeline.nodes, dice=Random(1))

    in_memory = run_pipeline(pipeline.nodes)
    assert in_memory.metrics != run_pipeline(beam.Pipeline().nodes).metrics
    assert found.metrics == in_memory.metrics


class Kilo:
    """Thousands, with a coder and without a pickle."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kilo) and other.count == self.count

    def __hash__(self) -> int:
        return hash(self.count)

    def __reduce__(self) -> Any:
        raise TypeError("it has a coder")


class KiloCoder(beam.coders.Coder):
    def encode(self, value: Kilo) -> bytes:
        return value.count.to_bytes(4)

    def decode(self, encoded: bytes) -> Kilo:
        return Kilo(int.from_bytes(encoded))

    def is_deterministic(self) -> bool:
        return True


@pytest.fixture
def kilos_have_a_coder() -> Iterator[None]:
    beam.coders.registry.register_coder(Kilo, KiloCoder)
    yield
    beam.coders.registry.unregister_coder(Kilo)


@pytest.mark.usefixtures("kilos_have_a_coder")
def test_combined_values_travel_by_their_coder() -> None:
    pipeline = beam.Pipeline()
    values = [("a", Kilo(n)) for n in (1, 1, 2, 1)]
    combined = pipeline | beam.Create(values) | beam.CombinePerKey(Latest())

    found = run_in_letters(pipeline.nodes, dice=Random(1), wanted=[combined.edge])

    (output,) = found.out_of(combined.edge)
    assert output.element.value == ("a", Kilo(1))


def test_a_fanout_where_each_element_is_needed_is_refused() -> None:
    pipeline = beam.Pipeline()
    combine = beam.CombinePerKey(Sum()).with_hot_key_fanout(2)
    pairs = pipeline | beam.Create([("a", 1)])
    needy = beam.WindowInto(
        beam.window.FixedWindows(10),
        timestamp_combiner=beam.window.TimestampCombiner.OUTPUT_AT_EARLIEST,
    )

    with pytest.raises(PipelineError, match=r"has a fanout, .*'earliest' needs the time of each"):
        _ = pairs | needy | combine


@pytest.mark.parametrize(
    ("combine", "fanout"),
    [
        (lambda pairs: pairs.with_hot_key_fanout(3).sum_by_key(), Fanout(3)),
        (lambda pairs: pairs.with_hot_key_fanout(len).with_name("n").count_by_key(), Fanout(len)),
        (lambda pairs: pairs.map(lambda pair: pair[1]).with_fanout(2).count_by_value(), Fanout(2)),
        (lambda pairs: pairs.map(lambda pair: pair[1]).with_fanout(2).sum(), Fanout(2)),
        (lambda pairs: pairs.with_hot_key_fanout(3).map_values(abs).sum_by_key(), None),
        (lambda pairs: pairs.with_fanout(1).sum_by_key(), None),
    ],
)
def test_a_fanout_of_scio_is_that_of_the_next_verb(
    combine: Callable[[Any], Any], fanout: Fanout | None
) -> None:
    sc = ScioContext()
    nodes = combine(sc.parallelize([("a", 1), ("b", 2)])).pipeline.nodes

    assert [node.fanout for node in nodes if isinstance(node, GroupNode)] == [fanout]


def test_a_fanout_is_that_of_the_copy_alone() -> None:
    plain = beam.CombinePerKey(Sum())

    spread = plain.with_hot_key_fanout(2)

    assert (plain.fanout, spread.fanout) == (None, Fanout(2))
