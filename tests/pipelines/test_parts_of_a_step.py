"""Elements of a step that go through a pipeline part by part: the same panes come out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import beamlike.beam as beam
from beamlike.beam.transforms.userstate import CombiningValueStateSpec, TimerSpec, on_timer
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local import nodes as local_nodes
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.model.graph import Edge
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.outputs import PipelineRun
from tests.support.examples import examples
from tests.support.generated.early_combining import any_combined
from tests.support.generated.pipelines import any_pipeline
from tests.support.pipelines.results_of_runs import readable_run

WORKERS = {"memory": worker_of, "local": local_worker_of}
AT_ONCE = 1_000_000


@pytest.fixture(autouse=True)
def _every_part_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grouping on local folds what arrives into its state part by part, however little it is."""
    monkeypatch.setattr(local_nodes, "_FOLDED_BYTES", 0)


def run(pipeline: beam.Pipeline, host: str, part_size: int) -> PipelineRun:
    return run_pipeline(pipeline.nodes, WORKERS[host], records=False, part_size=part_size)


def check(build: Callable[[], beam.Pipeline], host: str) -> None:
    at_once = run(build(), host, AT_ONCE)
    for part_size in (1, 7):
        by_parts = run(build(), host, part_size)
        assert readable_run(by_parts) == readable_run(at_once)
        assert by_parts.metrics == at_once.metrics


@pytest.mark.parametrize("host", WORKERS)
@settings(max_examples=examples(100), deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=259)  # the same elements twice in a Flatten, before a function with states
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_random_pipeline_gives_part_by_part_what_it_gives_at_once(host: str, seed: int) -> None:
    check(lambda: any_pipeline(Random(seed)), host)


@pytest.mark.parametrize("host", WORKERS)
@settings(max_examples=examples(100), deadline=None)
@given(seed=st.integers(0, 2**32))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_random_combining_gives_part_by_part_what_it_gives_at_once(host: str, seed: int) -> None:
    check(lambda: any_combined(Random(seed)), host)


# -- one grouping of many elements ------------------------------------------------------------

TRIGGERS = (
    beam.AfterWatermark(),
    beam.DefaultTrigger(),
    beam.AfterWatermark(early=beam.AfterCount(2), late=beam.AfterCount(1)),
    beam.AfterWatermark(early=beam.AfterProcessingTime(5), late=beam.AfterCount(2)),
    beam.AfterWatermark(late=beam.AfterProcessingTime(1)),
    beam.Repeatedly(beam.AfterCount(3)),
    beam.Always(),
)
WINDOW_FNS = (
    beam.GlobalWindows(),
    beam.FixedWindows(10),
    beam.SlidingWindows(10, 5),
    beam.Sessions(3),
)
COMBINED: Mapping[str, Callable[[Any], Any]] = {
    "sums": lambda pairs: pairs | beam.CombinePerKey(sum),
    "counts": lambda pairs: pairs | beam.combiners.Count.PerKey(),
    "means": lambda pairs: pairs | beam.combiners.Mean.PerKey(),
    "lists": lambda pairs: pairs | beam.GroupByKey(),
    "sets": lambda pairs: pairs | beam.CombinePerKey(beam.combiners.ToSetCombineFn()),
    "overall": lambda pairs: pairs | beam.Values() | beam.CombineGlobally(sum).without_defaults(),
}
# Pipelines take no panes that withdraw earlier ones.
MODES = (beam.AccumulationMode.DISCARDING, beam.AccumulationMode.ACCUMULATING)
NUMBERS = st.integers(-5, 5) | st.floats(-1, 1, width=64)


@pytest.mark.parametrize("host", WORKERS)
@settings(max_examples=examples(60), deadline=None)
@given(
    elements=st.lists(st.tuples(st.sampled_from("ab"), NUMBERS, st.integers(0, 30)), max_size=20),
    window_fn=st.sampled_from(WINDOW_FNS),
    trigger=st.sampled_from(TRIGGERS),
    mode=st.sampled_from(MODES),
    combined=st.sampled_from(sorted(COMBINED)),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_panes_do_not_depend_on_the_parts_in_which_elements_arrive(
    host: str,
    elements: Sequence[tuple[str, float, int]],
    window_fn: Any,
    trigger: Any,
    mode: Any,
    combined: str,
) -> None:
    lateness = 0 if trigger == beam.AfterWatermark() else 5

    def build() -> beam.Pipeline:
        pipeline = beam.Pipeline()
        stamped = [beam.TimestampedValue((key, number), at) for key, number, at in elements]
        pairs = pipeline | beam.Create(stamped)
        windowed = pairs | beam.WindowInto(
            window_fn, trigger=trigger, accumulation_mode=mode, allowed_lateness=lateness
        )
        COMBINED[combined](windowed)
        return pipeline

    check(build, host)


# -- other transforms -------------------------------------------------------------------------


def in_order(run: PipelineRun, edge: Edge) -> list[Any]:
    """The values of an edge as they came."""
    return [output.element.value for output in run.out_of(edge)]


class Numbering(beam.DoFn[Any, Any]):
    """Numbers the elements of each key, and says how many there were at the end of the window."""

    SEEN = CombiningValueStateSpec("seen", sum)
    END = TimerSpec("end", beam.TimeDomain.WATERMARK)

    def process(
        self,
        element: tuple[str, int],
        seen: Any = beam.DoFn.StateParam(SEEN),  # noqa: B008
        end: Any = beam.DoFn.TimerParam(END),  # noqa: B008
        window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[tuple[str, Any, int]]:
        seen.add(1)
        end.set(window.end)
        yield element[0], element[1], seen.read()

    @on_timer(END)
    def at_end(
        self,
        key: Any = beam.DoFn.KeyParam,
        seen: Any = beam.DoFn.StateParam(SEEN),  # noqa: B008
    ) -> Iterator[tuple[str, str, int]]:
        yield key, "of", seen.read()


@pytest.mark.parametrize("host", WORKERS)
def test_a_function_with_states_sees_the_elements_of_a_key_in_their_order(host: str) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("ab"[number % 2], number) for number in range(6)])
    numbered = pairs | beam.WindowInto(beam.FixedWindows(60)) | beam.ParDo(Numbering())
    came = in_order(run(pipeline, host, 1), numbered.edge)
    assert {key: [output for output in came if output[0] == key] for key in "ab"} == {
        "a": [("a", 0, 1), ("a", 2, 2), ("a", 4, 3), ("a", "of", 3)],
        "b": [("b", 1, 1), ("b", 3, 2), ("b", 5, 3), ("b", "of", 3)],
    }


@pytest.mark.parametrize("host", WORKERS)
def test_any_number_of_functions_may_make_more_than_a_part_of_a_part(host: str) -> None:
    pipeline = beam.Pipeline()
    numbers = pipeline | beam.Create([2])
    for number in range(400):
        numbers |= f"Twice {number}" >> beam.FlatMap(lambda value: [value, 0])
        numbers |= f"Once {number}" >> beam.Filter(bool)
    assert in_order(run(pipeline, host, 1), numbers.edge) == [2]


@pytest.mark.parametrize("host", WORKERS)
def test_a_side_input_that_comes_later_is_seen_by_every_part(host: str) -> None:
    pipeline = beam.Pipeline()
    main = pipeline | "Main" >> beam.Create(range(5))
    side = pipeline | "Side" >> beam.Create([10, 20])
    seen = main | beam.Map(lambda number, side: number + sum(side), beam.pvalue.AsList(side))
    assert in_order(run(pipeline, host, 1), seen.edge) == [30, 31, 32, 33, 34]


@pytest.mark.parametrize("host", WORKERS)
@pytest.mark.parametrize("part_size", [1, 3, AT_ONCE])
def test_panes_of_a_key_go_on_in_their_order(host: str, part_size: int) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("a", 1), ("b", 2), ("c", 3), ("d", 4), ("d", 5)])
    panes = (
        pairs
        | beam.WindowInto(
            beam.GlobalWindows(),
            trigger=beam.AfterWatermark(early=beam.AfterCount(2)),
            accumulation_mode=beam.AccumulationMode.ACCUMULATING,
        )
        | beam.CombinePerKey(sum)
        | beam.Map(lambda pair, pane=beam.DoFn.PaneInfoParam: (*pair, pane.index))
    )
    assert in_order(run(pipeline, host, part_size), panes.edge) == [
        ("d", 9, 0),
        ("a", 1, 0),
        ("b", 2, 0),
        ("c", 3, 0),
        ("d", 9, 1),
    ]


class Batching(beam.DoFn[int, list[int]]):
    """Brings out at the end of a bundle what it was given in it."""

    def start_bundle(self) -> None:
        self.bundle: list[int] = []

    def process(self, element: int) -> None:
        self.bundle.append(element)

    def finish_bundle(self) -> Iterable[Any]:
        yield beam.WindowedValue(self.bundle, 0, [beam.GlobalWindow()])


@pytest.mark.parametrize("host", WORKERS)
def test_a_part_is_a_bundle(host: str) -> None:
    pipeline = beam.Pipeline()
    batches = pipeline | beam.Create(range(5)) | beam.ParDo(Batching())
    assert in_order(run(pipeline, host, 2), batches.edge) == [[0, 1], [2, 3], [4]]
    assert in_order(run(pipeline, host, AT_ONCE), batches.edge) == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("host", WORKERS)
def test_one_part_after_the_other_goes_through_all_transforms(host: str) -> None:
    happened = list[str]()

    def first(number: int) -> int:
        happened.append(f"first {number}")
        return number

    def second(number: int) -> int:
        happened.append(f"second {number}")
        return number

    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create(range(3)) | "1" >> beam.Map(first) | "2" >> beam.Map(second)
    run(pipeline, host, 2)
    assert happened == ["first 0", "first 1", "second 0", "second 1", "first 2", "second 2"]
