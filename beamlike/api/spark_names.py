"""Names of PySpark that `beamlike` has under another name, and what to write instead."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

_NAMES: Final[Mapping[str, str]] = {
    "agg": 'write aggregate={"n": bl.count()} in bl.windowed, or .group("user", {"n": bl.count()})',
    "any_value": 'write bl.first("x")',
    "approxCountDistinct approx_count_distinct": 'write bl.approx_distinct("x")',
    "approx_percentile median percentile percentile_approx": (
        'write bl.approx_quantiles("x", [0.5])'
    ),
    "array_agg collect_list": 'write bl.collect("x")',
    "avg": 'write bl.mean("x")',
    "countDistinct": 'write bl.count_distinct("x")',
    "count_if": 'filter the rows first, or write bl.sum("x") of a column of 0 and 1',
    "first_value": 'write bl.first("x"), the first by event time',
    "last_value": 'write bl.last("x"), the last by event time',
    "listagg string_agg": 'write bl.collect("x"), and F.array_join of it',
    "pandas_udf stddev udaf udf variance": 'write a CombineFn of your own, and bl.combine(fn, "x")',
    "sum_distinct": 'write bl.collect_set("x"), and F.aggregate of it',
    "col column": 'columns are given by name, as text: bl.sum("x")',
    "expr lit": "compute columns first, with df.withColumn or Stream.with_columns",
    "session_window": 'write bl.Sessions("10 minutes"), with merge_touching=True as in Spark',
    "window": 'write bl.FixedWindows("10 minutes"), or bl.SlidingWindows("1 hour", "10 minutes")',
    "window_time": "a pane has its event time in the column timestamp",
    "withWatermark with_watermark": 'write watermark="10 minutes" in bl.windowed or bl.stream',
    "cogroup": "write bl.co_group",
    "applyInPandasWithState transformWithState transformWithStateInPandas": (
        'write bl.stream(df, ...).apply_per_key("user", fn, returns="n int")'
    ),
    "dropDuplicates dropDuplicatesWithinWatermark": (
        'write bl.stream(df, ...).deduplicate("no", within="1 hour")'
    ),
    "explain": "write bl.explain_plan(panes)",
    "groupBy groupby group_by": (
        'the key is an argument: bl.windowed(df, key="user", ...), or .group("user", ...)'
    ),
    "readStream": "read with spark.readStream, and give its DataFrame to bl.windowed or bl.stream",
    "SparkSession": "write bl.local_session(), or bring a session of your own",
    "union unionByName": "write bl.flatten",
    "writeStream": "write bl.windowed(...).writeStream, or stream.rows.writeStream",
    "CombinePerKey GroupByKey Pipeline WindowInto": (
        "write import beamlike.beam as beam, and beam.{}"
    ),
    "QueryTest TestStream check_combine_fn": "write from beamlike.testing import {}",
    "ScioContext": "write from beamlike.scio import ScioContext",
}
"""What to write, by the names for which it stands; ``{}`` is the name."""

INSTEAD: Final[Mapping[str, str]] = {
    name: text.replace("{}", name) for names, text in _NAMES.items() for name in names.split()
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
