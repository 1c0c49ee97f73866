"""Expressions of Spark over Arrow tables: the session in which they were made computes them.

This module stands beside the hosts, because the rows are those of ``local`` and the expressions
those of ``spark``. Nothing of Spark is imported before there is an expression.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


RowChange = Callable[[Any, "DataFrame"], "DataFrame"]
"""A step that takes rows one by one, in terms of Spark: of its frames and the rows before."""


def active_session() -> "SparkSession | None":
    """The session that expressions of Spark are made in; None: there cannot be any."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def is_of_dataframes(name: str) -> bool:
    """Whether a DataFrame of Spark has an attribute, as far as that can be known here."""
    spark = sys.modules.get("pyspark.sql")
    return spark is not None and hasattr(spark.DataFrame, name)


def changed_by(
    spark: "SparkSession", schema: pa.Schema, change: RowChange
) -> tuple[pa.Schema, Callable[[pa.Table], pa.Table]]:
    """The columns that a step makes of others, and what makes its rows."""
    from beamlike.hosts.pyspark_types import schema_of, spark_schema
    from beamlike.hosts.spark.verbs import SparkFrames

    frames, before = SparkFrames(), spark_schema(schema)
    after = schema_of(change(frames, spark.createDataFrame([], before)).schema)

    def make(table: pa.Table) -> pa.Table:
        if not table.num_rows:
            return after.empty_table()
        rows: Any = spark.createDataFrame(table, before)
        changed: pa.Table = change(frames, rows).toArrow()
        return changed.cast(after)

    return after, make
