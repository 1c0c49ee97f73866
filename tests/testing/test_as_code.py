"""A run as a test stream that can be pasted: what is written, and that it runs as the run did."""

import datetime
import math
from collections import deque
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs
import pytest

import beamlike as bl
from beamlike.errors import TestStreamError
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import Count, Mean
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.script import Arrive
from beamlike.testing import Results, TestStream, TimestampedValue, as_test_stream
from tests.support.differential import case_of
from tests.support.generated.strategies import gap_of_number, is_fifth
from tests.support.refusals import refusal


def ran(code: str) -> Any:
    """The results that code binds."""
    names: dict[str, Any] = {"gap_of_number": gap_of_number, "is_fifth": is_fifth}
    exec(code, names)
    return names["results"]


def code_of(results: Results) -> str:
    assert results.strategy is not None
    return as_test_stream(results.run.script, results.strategy, results.aggregate)


def test_a_run_is_written_as_somebody_would_write_it() -> None:
    results = (
        TestStream()
        .add_elements_at_time("12:01:00", ("table 3", "tea"))
        .advance_watermark_to("12:05:00")
        .advance_processing_time("1 minute")
        .add_elements(
            TimestampedValue(("table 3", "milk"), "12:04:00"),
            TimestampedValue(("table 4", "salt"), "12:06:00"),
        )
        .advance_watermark_to_infinity()
        .run(
            window=bl.FixedWindows("5 minutes"),
            trigger=bl.AfterWatermark(
                early=bl.AfterProcessingTime("10 seconds"), late=bl.AfterCount(1)
            ),
            accumulation="retracting",
            allowed_lateness="10 minutes",
            timestamp_combiner="latest",
            aggregate=Count(),
        )
    )

    code = code_of(results)

    assert (
        code
        == """\
import beamlike as bl
from beamlike.combine_fns import Count
from beamlike.testing import TestStream, TimestampedValue

results = (
    TestStream()
    .add_elements_at_time("12:01:00", ('table 3', 'tea'))
    .advance_watermark_to("12:05:00")
    .advance_processing_time("1m")
    .add_elements(
        TimestampedValue(('table 3', 'milk'), "12:04:00"),
        TimestampedValue(('table 4', 'salt'), "12:06:00"),
    )
    .advance_watermark_to_infinity()
    .run(
        window=bl.FixedWindows("5m"),
        trigger=bl.AfterWatermark(
            early=bl.AfterProcessingTime(bl.Delay("10s")),
            late=bl.AfterCount(1),
        ),
        accumulation="retracting",
        allowed_lateness="10m",
        timestamp_combiner="latest",
        aggregate=Count(),
    )
)"""
    )
    again = ran(code)
    assert (again.run, again.strategy, again.aggregate) == (
        results.run,
        results.strategy,
        results.aggregate,
    )


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_scenarios_come_out_again_to_the_last_pane(first: int) -> None:
    """Also those that end before the end of time, go on after it, or may lose data."""
    for number in range(first, first + 100):
        case = case_of(0, number)
        again = ran(as_test_stream(case.script, case.strategy, case.machine.combine))

        assert (again.run.outputs, again.strategy) == (case.run.outputs, case.strategy), case.name


def test_a_stream_that_stops_before_the_end_of_time_is_written_as_it_is() -> None:
    script = (Arrive((("joe", Element(1, 0)),)),)
    code = as_test_stream(script, bl.WindowingStrategy(bl.Sessions("5 seconds")), name="open")

    assert (
        code
        == """\
import beamlike as bl
from beamlike.testing import FinishedTestStream, TestStream

stream = TestStream().add_elements_at_time("00:00:00", ('joe', 1))
open = FinishedTestStream(stream.steps).run(window=bl.Sessions("5s"))"""
    )


def test_elements_after_the_end_of_time_are_reported_on_a_stream_that_is_opened_again() -> None:
    end = AdvanceWatermark(MAX_TIMESTAMP)
    script = (Arrive((("joe", Element(1, 0)),)), end, Arrive((("joe", Element(2, 0)),)), end)
    code = as_test_stream(script, bl.WindowingStrategy(bl.FixedWindows("1 minute")))

    assert (
        code.partition("\n\n")[2]
        == """\
stream = (
    TestStream()
    .add_elements_at_time("00:00:00", ('joe', 1))
    .advance_watermark_to_infinity()
)
results = (
    TestStream(stream.steps)
    .add_elements_at_time("00:00:00", ('joe', 2))
    .advance_watermark_to_infinity()
    .run(window=bl.FixedWindows("1m"))
)"""
    )
    assert len(ran(code).drops) == 1


class Colour(Enum):
    RED = 1


@attrs.frozen
class Order:
    number: int


class Opaque:
    def __repr__(self) -> str:
        return "<opaque>"


def value_in(value: Any) -> tuple[list[str], str]:
    """The lines above the code with this value, without the usual ones, and the value in it."""
    script = (Arrive((("k", Element(value, 0)),)), AdvanceWatermark(MAX_TIMESTAMP))
    code = as_test_stream(script, bl.WindowingStrategy(bl.GlobalWindows()))
    heading, _, body = code.partition("\n\n")
    usual = ["import beamlike as bl", "from beamlike.testing import TestStream"]
    line = body.splitlines()[2]
    start = "    .add_elements_at_time(\"00:00:00\", ('k', "
    assert line.startswith(start)
    return [line for line in heading.splitlines() if line not in usual], line[len(start) : -2]


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 2.5, -math.inf, "it's\n", b"\0", (), (1,), [1, [2]], {"a": {1: (2, 3)}}),
        *(set(), frozenset(), {math.inf}, frozenset({-math.inf, 1.5}), {(1, math.inf)}),
        *(deque([math.inf, 2]), {"a": {math.inf}}, Fraction(1, 2)),
        *({1}, frozenset({2}), datetime.date(2013, 1, 1), Decimal("1.50")),
        datetime.datetime(2013, 1, 1, tzinfo=datetime.UTC),
    ],
)
def test_values_of_python_are_written_so_that_they_are_read_back(value: Any) -> None:
    script = (Arrive((("k", Element(value, 0)),)), AdvanceWatermark(MAX_TIMESTAMP))
    code = as_test_stream(script, bl.WindowingStrategy(bl.GlobalWindows()))

    assert ran(code).panes[0].effect.value == [value]
    assert "# add:" not in code


@pytest.mark.parametrize(
    ("value", "heading", "written"),
    [
        (Colour.RED, [f"# add: Colour of {__name__}"], "Colour.RED"),
        (Order(3), [f"# add: Order of {__name__}"], "Order(number=3)"),
        (Opaque(), ["# add: what '<opaque>' stands for"], "'<opaque>'"),
        ([Order(3)], [f"# add: Order of {__name__}"], "[Order(number=3)]"),
        ({Order(3)}, [f"# add: Order of {__name__}"], "{Order(number=3)}"),
        (frozenset({Colour.RED}), [f"# add: Colour of {__name__}"], "frozenset({Colour.RED})"),
        ({math.nan}, [], '{float("nan")}'),
        (
            deque([math.nan]),
            ["from collections import deque", "from math import nan"],
            "deque([nan])",
        ),
    ],
)
def test_what_is_the_user_s_own_is_said_above_the_code(
    value: Any, heading: list[str], written: str
) -> None:
    assert value_in(value) == (heading, written)


def test_sessions_that_merge_on_touch_say_so() -> None:
    script = (Arrive((("k", Element(1, 0)),)), AdvanceWatermark(MAX_TIMESTAMP))
    strategy = bl.WindowingStrategy(bl.Sessions(10, merge_touching=True))

    assert 'bl.Sessions("10ms", merge_touching=True)' in as_test_stream(script, strategy)


def test_a_function_of_the_user_s_is_written_by_its_name() -> None:
    def gap(value: Any) -> int:
        return 5

    script = (Arrive((("k", Element(1, 0)),)), AdvanceWatermark(MAX_TIMESTAMP))
    strategy = bl.WindowingStrategy(bl.Sessions(gap, max_elements=3))

    code = as_test_stream(script, strategy, Mean(), on_error=OnFailure.DROP)

    assert code.startswith(f"# add: gap of {__name__}\nimport beamlike as bl\n")
    run = '.run(window=bl.Sessions(gap, max_elements=3), on_error="drop", aggregate=Mean())'
    assert code.endswith(f"    {run}\n)")


def test_windows_that_a_pipeline_assigned_are_those_of_the_window_function() -> None:
    strategy = bl.WindowingStrategy(bl.SlidingWindows("2s", "1s"))
    early, late = (IntervalWindow(start, start + 2_000) for start in (-1_000, 0))
    assert set(strategy.window_fn.assign(500)) == {early, late}
    in_both = tuple(("joe", Element(1, 500, window)) for window in strategy.window_fn.assign(500))

    code = as_test_stream((Arrive(in_both),), strategy)

    assert ".add_elements_at_time(\"00:00:00.500\", ('joe', 1))" in code
    assert refusal(TestStreamError, lambda: as_test_stream((Arrive(in_both[:1]),), strategy)) == (
        "elements come to this grouping in windows of their own, which a test stream cannot say; "
        "build the pipeline before it, too"
    )
