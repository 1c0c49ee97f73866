"""Rows that a test sends to a query, and the output of the query as panes and drops."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import ColumnError, TestStreamError, TimeError
from beamlike.hosts.finding import is_struct_type
from beamlike.machine.events import Drop, DropReason, Element, Pane, RowProblem
from beamlike.model.combine import Collect, CombineFn
from beamlike.model.combine.corrected import Kept
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.time import event_time_ms, event_time_us
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window
from beamlike.runtime.script import Output
from beamlike.runtime.session_identity import SESSION_IDENTITY
from beamlike.testing.assertions.equality import same, same_content

if TYPE_CHECKING:
    import pyarrow as pa

    from beamlike.runtime.plan import Plan

Row = Mapping[str, Any]

SchemaLike = Any
"""``"user string, at timestamp"``, a ``StructType`` of PySpark or a schema of pyarrow."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
ALONE: Final = "input"
"""The name of an input that has none."""


def input_schemas(inputs: SchemaLike | Mapping[str, SchemaLike]) -> dict[str, "pa.Schema"]:
    """The inputs of a query by name, with the types of their columns."""
    named = inputs if isinstance(inputs, Mapping) else {ALONE: inputs}
    if not named:
        raise TestStreamError(
            'inputs must have the columns of at least one frame, such as "user string, at '
            'timestamp", or {"orders": "...", "payments": "..."}'
        )
    for name in named:
        if not isinstance(name, str) or not name.isidentifier():
            raise TestStreamError(
                f"the name of an input is that of a parameter of the query's function, got {name!r}"
            )
    return {name: _schema(name, columns) for name, columns in named.items()}


def _schema(name: str, schema_like: SchemaLike) -> "pa.Schema":
    import pyarrow as pa

    from beamlike.runtime.ddl import read_columns
    from beamlike.runtime.sql_types import arrow_type, type_text, usual_schema

    if isinstance(schema_like, str):
        schema = read_columns(schema_like)
    elif is_struct_type(schema_like):
        from beamlike.hosts.pyspark_types import schema_of

        schema = schema_of(schema_like)
    else:
        schema = schema_like
    if not isinstance(schema, pa.Schema):
        raise TestStreamError(
            f'{name}: columns are given as "user string, at timestamp" or as a StructType of '
            f"pyspark, got {schema_like!r}"
        )
    schema = usual_schema(schema, name)
    for field in schema:
        dtype = arrow_type(field, name)
        if pa.types.is_duration(dtype) or pa.types.is_null(dtype):
            raise ColumnError(
                f"{name}: a column of the type {type_text(field)} cannot be sent; "
                "make it in the query's function of another one"
            )
    return schema


def typed_rows(name: str, schema: "pa.Schema", rows: Sequence[Row]) -> "pa.Table":
    """Rows as a table with the types of an input. A column that a row leaves out is null."""
    import pyarrow as pa

    for row in rows:
        if not isinstance(row, Mapping):
            raise TestStreamError(
                f'a row is a mapping of columns to values, such as {{"user": "ann"}}, got {row!r}'
            )
        unknown = [column for column in row if column not in schema.names]
        if unknown:
            known = ", ".join(map(repr, schema.names))
            raise TestStreamError(
                f"{name} has no column {unknown[0]!r}; its columns are {known}, and the row is "
                f"{dict(row)!r}"
            )
    columns = [_column(name, field, [row.get(field.name) for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(name: str, field: "pa.Field", values: Sequence[Any]) -> "pa.Array":
    import pyarrow as pa

    column = []
    for value in values:
        try:
            column.append(_value(value, field.type))
            pa.array(column[-1:], field.type)
        except (pa.ArrowException, TimeError, TypeError, ValueError, OverflowError):
            raise TestStreamError(
                f"column {field.name!r} of {name} is {field.type}, and {value!r} is no such value"
            ) from None
    return pa.array(column, field.type)


def _value(value: Any, dtype: "pa.DataType") -> Any:
    """A value as Arrow takes it: times may be written as in a test stream."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_timestamp(dtype):
        if isinstance(value, datetime):
            moment = value.replace(tzinfo=value.tzinfo or UTC)
        else:
            moment = _EPOCH + timedelta(microseconds=event_time_us(value, "time"))
        return moment if dtype.tz else moment.astimezone(UTC).replace(tzinfo=None)
    if pa.types.is_date(dtype) and isinstance(value, str):
        return date.fromisoformat(value)
    if isinstance(value, bool) != pa.types.is_boolean(dtype) and not pa.types.is_nested(dtype):
        raise TypeError(value)  # Arrow would take it for 1
    if pa.types.is_floating(dtype) and isinstance(value, int):
        return float(value)
    return value


_OF_A_PANE: Final = (
    *("window", "timestamp", "pane", "retraction", "change", SESSION_IDENTITY, "dropped"),
)


@attrs.frozen
class Shape:
    """How the rows of a query are read as elements.

    Args:
        keys: The columns of the key. One makes the key its value, several a tuple.
        of_stages: The columns of the key of each grouping by its name.
        unordered: The columns with lists in no particular order.
    """

    keys: Sequence[str]
    of_stages: Mapping[str, Sequence[str]]
    unordered: frozenset[str]

    @classmethod
    def of(cls, groupings: "Sequence[Plan]") -> "Shape":
        """How rows of the last of some groupings are read."""
        if not groupings:
            return cls((), {}, frozenset())
        plan = groupings[-1]
        lists = (part.name for part in plan.parts if _collects(part.fn))
        of_stages = {grouping.name: tuple(grouping.keys) for grouping in groupings}
        return cls(tuple(plan.keys), of_stages, frozenset(lists))

    def key_of(self, row: Mapping[str, Any], stage: str | None = None) -> Any:
        """The key of a row in a grouping, by default the last, of the columns that are there."""
        names = self.keys if stage is None else self.of_stages[stage]
        key = tuple(row[name] for name in names if name in row)
        return key[0] if len(key) == 1 else key

    def value_of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The other columns of a row."""
        return {name: value for name, value in row.items() if name not in self.keys}

    def has_key(self, row: Mapping[str, Any]) -> bool:
        """Whether a row has all columns of the key."""
        return all(name in row for name in self.keys)

    def same(self, expected: Any, actual: Any) -> bool:
        """Equal, where lists in no particular order may differ in their order."""
        match expected, actual:
            case (key, Mapping() as wanted), (other, Mapping() as came):
                return (
                    same(key, other)
                    and wanted.keys() == came.keys()
                    and all(
                        (same_content if name in self.unordered else same)(value, came[name])
                        for name, value in wanted.items()
                    )
                )
        return same(expected, actual)

    def outputs(self, step: int, rows: Iterable[Mapping[str, Any]]) -> Iterator[Output]:
        """The panes and drops among the rows of a step.

        Rows that only delete what a pane has put are neither.
        """
        for row in rows:
            if row.get("dropped") is not None:
                yield self._drop(step, row["dropped"])
                continue
            missing = [name for name in ("window", "pane") if name not in row]
            if missing:
                raise TestStreamError(
                    f"the rows of this query have no column {missing[0]!r}, so nothing says of "
                    "which window and pane they are; have its function return that column too, or "
                    "look at query.rows"
                )
            if row["pane"] is not None:
                yield Output(step, self.key_of(row), self._pane(row))

    def _pane(self, row: Mapping[str, Any]) -> Pane:
        fields = dict(row["pane"])
        info = PaneInfo(Timing(fields.pop("timing")), **fields)
        window, stamped = _window(row["window"]), row.get("timestamp")
        values = self.value_of(row).items()
        return Pane(
            window,
            {name: value for name, value in values if name not in _OF_A_PANE},
            window.max_timestamp if stamped is None else _ms(stamped),
            info,
            bool(row.get("retraction")),
        )

    def _drop(self, step: int, lost: Mapping[str, Any]) -> Output:
        row = json.loads(lost["element"])
        key, keys = self.key_of(row, lost["stage"]), self.of_stages[lost["stage"]]
        value = {name: part for name, part in row.items() if name not in keys}
        reasons: tuple[DropReason | RowProblem, ...] = (*DropReason, *RowProblem)
        timestamp = lost["timestamp"]
        drop = Drop(
            Element(value, None if timestamp is None else _ms(timestamp)),  # type: ignore[arg-type]
            _window(lost["window"]) if lost["window"] else None,
            next(reason for reason in reasons if reason.value == lost["reason"]),
            lost["missed_ms"],
            _window(lost["nearest_session"]) if lost["nearest_session"] else None,
            None if lost["watermark"] is None else _ms(lost["watermark"]),
            lost["count"],
            lost["error"],
        )
        return Output(step, key, drop)


def _window(span: Mapping[str, Any]) -> Window:
    if span["start"] is None and span["end"] is None:
        return GLOBAL_WINDOW
    start = _ms(span["start"])
    return IntervalWindow(start, max(_ms(span["end"]), start + 1))


def _ms(moment: datetime) -> int:
    """The millisecond in which an instant lies: that is what matchers and pictures count."""
    return event_time_ms(moment, "instant")


def _collects(fn: CombineFn) -> bool:
    """Whether it makes lists that are in no promised order."""
    return isinstance(fn.fn if isinstance(fn, Kept) else fn, Collect)
