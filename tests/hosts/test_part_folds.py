"""Aggregates as folds: what one machine leaves in state the other reads, for every aggregate.

The reference machine's accumulators are those of the combine function, laid out by the plan.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from beamlike.machine.columnar.arrays import put
from beamlike.machine.columnar.folds.base import Accumulators, ElementsByWindow
from beamlike.machine.columnar.folds.objects import Objects
from beamlike.model.combine import Collect, CombineFn, Sum
from beamlike.model.combine.isolated import isolated
from beamlike.runtime.accumulator_columns import PickledColumn, PlainColumn
from beamlike.runtime.checked_combine_fns import UserMade
from beamlike.runtime.columnar_arrivals import fold_of_part, inputs_of_part
from beamlike.runtime.plan import Part
from tests.support.examples import examples
from tests.support.machines.every_aggregate import bind, every_aggregate
from tests.support.sums import Added

NAN = float("nan")
NOON = datetime(2020, 1, 1, 12)

COLUMNS: dict[str, tuple[T.DataType, list[Any]]] = {
    "tiny": (T.ByteType(), [1, -128, 127]),
    "short": (T.ShortType(), [300, -300]),
    "int": (T.IntegerType(), [2**31 - 1, -5, 0]),
    "whole": (T.LongType(), [3, -1, 7, 2**40]),
    "single": (T.FloatType(), [0.5, NAN, -0.0]),
    "real": (T.DoubleType(), [0.5, NAN, -0.0, 0.0, float("inf")]),
    "money": (T.DecimalType(7, 2), [Decimal("1.50"), Decimal("-0.05"), Decimal("99999.99")]),
    "fortune": (T.DecimalType(38, 2), [Decimal("184467440737095516.16"), Decimal("-0.01")]),
    "day": (T.DateType(), [date(2020, 1, 3), date(1969, 12, 31), date(1, 1, 1)]),
    "moment": (T.TimestampType(), [NOON.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
    "local": (T.TimestampNTZType(), [NOON, datetime.min]),
    "text": (T.StringType(), ["b", "", "é", "\U0001f600"]),
    "bits": (T.BinaryType(), [b"\x00", b"", b"\xff"]),
    "flag": (T.BooleanType(), [True, False]),
    "tags": (T.ArrayType(T.StringType()), [["a"], [], ["a", None]]),
    "place": (
        T.StructType([T.StructField("x", T.LongType()), T.StructField("y", T.DoubleType())]),
        [{"x": 1, "y": 0.5}, {"x": None, "y": NAN}],
    ),
    "marks": (T.MapType(T.StringType(), T.LongType()), [[("a", 1)], [], [("b", None)]]),
    "nothing": (T.NullType(), [None]),
}
KINDS = {name: kind for name, (kind, _) in COLUMNS.items()}
BOUND = bind(KINDS, every_aggregate(KINDS, by="whole", shown="tags", texts_as_numbers=True))


def rows_of(numbers: Sequence[int]) -> pa.Table:
    """Rows in two pieces, whose values the numbers choose; about one of six is null."""
    columns = {}
    for index, (label, kind) in enumerate(BOUND.values.items()):
        name = label.partition(" as ")[0]
        values = COLUMNS[name][1]
        if name == "text" and kind != pa.string():
            values = [1.5, None]  # the numbers in them
        elif kind == pa.float64():
            values = [float(value) for value in values]
        chosen = [
            None if number // 7**index % 6 == 0 else values[number // 7**index % len(values)]
            for number in numbers
        ]
        pieces = [pa.array(chosen[:2], kind), pa.array(chosen[2:], kind)]
        columns[f"value_{label}"] = pa.chunked_array(pieces, kind)
    return pa.table({"key_k": pa.array([0] * len(numbers)), **columns})


def by_function(part: Part, table: pa.Table, windows: Sequence[Sequence[int]]) -> list[Any]:
    """The accumulators of windows with these rows, as the reference machine has them."""
    columns = [table.column(f"value_{name}").to_pylist() for name in BOUND.values]

    def element(row: int) -> Any:
        if isinstance(part.input, tuple):
            return tuple(columns[at][row] for at in part.input)
        return () if part.input is None else columns[part.input][row]

    return [
        part.fn.add(part.fn.create(), [element(row) for row in rows], list(rows))
        if rows
        else part.fn.create()
        for rows in windows
    ]


def by_fold(part: Part, table: pa.Table, windows: Sequence[Sequence[int]]) -> Accumulators:
    fold = fold_of_part(part, BOUND.values)
    filled = [index for index, rows in enumerate(windows) if rows]
    counts = np.array([len(windows[at]) for at in filled])
    times = np.arange(table.num_rows)
    values, first = inputs_of_part(part, fold, table), np.cumsum(counts) - counts
    more = fold.of(ElementsByWindow(values, times, first, counts))
    return put(fold.create(len(windows)), np.array(filled), more)


def words(arrays: Sequence[pa.Array]) -> list[str]:
    """Types and values. NaN equals itself, 0.0 not -0.0."""
    return [f"{array.type} {array.to_pylist()}" for array in arrays]


def inside(arrays: Sequence[pa.Array]) -> list[pa.Array]:
    """The same arrays, not at the beginning of their memory."""
    return [pa.concat_arrays([array, array]).slice(len(array)) for array in arrays]


def windows_of(lengths: Sequence[int]) -> list[range]:
    ends = np.cumsum(lengths).tolist()
    return [range(end - length, end) for end, length in zip(ends, lengths, strict=True)]


@settings(max_examples=examples(25))
@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any), data=st.data())
def test_state_of_either_machine_is_state_of_the_other(lengths: list[int], data: st.DataObject):
    numbers = data.draw(
        st.lists(st.integers(0, 7**60), min_size=sum(lengths), max_size=sum(lengths))
    )
    table, windows = rows_of(numbers), windows_of(lengths)
    for part in BOUND.parts.values():
        fold = fold_of_part(part, BOUND.values)
        theirs = part.columns.encode(by_function(part, table, windows))
        ours = fold.save(by_fold(part, table, windows))
        assert words(ours) == words(theirs), part.name
        for array in ours:
            array.validate(full=True)
        assert words(fold.save(fold.load(inside(theirs)))) == words(theirs), part.name
        assert repr(part.columns.decode(ours)) == repr(part.columns.decode(theirs)), part.name


def test_the_aggregates_that_are_run_window_by_window_are_those_without_columns():
    by_window = {
        name
        for name, part in BOUND.parts.items()
        if isinstance(fold_of_part(part, BOUND.values), Objects)
    }
    lists = (
        "sample",
        "distinct",
        "top",
        "bottom",
        "top_by",
        "bottom_by",
        "min_by",
        "max_by",
        "quantiles",
    )
    wanted = {name for name in BOUND.parts if name.endswith(lists) or name.startswith("tags_by")}
    nested = ("tags", "place", "nothing")
    wanted |= {f"{it}_{fold}" for it in nested for fold in ("set", "different")}
    assert by_window == wanted | {"nothing_min", "nothing_max"}


def test_state_that_rests_otherwise_is_run_window_by_window():
    number = pa.int64()
    part = Part("all", Collect(), 0, PickledColumn(), pa.list_(number))
    fold = fold_of_part(part, {"x": number})
    table = pa.table({"value_x": pa.array([3, None, 5])})
    values = inputs_of_part(part, fold, table)
    accumulators = fold.of(
        ElementsByWindow(values, np.arange(3), np.array([0, 2]), np.array([2, 1]))
    )
    assert fold.extract(fold.load(fold.save(accumulators))).to_pylist() == [[3, None], [5]]


class Own(Added):
    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + 2 * len(values)


class Special(Sum):
    """Whoever changes a function has one of their own."""


@pytest.mark.parametrize(
    "fn", [UserMade("own", Own(), pa.int64(), "bigint", None), Own(), Special()]
)
def test_a_function_of_ones_own_is_folded_as_it_is(fn: CombineFn):
    part = Part("own", fn, 0, PlainColumn(pa.int64()), pa.int64())
    fold = fold_of_part(part, {"x": pa.int64()})
    assert isinstance(fold, Objects)
    assert fold.fn == isolated(fn)
    assert str(fold.fn) == str(fn)
