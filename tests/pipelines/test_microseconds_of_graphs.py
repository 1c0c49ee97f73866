"""A graph counts what its nodes say: milliseconds, or microseconds."""

from random import Random
from typing import Any

import pytest

from beamlike import AfterCount, AfterWatermark, FixedWindows, Sessions, WindowingStrategy
from beamlike.combine_fns import Collect
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.graph import Edge, GroupNode, ReadNode, WindowNode
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS, Resolution
from beamlike.model.windows import GLOBAL_WINDOWS
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.script import Arrive
from tests.support.pipelines.in_layers import run_in_letters

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
