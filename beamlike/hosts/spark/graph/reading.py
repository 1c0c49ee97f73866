"""Rows of a DataFrame as elements of a pipeline, on Spark's workers."""

import reprlib
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
from pyspark.sql import Row

from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker, prepare_logs
from beamlike.machine.events import Drop, RowProblem
from beamlike.machine.jumps import Delivered
from beamlike.model.bundle import Bundle
from beamlike.model.coders import Coder
from beamlike.model.graph import MAIN
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MIN_TIMESTAMP, show_instant
from beamlike.model.windows import GLOBAL_WINDOW, Window
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Lost, Mail, Reached
from beamlike.runtime.graph.tally import Tally
from beamlike.runtime.jumps import delivered_by
from beamlike.runtime.logs import log_effects, logs_drops

__all__ = ["AHEAD", "AT", "reader"]

AT: Final = "__beamlike_at"
"""The column of event time (ms) that is added to the rows."""
AHEAD: Final = "__beamlike_ahead"
"""The column that says which rows are too far ahead of the clock."""


def _valuer(
    columns: Sequence[str], encoded: str | None, coder: Coder | None
) -> Callable[[tuple[Any, ...]], Any]:
    """What makes an element of the columns of a row."""
    if encoded is None or coder is None:
        made: Callable[..., Any] = Row(*columns)
        return lambda row: made(*row)
    at = list(columns).index(encoded)
    return lambda row: coder.decode(row[at])


def reader(
    layers: Layers,
    node: int,
    timestamp: str | None,
    streaming: bool,
    encoded: str | None,
    coder: Coder | None,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes letters of rows.

    Args:
        layers: The pipeline.
        node: The number of the source.
        timestamp: The column of event time; None: the rows have none.
        streaming: Whether the rows say how far event time has come.
        encoded: The column that holds the elements as bytes; None: the rows are the elements.
        coder: How these were encoded.
    """

    def read(batches: Batches) -> Batches:
        ease_worker()
        prepare_logs()
        greatest = MIN_TIMESTAMP
        for batch in batches:
            times, ahead = (batch.column(name).to_pylist() for name in (AT, AHEAD))
            table = batch.drop_columns([AT, AHEAD])
            names = table.schema.names
            rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
            found = _Found(node, timestamp, names, _valuer(names, encoded, coder))
            for at, is_ahead, row in zip(times, ahead, rows, strict=True):
                found.add(at, row, is_ahead=bool(is_ahead))
            mail = Mail(lost=found.lost)
            mail.out[node, MAIN] = found.bundle
            lost_here = [(None, it.drop) for it in mail.lost]
            mail.count(node, Tally.of(len(times), lost_here))
            if logs_drops():
                log_effects(layers.nodes[node].label, lost_here)
            if streaming and times:
                greatest = max(greatest, found.greatest)
                mail.reached.append(Reached(node, 0, greatest))
                mail.delivered += _delivered(node, names, rows, times, ahead)
            yield _letter(layers, mail)

    return read


@attrs.define
class _Found:
    """What a reader finds in rows: elements, and rows that are none."""

    node: int
    timestamp: str | None
    names: Sequence[str]
    value: Callable[[tuple[Any, ...]], Any]
    lost: list[Lost] = attrs.field(factory=list)
    greatest: int = MIN_TIMESTAMP
    values: list[Any] = attrs.field(factory=list)
    times: list[int] = attrs.field(factory=list)

    def add(self, at: int | None, row: tuple[Any, ...], *, is_ahead: bool) -> None:
        """A row with its event time (ms)."""
        if at is None or is_ahead:
            self._lose(_untimely(self._named(row), str(self.timestamp), is_ahead=is_ahead))
            return
        self.greatest = max(self.greatest, at)
        try:
            self.values.append(self.value(row))
        except Exception as cause:  # of this row: no other is lost for it
            why = f"{type(cause).__name__}: {cause}"
            self._lose(_unreadable(self._named(row), RowProblem.BAD_VALUE, why))
            return
        self.times.append(at)

    @property
    def bundle(self) -> Bundle:
        """The elements."""
        count = len(self.values)
        windows: list[tuple[Window, ...]] = [(GLOBAL_WINDOW,)] * count
        return Bundle(self.values, self.times, windows, [NO_FIRING] * count)

    def _named(self, row: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self.names, row, strict=True))

    def _lose(self, drop: Drop) -> None:
        self.lost.append(Lost(self.node, None, drop))


def _delivered(
    node: int,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    times: Sequence[int | None],
    ahead: Sequence[bool],
) -> Iterator[Delivered]:
    """The event times of these rows, if they have any."""
    timed = [(at, row) for at, row, far in zip(times, rows, ahead, strict=True) if not far]
    known = [(at, row) for at, row in timed if at is not None]
    if known:
        last, row = max(known, key=itemgetter(0))
        words = f"{reprlib.repr(dict(zip(names, row, strict=True)))} at {show_instant(last)}"
        yield delivered_by(node, np.array([at for at, _ in known], np.int64), words)


def _untimely(row: dict[str, Any], timestamp: str, *, is_ahead: bool) -> Drop:
    if row.get(timestamp) is None:
        return _unreadable(row, RowProblem.NULL_TIMESTAMP, f"its {timestamp!r} is null")
    if is_ahead:
        why = f"its {timestamp!r} is too far ahead of the clock, see max_ahead"
        return _unreadable(row, RowProblem.FAR_FUTURE, why)
    return _unreadable(row, RowProblem.BAD_TIMESTAMP, f"its {timestamp!r} is no time")


def _unreadable(row: dict[str, Any], problem: RowProblem, why: str) -> Drop:
    return Drop(None, None, problem, error=f"{row!r}: {why}")


def _letter(layers: Layers, mail: Mail) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([layers.dump(mail)], pa.binary())], ["blob"])
