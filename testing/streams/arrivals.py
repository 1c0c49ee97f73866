"""Elements with both of their times, for streams by the clock, from DataFrames."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beamlike.errors import TestStreamError
from beamlike.testing.streams.by_clock import Timed


def arrivals_from_dataframe(
    frame: Any,
    *,
    key: str = "key",
    value: str = "value",
    event_time: str = "event_time",
    arrival: str = "arrival",
) -> Iterator[Timed]:
    """The rows of a DataFrame, for `stream_by_clock`: ``((key, value), event time, arrival)``.

    Args:
        frame: A DataFrame of Spark, pandas or Polars, or a table of PyArrow. Its rows are all
            brought here.
        key: The column with the key of an element.
        value: The column with its value.
        event_time: The column with its event time: timestamps (without a zone they are in UTC),
            texts such as ``"12:00:26"``, or milliseconds.
        arrival: The column with the processing time at which it arrives, likewise.

    Raises:
        TestStreamError: It is no DataFrame, or a column is missing.

    >>> import pyarrow as pa
    >>> scores = {"team": ["red"], "score": [5], "at": ["12:00:26"], "came": ["12:05:19"]}
    >>> columns = {"key": "team", "value": "score", "event_time": "at", "arrival": "came"}
    >>> list(arrivals_from_dataframe(pa.table(scores), **columns))
    [(('red', 5), '12:00:26', '12:05:19')]
    """
    wanted = (key, value, event_time, arrival)
    found = [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    missing = [name for name in wanted if name not in found]
    if missing and found:
        raise TestStreamError(
            f"the DataFrame has no column {', '.join(missing)}; it has {', '.join(found)}; name "
            "them by key, value, event_time and arrival"
        )
    for row in _rows(frame):
        yield (row[key], row[value]), row[event_time], row[arrival]


def _rows(frame: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of whatever kind of frame it is, with plain values."""
    if hasattr(frame, "toArrow"):  # of Spark; its own rows have times without a zone
        from beamlike.runtime.row_metadata import canonical

        frame = canonical(frame.toArrow())
    for method, arguments in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(frame, method):
            rows: Iterable[Mapping[str, Any]] = getattr(frame, method)(*arguments)
            return rows
    raise TestStreamError(
        f"arrivals_from_dataframe takes a DataFrame of Spark, pandas or Polars, got {frame!r}"
    )
