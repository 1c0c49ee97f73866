"""Times are whole milliseconds, and what is finer is refused; a graph may count microseconds."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike import AfterCount, AfterWatermark, FixedWindows, Sessions, WindowingStrategy
from beamlike.api.pipelines.deduplicating import DeduplicatePerKey
from beamlike.beam.testing import test_stream as beam_streams
from beamlike.combine_fns import Collect
from beamlike.errors import TimeError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.graph import Edge, GroupNode, ReadNode, WindowNode
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS, Resolution
from beamlike.model.windows import GLOBAL_WINDOWS
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.script import Arrive
from beamlike.testing import QueryTest, TestStream
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.queries.hours import hourly

FINE = timedelta(microseconds=2_500)
FINE_INSTANT = datetime(2024, 1, 1, 12, 0, 0, 2_500, tzinfo=UTC)

IN_SECONDS: dict[str, Callable[[Any], Any]] = {
    "FixedWindows size": beam.FixedWindows,
    "FixedWindows offset": lambda it: beam.FixedWindows(60, offset=it),
    "SlidingWindows size": lambda it: beam.SlidingWindows(it, 60),
    "SlidingWindows period": lambda it: beam.SlidingWindows(60, it),
    "SlidingWindows offset": lambda it: beam.SlidingWindows(60, 30, offset=it),
    "Sessions gap_size": beam.Sessions,
    "AfterProcessingTime delay": beam.AfterProcessingTime,
    "WindowInto allowed_lateness": lambda it: beam.WindowInto(
        beam.FixedWindows(60), allowed_lateness=it
    ),
    "WithTimestamps allowed_timestamp_skew": lambda it: beam.WithTimestamps(len, it),
    "DeduplicatePerKey processing_time_duration": lambda it: DeduplicatePerKey(it),
    "DeduplicatePerKey event_time_duration": lambda it: DeduplicatePerKey(event_time_duration=it),
    "advance_processing_time advance_by": lambda it: (
        beam_streams.TestStream().advance_processing_time(it)
    ),
    "wake_every": lambda it: beam.Pipeline().run("spark", wake_every=it),
}
OF_BATCHES: dict[str, Callable[[Any], Any]] = {
    "GroupIntoBatches max_buffering_duration_secs": lambda it: beam.GroupIntoBatches(
        3, max_buffering_duration_secs=it
    ),
}


@pytest.mark.parametrize("value", [0.001, 1.001, 0.1 + 0.2, 60, 2.5, 1e6])
def test_a_float_means_the_milliseconds_that_it_is_nearest_to(value: float) -> None:
    assert beam.FixedWindows(value).size == round(value * 1000)
    assert beam.Sessions(value).gap == round(value * 1000)


def streamed(**how: Any) -> Callable[[Any], Any]:
    def job(rows: Any) -> Any:
        return bl.stream(rows, timestamp="at", **{"watermark": "0 s", **how}).rows

    return job


def query(job: Callable[[Any], Any]) -> None:
    QueryTest(job, "k string, at timestamp")


def in_a_scenario(**how: Any) -> Any:
    parts: dict[str, Any] = {"window": bl.FixedWindows("1 hour"), **how}
    if "trigger" in parts or "allowed_lateness" in parts:
        parts |= {"accumulation": "discarding", "allowed_lateness": 0} | parts
    return TestStream().advance_watermark_to_infinity().run(**parts)


def fired_early(trigger: bl.Trigger) -> Any:
    return in_a_scenario(trigger=bl.AfterWatermark(early=trigger))


IN_SCENARIOS: dict[str, Callable[[Any], Any]] = {
    "FixedWindows size": lambda it: in_a_scenario(window=bl.FixedWindows(it)),
    "FixedWindows offset": lambda it: in_a_scenario(window=bl.FixedWindows("1 hour", offset=it)),
    "SlidingWindows period": lambda it: in_a_scenario(window=bl.SlidingWindows("1 s", it)),
    "Sessions gap": lambda it: in_a_scenario(window=bl.Sessions(it)),
    "Sessions max_duration": lambda it: in_a_scenario(window=bl.Sessions("1 ms", max_duration=it)),
    "Delay by": lambda it: fired_early(bl.AfterProcessingTime(it)),
    "AlignTo period": lambda it: fired_early(bl.AfterProcessingTime(bl.AlignTo(it))),
    "EveryEventTime interval": lambda it: fired_early(bl.EveryEventTime(it)),
    "EveryProcessingTime interval": lambda it: fired_early(bl.EveryProcessingTime(it)),
    "AfterSilence silence": lambda it: fired_early(bl.AfterSilence(it)),
    "allowed_lateness": lambda it: in_a_scenario(allowed_lateness=it),
}


@pytest.mark.parametrize("argument", IN_SCENARIOS)
@pytest.mark.parametrize("value", [FINE, beam.Duration(0.0025)], ids=["delta", "Duration"])
def test_a_scenario_refuses_a_duration_that_is_finer_by_name(argument: str, value: Any) -> None:
    with pytest.raises(TimeError) as refused:
        IN_SCENARIOS[argument](value)
    said = f"{argument} must be whole milliseconds, got 2ms 500us; round it first"
    assert str(refused.value) == said


OF_THE_CORE: dict[str, Callable[[Any], Any]] = {
    "watermark": lambda it: query(lambda rows: hourly(rows, watermark=it)),
    "max_ahead": lambda it: query(lambda rows: hourly(rows, watermark="0 s", max_ahead=it)),
    "wake_every": lambda it: query(lambda rows: hourly(rows, watermark="0 s", wake_every=it)),
    "idle_after": lambda it: query(streamed(idle_after=it)),
    "advance_processing_time": TestStream().advance_processing_time,
}
INSTANTS: dict[str, Callable[[Any], Any]] = {
    "advance_watermark_to instant": TestStream().advance_watermark_to,
    "add_elements_at_time time": lambda it: TestStream().add_elements_at_time(it, 1),
}
LENGTHS = (FINE, beam.Duration(0.0025))
FINER = (
    (IN_SECONDS, (0.0025, 1e-7, *LENGTHS)),
    (OF_BATCHES, (0.0025, beam.Duration(0.0025))),
    (OF_THE_CORE, LENGTHS),
    (INSTANTS, (FINE_INSTANT, "2024-01-01T12:00:00.002500Z")),
)


@pytest.mark.parametrize(
    ("argument", "takes", "value"),
    [
        pytest.param(argument, takes, value, id=f"{argument} {value}")
        for arguments, values in FINER
        for argument, takes in arguments.items()
        for value in values
    ],
)
def test_what_is_finer_than_a_millisecond_is_refused_by_name(
    argument: str, takes: Callable[[Any], Any], value: Any
) -> None:
    with pytest.raises(TimeError) as refused:
        takes(value)
    said = f"must be whole milliseconds, got {value!r}; round it first"
    assert str(refused.value).endswith(said)
    assert argument in str(refused.value)


def test_the_event_time_of_an_element_is_cut_as_by_the_coders_of_beam() -> None:
    pipeline = beam.Pipeline()
    times = (
        pipeline
        | beam.Create([FINE_INSTANT, FINE_INSTANT + timedelta(microseconds=499)])
        | beam.WithTimestamps(lambda it: it)
        | beam.Map(lambda _, at=beam.DoFn.TimestampParam: at.micros % 1_000_000)
    )
    assert [it.element.value for it in pipeline.run().out_of(times.edge)] == [2_000, 2_000]


SECOND = 1_000_000
EARLIEST, END = MICROSECONDS.earliest, MICROSECONDS.end_of_time


def grouped(window: Any, worker: Any, *steps: Any) -> list[tuple[Any, int, int, int]]:
    """The values of the panes of a graph of three nodes that counts microseconds, each with its
    window and timestamp."""
    strategy = WindowingStrategy(
        window, AfterWatermark(late=AfterCount(1)), allowed_lateness="1 s"
    ).in_resolution(MICROSECONDS)
    unit: dict[str, Any] = {"resolution": MICROSECONDS}
    read = ReadNode("read", (), (*steps, AdvanceWatermark(END)), False, **unit)
    windows = WindowNode("window", (Edge(read),), strategy.window_fn, **unit)
    group = GroupNode("group", (Edge(windows),), strategy, Collect(), **unit)
    run = run_pipeline([group], worker)
    panes = [it.element for it in run.out_of(Edge(group))]
    return [(pane.value[1], *_span(pane.windows[0]), pane.timestamp) for pane in panes]


def _span(window: Any) -> tuple[int, int]:
    return window.start, window.end


@pytest.mark.parametrize("worker", [worker_of, local_worker_of], ids=["memory", "local"])
def test_windows_of_a_graph_are_exact_to_the_microsecond(worker: Any) -> None:
    came = Arrive((("", Element(("a", 1), 999)), ("", Element(("a", 2), 10 * SECOND + 500))))
    assert grouped(Sessions("10 s", merge_touching=True), worker, came) == [
        ([1, 2], 999, 20 * SECOND + 500, 20 * SECOND + 499)
    ]


@pytest.mark.parametrize("worker", [worker_of, local_worker_of], ids=["memory", "local"])
def test_nothing_is_late_before_the_watermark_moves_and_what_is_late_is_by_a_microsecond(
    worker: Any,
) -> None:
    minute = FixedWindows("1 minute")
    first = Arrive((("", Element(("a", 1), -(10**16))), ("", Element(("a", 2), 61 * SECOND))))
    steps = (first, AdvanceWatermark(121 * SECOND - 1), Arrive((("", Element(("a", 3), 61)),)))
    assert [value for value, *_ in grouped(minute, worker, *steps)] == [[1], [2]]


@pytest.mark.parametrize("unit", [MILLISECONDS, MICROSECONDS])
def test_elements_come_out_of_sparks_layers_in_the_ticks_of_the_graph(unit: Resolution) -> None:
    element = Element(("k", 1), unit.earliest)
    script = (Arrive(((None, element),)), AdvanceWatermark(unit.end_of_time))
    read = ReadNode("read", (), script, bounded=True, resolution=unit)
    rules = WindowingStrategy.unwindowed().in_resolution(unit)
    group = GroupNode("group", (Edge(read),), rules, Collect(), resolution=unit)

    (output,) = run_in_letters([group], dice=Random(1), wanted=[Edge(group)]).out_of(Edge(group))
    assert output.element.value == ("k", [1])
    assert output.element.windows == (GLOBAL_WINDOWS[unit],)
    assert output.element.timestamp == unit.end_of_global_window
