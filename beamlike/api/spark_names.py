"""Names of PySpark that `beamlike` has under another name, and what to write instead."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

_KEY: Final = 'the key is an argument: bl.windowed(df, key="user", ...), or .group("user", ...)'
_OWN: Final = 'write a CombineFn of your own, and bl.combine(fn, "x")'
_QUANTILES: Final = 'write bl.approx_quantiles("x", [0.5])'
_BY_NAME: Final = 'columns are given by name, as text: bl.sum("x")'
_BEAM: Final = "write import beamlike.beam as beam, and beam.{}"
_PER_KEY: Final = 'write bl.stream(df, ...).apply_per_key("user", fn, returns="n int")'
_ONCE: Final = 'write bl.stream(df, ...).deduplicate("no", within="1 hour")'
_TESTING: Final = "write from beamlike.testing import {}"
_WATERMARK: Final = 'write watermark="10 minutes" in bl.windowed or bl.stream'

INSTEAD: Final[Mapping[str, str]] = {
    # Aggregates.
    "agg": 'write aggregate={"n": bl.count()} in bl.windowed, or .group("user", {"n": bl.count()})',
    "any_value": 'write bl.first("x")',
    "approxCountDistinct": 'write bl.approx_distinct("x")',
    "approx_count_distinct": 'write bl.approx_distinct("x")',
    "approx_percentile": _QUANTILES,
    "array_agg": 'write bl.collect("x")',
    "avg": 'write bl.mean("x")',
    "collect_list": 'write bl.collect("x")',
    "countDistinct": 'write bl.count_distinct("x")',
    "count_if": 'filter the rows first, or write bl.sum("x") of a column of 0 and 1',
    "first_value": 'write bl.first("x"), the first by event time',
    "last_value": 'write bl.last("x"), the last by event time',
    "listagg": 'write bl.collect("x"), and F.array_join of it',
    "median": _QUANTILES,
    "pandas_udf": _OWN,
    "percentile": _QUANTILES,
    "percentile_approx": _QUANTILES,
    "stddev": _OWN,
    "string_agg": 'write bl.collect("x"), and F.array_join of it',
    "sum_distinct": 'write bl.collect_set("x"), and F.aggregate of it',
    "udaf": _OWN,
    "udf": _OWN,
    "variance": _OWN,
    # Columns.
    "col": _BY_NAME,
    "column": _BY_NAME,
    "expr": "compute columns first, with df.withColumn or Stream.with_columns",
    "lit": "compute columns first, with df.withColumn or Stream.with_columns",
    # Windows and watermarks.
    "session_window": 'write bl.Sessions("10 minutes"), with merge_touching=True as in Spark',
    "window": 'write bl.FixedWindows("10 minutes"), or bl.SlidingWindows("1 hour", "10 minutes")',
    "window_time": "a pane has its event time in the column timestamp",
    "withWatermark": _WATERMARK,
    "with_watermark": _WATERMARK,
    # Methods of DataFrames and streams.
    "cogroup": "write bl.co_group",
    "applyInPandasWithState": _PER_KEY,
    "dropDuplicates": _ONCE,
    "dropDuplicatesWithinWatermark": _ONCE,
    "explain": "write bl.explain_plan(panes)",
    "groupBy": _KEY,
    "groupby": _KEY,
    "group_by": _KEY,
    "readStream": "read with spark.readStream, and give its DataFrame to bl.windowed or bl.stream",
    "SparkSession": "write bl.local_session(), or bring a session of your own",
    "transformWithState": _PER_KEY,
    "transformWithStateInPandas": _PER_KEY,
    "union": "write bl.flatten",
    "unionByName": "write bl.flatten",
    "writeStream": "write bl.windowed(...).writeStream, or stream.rows.writeStream",
    # What has a module of its own.
    "CombinePerKey": _BEAM.format("CombinePerKey"),
    "GroupByKey": _BEAM.format("GroupByKey"),
    "Pipeline": _BEAM.format("Pipeline"),
    "QueryTest": _TESTING.format("QueryTest"),
    "ScioContext": "write from beamlike.scio import ScioContext",
    "TestStream": _TESTING.format("TestStream"),
    "WindowInto": _BEAM.format("WindowInto"),
    "check_combine_fn": _TESTING.format("check_combine_fn"),
}
"""By name, what to write; ``bl`` is `beamlike`, and ``F`` is ``pyspark.sql.functions``."""


def no_such_name(name: str, known: Iterable[str]) -> str:
    """That `beamlike` has no such name, and what was meant, as far as that is known.

    Args:
        name: What was asked for.
        known: The names that there are.

    >>> no_such_name("avg", [])
    'beamlike has no avg; write bl.mean("x")'
    >>> no_such_name("Session", ["Sessions", "Stream"])
    'beamlike has no Session; did you mean bl.Sessions?'
    """
    if name in INSTEAD:
        return f"beamlike has no {name}; {INSTEAD[name]}"
    near = difflib.get_close_matches(name, list(known), 1)
    return f"beamlike has no {name}" + (f"; did you mean bl.{near[0]}?" if near else "")
