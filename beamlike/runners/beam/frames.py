"""DataFrames at the edges of a pipeline: rows as elements, and elements as rows."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import apache_beam as beam
import attrs
from apache_beam.utils.timestamp import Timestamp

from beamlike.errors import PipelineError
from beamlike.model.bundle import Bundle, Retraction
from beamlike.model.graph import MAIN, Edge, ReadNode
from beamlike.runners.beam.elements import BundleDo, ElementForm
from beamlike.runners.beam.transforms import FromDataFrame, UpsertInto, WriteRows
from beamlike.runners.beam.windows import pane_from_beam

RETRACTION: Final = "retraction"
"""The column that says whether a row withdraws an earlier one."""
_OF_PANES: Final = (
    "window struct<start: timestamp, end: timestamp>, timestamp timestamp, pane struct<timing: "
    "string, index: long, nonspeculative_index: long, is_first: boolean, is_last: boolean>"
)
"""The columns that a row of a table has besides those of its element."""


def read_node(label: str, transform: FromDataFrame) -> ReadNode:
    """The source that reads a DataFrame."""
    from beamlike.hosts.spark.graph.frames import Frame

    frame = Frame(transform.rows, transform.timestamp, transform.clock)
    return ReadNode(label, (), frame, bounded=not transform.rows.isStreaming)


class AsRows(BundleDo):
    """Elements as values that rows are made of.

    Args:
        label: The transform that writes them.
        takes: The form of the elements.
        with_panes: Whether a row has the window, the time and the pane of its element, too.
        retracts: Whether a row says if it withdraws an earlier one.
    """

    def __init__(
        self, label: str, takes: ElementForm, *, with_panes: bool = False, retracts: bool = False
    ) -> None:
        self._label, self._takes = label, takes
        self._with_panes, self._retracts = with_panes, retracts

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        bundle, _ = bundle.one_window_each()
        if self._with_panes:
            rows = [self._row(windowed) for windowed in self._takes.values(bundle)]
        elif self._retracts:
            rows = [*map(self._retracting, self._takes.plain(bundle))]
        else:
            rows = [_plain(value) for value in self._takes.plain(bundle)]
        return [(MAIN, bundle.with_values(rows))]

    def _row(self, windowed: Any) -> Any:
        """A row with the window, the time and the pane of its element."""
        is_retraction = type(windowed.value) is Retraction
        value = _plain(windowed.value.element if is_retraction else windowed.value)
        named = value._asdict() if hasattr(value, "_asdict") else value
        if not isinstance(named, Mapping):
            raise PipelineError(
                f"{self._label!r}: the element {value!r} has no columns; bring out a beam.Row, a "
                "mapping or a named tuple"
            )
        (window,), pane = windowed.windows, pane_from_beam(windowed.pane_info)
        bounds = {"start": None, "end": None}
        if isinstance(window, beam.window.IntervalWindow):
            bounds = {"start": _plain(window.start), "end": _plain(window.end)}
        return {
            **named,
            "window": bounds,
            "timestamp": _plain(windowed.timestamp) if bounds["end"] is not None else None,
            "pane": {**attrs.asdict(pane), "timing": pane.timing.value},
            **({RETRACTION: is_retraction} if self._retracts else {}),
        }

    def _retracting(self, value: Any) -> Any:
        """A row that says whether it withdraws an earlier one."""
        is_retraction = type(value) is Retraction
        row = _plain(value.element if is_retraction else value)
        if isinstance(row, Mapping):
            return {**row, RETRACTION: is_retraction}
        return (*row, is_retraction) if isinstance(row, tuple) else (row, is_retraction)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN: Final = frozenset((str, int, float, bool, bytes, type(None), datetime))


def _plain(value: Any) -> Any:
    """A value as rows take it: instants of Beam's are datetimes, its rows mappings."""
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls is tuple or cls is list:
        return cls([part if type(part) in _PLAIN else _plain(part) for part in value])
    if isinstance(value, Timestamp):
        return _EPOCH + timedelta(microseconds=int(value.micros))
    if isinstance(value, beam.Row):
        return {name: _plain(part) for name, part in value.as_dict().items()}
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value


def with_retraction(schema: str, *, retracts: bool) -> str:
    """The schema of rows that may say whether they withdraw an earlier one."""
    return f"{schema}, {RETRACTION} boolean" if retracts else schema


def sink_of(
    label: str, transform: WriteRows | UpsertInto, edge: Edge, *, retracts: bool = False
) -> Any:
    """Where the rows of a transform go."""
    from beamlike.hosts.spark.graph.running import Sink

    if isinstance(transform, WriteRows):
        schema = with_retraction(transform.schema, retracts=retracts)
        return Sink(edge, schema, transform.write, label)
    from beamlike.api.dataframe.upserts import upsert_into

    write = upsert_into(transform.target, transform.key, name=transform.name)
    schema = with_retraction(f"{transform.schema}, {_OF_PANES}", retracts=retracts)
    return Sink(edge, schema, write, label)
