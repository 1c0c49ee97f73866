"""Every aggregate of every column, bound to columns without a Spark session."""

from collections.abc import Mapping

import attrs
import pyarrow as pa
from pyspark.sql import types as T

from beamlike.hosts.pyspark_types import schema_of
from beamlike.hosts.spark.verbs import SparkFrames
from beamlike.model import aggregates as make
from beamlike.model.aggregates import Aggregate
from beamlike.runtime.binding import part_of
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.plan import Part


def every_aggregate(
    kinds: Mapping[str, T.DataType], *, by: str, shown: str, texts_as_numbers: bool = False
) -> dict[str, Aggregate]:
    """Every aggregate that fits a column, for each of these columns, under a name that tells both.

    Args:
        kinds: The types of the columns.
        by: The column by which the rows with the greatest and least are found, for each column.
        shown: The column of which values are taken by each column that has an order.
        texts_as_numbers: Whether strings are summed, too: the numbers that are in them.
    """
    every = {"n": make.count()}
    for name, kind in kinds.items():
        every |= {
            f"{name}_count": make.count(name),
            f"{name}_all": make.collect(name),
            f"{name}_first": make.first(name),
            f"{name}_last": make.last(name),
            f"{name}_sample": make.sample(name, 2),
            f"{name}_distinct": make.approx_distinct(name),
            f"{name}_top_by": make.top(name, 2, by=by),
            f"{name}_bottom_by": make.bottom(name, 2, by=by),
            f"{name}_min_by": make.min_by(name, by=by),
            f"{name}_max_by": make.max_by(name, by=by),
        }
        if not isinstance(kind, T.MapType):
            every |= {
                f"{name}_set": make.collect_set(name),
                f"{name}_different": make.count_distinct(name),
            }
        if not isinstance(kind, T.ArrayType | T.MapType | T.StructType):
            every |= {
                f"{name}_min": make.min(name),
                f"{name}_max": make.max(name),
                f"{name}_top": make.top(name, 2),
                f"{name}_bottom": make.bottom(name, 2),
                f"{shown}_by_{name}": make.bottom(shown, 2, by=name),
            }
        if isinstance(kind, T.NumericType) or (texts_as_numbers and isinstance(kind, T.StringType)):
            every |= {
                f"{name}_sum": make.sum(name),
                f"{name}_mean": make.mean(name),
                f"{name}_quantiles": make.approx_quantiles(name, 3),
            }
    return every


@attrs.frozen
class Bound:
    """Aggregates with the values that they need, by name."""

    parts: Mapping[str, Part]
    values: Mapping[str, pa.DataType]


def bind(kinds: Mapping[str, T.DataType], aggregates: Mapping[str, Aggregate]) -> Bound:
    """The parts of a plan for these aggregates of columns of these types."""
    fields = [T.StructField(name, dtype) for name, dtype in kinds.items()]
    columns = FrameColumns(schema_of(T.StructType(fields)))
    inputs: dict[str, Input] = {}
    parts = {
        name: part_of(columns, name, wanted, inputs, SparkFrames().read_type)
        for name, wanted in aggregates.items()
    }
    return Bound(parts, {name: needed.dtype for name, needed in inputs.items()})
