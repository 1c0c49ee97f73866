"""Aggregates for DataFrames: what `beamlike.windowed` computes for each pane.

As in SQL, a null value does not count, add up or get collected. An empty pane shows 0 for
counts, null for sums, means, extremes, the first and the last, the empty list for lists.

Parameters such as ``n`` and ``fractions`` are checked here, columns when the aggregate meets its
DataFrame.
"""

from collections.abc import Sequence
from typing import Any, Literal

import attrs

from beamlike.errors import CombineError
from beamlike.model import combine as combine_fns
from beamlike.model.combine import CombineFn
from beamlike.model.combine.ranked import ExtremeBy, RankedBy
from beamlike.model.combine.sql import SqlSum
from beamlike.model.combine.steps import InSteps, as_combine_fn
from beamlike.model.readable import Readable

__all__ = [
    "Aggregate",
    "approx_distinct",
    "approx_quantiles",
    "bottom",
    "collect",
    "collect_set",
    "combine",
    "count",
    "count_distinct",
    "first",
    "last",
    "max",
    "max_by",
    "mean",
    "min",
    "min_by",
    "sample",
    "sum",
    "top",
]

Kind = Literal[
    "count",
    "sum",
    "mean",
    "min",
    "max",
    "collect",
    "count_distinct",
    "collect_set",
    "first",
    "last",
    "top",
    "bottom",
    "min_by",
    "max_by",
    "sample",
    "approx_quantiles",
    "approx_distinct",
    "combine",
]


@attrs.frozen
class Aggregate(metaclass=Readable):
    """One aggregate: a combine function over columns.

    Args:
        kind: The function's name in this module; it decides the types.
        fn: The combine function.
        columns: Empty for a count of rows. With two or more, elements are tuples of their values.
        returns: The type of the result as DDL, of a `combine` only.
        accumulator: The type of the accumulator as DDL, of a `combine` only.

    >>> sum("price").columns
    ('price',)
    """

    kind: Kind
    fn: CombineFn
    columns: tuple[str, ...] = ()
    returns: str | None = None
    accumulator: str | None = None


def count(column: str | None = None) -> Aggregate:
    """How many rows, or with a column how many values that are not null. Type: bigint.

    >>> fn = count("delay").fn
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    2
    """
    if column is None:
        return Aggregate("count", combine_fns.Count())
    return Aggregate("count", combine_fns.CountValues(), (column,))


def sum(column: str) -> Aggregate:
    """The sum of a column of numbers or intervals of days; null if all values are null.

    Type: as of Spark's ``sum``. Of whole numbers bigint, of ``decimal(p, s)``
    ``decimal(p + 10, s)`` with 38 digits at most, of other numbers double.

    >>> fn = sum("delay").fn
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    12
    """
    return Aggregate("sum", SqlSum(), (column,))


def mean(column: str) -> Aggregate:
    """The mean of a column of numbers or intervals of days; null if all values are null.

    Type: as of Spark's ``avg``. Of ``decimal(p, s)`` ``decimal(p + 4, s + 4)`` with 38 digits at
    most, rounded half up; of other numbers double.

    >>> fn = mean("delay").fn
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    6.0
    """
    return Aggregate("mean", combine_fns.Mean(), (column,))


def min(column: str) -> Aggregate:
    """The least value of a column. Type: the column's.

    >>> fn = min("delay").fn
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    5
    """
    return Aggregate("min", combine_fns.Min(), (column,))


def max(column: str) -> Aggregate:
    """The greatest value of a column. Type: the column's.

    >>> fn = max("delay").fn
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    7
    """
    return Aggregate("max", combine_fns.Max(), (column,))


def collect(column: str) -> Aggregate:
    """All values of a column, in no guaranteed order. Type: array of the column's type.

    Nulls are left out, as by ``collect_list`` of Spark. ``Collect()``, which tests and pipelines
    take, keeps them, as Beam does.

    >>> fn = collect("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", None, "tea"], [0, 0, 0]))
    ['tea', 'tea']
    """
    return Aggregate("collect", combine_fns.Collect(keep_nulls=False), (column,))


def collect_set(column: str) -> Aggregate:
    """The different values of a column, the least first. Type: array of the column's type.

    Nulls are left out, as by ``collect_set`` of Spark, which guarantees no order. NaN is one value,
    greater than all numbers, and -0.0 is 0.0. An array or a struct is compared item by item, nulls
    first. In an accumulating pane all values of the window are in it, in a discarding one those of
    its own elements.

    See: `beamlike.combine_fns.CollectSet`.

    >>> fn = collect_set("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "tea"], [0, 0, 0]))
    ['milk', 'tea']
    """
    return Aggregate("collect_set", combine_fns.CollectSet(), (column,))


def count_distinct(column: str) -> Aggregate:
    """How many different values a column has, exactly. Type: bigint.

    Nulls do not count, and values are different as in `collect_set`. State holds each of them;
    `approx_distinct` needs some kilobytes for any number.

    The counts of discarding panes do not add up to that of the window: a value in two panes
    counts in both.

    See: `beamlike.combine_fns.CountDistinct`.

    >>> fn = count_distinct("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "tea"], [0, 0, 0]))
    2
    """
    return Aggregate("count_distinct", combine_fns.CountDistinct(), (column,))


def first(column: str) -> Aggregate:
    """The value with the least event time, the first to arrive among equals. Type: the column's.

    >>> fn = first("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "salt"], [20, 10, 30]))
    'milk'
    """
    return Aggregate("first", combine_fns.First(keep_nulls=False), (column,))


def last(column: str) -> Aggregate:
    """The value with the greatest event time, the last to arrive among equals.

    Type: the column's.

    >>> fn = last("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "salt"], [20, 10, 30]))
    'salt'
    """
    return Aggregate("last", combine_fns.Latest(keep_nulls=False), (column,))


def top(column: str, n: int, by: str | None = None) -> Aggregate:
    """The ``n`` greatest values, the greatest first. Type: array of the column's type.

    With ``by``, the values of the rows in which that column is greatest. Of rows that are equal by
    it the earliest is first, and of equal event times the one with the least value. NaN is greater
    than all numbers, as in SQL. A row with a null in either column is left out.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more.

    >>> fn = top("item", 2, by="price").fn
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5), ("milk", 3)], [0, 0, 0]))
    ['cake', 'milk']
    """
    return _ranked("top", column, n, by)


def bottom(column: str, n: int, by: str | None = None) -> Aggregate:
    """The ``n`` least values, the least first; otherwise as `top`.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more.

    >>> fn = bottom("price", 2).fn
    >>> fn.extract(fn.add(fn.create(), [2, 5, 3], [0, 0, 0]))
    [2, 3]
    """
    return _ranked("bottom", column, n, by)


def min_by(column: str, by: str) -> Aggregate:
    """The value of the row in which another column is least. Type: the column's.

    The value may be null. Rows in which ``by`` is null are left out, NaN is greater than all
    numbers. Of rows that are equal by it the earliest counts, and of equal event times the one with
    the least value.

    Source: Spark ``min_by``, which takes any of equal rows.

    >>> fn = min_by("item", by="price").fn
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5), ("milk", 3)], [0, 0, 0]))
    'tea'
    """
    return Aggregate("min_by", ExtremeBy(smallest=True), (column, by))


def max_by(column: str, by: str) -> Aggregate:
    """The value of the row in which another column is greatest; otherwise as `min_by`.

    Source: Spark ``max_by``.

    >>> fn = max_by("item", by="price").fn
    >>> fn.extract(fn.add(fn.create(), [("tea", 2), ("cake", 5), ("milk", 3)], [0, 0, 0]))
    'cake'
    """
    return Aggregate("max_by", ExtremeBy(), (column, by))


def _ranked(extreme: Literal["top", "bottom"], column: str, n: int, by: str | None) -> Aggregate:
    smallest = extreme == "bottom"
    if by is None:
        return Aggregate(extreme, combine_fns.Top(n, smallest=smallest), (column,))
    return Aggregate(extreme, RankedBy(n, smallest=smallest), (column, by))


def sample(column: str, n: int, seed: int = 0) -> Aggregate:
    """``n`` values drawn without replacement. Type: array of the column's type.

    The same rows give the same sample, in the same order. Rows of equal value and equal event
    time are drawn all or none: where rows must be distinguished, sample a column that differs.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more, or ``seed`` is no whole number.

    See: `beamlike.combine_fns.Sample`.

    >>> fn = sample("item", 9).fn
    >>> fn.extract(fn.add(fn.create(), ["tea", None, "tea"], [0, 0, 0]))
    ['tea', 'tea']
    """
    return Aggregate("sample", combine_fns.Sample(n, seed, keep_nulls=False), (column,))


def approx_quantiles(
    column: str, fractions: int | Sequence[float], compression: int = 200
) -> Aggregate:
    """Estimates of quantiles of a numeric column, in the order of ``fractions``.

    Type: array of double. Exact for up to 100 values, and for the fractions 0 and 1. NaN and
    infinities are not counted.

    Args:
        column: The numeric column.
        fractions: ``[0.5, 0.99]``, or how many quantiles at equal distances: 5 stands for
            ``[0, 0.25, 0.5, 0.75, 1]``.
        compression: The size of the sketch; more is more exact.

    Raises:
        CombineError: A fraction lies outside 0 to 1, or there is none.
        EnvironmentProblem: ``pip install "beamlike[sketches]"`` is missing.

    See: `beamlike.combine_fns.ApproxQuantiles`.

    >>> fn = approx_quantiles("delay", [0, 0.5, 1]).fn
    >>> fn.extract(fn.add(fn.create(), [5, 9, 7], [0, 0, 0]))
    [5.0, 7.0, 9.0]
    """
    fn = combine_fns.ApproxQuantiles(fractions, compression)
    return Aggregate("approx_quantiles", fn, (column,))


def approx_distinct(column: str, precision: int = 12) -> Aggregate:
    """An estimate of how many different values a column has. Type: bigint.

    Exact for some hundred values; beyond that the standard error is 1.6 %.

    Args:
        column: A column of any type.
        precision: From 7 to 21. Each step more doubles the state, 4 kB by default, and divides
            the error by 1.4.

    Raises:
        CombineError: The precision is outside its range.
        EnvironmentProblem: ``pip install "beamlike[sketches]"`` is missing.

    See: `beamlike.combine_fns.ApproxDistinct`.

    >>> fn = approx_distinct("item").fn
    >>> fn.extract(fn.add(fn.create(), ["tea", "milk", "tea"], [0, 0, 0]))
    2
    """
    return Aggregate("approx_distinct", combine_fns.ApproxDistinct(precision), (column,))


def combine(
    fn: CombineFn | InSteps,
    columns: str | Sequence[str],
    returns: str = "double",
    accumulator: str | None = None,
) -> Aggregate:
    """A combine function of your own.

    Nulls reach it as None. Values are those of Python: int, float, str, Decimal, date, datetime
    (with a zone, unless the column is ``timestamp_ntz``), list for an array, dict for a struct,
    list of pairs for a map.

    State of a query belongs to ``str(fn)``: by default its class and its parameters. Changing
    what the code does without changing that is not noticed.

    Args:
        fn: The function, a `CombineFn` or one of ``beamlike.beam``.
            `beamlike.testing.check_combine_fn` checks it.
        columns: The column whose values are the elements. Of several columns the elements are
            tuples.
        returns: The type of the result, as DDL: ``"double"``, ``"array<string>"``,
            ``"struct<low: int, high: int>"``.
        accumulator: The type of the accumulator, as DDL. Then state is a typed column, which can
            be read without running user code; accumulators must be equal to what comes back from
            that type: lists and not tuples for an array, dicts for a struct. Default None: state
            is pickled. It can then only be read where the classes in it can be imported.

    Raises:
        CombineError: ``fn`` is no combine function, or a type is no text. When the aggregate meets
            its DataFrame: a type cannot be read, or a fresh accumulator or its result does
            not fit it. In the query: an accumulator or a result does not fit its type.

    >>> from beamlike.combine_fns import Top
    >>> words = combine(Top(2, by=len), "word", returns="array<string>")
    >>> fn = words.fn
    >>> fn.extract(fn.add(fn.create(), ["a", "ccc", "bb"], [0, 0, 0]))
    ['ccc', 'bb']
    """
    adapted = as_combine_fn(fn)
    if adapted is None:
        hint = f"; write {fn.__name__}()" if isinstance(fn, type) else ""
        raise CombineError(f"combine fn must be a combine function, got {fn!r}{hint}")
    names = (columns,) if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names:
        raise CombineError(
            f"combine columns must be a column's name or a list of names, got {columns!r}"
        )
    _check_type("returns", returns)
    if accumulator is not None:
        _check_type("accumulator", accumulator)
    return Aggregate("combine", adapted, tuple(names), returns, accumulator)


def _check_type(argument: str, dtype: Any) -> None:
    if not isinstance(dtype, str):
        raise CombineError(
            f'combine {argument} must be a type in words such as "double", got {dtype!r}'
        )
