"""Which machine steps the shards of a plan, and the sentence that says why."""

from collections.abc import Sequence
from typing import Any

import attrs
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError
from beamlike.model.rescaled import reading
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.accumulator_columns import (
    CheckedColumn,
    ListColumn,
    PickledColumn,
    PlainColumn,
)
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.look_up import LookUp
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.stepping import choose_machine, plan_text, stepper_of
from tests.support.machines.rows_of_plans import PARTS, VALUES

NUMBER = pa.int64()
COUNT = Part("n", bl.model.combine.Count(), None, PlainColumn(NUMBER), NUMBER)
MINUTES = bl.FixedWindows("1 minute")
OWN_WINDOW_FNS = (
    *(MINUTES, bl.SlidingWindows("5 minutes", "1 minute"), bl.Sessions("10 minutes")),
    *(bl.GlobalWindows(), bl.CalendarDays(), bl.CalendarMonths(2, "Europe/Warsaw")),
)


def plan_of(
    window_fn: bl.WindowFn = MINUTES,
    *parts: Part,
    keys: dict[str, pa.DataType] | None = None,
    machine: Any = "auto",
    accumulation: Any = "accumulating",
) -> Plan:
    return Plan(
        WindowingStrategy(window_fn, accumulation=accumulation),
        {"user": pa.string()} if keys is None else keys,
        VALUES,
        parts or (COUNT,),
        shards=2,
        buckets=8,
        machine_name=machine,
    )


def why(plan: Plan) -> str:
    choice = choose_machine(plan)
    assert choice.machine == "reference"
    return choice.why


@pytest.mark.parametrize("window_fn", OWN_WINDOW_FNS, ids=str)
@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
def test_all_that_is_built_in_is_for_the_columnar_machine(
    window_fn: bl.WindowFn, accumulation: str
) -> None:
    choice = choose_machine(plan_of(window_fn, *PARTS, accumulation=accumulation))

    assert (choice.machine, choice.why) == ("columnar", "")


@pytest.mark.parametrize("name", ["list", "struct", "map"])
def test_a_key_of_no_plain_type_is_for_the_reference_machine(name: str) -> None:
    kind = {
        "list": pa.list_(NUMBER),
        "struct": pa.struct([("x", NUMBER)]),
        "map": pa.map_(pa.string(), NUMBER),
    }[name]

    assert why(plan_of(keys={"user": pa.string(), "k": kind})) == f"the key 'k' has the type {kind}"


class Shifts(bl.FixedWindows):
    """Windows of a user's own."""


def gap_of(value: int) -> int:
    return value


def first(columns: Sequence[Any]) -> Any:
    return columns[0]


def test_a_window_function_of_the_users_is_asked_by_the_reference_machine() -> None:
    shifts = Shifts("8 hours")

    assert why(plan_of(shifts)).startswith(f"{shifts} calls a function of yours")


def test_a_gap_that_depends_on_the_element_is_asked_by_the_reference_machine() -> None:
    sessions = bl.Sessions(gap_of)
    over_columns: Any = reading(sessions, first)

    assert why(plan_of(sessions)) == (
        f"the gap of {sessions} is a function of yours, which is called for one element at a time"
    )
    # What reads the columns of a row is nothing that a user knows of.
    assert why(plan_of(over_columns)).startswith(f"{sessions} calls a function of yours")


@attrs.frozen
class Longest(bl.CombineFn):
    """A combine function of a user's own."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        return max(accumulator, *values)

    def merge(self, first: int, second: int) -> int:
        return max(first, second)


@pytest.mark.parametrize("accumulator", [None, "long"])
def test_a_combine_function_of_the_users_is_called_by_the_columnar_machine(accumulator: str | None):
    fn = UserMade("longest", Longest(), NUMBER, "long", accumulator)
    state = CheckedColumn("longest", NUMBER, "long") if accumulator else PickledColumn()

    part = Part("longest", fn, 0, state, NUMBER)

    assert choose_machine(plan_of(MINUTES, COUNT, part)).machine == "columnar"
    assert choose_machine(plan_of(MINUTES, part, accumulation="retracting")).machine == "columnar"


class Newest(Longest):
    """Keeps no element for the next pane."""

    @property
    def evicts(self) -> bool:
        return True


def test_a_function_that_evicts_elements_is_called_key_by_key() -> None:
    part = Part("newest", Newest(), 0, PickledColumn(), NUMBER)

    assert why(plan_of(MINUTES, part)) == (
        f"aggregate 'newest': {Newest()} evicts elements from each pane, key by key"
    )


def test_a_look_up_groups_nothing() -> None:
    does = LookUp(MINUTES, MINUTES, 0, "left", {"lane": pa.string()}, {"owner": pa.string()})
    plan = attrs.evolve(plan_of(), custom_operation=does, parts=())

    assert why(plan) == "it looks values up instead of grouping rows"


def test_the_reference_machine_does_what_it_is_asked_to() -> None:
    assert why(plan_of(machine="reference")) == 'machine="reference" is set'


def test_asked_for_the_columnar_machine_does_it_or_says_that_it_cannot() -> None:
    assert choose_machine(plan_of(machine="columnar")).machine == "columnar"

    with pytest.raises(UnsupportedError) as refused:
        stepper_of(plan_of(bl.Sessions(gap_of), machine="columnar"))

    assert str(refused.value) == (
        'machine="columnar" cannot do this: the gap of Sessions(gap_of) is a function of yours, '
        "which is called for one element at a time; leave the argument out"
    )


def test_the_machine_is_no_part_of_what_saved_state_belongs_to() -> None:
    plans = [plan_of(machine=name) for name in ("auto", "reference", "columnar")]

    assert plans[0].identity == plans[1].identity == plans[2].identity


# -- said to a user --------------------------------------------------------------------------


def test_a_stage_is_reported_with_its_machine_and_all_that_its_state_depends_on() -> None:
    words = Part(
        "words", bl.model.combine.Collect(), 2, ListColumn(pa.string()), pa.list_(pa.string())
    )

    plan = plan_of(bl.Sessions("10 minutes"), COUNT, words)
    message = plan_text(plan, plan.identity)

    assert message.splitlines() == [
        "beamlike: columnar machine",
        "  window: Sessions(10m)",
        "  trigger: DefaultTrigger()",
        "  accumulation: accumulating",
        "  allowed lateness: 0 ms",
        "  timestamp combiner: end_of_window",
        "  closing behavior: fire_if_non_empty",
        "  on-time behavior: fire_always",
        "  late check: assigned",
        "  unchanged panes: re_emit",
        "  aggregates: n=Count(), words=Collect(keep_nulls=True) of text string",
        "  key: user string",
        "  inputs: one, with the watermark of the query",
        "  shards: 2",
        "  buckets: 8",
        "  hot key fanout: none",
    ]


def test_why_it_is_the_reference_machine_is_in_the_first_line() -> None:
    plan = attrs.evolve(plan_of(machine="reference"), name="visits")
    message = plan_text(plan, plan.identity)

    assert message.splitlines()[0] == (
        'visits: reference machine, because machine="reference" is set'
    )
