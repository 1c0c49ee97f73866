"""What the matchers say, of values and of panes.

Original: ``SCollectionMatchersTest.scala`` of scio-test; spotify/scio at 3b35141.

The original runs a pipeline for each assertion, and those that must not hold have to raise. Here
all of a test go in one pipeline, and what must not hold is asked with `refused`.

What differs:

* Where no elements came out at all, a negative assertion is refused, whatever it asks, because it
  says nothing; in Scio some hold (marked below).
* ``not_to(contain_single_value(...))`` and ``not_to(satisfy_single_value(...))`` hold where there
  are several elements; Scio refuses them, for a reason that is not the assertion's. Left out.
* Whether a class can be serialized, and by what, is none of a matcher's business. Left out: the
  test of ``DoesNotSerialize``.
* Scio's pipeline with an assertion about early panes in the global window of a collection in
  others cannot be built; here the assertion is refused.
* Numbers are within a tolerance with ``math.isclose``.
"""

from math import isclose
from typing import Any

import attrs
import pytest

from beamlike import AfterProcessingTime, AfterWatermark, Repeatedly
from beamlike.scio import ScioContext, WindowOptions
from beamlike.testing import (
    PaneAssertionError,
    TimestampedValue,
    be_empty,
    contain_in_any_order,
    contain_single_value,
    contain_value,
    element,
    emit_exactly,
    equal_map_of,
    exist,
    expect,
    for_all,
    have_size,
    in_early_global_window_panes,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
    on_time_pane,
    run_with_context,
    satisfy,
    satisfy_single_value,
    test_stream_of,
)
from beamlike.testing.failures import Failure
from beamlike.testing.results import Matcher, Results


@attrs.frozen
class Refused:
    matcher: Matcher
    as_negative: bool

    def failure(self, results: Results, *, negated: bool) -> Failure | None:
        if self.matcher.failure(results, negated=self.as_negative) is not None:
            return None
        return Failure(f"{self.matcher} holds, and should be refused")


def refused(matcher: Matcher) -> Matcher:
    """That ``to(matcher)`` is refused."""
    return Refused(matcher, as_negative=False)


def refused_not_to(matcher: Matcher) -> Matcher:
    """That ``not_to(matcher)`` is refused."""
    return Refused(matcher, as_negative=True)


@attrs.frozen(eq=False)
class Record:
    """What has an equality of its own."""

    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.x == other.x

    def __hash__(self) -> int:
        return self.x


def one_to(last: int) -> list[int]:
    return list(range(1, last + 1))


def test_the_matchers_support_contain_in_any_order(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(contain_in_any_order(one_to(100)))
    expect(sc.parallelize(one_to(200))).to(refused(contain_in_any_order(one_to(100))))
    expect(sc.parallelize(one_to(100))).to(refused(contain_in_any_order(one_to(200))))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(contain_in_any_order(one_to(10)))
    expect(sc.parallelize(one_to(10))).not_to(contain_in_any_order(one_to(100)))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(contain_in_any_order(one_to(100))))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(contain_in_any_order([Record(1)]))
    expect(sc.parallelize([Record(1)])).not_to(contain_in_any_order([Record(2)]))
    expect(sc.parallelize([Record(1)])).to(satisfy(lambda records: Record(1) in records))


def test_they_support_contain_in_any_order_with_a_percent_sign() -> None:
    with pytest.raises(PaneAssertionError) as failed, run_with_context() as sc:
        expect(sc.parallelize(["1"])).to(contain_in_any_order(["%1"]))
    said = str(failed.value)
    # expected
    assert "missing" in said
    assert "'%1'" in said
    # actual
    assert "unexpected" in said
    assert "'1'" in said


def test_they_support_contain_single_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1])).to(contain_single_value(1))
    expect(sc.parallelize([1])).to(refused(contain_single_value(10)))
    expect(sc.parallelize(one_to(10))).to(refused(contain_single_value(1)))
    expect(sc.parallelize([])).to(refused(contain_single_value(1)))

    # should not
    expect(sc.parallelize([10])).not_to(contain_single_value(1))
    expect(sc.parallelize([1])).to(refused_not_to(contain_single_value(1)))
    expect(sc.parallelize([])).to(refused_not_to(contain_single_value(1)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(contain_single_value(Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(contain_single_value(Record(2)))


def test_they_support_contain_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1, 2, 3])).to(contain_value(1))
    expect(sc.parallelize([1])).to(refused(contain_value(10)))

    # should not
    expect(sc.parallelize([1, 2, 3])).not_to(contain_value(4))
    expect(sc.parallelize([1, 2, 3])).should_not(contain_value(4))
    expect(sc.parallelize([1, 2, 3])).to(refused_not_to(contain_value(1)))

    # objects of a class
    expect(sc.parallelize([Record(1), Record(2)])).to(contain_value(Record(1)))
    expect(sc.parallelize([Record(1), Record(2)])).not_to(contain_value(Record(3)))


def test_they_support_be_empty(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([])).to(be_empty)
    expect(sc.parallelize(one_to(10))).to(refused(be_empty))

    # should not
    expect(sc.parallelize(one_to(10))).not_to(be_empty)
    expect(sc.parallelize(one_to(10))).should_not(be_empty)
    expect(sc.parallelize([])).to(refused_not_to(be_empty))


def test_they_support_have_size(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([])).to(have_size(0))
    expect(sc.parallelize([1])).to(have_size(1))
    expect(sc.parallelize(one_to(10))).to(have_size(10))
    expect(sc.parallelize([])).to(refused(have_size(1)))
    expect(sc.parallelize([1])).to(refused(have_size(0)))
    expect(sc.parallelize(one_to(10))).to(refused(have_size(20)))

    # should not
    expect(sc.parallelize([])).to(refused_not_to(have_size(1)))  # holds in Scio
    expect(sc.parallelize([1])).not_to(have_size(0))
    expect(sc.parallelize(one_to(10))).not_to(have_size(100))
    expect(sc.parallelize([])).to(refused_not_to(have_size(0)))
    expect(sc.parallelize([1])).to(refused_not_to(have_size(1)))
    expect(sc.parallelize(one_to(10))).to(refused_not_to(have_size(10)))


def test_they_support_equal_map_of(sc: ScioContext) -> None:
    s = [("a", 1), ("b", 2), ("c", 3)]
    tail = s[1:]
    # should
    expect(sc.parallelize(s)).to(equal_map_of(dict(s)))
    expect(sc.parallelize([])).to(equal_map_of({}))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict([*s, ("d", 4)]))))
    expect(sc.parallelize([*s, ("d", 4)])).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict(tail))))
    expect(sc.parallelize(tail)).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of(dict(s) | {"a": 10})))
    expect(sc.parallelize([*tail, ("a", 10)])).to(refused(equal_map_of(dict(s))))
    expect(sc.parallelize(s)).to(refused(equal_map_of({})))
    expect(sc.parallelize([])).to(refused(equal_map_of(dict(s))))

    # should not
    expect(sc.parallelize(s)).not_to(equal_map_of(dict([*s, ("d", 4)])))
    expect(sc.parallelize(s)).not_to(equal_map_of({}))
    expect(sc.parallelize([])).to(refused_not_to(equal_map_of(dict(s))))  # holds in Scio
    expect(sc.parallelize(s)).to(refused_not_to(equal_map_of(dict(s))))
    expect(sc.parallelize([])).to(refused_not_to(equal_map_of({})))

    # objects of a class
    s2 = [("a", Record(1)), ("b", Record(2))]
    expect(sc.parallelize(s2)).to(equal_map_of(dict(s2)))
    expect(sc.parallelize(s2)).not_to(equal_map_of(dict([*s2, ("c", Record(3))])))


def test_they_support_satisfy(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(satisfy(lambda it: sum(it) == 5050))
    expect(sc.parallelize(one_to(100))).to(refused(satisfy(lambda it: sum(it) == 100)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(satisfy(lambda it: sum(it) == 100))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(satisfy(lambda it: sum(it) == 5050)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(satisfy(lambda it: Record(1) in it))
    expect(sc.parallelize([Record(1)])).not_to(satisfy(lambda it: Record(2) in it))


def test_they_support_satisfy_single_value(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize([1])).to(satisfy_single_value(lambda it: it == 1))
    expect(sc.parallelize([1])).to(refused(satisfy_single_value(lambda it: it == 10)))
    expect(sc.parallelize(one_to(10))).to(refused(satisfy_single_value(lambda it: it == 1)))
    expect(sc.parallelize([])).to(refused(satisfy_single_value(lambda it: it == 1)))

    # should not
    expect(sc.parallelize([10])).not_to(satisfy_single_value(lambda it: it == 1))
    expect(sc.parallelize([1])).to(refused_not_to(satisfy_single_value(lambda it: it == 1)))
    expect(sc.parallelize([])).to(refused_not_to(satisfy_single_value(lambda it: it == 1)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(satisfy_single_value(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(satisfy_single_value(lambda it: it == Record(2)))


def test_they_support_for_all(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(for_all(lambda it: it > 0))
    expect(sc.parallelize(one_to(100))).to(refused(for_all(lambda it: it > 10)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(for_all(lambda it: it > 10))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(for_all(lambda it: it > 0)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(for_all(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(for_all(lambda it: it == Record(2)))


def test_they_support_tolerance(sc: ScioContext) -> None:
    def near(number: float, tolerance: float) -> Any:
        # Scio's bounds belong to it, and 1.5 - 1.4 is a little more than 0.1.
        return lambda it: isclose(it, number, rel_tol=0, abs_tol=tolerance + 1e-9)

    def sum_near(number: float, tolerance: float) -> Any:
        return lambda it: near(number, tolerance)(sum(it))

    xs = [1.4, 1.5, 1.6]

    # should
    expect(sc.parallelize(xs)).to(for_all(near(1.5, 0.1)))
    expect(sc.parallelize(xs)).to(exist(near(1.5, 0.1)))
    expect(sc.parallelize(xs)).to(satisfy(sum_near(5.0, 0.5)))
    expect(sc.parallelize(xs)).to(refused(for_all(near(1.4, 0.1))))
    expect(sc.parallelize(xs)).to(refused(exist(near(1.0, 0.1))))
    expect(sc.parallelize(xs)).to(refused(satisfy(sum_near(1.0, 0.5))))

    # should not
    expect(sc.parallelize(xs)).not_to(for_all(near(1.4, 0.1)))
    expect(sc.parallelize(xs)).not_to(exist(near(1.0, 0.1)))
    expect(sc.parallelize(xs)).not_to(satisfy(sum_near(1.0, 0.5)))
    expect(sc.parallelize(xs)).to(refused_not_to(for_all(near(1.5, 0.1))))
    expect(sc.parallelize(xs)).to(refused_not_to(exist(near(1.5, 0.1))))
    expect(sc.parallelize(xs)).to(refused_not_to(satisfy(sum_near(5.0, 0.5))))


def test_they_support_exist(sc: ScioContext) -> None:
    # should
    expect(sc.parallelize(one_to(100))).to(exist(lambda it: it > 99))
    expect(sc.parallelize(one_to(100))).to(refused(exist(lambda it: it > 100)))

    # should not
    expect(sc.parallelize(one_to(100))).not_to(exist(lambda it: it > 100))
    expect(sc.parallelize(one_to(100))).to(refused_not_to(exist(lambda it: it > 99)))

    # objects of a class
    expect(sc.parallelize([Record(1)])).to(exist(lambda it: it == Record(1)))
    expect(sc.parallelize([Record(1)])).not_to(exist(lambda it: it == Record(2)))


STREAM = (
    test_stream_of()
    # Start at the epoch.
    .advance_watermark_to("00:00:00")
    # Some elements ahead of the watermark.
    .add_elements(
        TimestampedValue(1, "00:00:03"),
        TimestampedValue(2, "00:01:00"),
        TimestampedValue(3, "00:00:22"),
        TimestampedValue(4, "00:00:03"),
    )
    # Not yet past the end of the window.
    .advance_watermark_to("00:03:00")
    .add_elements(TimestampedValue(1, "00:04:00"), TimestampedValue(2, "00:04:30"))
)


def test_they_support_windowing(sc: ScioContext) -> None:
    windowed_stream = (
        sc.test_stream(STREAM.advance_watermark_to_infinity())
        .with_fixed_windows(
            "20 minutes",
            options=WindowOptions(
                trigger=Repeatedly(
                    AfterWatermark(
                        early=AfterProcessingTime("5 minutes"),
                        late=AfterProcessingTime("10 minutes"),
                    )
                ),
                accumulation_mode="accumulating",
                allowed_lateness="1 hour",
            ),
        )
        .with_timestamp()
    )
    window = ("00:00:00", "00:20:00")
    expect(windowed_stream.group_by_key().keys()).to(
        in_on_time_pane(window, contain_in_any_order([1, 2, 3, 4]))
    )
    expect(windowed_stream.group_by_key()).to(in_final_pane(window, have_size(4)))
    total = windowed_stream.map(lambda pair: pair[0]).sum()
    expect(total).to(in_only_pane(window, contain_single_value(13)))
    expect(windowed_stream.group_by_key()).to(refused(in_early_global_window_panes(have_size(4))))
    expect(windowed_stream.group_by_key()).to(
        in_window(window, for_all(lambda pair: len(pair[1]) > 0))
    )

    expect(windowed_stream.group_by_key()).to(
        emit_exactly(
            on_time_pane(1, [3_000, 240_000], window, is_last=True),
            on_time_pane(2, [60_000, 270_000], window, is_last=True),
            on_time_pane(3, [22_000], window, is_last=True),
            on_time_pane(4, [3_000], window, is_last=True),
        )
    )
    expect(total).to(emit_exactly(element(13, window, timing="ON_TIME")))


def test_they_support_windowing_in_the_global_window(sc: ScioContext) -> None:
    """The second half of the test before this one."""
    windowed_stream = sc.test_stream(
        STREAM.advance_processing_time("21 minutes").advance_watermark_to_infinity()
    ).with_global_window(
        WindowOptions(
            trigger=Repeatedly(AfterWatermark(early=AfterProcessingTime("5 minutes"))),
            accumulation_mode="accumulating",
            allowed_lateness="1 hour",
        )
    )
    total = windowed_stream.sum()
    expect(total).to(in_early_global_window_panes(contain_in_any_order([13])))
    expect(windowed_stream.sum()).not_to(in_early_global_window_panes(be_empty))

    expect(total).to(
        emit_exactly(
            element(13, "global", timing="EARLY", is_last=False),
            element(13, "global", timing="ON_TIME", index=1),
        )
    )


def test_they_support_late_pane_windowing(sc: ScioContext) -> None:
    stream = (
        test_stream_of()
        # Start at the epoch.
        .advance_watermark_to("00:00:00")
        .add_elements(TimestampedValue(1, "00:01:00"))
        # The end of the window.
        .advance_watermark_to("00:10:00")
        # Late, and not too late.
        .add_elements(TimestampedValue(2, "00:09:00"))
        .advance_watermark_to_infinity()
    )
    windowed_stream = (
        sc.test_stream(stream)
        .with_fixed_windows(
            "10 minutes",
            options=WindowOptions(
                trigger=AfterWatermark(late=AfterProcessingTime()),
                accumulation_mode="accumulating",
                allowed_lateness="5 minutes",
            ),
        )
        .sum()
    )
    window = ("00:00:00", "00:10:00")
    expect(windowed_stream).to(in_on_time_pane(window, contain_single_value(1)))
    expect(windowed_stream).to(in_late_pane(window, contain_single_value(1 + 2)))

    expect(windowed_stream).to(
        emit_exactly(
            element(1, window, timing="ON_TIME", is_last=False),
            element(3, window, timing="LATE", index=1),
        )
    )


def test_they_customize_equality(sc: ScioContext) -> None:
    def always(expected: Any, actual: Any) -> bool:
        return True

    given, wanted = one_to(10), list(range(2, 12))
    expect(sc.parallelize(given)).not_to(contain_in_any_order(wanted))
    expect(sc.parallelize(given)).with_equality(always).to(contain_in_any_order(wanted))
    expect(sc.parallelize([1])).not_to(contain_single_value(2))
    expect(sc.parallelize([1])).with_equality(always).to(contain_single_value(2))
    expect(sc.parallelize([1, 3, 4, 5])).not_to(contain_value(2))
    expect(sc.parallelize([1, 3, 4, 5])).with_equality(always).to(contain_value(2))
