"""The plan of a script on Spark does with values what the memory host does, in the same words."""

import attrs
import pyarrow as pa
import pytest

from beamlike.errors import UserFunctionError
from beamlike.machine.events import Bundle, Element
from beamlike.machine.reference.state import KeyState
from beamlike.model.combine import Collect, EmptyPane, Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.columns import PickledColumn
from beamlike.runtime.plan import Part
from beamlike.runtime.scripted import ScriptedPlan


def combine_of(fn):
    return plan_of(fn).machine.combine


def plan_of(fn):
    part = Part("value", fn, 0, PickledColumn(), pa.binary())
    strategy = WindowingStrategy(FixedWindows(10))
    return ScriptedPlan(strategy, {"key": pa.int64()}, {"value": pa.binary()}, (part,))


@attrs.frozen
class Rounded(Sum):
    """A sum whose accumulator is kept small."""

    def compact(self, accumulator):
        return accumulator // 10 * 10

    def extract(self, accumulator):
        return f"about {accumulator}"


def test_every_part_of_the_combine_function_is_asked():
    combine = combine_of(Rounded())
    added = combine.add(combine.create(), [20, 4], [1, 2])

    assert combine.merge(added, added) == (48,)
    assert combine.compact(added) == (20,)
    assert combine.extract(added) == ("about 24",)
    assert combine.on_empty == EmptyPane(("about 0",), True, "sumByKey")
    assert str(combine) == str(Rounded())


def test_what_raises_is_called_as_in_memory_and_so_is_the_element():
    machine = plan_of(Sum()).machine
    grouping = type(machine)(machine.strategy, machine.combine, "fail")
    with pytest.raises(UserFunctionError) as raised:
        grouping.step(KeyState(), Bundle((Element("x", 5),)))

    assert raised.value.function == "Sum().add"
    assert raised.value.place == (
        "the element 'x' at 00:00:00.005 (5 ms), window [00:00:00, 00:00:00.010)"
    )


def test_panes_that_withdraw_others_are_kept_for_it():
    retracting = attrs.evolve(
        plan_of(Collect()),
        strategy=WindowingStrategy(FixedWindows(10), accumulation="retracting"),
    )
    assert retracting.retracts
    assert not plan_of(Collect()).retracts
