"""Rows of a DataFrame as elements of a pipeline, on Spark's workers."""

from collections import namedtuple
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import compress
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row

from beamlike.hosts.spark.workers import ease_worker, prepare_logs
from beamlike.machine.events import Drop, RowProblem
from beamlike.model.bundle import Bundle, Spans
from beamlike.model.coders import Coder
from beamlike.model.graph import MAIN
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import show_instant
from beamlike.model.windows import GLOBAL_WINDOWS
from beamlike.runtime.envelope import Reached
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail, NodeDrop
from beamlike.runtime.graph.wire import MADE_BY
from beamlike.runtime.logs import delivered_by, log_effects, logs_drops
from beamlike.runtime.packing import Batches
from beamlike.runtime.row_metadata import canonical
from beamlike.runtime.tally import Tally
from beamlike.safe_text import USER_RAISED, problem_of, short_repr

AT: Final = "__beamlike_at"
"""The column of event time (ms) that is added to the rows."""
AHEAD: Final = "__beamlike_ahead"
"""The column that says which rows are too far ahead of the clock."""

Values = tuple[Any, ...]
"""The columns of one row."""


@attrs.frozen
class Reader:
    """Makes elements of the rows of a source.

    Args:
        node: The number of the source.
        timestamp: The column of event time; None: the rows have none.
        streaming: Whether the rows say how far event time has come.
    """

    layers: Layers
    node: int
    timestamp: str | None
    streaming: bool
    encoded: str | None
    coder: Coder | None

    def __call__(self, batches: Batches) -> Mail:
        """All rows of a task."""
        ease_worker()
        prepare_logs()
        mail = Mail()
        for batch in batches:
            self._add(batch, mail)
        lost = [(None, it.drop) for it in mail.report.lost]
        if logs_drops():
            log_effects(self.layers.nodes[self.node].label, lost)
        return mail

    def _add(self, batch: pa.RecordBatch, mail: Mail) -> None:
        at, ahead = batch.column(AT), batch.column(AHEAD)
        table = canonical(batch.drop_columns([AT, AHEAD]))
        names = table.schema.names
        rows: list[Values] = list(zip(*map(_values, table.columns), strict=True))
        known = pc.and_(at.is_valid(), pc.invert(ahead.fill_null(False))).to_numpy(
            zero_copy_only=False
        )
        unit = self.layers.resolution
        times = at.fill_null(unit.earliest).to_numpy()
        lost = [
            self._untimely(dict(zip(names, rows[row], strict=True)), is_ahead=ahead[row].as_py())
            for row in np.nonzero(~known)[0].tolist()
        ]
        if lost:
            rows = [*compress(rows, known.tolist())]
            times = times[known]
        if self.streaming:
            greatest = int(times.max(initial=unit.earliest))
            mail.reached.append(Reached(self.node, 0, greatest))
            if rows:
                mail.delivered.append(self._delivered(names, rows, times))
        values, unreadable = self._elements(names, rows)
        if unreadable:
            lost += unreadable.values()
            times = np.delete(times, [*unreadable])
        count = len(values)
        bundle = Bundle(
            values, times.tolist(), Spans.all_in(GLOBAL_WINDOWS[unit], count), [NO_FIRING] * count
        )
        self.layers.put(mail, self.node, MAIN, bundle)
        mail.report.lost += (NodeDrop(self.node, None, drop) for drop in lost)
        mail.report.count(self.node, Tally.of(batch.num_rows, [(None, drop) for drop in lost]))

    def _elements(
        self, names: Sequence[str], rows: Sequence[Values]
    ) -> tuple[list[Any], dict[int, Drop]]:
        """The elements that rows are, and by its place what is lost of a row that is none."""
        if self.encoded is None or self.coder is None:
            return [*map(row_maker(tuple(names)), rows)], {}
        column = names.index(self.encoded)
        values, lost = [], {}
        for place, row in enumerate(rows):
            try:
                values.append(self.coder.decode(row[column]))
            except USER_RAISED as cause:  # of this row: no other is lost for it
                why = problem_of(cause)
                named = dict(zip(names, row, strict=True))
                lost[place] = _unreadable(named, RowProblem.BAD_VALUE, why)
        return values, lost

    def _delivered(self, names: Sequence[str], rows: Sequence[Values], times: Any) -> Any:
        """What the event times of rows say."""
        last = int(np.argmax(times))
        named = dict(zip(names, rows[last], strict=True))
        words = f"{short_repr(named)} at {show_instant(int(times[last]))}"
        return delivered_by(self.node, times, words)

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


@lru_cache(maxsize=64)
def row_maker(names: tuple[str, ...]) -> Callable[[Values], Row]:
    """What makes rows with columns of these names of their values.

    As ``Row(*names)`` does, and several times as fast: they share a class of their own, which
    finds a column by its place. Pickled, they are rows like any other; see also
    `beamlike.runtime.graph.wire.Listed`.
    """
    # Those of named tuples find a column in a quarter of the time that `Row` takes.
    finders = vars(namedtuple("finders", [f"column_{place}" for place in range(len(names))]))
    body: dict[str, Any] = {
        name: finders[f"column_{place}"]
        for place, name in enumerate(names)
        if not hasattr(Row, name)
    }
    body |= {"__fields__": list(names), "__slots__": (), MADE_BY: (row_maker, (names,))}
    kind = type("Row", (Row,), body)
    return partial(tuple.__new__, kind)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _values(column: pa.Array) -> list[Any]:
    """The values of a column as Python's. Arrow takes twenty times as long for instants."""
    dtype = column.type
    if not pa.types.is_timestamp(dtype) or dtype.unit != "us" or dtype.tz is None:
        values: list[Any] = column.to_pylist()
        return values
    since_epoch = column.cast(pa.int64()).fill_null(0).to_numpy().astype("timedelta64[us]")
    instants = [_EPOCH + length for length in since_epoch.tolist()]
    if not column.null_count:
        return instants
    valid = column.is_valid().to_pylist()
    return [instant if known else None for instant, known in zip(instants, valid, strict=True)]
