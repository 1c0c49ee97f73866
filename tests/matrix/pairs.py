"""Every aggregate of beamlike beside what is the same in Spark."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import attrs
from pyspark.sql import Column
from pyspark.sql import functions as F

import beamlike as bl

Order = Literal["as it is", "any", "any of equal ones"]


@attrs.frozen
class Pair:
    """An aggregate of a column ``v``, and what Spark has in its place.

    Args:
        ours: The aggregate, of the names of the column, of the one with its values' numbers and of
            the one with the places of rows.
        spark: What Spark has, of the same.
        order: Of a list: whether its order means something, or only that of items that differ.
        sums: Whether values are added up.
        in_sessions: What Spark has in its place in session windows; None: the same.
    """

    ours: Callable[[str, str, str], Any]
    spark: Callable[[str, str, str], Column]
    order: Order = "as it is"
    sums: bool = False
    in_sessions: Callable[[str, str, str], Column] | None = None


def _sorted(v: str, n: str, greatest: bool) -> Column:
    """The numbers of values in the order of the values."""
    rows = F.collect_list(F.when(F.col(v).isNotNull(), F.struct(v, n)))
    return F.transform(F.sort_array(rows, asc=not greatest), lambda row: row[n])


def _finite_ends(v: str, *_: str) -> Column:
    number = F.col(v).cast("double")
    finite = F.when(~F.isnan(number) & (F.abs(number) < float("inf")), number)
    ends = F.array(F.min(finite), F.max(finite))
    return F.when(F.count(finite) > 0, ends).otherwise(F.array().cast("array<double>"))


def _by_time(extreme: Callable[..., Column]) -> Callable[..., Column]:
    """The value at the least or greatest time, of the values that are not null."""
    return lambda v, *_: extreme(v, F.when(F.col(v).isNotNull(), F.col("at")))


PAIRS: Final[Mapping[str, Pair]] = {
    "count": Pair(lambda v, *_: bl.count(v), lambda v, *_: F.count(v)),
    "sum": Pair(lambda v, *_: bl.sum(v), lambda v, *_: F.sum(v), sums=True),
    "mean": Pair(lambda v, *_: bl.mean(v), lambda v, *_: F.avg(v), sums=True),
    "min": Pair(lambda v, *_: bl.min(v), lambda v, *_: F.min(v), "any of equal ones"),
    "max": Pair(lambda v, *_: bl.max(v), lambda v, *_: F.max(v), "any of equal ones"),
    "first": Pair(lambda v, *_: bl.first(v), _by_time(F.min_by)),
    "last": Pair(lambda v, *_: bl.last(v), _by_time(F.max_by)),
    "min_by": Pair(lambda v, n, p: bl.min_by(n, by=v), lambda v, n, p: F.min_by(n, v)),
    "max_by": Pair(lambda v, n, p: bl.max_by(n, by=v), lambda v, n, p: F.max_by(n, v)),
    "value of min_by": Pair(
        lambda v, n, p: bl.min_by(v, by=p), lambda v, n, p: F.min_by(v, F.col(p))
    ),
    "top": Pair(
        lambda v, *_: bl.top(v, 2),
        lambda v, *_: F.slice(F.sort_array(F.collect_list(v), asc=False), 1, 2),
        "any of equal ones",
    ),
    "bottom": Pair(
        lambda v, *_: bl.bottom(v, 2),
        lambda v, *_: F.slice(F.sort_array(F.collect_list(v)), 1, 2),
        "any of equal ones",
    ),
    "top by": Pair(
        lambda v, n, p: bl.top(n, 3, by=v),
        lambda v, n, p: F.slice(_sorted(v, n, greatest=True), 1, 3),
    ),
    "bottom by": Pair(
        lambda v, n, p: bl.bottom(n, 3, by=v),
        lambda v, n, p: F.slice(_sorted(v, n, greatest=False), 1, 3),
    ),
    "collect": Pair(lambda v, *_: bl.collect(v), lambda v, *_: F.collect_list(v), "any"),
    "sample": Pair(lambda v, *_: bl.sample(v, 99), lambda v, *_: F.collect_list(v), "any"),
    "collect_set": Pair(lambda v, *_: bl.collect_set(v), lambda v, *_: F.collect_set(v), "any"),
    "count_distinct": Pair(
        lambda v, *_: bl.count_distinct(v),
        lambda v, *_: F.count_distinct(v),
        # Spark counts a value once for each of the sessions that it merges: two booleans are three.
        in_sessions=lambda v, *_: F.size(F.collect_set(v)).cast("bigint"),
    ),
    "approx_distinct": Pair(
        lambda v, *_: bl.approx_distinct(v), lambda v, *_: F.approx_count_distinct(v)
    ),
    "approx_quantiles": Pair(
        lambda v, *_: bl.approx_quantiles(v, [0, 1]), _finite_ends, "any of equal ones", sums=True
    ),
}


def column_of(type_number: int) -> str:
    """The column with the values of a type."""
    return f"v{type_number}"


def aggregate_of(pair: Pair, type_number: int) -> Any:
    """The aggregate of beamlike over the column of a type."""
    return pair.ours(column_of(type_number), f"n{type_number}", "place")


def native_of(pair: Pair, type_number: int, window: str = "") -> Column:
    """What Spark has in its place, in windows of a kind."""
    native = pair.spark
    if window == "sessions" and pair.in_sessions is not None:
        native = pair.in_sessions
    return native(column_of(type_number), f"n{type_number}", "place")
