"""The rows of the matrix, and what each host and Spark itself makes of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal

import attrs
import pyarrow as pa
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.runtime.row_metadata import canonical
from beamlike.testing import QueryTest
from tests.matrix.values import LENGTH, TYPES

Clock = Literal["timestamp", "timestamp_ntz"]
Host = Literal["spark", "spark stream", "local", "local stream"]
Results = dict[str, dict[str, Any]]
"""By key and window, as a text, what each column holds."""

HOSTS: Final[Sequence[Host]] = ("spark", "spark stream", "local", "local stream")

SOURCE: Final = "k string, i int, place int, us bigint"
_TIMES: Final = (
    "0001-01-02 00:31:00",
    "1582-10-15 00:31:00",
    "2024-03-10 06:31:00",  # clocks of New York go from 02:00 to 03:00 at 07:00 UTC
    "2024-11-03 05:31:00",  # and from 02:00 to 01:00 at 06:00 UTC
    "9999-12-30 20:31:00",
)
_BEHIND: Final = timedelta(hours=4, minutes=30)
"""Wall-clock times are those of New York, near its changes."""
_PLACES: Final = (1, 4, 0, 1, 2, 3, 4, LENGTH - 1)


@attrs.frozen
class Windows:
    """Windows of beamlike beside those of Spark."""

    ours: bl.WindowFn
    spark: Callable[[], Any]


WINDOWS: Final[Mapping[str, Windows]] = {
    "fixed": Windows(bl.FixedWindows("1 hour"), lambda: F.window("at", "1 hour")),
    "sliding": Windows(
        bl.SlidingWindows("1 hour", "25 minutes"), lambda: F.window("at", "1 hour", "25 minutes")
    ),
    "sessions": Windows(
        bl.Sessions("10 minutes", merge_touching=True), lambda: F.session_window("at", "10 minutes")
    ),
}


def source_rows(streaming: bool) -> list[dict[str, Any]]:
    """Rows of key ``a`` with all values, and of key ``b`` with nulls alone.

    Rows of the year 9999 are from the future, and no stream takes these.
    """
    rows = []
    for text in _TIMES[:-1] if streaming else _TIMES:
        start = datetime.fromisoformat(text).replace(tzinfo=UTC)
        for key, of_key in (("a", _PLACES), ("b", (LENGTH - 1, LENGTH - 1))):
            for place, index in enumerate(of_key):
                at = start + timedelta(minutes=7 * place, microseconds=place)
                micros = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
                rows.append({"k": key, "i": index, "place": place, "us": micros})
    return rows


def with_values(rows: Any, clock: Clock, numbers: Iterable[int]) -> Any:
    """The rows with a value of each of these types, its number, and an event time."""
    at = "timestamp_micros(us)"
    if clock == "timestamp_ntz":
        micros = f"us - {_BEHIND // timedelta(microseconds=1)}L"
        at = f"timestamp_ntz'1970-01-01' + ({micros}) * interval '0.000001' second"
    columns = [("at", at)]
    for number in numbers:
        dtype = TYPES[number]
        columns += [
            (f"v{number}", f"get({dtype.array}, i)"),
            (f"n{number}", f"get({dtype.numbers}, i)"),
        ]
    return rows.select("k", "place", "i", *(F.expr(text).alias(name) for name, text in columns))


def rows_of(spark: Any, *, streaming: bool = False) -> Any:
    """The rows of a run, bounded."""
    return spark.createDataFrame([tuple(row.values()) for row in source_rows(streaming)], SOURCE)


def native_results(frame: Any, keys: Sequence[str], window: Windows, columns: Any) -> Any:
    """What ``groupBy`` makes of them."""
    grouped = frame.groupBy(*keys, window.spark().alias("window"))
    return grouped.agg(*(column.alias(name) for name, column in columns.items()))


@attrs.frozen
class Ask:
    """A grouping of the rows."""

    make: Callable[[Any], Any]
    keys: Sequence[str]
    window: Windows
    aggregate: Mapping[str, Any]

    def panes(self, rows: Any) -> Any:
        """Panes of rows that have their types."""
        watermark = {"watermark": "1 minute"} if getattr(rows, "isStreaming", False) else {}
        return bl.windowed(
            rows,
            key=list(self.keys),
            timestamp="at",
            window=self.window.ours,
            aggregate=self.aggregate,
            shards=2,
            **watermark,
        )

    def played(self, spark: Any, host: Host) -> pa.Table | list[dict[str, Any]]:
        """The panes on a host; those of a stream in two micro-batches."""
        if host == "spark":
            return canonical(self.panes(self.make(rows_of(spark))).toArrow())
        if host == "local":
            panes: pa.Table = self.panes(self.make(rows_of(spark)).toArrow())
            return panes
        is_local = host == "local stream"
        where: dict[str, Any] = {"host": "local"} if is_local else {"host": "spark", "spark": spark}
        with QueryTest(lambda rows: self.panes(self.make(rows)), SOURCE, **where) as query:
            query.send(*source_rows(streaming=True))
            query.advance_watermark_to_infinity()
            assert all(row.get("dropped") is None for row in query.rows), query.rows
            return query.rows


# -- exact texts --------------------------------------------------------------------------------


def results_of(
    panes: pa.Table | Sequence[Mapping[str, Any]], keys: Sequence[str], names: Sequence[str]
) -> Results:
    """What each window of each key has, by name."""
    rows = panes.to_pylist() if isinstance(panes, pa.Table) else panes
    results: Results = {}
    for row in rows:
        window = row["window"]
        place = exact([*(row[key] for key in keys), window["start"], window["end"]])
        assert place not in results, f"two rows of {place}"
        results[place] = {name: row[name] for name in names}
    return results


def exact(value: Any, *, signless: bool = False) -> str:
    """A value as a text that differs wherever the value does; all NaN read the same."""
    match value:
        case float():
            return "nan" if value != value else repr(value + 0.0 if signless else value)
        case list() | tuple():
            return f"[{', '.join(exact(item, signless=signless) for item in value)}]"
        case dict():
            items = (f"{name}={exact(item, signless=signless)}" for name, item in value.items())
            return f"{{{', '.join(items)}}}"
        case datetime() if value.tzinfo is not None:
            return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
        case Decimal():
            return f"{value:f}d"
    return repr(value)
