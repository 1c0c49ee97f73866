"""Rows of a DataFrame as elements of a pipeline, on Spark's workers."""

from collections import namedtuple
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row

from beamlike.hosts.spark.workers import prepare_logs, tune_worker_process
from beamlike.machine.events import Drop, RowProblem
from beamlike.machine.input_clocks import InputUpdate, SourceClock, SourceProgress
from beamlike.model.coders import Coder
from beamlike.model.column_bundle import Column, ColumnBundle
from beamlike.model.graph import MAIN
from beamlike.model.windows import GLOBAL_WINDOWS
from beamlike.runtime.clock import Delivered, delivered_by
from beamlike.runtime.graph.arrow_values import ArrowColumn, python_values
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail, NodeDrop
from beamlike.runtime.graph.wire import MADE_BY
from beamlike.runtime.logs import log_effects, logs_drops
from beamlike.runtime.packing import Batches
from beamlike.runtime.progress import progress_of
from beamlike.runtime.row_metadata import canonical
from beamlike.runtime.tally import Tally
from beamlike.safe_text import USER_RAISED, problem_of, short_repr

AT: Final = "__beamlike_at"
"""The column of event time that is added to the rows, in ticks of the graph."""
AHEAD: Final = "__beamlike_ahead"
"""The column that says which rows are too far ahead of the clock."""

Values = tuple[Any, ...]
"""The columns of one row."""


@attrs.frozen
class Reader:
    """Reads the rows of a source as elements.

    Args:
        timestamp: The column of event time; None: the rows have none.
        streaming: Whether the rows move the watermark of the source.
        part: The column that names the part of the source that a row is of; None: it has none.
    """

    layers: Layers
    node: int
    timestamp: str | None
    streaming: bool
    encoded: str | None
    coder: Coder | None
    part: str | None = None

    def __call__(self, batches: Batches) -> Mail:
        """The rows of a task as mail."""
        tune_worker_process()
        prepare_logs()
        mail = Mail()
        for batch in batches:
            self._add(batch, mail)
        lost = [(None, dropped.drop) for dropped in mail.report.lost]
        if logs_drops():
            log_effects(self.layers.nodes[self.node].label, lost)
        return mail

    def _add(self, batch: pa.RecordBatch, mail: Mail) -> None:
        instants, ahead = batch.column(AT), batch.column(AHEAD)
        rows = RowColumns(canonical(batch.drop_columns([AT, AHEAD])))
        known = pc.and_(instants.is_valid(), pc.invert(ahead.fill_null(False)))
        unit = self.layers.resolution
        times = instants.fill_null(unit.earliest).to_numpy()
        lost = list[Drop]()
        if not pc.all(known, min_count=0).as_py():
            places = np.nonzero(~known.to_numpy(zero_copy_only=False))[0].tolist()
            lost = [
                self._untimely(rows.named(place), is_ahead=ahead[place].as_py()) for place in places
            ]
            rows, times = RowColumns(rows.batch.filter(known)), instants.filter(known).to_numpy()
        if self.streaming:
            mail.reached += self._reached(rows, times)
            if len(rows):
                mail.delivered.append(self._delivered(rows, times))
        values, unreadable = self._elements(rows)
        if unreadable:
            lost += unreadable.values()
            times = np.delete(times, [*unreadable])
        bundle = ColumnBundle(values, times, GLOBAL_WINDOWS[unit])
        self.layers.put(mail, self.node, MAIN, bundle)
        mail.report.lost += (NodeDrop(self.node, None, drop) for drop in lost)
        dropped = [(None, drop) for drop in lost]
        tally = Tally.of(self.layers.resolution, batch.num_rows, dropped)
        mail.report.count(self.node, tally)

    def _elements(self, rows: "RowColumns") -> tuple[Column | list[Any], dict[int, Drop]]:
        """The elements of rows; and the drops of rows that cannot be decoded, by their places."""
        if self.encoded is None or self.coder is None:
            return rows, {}
        values, lost = [], {}
        for place, blob in enumerate(rows.batch.column(self.encoded).to_pylist()):
            try:
                values.append(self.coder.decode(blob))
            except USER_RAISED as cause:  # of this row: no other is lost for it
                why = problem_of(cause)
                lost[place] = _unreadable(rows.named(place), RowProblem.BAD_VALUE, why)
        return values, lost

    def _reached(self, rows: "RowColumns", times: Any) -> Iterable[InputUpdate]:
        """How far event time has come in each part of the source that delivered rows."""
        clock = self._clock()
        parts = None
        if self.part is not None:
            parts = pa.chunked_array([rows.batch.column(self.part).cast(pa.string()).fill_null("")])
        if not len(rows) and parts is None and clock.max_jump is None:
            # Rows that are lost are rows: their source is not idle. With a max_jump they show
            # nothing, because those that count are compared with what is known of the time.
            return [SourceProgress(self.node, self.layers.resolution.earliest)]
        instants = pa.chunked_array([pa.array(times, pa.int64())])
        return progress_of(self.node, clock, instants, parts)

    def _clock(self) -> SourceClock:
        clock = self.layers.clocks[self.node].in_resolution(self.layers.resolution)
        assert isinstance(clock, SourceClock), "a source that streams has a clock"
        return clock

    def _delivered(self, rows: "RowColumns", times: Any) -> Delivered:
        """The event times that rows deliver."""
        last = int(np.argmax(times))
        instant = self.layers.resolution.show_instant(int(times[last]))
        row_text = f"{short_repr(rows.named(last))} at {instant}"
        instants = pa.chunked_array([pa.array(times, pa.int64())])
        return delivered_by(self.node, instants, self._clock().delay, row_text)

    def _untimely(self, row: dict[str, Any], *, is_ahead: bool | None) -> Drop:
        name = str(self.timestamp)
        if row.get(name) is None:
            return _unreadable(row, RowProblem.NULL_TIMESTAMP, f"its {name!r} is null")
        if is_ahead:
            why = f"its {name!r} is too far ahead of the clock, see max_ahead"
            return _unreadable(row, RowProblem.FAR_FUTURE, why)
        return _unreadable(row, RowProblem.BAD_TIMESTAMP, f"its {name!r} is no time")


def _unreadable(row: dict[str, Any], problem: RowProblem, why: str) -> Drop:
    return Drop(None, None, problem, error=f"{row!r}: {why}")


class RowColumns:
    """The rows of a batch. Their objects are made when they are needed."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def tolist(self) -> list[Row]:
        names, columns = self.batch.schema.names, map(python_values, self.batch.columns)
        return [*map(row_maker(tuple(names)), zip(*columns, strict=True))]

    def picked(self, name: str | int) -> ArrowColumn | None:
        """The column that ``row.name``, ``row["name"]`` or ``row[0]`` reads.

        None if that is not certain: rows have attributes of their own, and a name may be that of
        several columns or of none.
        """
        names = self.batch.schema.names
        is_plain = names.count(name) == 1 and not hasattr(Row, str(name))
        return ArrowColumn(self.batch.column(name)) if is_plain else None

    def named(self, place: int) -> dict[str, Any]:
        """The row at a place, by the names of its columns."""
        values = [python_values(column)[0] for column in self.batch.slice(place, 1).columns]
        return dict(zip(self.batch.schema.names, values, strict=True))


@lru_cache(maxsize=64)
def row_maker(names: tuple[str, ...]) -> Callable[[Values], Row]:
    """A function that makes rows with these columns of their values.

    It does what ``Row(*names)`` does, several times as fast: these rows share a class that finds a
    column by its place. Pickled, they are rows like any other; see also
    `beamlike.runtime.graph.wire.Listed`.
    """
    # Properties of named tuples find a column in a quarter of the time that `Row` takes. Their
    # class is kept meanwhile: a collector of garbage that meets it without an owner empties it.
    columns = [f"column_{place}" for place in range(len(names))]
    tuple_class = namedtuple("tuple_class", columns)  # type: ignore[misc]  # its length is not known
    body: dict[str, Any] = {
        name: getattr(tuple_class, column)
        for name, column in zip(names, columns, strict=True)
        if not hasattr(Row, name)
    }
    body |= {"__fields__": list(names), "__slots__": (), MADE_BY: (row_maker, (names,))}
    cls = type("Row", (Row,), body)
    return partial(tuple.__new__, cls)
