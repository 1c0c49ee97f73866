"""What becomes of the rows of a query, as tables: see `beamlike.hosts.frames`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.frames import EventTimes, Frames, How, StageInput
from beamlike.hosts.local.tables.frame import TableFrame, paths_of
from beamlike.hosts.local.tables.query import source_rows, table_of
from beamlike.runtime import ddl
from beamlike.runtime.frame_columns import FrameColumns, check_array
from beamlike.runtime.named_rows import row_maker
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import DROPPED_ROW, LEFT_OUT, MARKS

Row = dict[str, Any]


def _condition(rows: TableFrame, condition: Any, verb: str) -> Callable[[Row], bool] | None:
    """Whether a row meets a condition that names a column of booleans; None if it says more."""
    tokens = condition.split() if isinstance(condition, str) else []
    negated = len(tokens) == 2 and tokens[0].lower() == "not"
    name = tokens[-1] if len(tokens) == 1 or negated else ""
    if not name.replace(".", "_").replace("`", "").isidentifier():
        return None
    path = paths_of(rows.fields, name, verb)[0]

    def holds(row: Row) -> bool:
        value: Any = row
        for part in path:
            value = None if value is None else value[part]
        return value is not None and bool(value) != bool(negated)

    return holds


class TableFrames(Frames):
    """Rows as Arrow tables, without Spark."""

    def columns_of(self, rows: TableFrame) -> FrameColumns:
        return FrameColumns(rows.fields)

    def row_type(self, rows: TableFrame, names: Sequence[str]) -> pa.Schema:
        return pa.schema([rows.fields.field(name) for name in names])

    def read_type(self, text: str) -> pa.Field:
        return pa.field(text, ddl.read_type(text))

    def read_columns(self, text: str) -> pa.Schema:
        return ddl.read_columns(text)

    @property
    def row_maker(self) -> Callable[..., Callable[..., Any]]:
        return row_maker

    def watermark_of(self, df: TableFrame) -> None:
        return None

    def check_stream(self, df: TableFrame) -> None:
        """Accept any stream: nothing can be missing here."""

    def source_rows(self, df: TableFrame, times: EventTimes) -> TableFrame:
        return source_rows(df, times)

    def where(self, rows: TableFrame, condition: Any) -> TableFrame:
        holds = _condition(rows, condition, "where")
        if holds is None:
            request = f"where({condition!r}), which is more than a column of booleans,"
            return rows.by_spark(request, lambda frames, df: frames.where(df, condition))
        return rows.changed(lambda table: _left_out(table, map(holds, table.to_pylist())))

    def rejecting(self, rows: TableFrame, reject: Mapping[str, Any]) -> TableFrame:
        meets = {reason: _condition(rows, test, "reject") for reason, test in reject.items()}
        tests = {reason: holds for reason, holds in meets.items() if holds is not None}
        if len(tests) < len(meets):
            request = "reject= with more than columns of booleans"
            return rows.by_spark(request, lambda frames, df: frames.rejecting(df, reject))

        def rejected(table: pa.Table) -> pa.Table:
            problems = pc.struct_field(table.column(MARKS), "problem").to_pylist()
            for index, row in enumerate(table.to_pylist()):
                if problems[index] is None and _is_data(row):
                    problems[index] = next(
                        (why for why, holds in tests.items() if holds(row)), None
                    )
            return _with_marks(table, {"problem": pa.array(problems, pa.string())})

        return rows.changed(rejected)

    def select(self, rows: TableFrame, columns: Sequence[Any]) -> TableFrame:
        if all(isinstance(column, str) for column in columns):
            return rows.select(*columns, MARKS)
        request = "select of an expression of Spark"
        return rows.by_spark(request, lambda frames, df: frames.select(df, columns))

    def with_columns(self, rows: TableFrame, columns: Mapping[str, Any]) -> TableFrame:
        return rows.by_spark("with_columns", lambda frames, df: frames.with_columns(df, columns))

    def explode(self, rows: TableFrame, column: Any, as_: str) -> TableFrame:
        if not isinstance(column, str):
            request = "explode of an expression"
            return rows.by_spark(request, lambda frames, df: frames.explode(df, column, as_))
        field = FrameColumns(rows.fields).field(column, "column")
        check_array(column, field)

        def items(row: Row) -> list[Row]:
            if not _is_data(row):
                return [row | {as_: None}]
            return [row | {as_: item} for item in row[column]] or [row | {as_: None}]

        kept = [field for field in rows.fields if field.name not in (as_, MARKS)]
        item = pa.field(as_, field.type.value_type)
        schema = pa.schema([*kept, item, rows.fields.field(MARKS)])
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
        inputs = frozenset[str]().union(*(frame.inputs for frame in frames))
        return TableFrame(
            first.fields,
            inputs,
            first.query,
            lambda batch: pa.concat_tables(
                frame.table(batch).select(first.columns) for frame in frames
            ),
        )

    def run(self, inputs: Sequence[StageInput], plan: Plan, wake_every_ms: int) -> TableFrame:
        first = inputs[0].rows
        make = first.query.stage(plan, inputs)
        names = frozenset[str]().union(*(stage_input.rows.inputs for stage_input in inputs))
        return TableFrame(OutputTable(plan).schema, names, first.query, make)

    def result(self, frame: TableFrame) -> Any:
        return frame if frame.isStreaming else table_of(frame)

    def data(self, rows: TableFrame) -> TableFrame:
        return rows.changed(lambda table: table.filter(_row_kinds(table).is_null())).drop(MARKS)

    def everything(self, rows: TableFrame) -> TableFrame:
        fields = (field for field in rows.fields if field.name != MARKS)
        dropped = rows.fields.field(MARKS).type.field("dropped").type
        schema = pa.schema([*fields, pa.field("dropped", dropped)])

        def seen(batch: Any) -> pa.Table:
            table = rows.table(batch)
            marked = _row_kinds(table)
            table = table.filter(
                pc.or_(marked.is_null(), pc.fill_null(pc.equal(marked, DROPPED_ROW), False))
            )
            lost = pc.struct_field(table.column(MARKS), "dropped")
            return table.drop_columns([MARKS]).append_column("dropped", lost)

        return TableFrame(schema, rows.inputs, rows.query, seen)

    def split(self, everything: TableFrame) -> tuple[TableFrame, TableFrame]:
        panes = everything.changed(lambda table: table.filter(table.column("dropped").is_null()))
        lost = everything.changed(lambda table: table.filter(table.column("dropped").is_valid()))
        return panes.drop("dropped"), lost

    def without_retractions(self, rows: TableFrame) -> TableFrame:
        kept = [field for field in rows.fields if field.name not in ("retraction", MARKS)]
        says = pa.field("retraction", pa.bool_())
        schema = pa.schema([*kept, says, rows.fields.field(MARKS)])
        return rows.rewritten(schema, lambda row: [row | {"retraction": False}])

    def tagged(
        self,
        rows: TableFrame,
        shared: Mapping[str, str],
        name: str,
        structs: Mapping[str, pa.Schema],
    ) -> TableFrame:
        names = structs[name].names

        def tag(row: Row) -> list[Row]:
            key = {shown: row[known] for shown, known in shared.items()}
            return [key | {name: {column: row[column] for column in names}, MARKS: row[MARKS]}]

        keys = [rows.fields.field(known).with_name(shown) for shown, known in shared.items()]
        lists = [pa.field(other, pa.struct(list(row_type))) for other, row_type in structs.items()]
        return rows.rewritten(pa.schema([*keys, *lists, rows.fields.field(MARKS)]), tag)

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

        def is_kept(left: bool, right: bool) -> bool:
            sides = {"inner": left and right, "left": left, "right": right, "full": left or right}
            return sides[how]

        def paired(row: Row) -> list[Row]:
            fixed = {name: row[name] for name in (*keys, *rest, MARKS)}
            return [
                fixed
                | {name: left_row and left_row[name] for name in of_left}
                | {name: other and other[name] for name in of_right}
                for left_row in row[left] or [None]
                for other in row[right] or [None]
                if not _is_data(row) or is_kept(left_row is not None, other is not None)
            ]

        fields = [rows.fields.field(name) for name in keys]
        for side, names in sides.items():
            row_type = rows.fields.field(side).type.value_type
            fields += [row_type.field(name).with_nullable(True) for name in names]
        fields += [rows.fields.field(name) for name in (*rest, MARKS)]
        return rows.rewritten(pa.schema(fields), paired)

    def as_side(
        self,
        panes: TableFrame,
        main: TableFrame,
        key: Sequence[str],
        columns: Sequence[str],
        side: str,
    ) -> TableFrame:
        columns_of_main = FrameColumns(main.fields)
        nothing = [
            columns_of_main.field(column, "window_input") for column in columns if column not in key
        ]
        known = [panes.fields.field(column) for column in key]
        marks = panes.fields.field(MARKS)
        schema = pa.schema([*known, *nothing, panes.fields.field(side), marks])
        return panes.rewritten(schema, lambda row: [row])

    def with_side_column(
        self, rows: TableFrame, side: str, row_type: pa.Schema, pane_before: str | None
    ) -> TableFrame:
        fields = [field for field in rows.fields if field.name != MARKS]
        added = [pa.field(side, pa.list_(pa.struct(list(row_type))))]
        if pane_before is not None:
            added.append(rows.fields.field("pane").with_name(pane_before))
        schema = pa.schema([*fields, *added, rows.fields.field(MARKS)])
        return rows.rewritten(schema, lambda row: [row | {str(pane_before): row.get("pane")}])

    def with_its_pane(self, table_frame: TableFrame, pane_before: str) -> TableFrame:
        kept = [column for column in table_frame.columns if column != pane_before]
        return table_frame.with_fields(
            [(column, (pane_before,) if column == "pane" else (column,)) for column in kept]
        )


def _row_kinds(table: pa.Table) -> pa.ChunkedArray:
    return pc.struct_field(table.column(MARKS), "kind")


def _is_data(row: Row) -> bool:
    """Whether a row is a row of the user's."""
    return row[MARKS] is None or row[MARKS]["kind"] is None


def _left_out(table: pa.Table, holds: Any) -> pa.Table:
    """The rows of which something does not hold count as left out, if they are the user's."""
    kinds = _row_kinds(table).to_pylist()
    changed = [
        LEFT_OUT if marked is None and not keep else marked
        for marked, keep in zip(kinds, holds, strict=True)
    ]
    return _with_marks(table, {"kind": pa.array(changed, pa.string())})


def _with_marks(table: pa.Table, changed: Mapping[str, pa.Array]) -> pa.Table:
    """The table with other fields in its hidden column."""
    index = table.column_names.index(MARKS)
    marks = table.column(MARKS).combine_chunks()
    fields = list(marks.type)
    columns = [changed.get(field.name, pc.struct_field(marks, field.name)) for field in fields]
    return table.set_column(index, MARKS, pa.StructArray.from_arrays(columns, fields=fields))
