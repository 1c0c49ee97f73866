"""What becomes of the rows of a query, as tables: see `beamlike.hosts.frames`."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from beamlike.hosts.frames import Frames, How
from beamlike.hosts.local.tables.frame import TableFrame, found, schema_of
from beamlike.hosts.local.tables.query import PackedTable
from beamlike.hosts.local.tables.sources import source_rows
from beamlike.hosts.local.tables.texts import read_double, write_json
from beamlike.hosts.spark.inputs import Input, type_of
from beamlike.hosts.spark.verbs import SparkFrames, check_array
from beamlike.machine.events import RowProblem
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import DROPPED, DROPPED_ROW, LEFT_OUT, MARKS, marks_read

_CONDITION = re.compile(r"\s*(not\s+)?([\w.`]+)\s*", re.IGNORECASE)

Row = dict[str, Any]


_FAR = RowProblem.FAR_FUTURE.value


def packer_table(
    rows: pa.Table,
    schema: T.StructType,
    plan: Plan,
    inputs: Mapping[str, Input],
    timestamp: str | None,
    hidden_columns: Container[str],
    by_part: bool = False,
) -> pa.Table:
    """The columns that the packer reads; for the arguments see `Frames.packed`."""
    keys = {name: _key(rows.column(name)) for name in plan.keys}
    values = [_value(rows.column(it.source), it, schema) for it in inputs.values()]
    problems = pc.struct_field(rows.column(MARKS), "problem").to_pylist()
    reasons = [problem if problem == _FAR else None for problem in problems]
    for key in keys.values():
        _note(reasons, key.is_null().to_pylist(), RowProblem.NULL_KEY.value)
    reasons = [one or other for one, other in zip(reasons, problems, strict=True)]
    for given, value in zip(inputs.values(), values, strict=True):
        lost = pc.and_(rows.column(given.source).is_valid(), value.is_null())
        _note(reasons, lost.to_pylist(), RowProblem.BAD_VALUE.value)
    names = [*plan.keys, *(given.source for given in inputs.values())]
    if timestamp in schema.names:
        names.insert(len(plan.keys), str(timestamp))
    shown = [name for name in dict.fromkeys(names) if name not in hidden_columns]
    columns = {
        **{f"key_{at}": key for at, key in enumerate(keys.values())},
        **{f"value_{at}": value for at, value in enumerate(values)},
        "hash": pa.array(_hashes(list(keys.values()), rows.num_rows), pa.int64()),
        "reason": pa.array(reasons, pa.string()),
        "element": pa.array(_elements(rows, shown, reasons), pa.string()),
    }
    passed = {
        name: pc.struct_field(rows.column(MARKS), name) for name in marks_read(timestamp, by_part)
    }
    return pa.table(columns | passed)


def _note(reasons: list[str | None], wrong: Sequence[bool], reason: str) -> None:
    for at, is_wrong in enumerate(wrong):
        if is_wrong and reasons[at] is None:
            reasons[at] = reason


def _key(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Minus zero is zero, as a key."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0, column.type), column)
    return column


def _value(column: pa.ChunkedArray, given: Input, schema: T.StructType) -> pa.ChunkedArray:
    """A value as its aggregate takes it, null if it is none."""
    kind = schema[given.source].dataType
    if not given.cast:
        return column  # a time that Python has no value for cannot be sent
    if isinstance(kind, T.StringType):
        numbers = [None if it is None else read_double(it) for it in column.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])
    if isinstance(given.kind, T.DecimalType):
        return column.cast(pa.decimal128(given.kind.precision, given.kind.scale))
    target = pa.int64() if isinstance(given.kind, T.LongType) else pa.float64()
    return column.cast(target, safe=False)


def _hashes(keys: Sequence[pa.ChunkedArray], count: int) -> list[int]:
    """Where keys belong. It only has to be the same in all micro-batches."""
    if not keys:
        return [0] * count
    rows = zip(*(key.to_pylist() for key in keys), strict=True)
    return [crc32(repr(row).encode("utf-8", "surrogatepass")) for row in rows]


def _elements(
    rows: pa.Table, shown: Sequence[str], reasons: Sequence[str | None]
) -> list[str | None]:
    """Rows that cannot be grouped, as JSON."""
    found: list[str | None] = [None] * rows.num_rows
    for at, reason in enumerate(reasons):
        if reason is not None:
            found[at] = write_json({name: rows.column(name)[at].as_py() for name in shown})
    return found


def _condition(rows: TableFrame, condition: Any, verb: str) -> Callable[[Row], bool] | None:
    """Whether a row meets a condition that names a column of booleans; None if it says more."""
    match = _CONDITION.fullmatch(condition) if isinstance(condition, str) else None
    if match is None:
        return None
    negated, name = match.groups()
    path = found(rows.schema, name, verb)[0]

    def holds(row: Row) -> bool:
        value: Any = row
        for part in path:
            value = None if value is None else value[part]
        return value is not None and bool(value) != bool(negated)

    return holds


class TableFrames(Frames):
    """Rows as Arrow tables, in tests without Spark."""

    def check_stream(self, df: TableFrame) -> None:
        """Nothing can be missing here."""

    def source_rows(
        self,
        df: TableFrame,
        timestamp: str,
        delay: int | None,
        max_ahead: int | None = None,
        part: str | None = None,
    ) -> TableFrame:
        return source_rows(df, timestamp, delay, max_ahead, part)

    def where(self, rows: TableFrame, condition: Any) -> TableFrame:
        holds = _condition(rows, condition, "where")
        if holds is None:
            what = f"where({condition!r}), which is more than a column of booleans,"
            return rows.by_spark(what, lambda df: SparkFrames().where(df, condition))
        return rows.changed(lambda table: _left_out(table, map(holds, table.to_pylist())))

    def rejecting(self, rows: TableFrame, reject: Mapping[str, Any]) -> TableFrame:
        meets = {reason: _condition(rows, it, "reject") for reason, it in reject.items()}
        tests = {reason: holds for reason, holds in meets.items() if holds is not None}
        if len(tests) < len(meets):
            what = "reject= with more than columns of booleans"
            return rows.by_spark(what, lambda df: SparkFrames().rejecting(df, reject))

        def rejected(table: pa.Table) -> pa.Table:
            problems = pc.struct_field(table.column(MARKS), "problem").to_pylist()
            for at, row in enumerate(table.to_pylist()):
                if problems[at] is None and _is_data(row):
                    problems[at] = next((why for why, holds in tests.items() if holds(row)), None)
            return _with_marks(table, {"problem": pa.array(problems, pa.string())})

        return rows.changed(rejected)

    def select(self, rows: TableFrame, columns: Sequence[Any]) -> TableFrame:
        if all(isinstance(each, str) for each in columns):
            return rows.select(*columns, MARKS)
        what = "select of an expression of Spark"
        return rows.by_spark(what, lambda df: SparkFrames().select(df, columns))

    def with_columns(self, rows: TableFrame, columns: Mapping[str, Any]) -> TableFrame:
        return rows.by_spark("with_columns", lambda df: SparkFrames().with_columns(df, columns))

    def explode(self, rows: TableFrame, column: Any, as_: str) -> TableFrame:
        if not isinstance(column, str):
            what = "explode of an expression"
            return rows.by_spark(what, lambda df: SparkFrames().explode(df, column, as_))
        kind: Any = type_of(rows, column, "column")
        check_array(column, kind)

        def items(row: Row) -> list[Row]:
            if not _is_data(row):
                return [row | {as_: None}]
            return [row | {as_: item} for item in row[column]] or [row | {as_: None}]

        field = T.StructField(as_, kind.elementType)
        others = [it for it in rows.schema.fields if it.name not in (as_, MARKS)]
        schema = T.StructType([*others, field, rows.schema[MARKS]])
        full = rows.changed(
            lambda table: _left_out(table, (bool(row[column]) for row in table.to_pylist()))
        )
        return full.rewritten(schema, items)

    def without_window(self, rows: TableFrame) -> TableFrame:
        def loose(table: pa.Table) -> pa.Table:
            nothing = pa.nulls(table.num_rows, pa.int64())
            return _with_marks(table, {"start": nothing, "end": nothing})

        return rows.changed(loose)

    def union(self, frames: Sequence[TableFrame]) -> TableFrame:
        first = frames[0]
        if len(frames) == 1:
            return first
        inputs = frozenset[str]().union(*(it.inputs for it in frames))
        return TableFrame(
            first.schema,
            inputs,
            first.query,
            lambda batch: pa.concat_tables(it.table(batch).select(first.columns) for it in frames),
        )

    def packed(
        self,
        rows: TableFrame,
        plan: Plan,
        inputs: Mapping[str, Input],
        timestamp: str | None,
        assign: WindowFn | None,
        hidden_columns: Container[str] = (),
        by_part: bool = False,
    ) -> PackedTable:
        def columns(table: pa.Table) -> pa.Table:
            return packer_table(
                table, rows.schema, plan, inputs, timestamp, hidden_columns, by_part
            )

        return PackedTable(rows, columns, assign)

    def run(self, packed: Sequence[PackedTable], plan: Plan, wake_every_ms: int) -> TableFrame:
        first = packed[0].rows
        stage = first.query.stage(plan, packed)
        inputs = frozenset[str]().union(*(it.rows.inputs for it in packed))
        return TableFrame(schema_of(OutputTable(plan).schema), inputs, first.query, stage.table)

    def data(self, rows: TableFrame) -> TableFrame:
        return rows.changed(lambda table: table.filter(_kind(table).is_null())).drop(MARKS)

    def everything(self, rows: TableFrame) -> TableFrame:
        dropped = T.StructField("dropped", schema_of(pa.schema([("dropped", DROPPED)]))[0].dataType)
        schema = T.StructType([*(it for it in rows.schema.fields if it.name != MARKS), dropped])

        def seen(batch: Any) -> pa.Table:
            table = rows.table(batch)
            kind = _kind(table)
            table = table.filter(
                pc.or_(kind.is_null(), pc.fill_null(pc.equal(kind, DROPPED_ROW), False))
            )
            lost = pc.struct_field(table.column(MARKS), "dropped")
            return table.drop_columns([MARKS]).append_column("dropped", lost)

        return TableFrame(schema, rows.inputs, rows.query, seen)

    def split(self, everything: TableFrame) -> tuple[TableFrame, TableFrame]:
        panes = everything.changed(lambda it: it.filter(it.column("dropped").is_null()))
        lost = everything.changed(lambda it: it.filter(it.column("dropped").is_valid()))
        return panes.drop("dropped"), lost

    def standing(self, rows: TableFrame) -> TableFrame:
        kept = [field for field in rows.schema.fields if field.name not in ("retraction", MARKS)]
        says = T.StructField("retraction", T.BooleanType())
        schema = T.StructType([*kept, says, rows.schema[MARKS]])
        return rows.rewritten(schema, lambda row: [row | {"retraction": False}])

    def tagged(
        self,
        rows: TableFrame,
        shared: Mapping[str, str],
        name: str,
        structs: Mapping[str, T.StructType],
    ) -> TableFrame:
        own = structs[name].names

        def tag(row: Row) -> list[Row]:
            key = {shown: row[known] for shown, known in shared.items()}
            return [key | {name: {it: row[it] for it in own}, MARKS: row[MARKS]}]

        keys = [T.StructField(shown, rows.schema[it].dataType) for shown, it in shared.items()]
        lists = [T.StructField(other, kind) for other, kind in structs.items()]
        return rows.rewritten(T.StructType([*keys, *lists, rows.schema[MARKS]]), tag)

    def pairs(
        self,
        rows: TableFrame,
        keys: Sequence[str],
        sides: Mapping[str, Sequence[str]],
        of_a_pane: Sequence[str],
        how: How,
    ) -> TableFrame:
        rest = [name for name in rows.columns if name in of_a_pane]
        (left, of_left), (right, of_right) = sides.items()

        def paired(row: Row) -> list[Row]:
            fixed = {name: row[name] for name in (*keys, *rest, MARKS)}
            return [
                fixed
                | {name: one and one[name] for name in of_left}
                | {name: other and other[name] for name in of_right}
                for one in row[left] or [None]
                for other in row[right] or [None]
                if not _is_data(row) or _is_kept(one is not None, other is not None, how)
            ]

        fields = [rows.schema[name] for name in keys]
        for side, names in sides.items():
            lists: Any = rows.schema[side].dataType
            item = lists.elementType
            fields += [T.StructField(name, item[name].dataType) for name in names]
        fields += [rows.schema[name] for name in (*rest, MARKS)]
        return rows.rewritten(T.StructType(fields), paired)

    def side_rows(
        self, rows: TableFrame, renamed: Mapping[str, str], names: Sequence[str], as_: str
    ) -> TableFrame:
        struct = T.StructType([rows.schema[name] for name in names])
        return self.tagged(rows, renamed, as_, {as_: struct})

    def as_side(
        self,
        panes: TableFrame,
        main: TableFrame,
        key: Sequence[str],
        columns: Sequence[str],
        side: str,
    ) -> TableFrame:
        nothing = [
            T.StructField(it, type_of(main, it, "window_input")) for it in columns if it not in key
        ]
        known = [panes.schema[it] for it in key]
        schema = T.StructType([*known, *nothing, panes.schema[side], panes.schema[MARKS]])
        return panes.rewritten(schema, lambda row: [row])

    def beside(
        self, rows: TableFrame, side: str, kind: T.StructType, pane_before: str | None
    ) -> TableFrame:
        own = [it for it in rows.schema.fields if it.name != MARKS]
        more = [T.StructField(side, T.ArrayType(kind))]
        if pane_before is not None:
            more.append(T.StructField(pane_before, rows.schema["pane"].dataType))
        schema = T.StructType([*own, *more, rows.schema[MARKS]])
        return rows.rewritten(schema, lambda row: [row | {str(pane_before): row.get("pane")}])

    def with_its_pane(self, found: TableFrame, pane_before: str) -> TableFrame:
        own = [it for it in found.columns if it != pane_before]
        return found.with_fields([(it, (pane_before,) if it == "pane" else (it,)) for it in own])


def _kind(table: pa.Table) -> pa.ChunkedArray:
    return pc.struct_field(table.column(MARKS), "kind")


def _is_data(row: Row) -> bool:
    """Whether a row is a row of the user's."""
    return row[MARKS] is None or row[MARKS]["kind"] is None


def _is_kept(left: bool, right: bool, how: How) -> bool:
    return {"inner": left and right, "left": left, "right": right, "full": left or right}[how]


def _left_out(table: pa.Table, holds: Any) -> pa.Table:
    """The rows of which something does not hold count as left out, if they are the user's."""
    kinds = _kind(table).to_pylist()
    changed = [
        LEFT_OUT if kind is None and not keep else kind
        for kind, keep in zip(kinds, holds, strict=True)
    ]
    return _with_marks(table, {"kind": pa.array(changed, pa.string())})


def _with_marks(table: pa.Table, changed: Mapping[str, pa.Array]) -> pa.Table:
    """The table with other fields in its hidden column."""
    at = table.column_names.index(MARKS)
    marks = table.column(MARKS).combine_chunks()
    fields = list(marks.type)
    columns = [changed.get(it.name, pc.struct_field(marks, it.name)) for it in fields]
    return table.set_column(at, MARKS, pa.StructArray.from_arrays(columns, fields=fields))
