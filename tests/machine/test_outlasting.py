"""Functions that have work left after their input has ended, and how long their windows stay."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike as bl
from beamlike.api.pipelines.coders import VarIntCoder
from beamlike.errors import UnsupportedError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.bundle import Windowed
from beamlike.model.combine import Count
from beamlike.model.graph import Edge, GroupNode, ReadNode, StatefulParDoNode
from beamlike.model.panes import NO_FIRING
from beamlike.model.state_specs import ReadModifyWriteStateSpec, TimeDomain, TimerSpec
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive


class Source(StatefulFn):
    """Brings out 0, 10, 20, one in each second of processing time; its input says how many."""

    outlasts_input = True
    skew = 2**60
    display_name = "Source"

    def __init__(self) -> None:
        self.next = ReadModifyWriteStateSpec("next", VarIntCoder())
        self.tick = TimerSpec("tick", TimeDomain.REAL_TIME)
        self.states, self.timers = {"next": self.next}, {"tick": self.tick}

    def key_of(self, value: Any) -> Any:
        return value[0]

    def process(self, user_states: UserStates, element: Windowed) -> Iterable[tuple[str, Windowed]]:
        user_states.state(self.next).write(0)
        user_states.timer(self.tick).set(
            user_states.timer(self.tick).now + 1_000, str(element.value[1]), 0
        )
        return ()

    def fire(self, user_states: UserStates, timer: DueTimer) -> Iterable[tuple[str, Windowed]]:
        number = user_states.state(self.next).read()
        if number + 1 < int(timer.tag):
            user_states.state(self.next).write(number + 1)
            after = (number + 1) * 10
            user_states.timer(self.tick).set(timer.instant + 1_000, timer.tag, after)
        else:
            user_states.state(self.next).clear()
        window = bl.FixedWindows(10).assign(number * 10)
        return [("", Windowed(("k", number), number * 10, window))]


class Ending(Source):
    outlasts_input = False


def played(fn: StatefulFn) -> list[Any]:
    stage = MemoryStage(StatefulParDo(bl.GlobalWindows(), fn))
    element = Element((("k", 3), NO_FIRING), 0, bl.GLOBAL_WINDOW)
    steps = [Arrive((("k", element),)), AdvanceWatermark(MAX_TIMESTAMP)]
    steps += [AdvanceClock(at) for at in (1_001, 2_001, 3_001)]
    found = []
    for step in steps:
        values = [output.effect.value for output in stage.play(step)]
        found.append((values, stage.output_watermark, stage.wakes_at))
    return found


def test_a_window_stays_as_long_as_a_timer_is_set_and_holds_the_output_watermark():
    held = -9223372036854775
    assert played(Source()) == [
        ([], held, 1_000),
        ([], 0, 1_000),
        ([("k", 0)], 10, 2_000),
        ([("k", 1)], 20, 3_000),
        ([("k", 2)], MAX_TIMESTAMP, None),
    ]


def test_without_that_it_ends_with_its_input():
    *_, (values, watermark, wakes_at) = played(Ending())
    assert (values, watermark, wakes_at) == ([], MAX_TIMESTAMP, None)


def nodes(fn: StatefulFn) -> list[Any]:
    script = (Arrive(((None, Element(("k", 3), 0)),)), AdvanceWatermark(MAX_TIMESTAMP))
    read = ReadNode("Read", (), script, bounded=True)
    rules = bl.WindowingStrategy.unwindowed()
    source = StatefulParDoNode("Source", (Edge(read),), rules, fn)
    group = GroupNode("Count", (Edge(source),), bl.WindowingStrategy(bl.FixedWindows(10)), Count())
    return [group]


@pytest.mark.parametrize("worker", [worker_of, local_worker_of])
def test_a_pipeline_goes_on_until_such_functions_have_done_their_work(worker):
    """Each window ends when the watermark is past it, and not when everything is over."""
    waited: list[int] = []

    def wait(instant: int) -> int:
        waited.append(instant)
        return instant + 1

    ends = nodes(Source())
    run = run_pipeline(ends, worker, wait=wait)
    panes = [(it.step, it.element.windows[0].start) for it in run.out_of(Edge(ends[0]))]
    first = panes[0][0]
    assert panes == [(first, 0), (first + 1, 10), (first + 2, 20)]
    assert waited == [1_000, 2_000, 3_000]


def test_where_time_stands_still_such_a_function_is_refused():
    with pytest.raises(UnsupportedError, match="'Source' has work left after its input has ended"):
        run_pipeline(nodes(Source()), worker_of)
