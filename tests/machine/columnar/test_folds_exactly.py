"""Where arithmetic on arrays could differ from that of Python: overflow, order, nulls, zeros."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.errors import OutgrownError
from beamlike.machine.columnar.arrays import choose, concat, take
from beamlike.machine.columnar.folds import base, choice, objects
from beamlike.model.combine import Collect, CombineFn, First, Latest, Max, Mean, Min, Sum, Top

GREATEST, LEAST = 2**63 - 1, -(2**63)
MONEY = pa.decimal128(38, 2)


def windows_of(fold: base.Fold, dtype: pa.DataType, *windows: Sequence[Any]) -> base.Accumulators:
    """Accumulators of windows with these values."""
    values = fold.values_of([pa.array([it for window in windows for it in window], dtype)])
    counts = np.array([len(window) for window in windows])
    first = np.cumsum(counts) - counts
    return fold.of(base.ElementsByWindow(values, np.zeros(counts.sum(), np.int64), first, counts))


def results(fold: base.Fold, accumulators: base.Accumulators, dtype: pa.DataType) -> list[Any]:
    found: list[Any] = base.values_array(fold.extract(accumulators), dtype, "it").to_pylist()
    return found


def test_a_sum_that_outgrows_its_type_on_the_way_is_right_if_it_comes_back():
    fold = choice.fold_of(Sum(), [pa.int64()])
    up = windows_of(fold, pa.int64(), [GREATEST, GREATEST, 5], [1, 2], [LEAST, LEAST])
    down = windows_of(fold, pa.int64(), [-GREATEST, -3], [3], [GREATEST, 1])

    back = fold.merge(up, down)
    merged = fold.merged(concat([up, down]), np.array([0]))

    assert fold.extract(back).to_pylist() == [GREATEST + 2, 6, LEAST]
    assert fold.extract(merged).to_pylist() == [GREATEST + 8 + LEAST]


def test_a_sum_of_very_many_of_the_greatest_numbers_is_exact():
    fold = choice.fold_of(Sum(), [pa.int64()])
    windows = windows_of(fold, pa.int64(), [GREATEST] * 1000, [LEAST] * 1000, [GREATEST, LEAST])
    assert fold.extract(windows).to_pylist() == [GREATEST * 1000, LEAST * 1000, -1]


@pytest.mark.parametrize(
    ("kind", "most", "why"),
    [
        (pa.int64(), GREATEST, "Python int too large to convert to C long"),
        (
            MONEY,
            Decimal("9" * 36 + ".99"),
            "Decimal type with precision 39 does not fit into precision inferred from first "
            "array element: 38",
        ),
    ],
)
def test_a_sum_that_does_not_fit_is_refused_where_it_rests_and_where_it_comes_out(
    kind: pa.DataType, most: Any, why: str
):
    fold = choice.fold_of(Sum(), [kind])
    found = windows_of(fold, kind, [most], [most, most])

    with pytest.raises(OutgrownError) as at_rest:
        fold.save(found)
    with pytest.raises(OutgrownError) as at_exit:
        base.values_array(fold.extract(found), kind, "total")

    assert at_rest.value.reason == f"an aggregate outgrew its type {kind}: {why}"
    assert at_exit.value.reason == f"aggregate 'total' outgrew its type {kind}: {why}"
    assert fold.save(take(found, np.array([0])))[0].to_pylist() == [most]


def test_a_sum_of_decimals_may_need_more_than_all_their_bits_on_the_way():
    fold = choice.fold_of(Sum(), [MONEY])
    most, least = Decimal("9" * 36 + ".99"), Decimal("-" + "9" * 36 + ".99")
    up = windows_of(fold, MONEY, [most] * 5, [least] * 5)
    down = windows_of(fold, MONEY, [least] * 5, [most] * 4)
    assert results(fold, fold.merge(up, down), MONEY) == [Decimal("0.00"), least]


EDGES = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST])
DIGITS = st.lists(st.tuples(EDGES, EDGES, st.integers(-9, 9)), min_size=1, max_size=5)


def number_of(digits: tuple[int, int, int]) -> int:
    return sum(digit << 64 * index for index, digit in enumerate(digits))


@given(DIGITS)
def test_sums_carry_from_any_digit_to_the_next(parts: list[tuple[int, int, int]]):
    fold = choice.fold_of(Sum(), [pa.decimal128(38, 0)])
    columns = tuple(np.array(column) for column in zip(*parts, strict=True))
    numbers = [number_of(digits) for digits in parts]

    found = [columns, fold.merge(columns, columns), fold.merged(columns, np.array([0]))]

    assert [list(map(int, fold.extract(each).to_pylist())) for each in found] == [
        numbers,
        [2 * number for number in numbers],
        [sum(numbers)],
    ]


def test_floats_are_added_one_after_the_other_in_order_of_arrival():
    fold = choice.fold_of(Sum(), [pa.float64()])
    tenths, held = [0.1] * 100, 1e16
    one_by_one = held
    for tenth in tenths:
        one_by_one += tenth
    before = windows_of(fold, pa.float64(), [held])
    values = fold.values_of([pa.array(tenths)])
    times, first, counts = np.zeros(100, np.int64), np.array([0]), np.array([100])

    after = fold.add(before, base.ElementsByWindow(values, times, first, counts))

    assert results(fold, after, pa.float64()) == [one_by_one]
    assert results(fold, before, pa.float64()) == [held]  # as it was


@pytest.mark.parametrize("fn", [Sum(), Mean()], ids=str)
def test_sums_of_floats_are_merged_one_after_the_other(fn: CombineFn):
    fold = choice.fold_of(fn, [pa.float64()])
    held = windows_of(fold, pa.float64(), [1e16], [0.5])
    parts = windows_of(fold, pa.float64(), [1.0], [1.0], [2.0], [None, 3.0])
    grown = fold.grown(held, parts, np.array([0, 3]))
    one_by_one = 1e16 + 1.0 + 1.0 + 2.0
    sums = [one_by_one, 3.5]
    wanted = sums if fn == Sum() else [one_by_one / 4, 3.5 / 2]
    assert results(fold, grown, pa.float64()) == wanted


@pytest.mark.parametrize("fn", [Min(), Max()], ids=str)
def test_of_equal_zeros_the_first_is_the_extreme(fn: CombineFn):
    fold = choice.fold_of(fn, [pa.float64()])
    windows = windows_of(fold, pa.float64(), [0.0, -0.0], [-0.0, 0.0], [None, -0.0, 0.0])
    flipped = windows_of(fold, pa.float64(), [-0.0], [0.0], [0.0])
    assert repr(results(fold, windows, pa.float64())) == "[0.0, -0.0, -0.0]"
    assert repr(results(fold, fold.merge(windows, flipped), pa.float64())) == "[0.0, -0.0, -0.0]"


def test_nan_is_the_greatest_and_a_null_no_number():
    values = [[float("nan"), 1.0], [None, float("nan")], [float("-inf"), None], [None]]
    least, most = choice.fold_of(Min(), [pa.float64()]), choice.fold_of(Max(), [pa.float64()])
    lows = results(least, windows_of(least, pa.float64(), *values), pa.float64())
    highs = results(most, windows_of(most, pa.float64(), *values), pa.float64())
    assert repr(lows) == "[1.0, nan, -inf, None]"
    assert repr(highs) == "[nan, nan, -inf, None]"


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.list_(pa.int8())], ids=str)
@pytest.mark.parametrize("fn", [Sum(), Min(), Max(), First(), Latest(), Collect(), Top(1)], ids=str)
def test_no_windows_are_no_values(fn: CombineFn, kind: pa.DataType):
    fold = choice.fold_of(fn, [kind])
    none = np.zeros(0, np.int64)
    found = fold.of(base.ElementsByWindow(fold.values_of([pa.array([], kind)]), none, none, none))
    both = fold.merge(found, fold.create(0))
    merged = fold.merged(both, none)
    assert [len(fold.extract(it).to_pylist()) for it in (found, both, merged)] == [0, 0, 0]


def test_a_subclass_of_a_function_is_another_function():
    class Doubled(Sum):
        def extract(self, accumulator: Any) -> Any:
            return 2 * accumulator

    fold = choice.fold_of(Doubled(), [pa.int64()])

    assert isinstance(fold, objects.Objects)
    assert fold.extract(windows_of(fold, pa.int64(), [1, 2])).to_pylist() == [6]


def test_accumulators_of_any_kind_can_be_chosen_row_by_row():
    lists, firsts = choice.fold_of(Collect(), [pa.string()]), choice.fold_of(First(), [pa.string()])
    mask = np.array([True, False])
    kept = [
        choose(mask, windows_of(fold, pa.string(), ["a", "b"], ["c"]), fold.create(2))
        for fold in (lists, firsts)
    ]
    assert results(lists, kept[0], pa.list_(pa.string())) == [["a", "b"], []]
    assert results(firsts, kept[1], pa.string()) == ["a", None]
