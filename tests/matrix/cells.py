"""The cells of the matrix: what beamlike makes of a type, beside what Spark makes of it."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import attrs
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import BeamlikeError

__all__ = ["AGGREGATES", "TYPES", "cells_of", "table"]

TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "boolean": ("true", "false"),
    "tinyint": ("-128Y", "127Y"),
    "smallint": ("-32768S", "7S"),
    "int": ("-2147483648", "2147483647"),
    "bigint": ("-9223372036854775808L", "7L"),
    "float": ("float('NaN')", "float('-0.0')", "float('0.0')", "float('-Infinity')"),
    "double": ("double('NaN')", "-0.0D", "0.0D", "double('Infinity')", "0.5D"),
    "decimal(38,18)": ("-9999999999999999.999999999999999999", "0.5"),
    "decimal(5,2)": ("999.99", "-0.01"),
    "string": ("'7'", "'1.5'", "'NaN'"),
    "string collate UTF8_LCASE": ("'7'", "'8'"),
    "binary": ("x''", "x'00ff'"),
    "date": ("date'0001-01-01'", "date'1582-10-04'", "date'9999-12-31'"),
    "timestamp": (
        "timestamp'0001-01-02 00:00:00Z'",
        "timestamp'1582-10-04 23:59:59.000001Z'",
        "timestamp'2024-11-03 05:30:00.000009Z'",
        "timestamp'2024-11-03 06:30:00.000009Z'",
        "timestamp'9999-12-30 23:59:59.999999Z'",
    ),
    "timestamp_ntz": (
        "timestamp_ntz'0001-01-01 00:00:00'",
        "timestamp_ntz'2024-03-10 02:30:00.000001'",
        "timestamp_ntz'9999-12-31 23:59:59.999999'",
    ),
    "interval day to second": (
        "interval '-1 02:03:04.000005' day to second",
        "interval '7' day",
    ),
    "interval year to month": ("interval '1-2' year to month", "interval '3' month"),
    "array<double>": ("array(double('NaN'), -0.0D)", "array(null, 1D)"),
    "struct<n:int,t:timestamp>": (
        "named_struct('n', 1, 't', timestamp'2024-01-01 00:00:00.000001Z')",
        "named_struct('n', null, 't', null)",
    ),
    "map<string,int>": ("map('a', 1)", "map()"),
    "void": (),
}
"""Expressions of values of each type, besides null."""


@attrs.frozen
class Pair:
    """An aggregate, and what is the same in Spark. Of a list the order means nothing."""

    ours: Any
    spark: Any
    unordered: bool = False


AGGREGATES: Final[Mapping[str, Pair]] = {
    "count": Pair(bl.count("v"), lambda: F.count("v")),
    "sum": Pair(bl.sum("v"), lambda: F.sum("v")),
    "mean": Pair(bl.mean("v"), lambda: F.avg("v")),
    "min": Pair(bl.min("v"), lambda: F.min("v")),
    "max": Pair(bl.max("v"), lambda: F.max("v")),
    "first": Pair(bl.first("v"), lambda: _at_extreme(F.min_by)),
    "last": Pair(bl.last("v"), lambda: _at_extreme(F.max_by)),
    "min_by": Pair(bl.min_by("n", by="v"), lambda: F.min_by("n", "v")),
    "max_by": Pair(bl.max_by("n", by="v"), lambda: F.max_by("n", "v")),
    "value of min_by": Pair(bl.min_by("v", by="place"), lambda: F.min_by("v", "place")),
    "collect": Pair(bl.collect("v"), lambda: F.collect_list("v"), unordered=True),
    "collect_set": Pair(bl.collect_set("v"), lambda: F.collect_set("v"), unordered=True),
    "count_distinct": Pair(bl.count_distinct("v"), lambda: F.count_distinct("v")),
}


def _at_extreme(of_spark: Any) -> Any:
    """The value at the least or greatest time, of the values that are not null."""
    return of_spark("v", F.when(F.col("v").isNotNull(), F.col("at")))


_HOUR: Final = bl.FixedWindows("1 hour")


def rows_of(spark: Any, dtype: str) -> Any:
    """Rows of two keys in two hours: all values of the type, null among them, and only nulls."""
    values = [*TYPES[dtype], "null"]
    # Of equal values Spark may take any, so they have the same number.
    number = {value: values.index(value) for value in values}
    number |= {value: -1 for value in values if value.endswith(("0.0')", "0.0D"))}
    texts = [
        f"select '{key}' k, {number[value]} n, {place} place, timestamp'2024-01-01 {hour}:00:00Z' "
        f"+ make_dt_interval(0, 0, 0, {place} * 0.000001) at, cast({value} as {dtype}) v"
        for hour in ("00", "01")
        for key, of_key in (("a", [*TYPES[dtype][-1:], *values]), ("b", ["null", "null"]))
        for place, value in enumerate(of_key)
    ]
    return spark.sql(" union all ".join(texts))


def cells_of(spark: Any, dtype: str) -> dict[str, str]:
    """What becomes of a type, as key and as value of each aggregate: ``=`` where each pane has
    what Spark's ``groupBy`` gives, ``refused``, or how they differ."""
    rows = rows_of(spark, dtype).cache()
    try:
        cells = {"key": "refused" if _refused(rows, "v", bl.count()) else _key(rows)}
        taken = dict[str, Pair]()
        hours = rows.groupBy("k", F.window("at", "1 hour").alias("window"))
        for name, pair in AGGREGATES.items():
            if _refused(rows, "k", pair.ours):
                cells[name] = "refused"
            elif not _spark_takes(hours, pair):
                cells[name] = "more"
            else:
                taken[name], cells[name] = pair, ""
        ours = _texts(_panes(rows, "k", {name: it.ours for name, it in taken.items()}), "k", taken)
        grouped = hours.agg(*(pair.spark().alias(name) for name, pair in taken.items()))
        spark_has = _texts(grouped, "k", taken)
        return cells | {name: _compared(ours[name], spark_has[name]) for name in taken}
    finally:
        rows.unpersist()


def _panes(rows: Any, key: str, aggregate: Mapping[str, Any]) -> Any:
    return bl.windowed(rows, key=key, timestamp="at", window=_HOUR, aggregate=aggregate, shards=1)


def _refused(rows: Any, key: str, aggregate: Any) -> bool:
    """Whether it is refused, in one clear line."""
    try:
        _panes(rows, key, {"x": aggregate})
    except BeamlikeError as error:
        if "\n" in str(error):
            raise
        return True
    return False


def _spark_takes(hours: Any, pair: Pair) -> bool:
    try:
        hours.agg(pair.spark().alias("x"))
    except AnalysisException:
        return False
    return True


def _key(rows: Any) -> str:
    hours = rows.filter("v is not null").groupBy("v", F.window("at", "1 hour").alias("window"))
    counts = {"x": Pair(bl.count(), lambda: F.count("*"))}
    ours = _texts(_panes(rows, "v", {"x": bl.count()}), "v", counts)
    return _compared(ours["x"], _texts(hours.agg(F.count("*").alias("x")), "v", counts)["x"])


def _texts(panes: Any, key: str, pairs: Mapping[str, Pair]) -> dict[str, dict[str, str]]:
    """The result of each aggregate in each key and window, as exact texts."""
    exact = {
        "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX",
        "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
        "timeZone": "UTC",
        "ignoreNullFields": "false",
    }

    def text(name: str, pair: Pair) -> Any:
        if not pair.unordered:
            return F.to_json(F.struct(F.col(f"`{name}`").alias("x")), exact)
        items = F.transform(f"`{name}`", lambda item: F.to_json(F.struct(item.alias("x")), exact))
        return F.to_json(F.struct(F.array_sort(items).alias("x")))

    place = F.to_json(F.struct(F.col(key).alias("key"), F.col("window.start").alias("at")), exact)
    found = panes.select(place, *(text(name, pair) for name, pair in pairs.items())).collect()
    return {name: {row[0]: row[number] for row in found} for number, name in enumerate(pairs, 1)}


def _compared(ours: dict[str, str], spark: dict[str, str]) -> str:
    if ours == spark:
        return "="
    if ours.keys() != spark.keys():
        return "differs"
    pairs = [(ours[place], spark[place]) for place in ours if ours[place] != spark[place]]
    if all("null" in has for _, has in pairs):
        return "0 of nulls"
    numbers = [(json.loads(one)["x"], json.loads(other)["x"]) for one, other in pairs]
    # Spark's mean of a decimal(5,2) is rounded to six places.
    same = all(math.isclose(*pair, abs_tol=5.1e-7) for pair in numbers)
    return "double" if same else "differs"


def table(cells: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the page."""
    names = ["key", *AGGREGATES]
    lines = [f"| type | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
    for dtype, of_type in cells.items():
        lines.append(f"| `{dtype}` | {' | '.join(of_type[name] for name in names)} |")
    return "\n".join(lines)
