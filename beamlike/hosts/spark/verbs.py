"""The operations of `beamlike.hosts.frames` on rows of a query, as SQL."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from beamlike.errors import ColumnError
from beamlike.hosts.frames import EventTimes, Frames, How, StageInput
from beamlike.hosts.pyspark_types import field_of, is_sealed, schema_of
from beamlike.hosts.spark import bind, query
from beamlike.hosts.spark.requirements import check_session, notice_partitions
from beamlike.hosts.spark.sql_columns import column, columns_of, is_data, mark, type_of
from beamlike.runtime.frame_columns import FrameColumns, check_array
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import DROPPED_ROW, LEFT_OUT, MARKS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


_WATERMARK_MARK: Final = "spark.watermarkDelayMs"
"""How Spark marks the column of a watermark."""

PORTS: Final = "_beamlike_ports"
"""The attribute of a session that lists ports for some of its frames, see `SparkFrames.of`."""


class SparkFrames(Frames):
    """Rows as DataFrames, streaming or bounded."""

    @classmethod
    def of(cls, df: DataFrame) -> "SparkFrames":
        """The port of a frame: one that its session has for it, else the usual one."""
        ports: Sequence[SparkFrames] = getattr(df.sparkSession, PORTS, ())
        return next(port for port in (*ports, cls()) if port.reads(df))

    def reads(self, df: DataFrame) -> bool:
        """Whether this port works on a frame."""
        return True

    def columns_of(self, rows: DataFrame) -> FrameColumns:
        return columns_of(rows)

    def row_type(self, rows: DataFrame, names: Sequence[str]) -> T.StructType:
        return T.StructType([T.StructField(name, rows.schema[name].dataType) for name in names])

    def read_type(self, text: str) -> pa.Field:
        try:
            return field_of(text, T.DataType.fromDDL(text))
        except PySparkException as error:
            raise ColumnError(f"{text!r} is no type that Spark can read") from error

    def read_columns(self, text: str) -> pa.Schema | None:
        try:
            columns = T.DataType.fromDDL(text)
        except PySparkException as error:
            raise ColumnError(f"{text!r} are no columns that Spark can read") from error
        return schema_of(columns) if isinstance(columns, T.StructType) else None

    @property
    def row_maker(self) -> Callable[..., Callable[..., Any]]:
        return Row

    def watermark_of(self, df: DataFrame) -> tuple[str, int] | None:
        marked = (field for field in df.schema.fields if _WATERMARK_MARK in field.metadata)
        field = next(marked, None)
        return None if field is None else (field.name, int(field.metadata[_WATERMARK_MARK]))

    def check_stream(self, df: DataFrame) -> None:
        check_session(df.sparkSession)

    def source_rows(self, df: DataFrame, times: EventTimes) -> DataFrame:
        return bind.source_rows(df, times)

    def where(self, rows: DataFrame, condition: "Column | str") -> DataFrame:
        holds = F.expr(condition) if isinstance(condition, str) else condition
        check_expressions(rows, holds)
        leave = is_data() & ~F.coalesce(holds, F.lit(False))
        marked = F.when(leave, F.lit(LEFT_OUT)).otherwise(F.col(f"{MARKS}.kind"))
        return rows.withColumn(MARKS, F.col(MARKS).withField("kind", marked))

    def rejecting(self, rows: DataFrame, reject: "Mapping[str, Column | str]") -> DataFrame:
        problem = mark("problem")
        for reason, condition in reject.items():
            meets = F.expr(condition) if isinstance(condition, str) else condition
            check_expressions(rows, meets)
            rejected = is_data() & F.coalesce(meets, F.lit(False))
            problem = F.coalesce(problem, F.when(rejected, F.lit(reason)))
        return rows.withColumn(MARKS, F.col(MARKS).withField("problem", problem))

    def select(self, rows: DataFrame, columns: "Sequence[Column | str]") -> DataFrame:
        return rows.select(*selected(rows, columns), MARKS)

    def with_columns(self, rows: DataFrame, columns: "Mapping[str, Column]") -> DataFrame:
        check_expressions(rows, *columns.values())
        return rows.withColumns(dict(columns))

    def explode(self, rows: DataFrame, column: "Column | str", as_: str) -> DataFrame:
        if isinstance(column, str):
            dtype, items = type_of(rows, column, "column"), _column(column)
        else:
            check_expressions(rows, column)
            dtype, items = rows.select(column).schema[0].dataType, column
        check_array(column, field_of(as_, dtype))
        # One row stays for each that is not data: an outer explode makes it of null.
        item = F.explode_outer(F.when(is_data(), items))
        return self.where(rows, F.size(items) > 0).withColumn(as_, item)

    def without_window(self, rows: DataFrame) -> DataFrame:
        nothing = F.lit(None).cast("long")
        return rows.withColumn(
            MARKS, F.col(MARKS).withField("start", nothing).withField("end", nothing)
        )

    def union(self, frames: Sequence[DataFrame]) -> DataFrame:
        return reduce(DataFrame.unionByName, frames)

    def run(self, inputs: Sequence[StageInput], plan: Plan, wake_every_ms: int) -> DataFrame:
        if not inputs[0].rows.isStreaming:
            return query.bounded(inputs, plan)
        notice_partitions(inputs[0].rows.sparkSession, plan.shards)
        return query.streaming(inputs, plan, wake_every_ms)

    def result(self, frame: DataFrame) -> DataFrame:
        return frame

    def data(self, rows: DataFrame) -> DataFrame:
        return rows.filter(is_data()).drop(MARKS)

    def everything(self, rows: DataFrame) -> DataFrame:
        seen = rows.filter(is_data() | (mark("kind") == DROPPED_ROW))
        return seen.withColumn("dropped", mark("dropped")).drop(MARKS)

    def split(self, everything: DataFrame) -> tuple[DataFrame, DataFrame]:
        panes = everything.filter(F.col("dropped").isNull()).drop("dropped")
        return panes, everything.filter(F.col("dropped").isNotNull())

    def without_retractions(self, rows: DataFrame) -> DataFrame:
        kept = [column(name) for name in rows.columns if name not in ("retraction", MARKS)]
        return rows.select(*kept, F.lit(False).alias("retraction"), MARKS)

    def tagged(
        self,
        rows: DataFrame,
        shared: Mapping[str, str],
        name: str,
        structs: Mapping[str, T.StructType],
    ) -> DataFrame:
        def of(other: str, dtype: T.StructType) -> "Column":
            if other != name:
                return F.lit(None).cast(dtype).alias(other)
            struct = F.struct(*(column(field.name) for field in dtype.fields))
            return struct.cast(dtype).alias(other)

        renamed = [column(known).alias(shown) for shown, known in shared.items()]
        return rows.select(*renamed, *(of(*struct) for struct in structs.items()), MARKS)

    def pairs(
        self,
        rows: DataFrame,
        keys: Sequence[str],
        sides: Mapping[str, Sequence[str]],
        of_a_pane: Sequence[str],
        how: How,
    ) -> DataFrame:
        left, right = (column(name).isNotNull() for name in sides)
        kept = {"inner": left & right, "left": left, "right": right, "full": left | right}[how]
        for side in sides:
            rows = rows.withColumn(side, F.explode_outer(column(side)))
        rows = rows.filter(~is_data() | kept)
        rest = [name for name in rows.columns if name in of_a_pane]
        return rows.select(
            *(column(name) for name in keys),
            *(F.col(side).getField(name).alias(name) for side in sides for name in sides[side]),
            *rest,
            MARKS,
        )

    def as_side(
        self,
        panes: DataFrame,
        main: DataFrame,
        key: Sequence[str],
        columns: Sequence[str],
        side: str,
    ) -> DataFrame:
        nothing = [
            F.lit(None).cast(type_of(main, name, "window_input")).alias(name)
            for name in columns
            if name not in key
        ]
        return panes.select(*(column(name) for name in key), *nothing, column(side), MARKS)

    def with_side_column(
        self, rows: DataFrame, side: str, row_type: T.StructType, pane_before: str | None
    ) -> DataFrame:
        added = {side: F.lit(None).cast(T.ArrayType(row_type))}
        if pane_before is not None:
            added[pane_before] = column("pane")
        return rows.withColumns(added)

    def with_its_pane(self, df: DataFrame, pane_before: str) -> DataFrame:
        return df.withColumn("pane", F.col(pane_before)).drop(pane_before)


_column = column
"""`column`, where an argument has that name."""


def selected(df: "DataFrame", columns: Sequence["Column | str"]) -> list["Column | str"]:
    """The columns to select from rows with the hidden column: ``*`` stands for all others."""
    everything = [column(name) for name in columns_of(df).names]
    expressions = [selection for selection in columns if not isinstance(selection, str)]
    has_star = len(_analysed(df, *expressions) or ()) > len(expressions)
    chosen: list[Column | str] = []
    for selection in columns:
        if isinstance(selection, str):
            is_star = selection == "*"
        else:
            is_star = has_star and _analysed(df, selection) == df.columns
        chosen += everything if is_star else [selection]
    check_expressions(df, *(choice for choice in chosen if not isinstance(choice, str)))
    return chosen


def check_expressions(df: "DataFrame", *expressions: "Column") -> None:
    """Refuse expressions that do not make one value of one row, or that read the hidden column.

    The analysis of Spark decides, in classic Spark and in Spark Connect. An expression that Spark
    refuses for another reason is left to the step that follows.
    """
    if _refusal(df, *expressions) is None:
        return
    for expression in expressions:
        problem = _problem(df, expression)
        if problem is not None:
            text = str(expression).removeprefix("Column<'").removesuffix("'>").strip()
            raise ColumnError(text + problem)


def _refusal(df: "DataFrame", *expressions: "Column") -> AnalysisException | None:
    """Why Spark refuses expressions as values of a row without the hidden column; None: it does
    not.

    The check groups rows by all columns except the hidden one, so that Spark refuses expressions
    that read that column. It puts them into a struct, where Spark refuses expressions that make
    several rows.
    """
    if not expressions:
        return None
    names = columns_of(df).names
    keys = [column(name) for name in names if not is_sealed(df.schema[name].dataType)]
    # The hidden column stands first: of the columns of a star, Spark names the first.
    rows = df.select(MARKS, *map(column, names))
    try:
        _ = rows.groupBy(*keys).agg(*map(F.struct, expressions)).schema
    except AnalysisException as error:
        return error
    return None


def _problem(df: "DataFrame", expression: "Column") -> str | None:
    """What is wrong with an expression as one value of a row, as text to follow it; None:
    nothing."""
    error = _refusal(df, expression)
    if error is None:
        return None
    condition = error.getCondition() or ""
    if condition.startswith("UNSUPPORTED_GENERATOR"):
        return _MAKES_ROWS
    if condition == "MISSING_AGGREGATION":
        takes_hidden = MARKS in (error.getMessageParameters() or {}).get("expression", "")
    else:  # a function may refuse the type of the hidden column, as hash does a map
        in_struct = F.struct(expression)
        takes_hidden = (
            _analysed(df, in_struct) is None and _analysed(df.drop(MARKS), in_struct) is not None
        )
    return _TAKES_HIDDEN if takes_hidden else None


def _analysed(df: "DataFrame", *expressions: "Column") -> list[str] | None:
    """The columns that Spark makes of expressions; None if it refuses them."""
    try:
        return df.select(*expressions).columns
    except AnalysisException:
        return None


_MAKES_ROWS: Final = (
    " makes several rows of one, or none; write stream.explode(array, name) "
    "with an array of what it makes, which also keeps the watermark going"
)
_TAKES_HIDDEN: Final = (
    ": a star among other things would take a hidden column, too; name the "
    "columns, for example F.struct(*stream.columns)"
)
