"""A script for one stage as a graph of two nodes: what it declares, keeps and says."""

from typing import Any

import attrs
import pytest

from beamlike.errors import UserFunctionError
from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.events import AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CombineFn, Mean, Sum
from beamlike.model.graph import GroupNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows, WindowFn
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.graph.scripted_graph import ScriptedGraph
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.runtime.stepping import choose_machine

TENS = WindowingStrategy(FixedWindows(10))
END = AdvanceWatermark(100)


def arriving(*values: Any) -> Script:
    return (Arrive(tuple(("ann", Element(value, 5)) for value in values)), END)


def declared(combine: CombineFn, *values: Any) -> type | None:
    node = ScriptedGraph.of(TENS, combine, arriving(*values)).node
    assert isinstance(node, GroupNode)
    return node.value_type


def expected(strategy: WindowingStrategy, combine: CombineFn, script: Script, **how: Any) -> Run:
    return attrs.evolve(run_in_memory(Grouping(strategy, combine, **how), script), trace=())


def test_values_of_one_type_are_declared_where_columns_of_it_are_exact() -> None:
    assert declared(Collect(), 1, 2) is int
    assert declared(Collect(), "a", "b") is str
    assert declared(Collect(), 1, "b") is None
    assert declared(Collect(), None) is None
    assert declared(Sum(), 2**52, 1) is int
    assert declared(Sum(), 2**52, 2**52) is None
    assert declared(Mean(), 0.5) is float
    assert declared(Sum(), True) is None


@attrs.frozen
class Rounded(Sum):
    """A sum whose accumulator is kept small."""

    def compact(self, accumulator: Any) -> Any:
        return accumulator // 10 * 10

    def extract(self, accumulator: Any) -> Any:
        return f"about {accumulator}"


def test_every_part_of_the_combine_function_is_asked() -> None:
    script = arriving(20, 4)

    run = run_in_local(TENS, Rounded(), script)

    assert run == expected(TENS, Rounded(), script)
    assert [output.effect.value for output in run.panes] == ["about 20"]


def test_what_raises_is_called_as_in_memory_and_so_are_the_element_and_the_key() -> None:
    with pytest.raises(UserFunctionError) as raised:
        run_in_local(TENS, Sum(), arriving("x"))
    with pytest.raises(UserFunctionError) as in_memory:
        run_in_memory(Grouping(TENS, Sum()), arriving("x"))

    assert str(raised.value) == str(in_memory.value)
    assert raised.value.known_key == "ann"
    assert isinstance(raised.value.__cause__, TypeError)


def test_what_raises_is_dropped_alone_where_that_is_asked_for() -> None:
    script = arriving(1, "x", 2)

    run = run_in_local(TENS, Sum(), script, on_error=OnFailure.DROP)

    assert run == expected(TENS, Sum(), script, on_error=OnFailure.DROP)
    assert [type(output.effect) for output in run.outputs] == [Drop, Pane]


def test_keys_are_equal_as_python_says() -> None:
    script = (Arrive((((1, "a"), Element(1, 5)), ((True, "a"), Element(2, 5)))), END)

    run = run_in_local(TENS, Collect(), script)

    assert [(output.key, output.effect.value) for output in run.panes] == [((1, "a"), [1, 2])]


def test_an_element_keeps_the_window_that_it_comes_in() -> None:
    before = Element(1, 5, IntervalWindow(0, 50))
    script = (Arrive((("ann", before), ("ann", Element(2, 5)))), END)

    run = run_in_local(TENS, Collect(), script)

    assert run == expected(TENS, Collect(), script)
    assert [(output.effect.window.end, output.effect.value) for output in run.panes] == [
        (10, [2]),
        (50, [1]),
    ]


class OwnTens(WindowFn):
    """Windows of ten milliseconds, by a function of a user's own."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        start = timestamp - timestamp % 10
        return (IntervalWindow(start, start + 10),)


def correcting(window_fn: WindowFn) -> WindowingStrategy:
    trigger = AfterWatermark(late=AfterCount(1))
    return WindowingStrategy(window_fn, trigger, "retracting", allowed_lateness=1_000)


@pytest.mark.parametrize(
    ("strategy", "machine"),
    [
        pytest.param(correcting(FixedWindows(10)), "columnar", id="by columns"),
        pytest.param(correcting(OwnTens()), "reference", id="key by key"),
    ],
)
def test_panes_that_withdraw_others_are_kept_for_it(strategy: WindowingStrategy, machine: str):
    late = Arrive((("ann", Element(7, 6)),))
    script: Script = (*arriving(1), late, AdvanceWatermark(200), late, AdvanceWatermark(5_000))

    run = run_in_local(strategy, Collect(), script)

    assert choose_machine(ScriptedGraph.of(strategy, Collect(), script).plan).machine == machine
    assert run == expected(strategy, Collect(), script)
    assert [(output.effect.retraction, output.effect.value) for output in run.panes] == [
        (False, [1]),
        (True, [1]),
        (False, [1, 7]),
        (True, [1, 7]),
        (False, [1, 7, 7]),
    ]
