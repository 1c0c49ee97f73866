"""Folds over columns against their combine functions: random elements in random bundles, windows
that merge, and more elements after that. Everything is compared, down to the sign of zero.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.errors import OutgrownError
from beamlike.machine.columnar.arrays import put, take
from beamlike.machine.columnar.folds.base import Accumulators, ElementsByWindow, Fold, values_array
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.machine.columnar.folds.objects import Objects
from beamlike.model import combine
from tests.support.examples import examples

NAN, INFINITE = float("nan"), float("inf")
NOON = datetime(2020, 1, 1, 12)
MOST = "9" * 36 + ".99"
MONEY, PRICE = pa.decimal128(38, 2), pa.decimal128(7, 2)
TAGS = pa.list_(pa.string())
POINT = pa.struct([("x", pa.int64()), ("y", pa.string())])

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, 127, 0, 1, -1, 5],
    pa.int16(): [-(2**15), 2**15 - 1, 0, 1, -1],
    pa.int32(): [-(2**31), 2**31 - 1, 0, 1, -1],
    pa.int64(): [-(2**63), 2**63 - 1, 2**62, 0, 1, -1, 7, 2**32, -(2**32) - 1],
    pa.uint64(): [2**64 - 1, 2**63, 0, 1],
    pa.float32(): [0.0, -0.0, NAN, INFINITE, -INFINITE, 0.5, -1.5],
    # Such sums are exact in any order: Python 3.12 adds in another way than 3.11.
    pa.float64(): [0.0, -0.0, NAN, INFINITE, -INFINITE, 0.5, -1.5, 2.0**40],
    pa.bool_(): [True, False],
    pa.date32(): [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31), date(2020, 1, 1)],
    pa.timestamp("us"): [datetime.min, datetime.max, NOON, NOON + timedelta(microseconds=1)],
    pa.timestamp("us", "UTC"): [NOON.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)],
    pa.time64("us"): [time.min, time.max, time(12)],
    pa.duration("us"): [timedelta(0), timedelta(days=-100), timedelta(microseconds=1)],
    pa.string(): ["", "a", "b", "é", "\uffff", "\U0001f600", "ab"],
    pa.binary(): [b"", b"\x00", b"\xff", b"a"],
    PRICE: [Decimal("-0.01"), Decimal("0.00"), Decimal("99999.99"), Decimal("1.50")],
    MONEY: [Decimal(it) for it in (MOST, f"-{MOST}", "-0.01", "184467440737095516.16", "0.5")],
    TAGS: [[], ["a"], ["a", None], ["bc", "", "d"]],
    POINT: [{"x": 1, "y": "a"}, {"x": None, "y": None}, {"x": 2, "y": "b"}],
    pa.map_(pa.string(), pa.int64()): [[], [("a", 1)], [("b", None), ("a", 2)]],
    pa.null(): [None],
}
ORDERED = [kind for kind in VALUES if not pa.types.is_nested(kind) and kind != pa.null()]


@attrs.frozen
class Case:
    """A function over values of some types, and the type of what it gives."""

    fn: combine.CombineFn
    kinds: tuple[pa.DataType, ...]
    result: pa.DataType

    def __str__(self) -> str:
        return f"{self.fn} of {', '.join(map(str, self.kinds))}"


def each(
    fn: combine.CombineFn,
    kinds: Sequence[pa.DataType],
    result: Callable[[Any], Any] = lambda kind: kind,
) -> list[Case]:
    return [Case(fn, (kind,), result(kind)) for kind in kinds]


OVER_COLUMNS = {
    "counts": [
        Case(combine.Count(), (), pa.int64()),
        *each(combine.CountValues(), list(VALUES), lambda kind: pa.int64()),
    ],
    "sums and means": [
        *each(combine.Sum(), [pa.int64(), pa.float64(), MONEY]),
        Case(combine.Sum(), (PRICE,), MONEY),
        Case(combine.Mean(), (pa.float64(),), pa.float64()),
    ],
    "extremes": [*each(combine.Min(), ORDERED), *each(combine.Max(), ORDERED)],
    "first and last": [
        case
        for keep in (True, False)
        for fn in (combine.First(keep), combine.Latest(keep))
        for case in each(fn, list(VALUES))
    ],
    "lists": [
        case
        for keep in (True, False)
        for case in each(combine.Collect(keep), list(VALUES), pa.list_)
    ],
    "distinct": [
        *each(combine.CollectSet(), ORDERED, pa.list_),
        *each(combine.CountDistinct(), ORDERED, lambda kind: pa.int64()),
    ],
}

PLACES = pa.list_(POINT)
BY_WINDOW = {
    "sums and means": [
        Case(combine.Sum(), (pa.int32(),), pa.int64()),
        Case(combine.Mean(), (pa.int64(),), pa.float64()),
        *each(combine.Min(), [pa.null()]),
    ],
    "lists": [
        *each(combine.CollectByTimestamp(), [pa.string(), POINT], pa.list_),
        *each(combine.Top(2), ORDERED, pa.list_),
        *each(combine.Top(2, smallest=True), ORDERED, pa.list_),
        Case(combine.TopBy(2), (POINT, pa.float64()), PLACES),
        Case(combine.TopBy(1, smallest=True), (POINT, pa.int64()), PLACES),
        *each(combine.Sample(2, keep_nulls=False), list(VALUES), pa.list_),
    ],
    "distinct": [
        *each(combine.CollectSet(), [TAGS, POINT, pa.null()], pa.list_),
        *each(combine.CountDistinct(), [TAGS, POINT, pa.null()], lambda kind: pa.int64()),
    ],
    "sketches": [
        *each(combine.ApproxQuantiles(3), [pa.float64()], lambda kind: pa.list_(kind)),
        *each(combine.ApproxDistinct(), list(VALUES), lambda kind: pa.int64()),
    ],
}

WINDOWS = 4
Row = tuple[int, int, int]
"""The window of an element, a number that chooses its values, and its event time."""


@attrs.frozen
class History:
    """Bundles of elements, then windows that merge, then bundles again.

    ``first`` has for each merged window the first of its parts.
    """

    before: list[list[Row]]
    first: list[int]
    after: list[list[Row]]


def bundles(windows: int) -> st.SearchStrategy[list[list[Row]]]:
    row = st.tuples(st.integers(0, windows - 1), st.integers(0, 10**6), st.integers(-2, 2))
    return st.lists(st.lists(row, min_size=1, max_size=15), max_size=3)


HISTORIES = (
    st.sets(st.integers(1, WINDOWS - 1))
    .map(lambda ends: [0, *sorted(ends)])
    .flatmap(
        lambda first: st.builds(History, bundles(WINDOWS), st.just(first), bundles(len(first)))
    )
)


def value(dtype: pa.DataType, number: int) -> Any:
    """One of the type's values; about one of six is null."""
    values = VALUES[dtype]
    return None if number % 6 == 0 else values[number % len(values)]


def by_function(case: Case, history: History) -> list[list[Any]]:
    """The accumulators after each step, by the function."""
    fn = case.fn

    def element(number: int) -> Any:
        values = tuple(value(kind, number // 7**index) for index, kind in enumerate(case.kinds))
        return values[0] if len(values) == 1 else values

    def added(held: list[Any], bundle: list[Row]) -> list[Any]:
        held = list(held)
        for window in {window for window, _, _ in bundle}:
            rows = [row for row in bundle if row[0] == window]
            values, times = [element(number) for _, number, _ in rows], [at for *_, at in rows]
            held[window] = fn.compact(fn.add(held[window], values, times))
        return held

    steps = [[fn.create() for _ in range(WINDOWS)]]
    for bundle in history.before:
        steps.append(added(steps[-1], bundle))
    ends = [*history.first[1:], WINDOWS]
    runs = [steps[-1][a:b] for a, b in zip(history.first, ends, strict=True)]
    steps.append([fn.compact(reduce(fn.merge, run)) for run in runs])
    for bundle in history.after:
        steps.append(added(steps[-1], bundle))
    return steps


def by_fold(case: Case, fold: Fold, history: History) -> list[Accumulators]:
    """The same by the fold."""

    def added(held: Accumulators, bundle: list[Row]) -> Accumulators:
        bundle = sorted(bundle, key=lambda row: row[0])
        windows, first, counts = np.unique(
            [window for window, _, _ in bundle], return_index=True, return_counts=True
        )
        columns = [
            part_of_more([value(kind, number // 7**index) for _, number, _ in bundle], kind)
            for index, kind in enumerate(case.kinds)
        ]
        times = np.array([at for *_, at in bundle], np.int64)
        elements = ElementsByWindow(fold.values_of(columns), times, first, counts)
        more = fold.add(take(held, windows), elements)
        return put(held, windows, more)

    steps = [fold.create(WINDOWS)]
    for bundle in history.before:
        steps.append(added(steps[-1], bundle))
    steps.append(fold.merged(steps[-1], np.array(history.first)))
    for bundle in history.after:
        steps.append(added(steps[-1], bundle))
    return steps


def part_of_more(values: Sequence[Any], dtype: pa.DataType) -> pa.Array:
    """An array that does not begin where its memory does, with anything under its nulls."""
    more = VALUES[dtype][:3]
    values = [*more, *values, *more]
    array = pa.array(values, dtype)
    if array.null_count and not pa.types.is_nested(dtype) and dtype != pa.null():
        there = np.packbits([value is not None for value in values], bitorder="little")
        filled = pa.array([more[0] if value is None else value for value in values], dtype)
        buffers = [pa.py_buffer(there), *filled.buffers()[1:]]
        array = pa.Array.from_buffers(dtype, len(values), buffers)
    return array.slice(len(more), len(values) - 2 * len(more))


def shown(column: Callable[[], pa.Array]) -> str:
    """The values of panes as they come out, or why they do not. NaN equals itself, 0.0 not -0.0."""
    try:
        return repr(column().to_pylist())
    except OutgrownError as error:
        return error.reason


def shown_values(values: list[Any], dtype: pa.DataType) -> str:
    try:
        return repr(pa.array(values, dtype).to_pylist())
    except (OverflowError, pa.ArrowInvalid) as error:
        return f"aggregate 'it' outgrew its type {dtype}: {error}"


def differences(case: Case, fold: Fold, history: History) -> list[str]:
    """What the fold says otherwise than the function."""
    found = by_fold(case, fold, history)
    panes = [
        shown(lambda held=held: values_array(fold.extract(held), case.result, "it"))
        for held in found
    ]
    wanted = [
        shown_values([case.fn.extract(one) for one in held], case.result)
        for held in by_function(case, history)
    ]
    return [
        f"{case}, step {step}: {pane} instead of {want}"
        for step, (pane, want) in enumerate(zip(panes, wanted, strict=True))
        if pane != want
    ]


@pytest.mark.parametrize("cases", OVER_COLUMNS.values(), ids=OVER_COLUMNS)
@settings(max_examples=examples(40))
@given(history=HISTORIES)
def test_over_columns_a_fold_says_what_its_function_says(cases: list[Case], history: History):
    folds = [fold_of(case.fn, case.kinds) for case in cases]
    assert not any(isinstance(fold, Objects) for fold in folds)
    pairs = zip(cases, folds, strict=True)
    assert [line for case, fold in pairs for line in differences(case, fold, history)] == []


@pytest.mark.parametrize("cases", BY_WINDOW.values(), ids=BY_WINDOW)
@settings(max_examples=examples(15))
@given(history=HISTORIES)
def test_window_by_window_a_fold_says_what_its_function_says(cases: list[Case], history: History):
    folds = [fold_of(case.fn, case.kinds) for case in cases]
    assert all(isinstance(fold, Objects) for fold in folds)
    pairs = zip(cases, folds, strict=True)
    assert [line for case, fold in pairs for line in differences(case, fold, history)] == []
