"""The columnar machine in a Spark shard, beside the reference machine, on rows that are hard.

Values at the limits of their types, windows that come along, and rows that are combined already.
Both machines step the same shard from the same state, see `tests.support.machines.both`.
"""

from decimal import Decimal

import pytest

from beamlike.errors import OutgrownError, WindowingError
from beamlike.machine.lifting import Lifting
from beamlike.model import combine
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, Always, Repeatedly
from beamlike.model.windowfns import FixedWindows, GlobalWindows
from tests.support.machines.both import BothMachines
from tests.support.machines.rows_of_outputs import Row, combined, panes, plan_of, table
from tests.support.machines.rows_of_plans import PARTS

pytestmark = pytest.mark.usefixtures("warnings_are_errors")

NAN, INF = float("nan"), float("inf")


# -- numbers at their limits -----------------------------------------------------------------


def test_a_sum_that_outgrows_its_type_is_refused_and_nothing_has_happened() -> None:
    both = BothMachines(plan_of(WindowingStrategy(FixedWindows(10)), "sum", on_error="fail"))
    both.step(table(Row(1, whole=2**62), Row(1, "b")), watermark=0)
    before = dict(both.store.blobs)

    with pytest.raises(OutgrownError, match="outgrew its type int64") as refused:
        both.step(table(Row(2, whole=2**62)), watermark=0)

    assert "cast its input column to decimal(38, 0) or double" in str(refused.value)
    assert both.store.blobs == before
    out = both.step(table(Row(2, whole=2**62 - 1)), watermark=10)
    assert panes(out, "sum") == [("b", 0, "ON_TIME", 1), ("k", 0, "ON_TIME", 2**63 - 1)]


def test_a_sum_may_pass_its_limit_on_the_way_if_it_comes_back() -> None:
    both = BothMachines(plan_of(WindowingStrategy(FixedWindows(10)), "sum"))

    rows = [Row(1, whole=value) for value in (2**63 - 1, 2**63 - 1, -(2**63), -5)]
    both.step(table(*rows), watermark=0)

    assert panes(both.step(watermark=10), "sum") == [("k", 0, "ON_TIME", 2**63 - 7)]


@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
def test_decimals_are_added_up_to_38_digits_and_no_further(accumulation: str) -> None:
    strategy = WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(9)), accumulation)
    both = BothMachines(plan_of(strategy, "money_sum", "richest", on_error="fail"))
    nines = Decimal("9" * 36 + ".98")
    both.step(table(Row(1, money=nines)), watermark=0)
    both.step(table(Row(1, money=Decimal("0.01")), Row(2, money=None)), watermark=0)

    with pytest.raises(OutgrownError, match=r"outgrew its type decimal128\(38, 2\)"):
        both.step(table(Row(2, money=Decimal("0.01"))), watermark=0)

    assert panes(both.step(watermark=10), "money_sum", "richest") == [
        ("k", 0, "ON_TIME", Decimal("9" * 36 + ".99"), nines)
    ]


def test_a_decimal_that_outgrows_its_type_where_panes_stand_is_refused_alike() -> None:
    strategy = WindowingStrategy(GlobalWindows(), Repeatedly(Always()), "retracting")
    both = BothMachines(plan_of(strategy, "money_sum", on_error="fail"))
    nines = Decimal("9" * 36 + ".99")
    both.step(table(Row(1, money=nines)), watermark=0)

    with pytest.raises(OutgrownError, match=r"outgrew its type decimal128\(38, 2\)"):
        both.step(table(Row(2, money=nines)), watermark=0)


def test_floats_that_are_no_numbers_come_out_as_they_are() -> None:
    strategy = WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(1)), "accumulating")
    both = BothMachines(plan_of(strategy, "real_sum", "mean", "least", "last", "top"))

    def shown(*values: float | None) -> str:
        out = both.step(
            table(*(Row(index, real=value) for index, value in enumerate(values))), watermark=0
        )
        (pane,) = panes(out, "real_sum", "mean", "least", "last", "top")
        return repr(pane[3:])

    assert shown(None) == "(0.0, None, None, None, [])"
    assert shown(-0.0) == "(0.0, 0.0, -0.0, -0.0, [-0.0])"
    assert shown(INF, 1e308) == "(inf, inf, -0.0, 1e+308, [inf, 1e+308])"
    assert shown(-INF) == "(nan, nan, -inf, 1e+308, [inf, 1e+308])"
    assert shown(NAN) == "(nan, nan, -inf, 1e+308, [nan, inf])"


def test_a_window_of_nothing_but_nulls_is_a_window() -> None:
    both = BothMachines(plan_of(WindowingStrategy(FixedWindows(10))))

    both.step(table(Row(1, None, None), Row(2, None, None)), watermark=0)
    (row,) = both.step(watermark=10)

    assert {part.name: row[part.name] for part in PARTS} == {
        **{"n": 2, "texts": 0, "sum": 0, "real_sum": 0.0, "money_sum": Decimal("0.00")},
        **{"mean": None, "least": None, "most": None, "richest": None},
        **{"whole_set": [], "texts_set": 0, "real_set": []},
        **{"all": [None, None], "words": [], "first": None, "last": None},
        **{"top": [], "top_by": [], "sample": []},
    }


# -- unchanged panes -------------------------------------------------------------------------


def test_a_pane_whose_value_is_not_a_number_is_as_before_if_it_was_none_before() -> None:
    strategy = WindowingStrategy(FixedWindows(10), Always(), "retracting", unchanged="omit")
    both = BothMachines(plan_of(strategy, "least", "top", "words", "last"))

    first = both.step(table(Row(3, real=NAN)), watermark=0)
    again = both.step(watermark=10)

    assert [row["retraction"] for row in first] == [False]
    assert again == []


# -- windows that come along -----------------------------------------------------------------


def test_elements_with_and_without_a_window_arrive_together() -> None:
    both = BothMachines(plan_of(WindowingStrategy(Sessions(10)), "n", "all"))
    given = table(Row(3, whole=1, window=(0, 5)), Row(4, whole=2), Row(90, whole=3, window=(0, 9)))
    plain = table(Row(50, whole=4), Row(51, "b", whole=5))

    both.step(plain, given, watermark=0)
    assert panes(both.step(watermark=100), "n", "all") == [
        ("b", 51, "ON_TIME", 1, [5]),
        ("k", 0, "ON_TIME", 3, [1, 2, 3]),
        ("k", 50, "ON_TIME", 1, [4]),
    ]


def test_an_element_may_come_in_the_global_window() -> None:
    both = BothMachines(plan_of(WindowingStrategy(FixedWindows(10)), "n"))
    everything = MIN_TIMESTAMP, END_OF_GLOBAL_WINDOW + 1

    both.step(table(Row(3, window=everything), Row(4)), watermark=0)

    assert panes(both.step(watermark=10), "n") == [("k", 0, "ON_TIME", 1)]
    (row,) = both.step(watermark=MAX_TIMESTAMP)
    assert (row["window"], row["n"]) == ({"start": None, "end": None}, 1)


# -- combined before they arrive -------------------------------------------------------------


def test_rows_that_were_combined_before_count_one_by_one() -> None:
    strategy = WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(3)), "accumulating")
    plan = plan_of(strategy, "n", "sum", "all")
    both = BothMachines(plan)

    first = both.step(combined(plan, [("k", 0, 10, 4, 2), ("b", 0, 10, 9, 1)]), watermark=0)
    tables = [combined(plan, [("b", 0, 10, 1, 2)]), combined(plan, [("k", 10, 20, 11, 5)])]
    second = both.step(*tables, watermark=0)

    assert first == []
    assert panes(second, "n", "sum", "all") == [
        ("b", 0, "EARLY", 3, 3, [1, 1, 1]),
        ("k", 10, "EARLY", 5, 5, [1] * 5),
    ]


def test_what_was_combined_before_it_could_be_judged_may_be_late_together() -> None:
    plan = plan_of(WindowingStrategy(FixedWindows(10)), "n")
    both = BothMachines(plan)
    both.step(watermark=25)

    rows = [("k", 0, 10, 4, 2), ("k", 20, 30, 25, 3)]
    out = both.step(combined(plan, rows, judged=False), watermark=25)

    (drop,) = (row["__beamlike"]["dropped"] for row in out)
    assert (drop["reason"], drop["missed_ms"], drop["count"]) == ("expired", 16, 2)
    assert panes(both.step(watermark=30), "n") == [("k", 20, "ON_TIME", 3)]


def test_combined_sessions_merge_as_their_elements_would() -> None:
    plan = plan_of(WindowingStrategy(Sessions(10)), "n", "all")
    both = BothMachines(plan)
    assert Lifting(plan.strategy, combine.Count()).lift([], 0) == ((), ())

    both.step(combined(plan, [("k", 0, 12, 2, 2), ("k", 20, 30, 20, 1)]), watermark=0)
    both.step(combined(plan, [("k", 11, 21, 11, 1)]), watermark=0)

    assert panes(both.step(watermark=30), "n", "all") == [("k", 0, "ON_TIME", 4, [1] * 4)]


def test_where_the_time_of_each_element_matters_combined_ones_are_refused() -> None:
    plan = plan_of(WindowingStrategy(FixedWindows(10), timestamp_combiner="latest"), "n")

    with pytest.raises(WindowingError, match="needs the time of each"):
        BothMachines(plan).step(combined(plan, [("k", 0, 10, 4, 2)]), watermark=0)
