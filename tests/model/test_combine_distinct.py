"""What is different among values: which, in which order, and in panes of every kind."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

import attrs
import pytest

import beamlike as bl
from beamlike.errors import CombineError
from beamlike.model.combine import CollectSet, CombineFn, CountDistinct
from beamlike.testing import TestStream, emit_exactly, late_pane, on_time_pane
from beamlike.testing.assertions.complete import ExpectedPane

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
ELSEWHERE = NOON.astimezone(timezone(timedelta(hours=2)))


def result(fn: CombineFn, values: list[Any]) -> Any:
    return fn.extract(fn.add(fn.create(), values, [0] * len(values)))


@pytest.mark.parametrize(
    ("values", "different"),
    [
        ([3, None, 1, 3, 2, None], [1, 2, 3]),
        ([1, 1.0, Decimal("1.00"), True], [1]),
        ([math.inf, math.nan, 2.5, -math.nan, -math.inf], [-math.inf, 2.5, math.inf, math.nan]),
        (["b", "", "é", "a", "b"], ["", "a", "b", "é"]),
        ([b"b", bytearray(b"a"), b"a"], [bytearray(b"a"), b"b"]),
        ([NOON, ELSEWHERE], [NOON]),
        ([date(2020, 1, 2), date(2020, 1, 1)], [date(2020, 1, 1), date(2020, 1, 2)]),
        ([time(12), time(3)], [time(3), time(12)]),
        ([timedelta(1), timedelta(-1)], [timedelta(-1), timedelta(1)]),
        ([["b"], ["a", None], ["a"], [], ["a"]], [[], ["a"], ["a", None], ["b"]]),
        ([{"x": 2}, {"x": None}, {"x": 2}], [{"x": None}, {"x": 2}]),
        (["a", 2, None, (1, "a"), b"a", (1.0, "a"), NOON], [2, "a", b"a", NOON, (1, "a")]),
        ([None], []),
    ],
)
def test_each_value_comes_once_the_least_first(values: list[Any], different: list[Any]) -> None:
    assert repr(result(CollectSet(), values)) == repr(different)
    assert result(CountDistinct(), values) == len(different)


def test_a_zero_has_no_sign() -> None:
    assert repr(result(CollectSet(), [-0.0])) == "[0.0]"
    assert repr(result(CollectSet(), [-0.0, 0.0, 1.5])) == "[0.0, 1.5]"


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([[-0.0], [0.0], [1.5, -0.0]], "[[0.0], [1.5, 0.0]]"),
        ([[[-0.0]], [[0.0]]], "[[[0.0]]]"),
        ([(-0.0, "tea"), (0.0, "tea")], "[(0.0, 'tea')]"),
        ([{"v": -0.0}, {"v": 0.0}], "[{'v': 0.0}]"),
        ([[{"v": (-0.0, None)}], [{"v": (0.0, None)}]], "[[{'v': (0.0, None)}]]"),
    ],
)
def test_a_zero_inside_of_a_value_has_no_sign_either(values: list[Any], shown: str, turned: bool):
    assert repr(result(CollectSet(), values[::-1] if turned else values)) == shown


def test_what_is_no_plain_data_is_refused() -> None:
    with pytest.raises(CombineError, match=r"needs plain values, got <object object"):
        result(CountDistinct(), [object()])


# -- in panes --------------------------------------------------------------------------------------

HOW: dict[str, Any] = {
    "window": bl.Sessions("5 minutes"),
    "trigger": bl.AfterWatermark(late=bl.AfterCount(1)),
    "allowed_lateness": "1 hour",
}
ORDERS = (
    TestStream()
    .add_elements_at_time("12:00:00", ("joe", "tea"))
    .add_elements_at_time("12:08:00", ("joe", "milk"), ("joe", "milk"))
    .advance_watermark_to("12:20:00")
    .add_elements_at_time("12:04:00", ("joe", "tea"))  # two sessions become one
    .add_elements_at_time("12:05:00", ("joe", "salt"))
    .advance_watermark_to_infinity()
)
FIRST, SECOND, BOTH = ("12:00", "12:05"), ("12:08", "12:13"), ("12:00", "12:13")
ON_TIME = (
    on_time_pane("joe", ["tea"], *FIRST, is_last=False),
    on_time_pane("joe", ["milk"], *SECOND, is_last=False),
)
LATER = (
    late_pane("joe", ["milk", "tea"], *BOTH, is_last=False),
    late_pane("joe", ["milk", "salt", "tea"], *BOTH, index=1, is_last=False),
)
PANES: dict[str, tuple[ExpectedPane, ...]] = {
    "discarding": (
        *ON_TIME,
        late_pane("joe", ["tea"], *BOTH, is_last=False),
        late_pane("joe", ["salt"], *BOTH, index=1, is_last=False),
    ),
    "accumulating": (*ON_TIME, *LATER),
    "retracting": (
        *ON_TIME,
        *LATER,
        *(attrs.evolve(one, retraction=True) for one in (*ON_TIME, LATER[0])),
    ),
}


@pytest.mark.parametrize("host", ["memory", "local"])
@pytest.mark.parametrize("accumulation", PANES)
def test_a_value_that_comes_again_or_in_another_session_counts_once(
    accumulation: str, host: Literal["memory", "local"]
) -> None:
    sets = ORDERS.run(aggregate=CollectSet(), accumulation=accumulation, host=host, **HOW)
    counts = ORDERS.run(aggregate=CountDistinct(), accumulation=accumulation, host=host, **HOW)

    panes = PANES[accumulation]
    sets.should(emit_exactly(*panes))
    counts.should(emit_exactly(*(attrs.evolve(pane, value=len(pane.value)) for pane in panes)))
