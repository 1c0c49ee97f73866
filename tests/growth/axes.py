"""What grows: events, keys, open windows, lateness, groupings and joins in a row, shards, tasks."""

from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen
from pyspark.sql import DataFrame

import beamlike as bl
from tests.benchmarks.data import Shape, Standing, Stream
from tests.benchmarks.queries import DELAY, GAP, Query

BATCHES: Final = 9
"""Micro-batches of a run. Those after the first four are measured."""
_WARM: Final = 4
_MINUTES_OF_A_BATCH: Final = 5
"""Of event time, see `tests.benchmarks.data.Stream`."""


@frozen
class Axis:
    """A figure that grows while all others stay.

    Args:
        name: As the command takes it.
        along: What the figure counts, for table and picture.
        values: From small to large.
        case: The query and its data for a value.
        settings: Of the session, for a value.
    """

    name: str
    along: str
    values: tuple[int, ...]
    case: Callable[[int, float], tuple[Query, Shape]]
    settings: Callable[[int], Mapping[str, str]] = lambda _value: {}


def sessions(
    gap: str = GAP, *, lateness: int = 0, shards: int | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Sessions with count and sum; with lateness also a pane for each late element.

    Args:
        gap: Of the sessions.
        lateness: Allowed, minutes.
        shards: Of the grouping.
    """

    def query(df: DataFrame) -> DataFrame:
        return bl.windowed(
            df,
            key="key",
            timestamp="ts",
            watermark=DELAY,
            window=bl.Sessions(gap),
            trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
            accumulation="discarding",
            allowed_lateness=f"{lateness} minutes",
            aggregate={"n": bl.count(), "s": bl.sum("v")},
            **({} if shards is None else {"shards": shards}),
        ).select("key", "window.start", "window.end", "n", "s")

    return query


def in_a_row(groupings: int) -> Query:
    """Sessions by key, and after them sums of counts by key in fixed windows, each longer."""

    def query(df: DataFrame) -> DataFrame:
        rows = bl.stream(df, timestamp="ts", watermark=DELAY).window(bl.Sessions(GAP))
        panes = rows.group("key", {"n": bl.count()})
        for stage in range(1, groupings):
            wider = panes.window(bl.FixedWindows(f"{_MINUTES_OF_A_BATCH * stage} minutes"))
            panes = wider.group("key", {"n": bl.sum("n")})
        return panes.rows.select("key", "window.start", "window.end", "n")

    return query


def joins_in_a_row(joins: int) -> Query:
    """Counts by key in fixed windows, joined with sums of other rows of the same stream; each join
    is one more."""

    def query(df: DataFrame) -> DataFrame:
        rows = bl.stream(df, timestamp="ts", watermark=DELAY).window(bl.FixedWindows("5 minutes"))
        joined = rows.group("key", {"n": bl.count()}, name="left")
        for number in range(joins):
            others = rows.where(f"v % {number + 2} = 0").group(
                "key", {f"s{number}": bl.sum("v")}, name=f"side {number}"
            )
            joined = bl.join(joined, others, on="key", how="left", name=f"join {number}")
        return joined.rows.select("key", "window.start", "window.end", "n")

    return query


def _partitions(count: int) -> Mapping[str, str]:
    return {"spark.sql.shuffle.partitions": str(count)}


def _stream(events: int, keys: int, batches: int = BATCHES) -> Stream:
    return Stream(max(events, 100), max(keys, 10), batches, warm=_WARM)


def _by_lateness(minutes: int, scale: float) -> tuple[Query, Shape]:
    # By then windows end as fast as they come.
    full = minutes // _MINUTES_OF_A_BATCH + 2
    stream = Stream(_of(100_000, scale), _of(40_000, scale), full + BATCHES, warm=full + _WARM)
    return sessions(lateness=minutes), stream


def _of(size: int, scale: float) -> int:
    return max(100, round(size * scale))


AXES: Final = (
    Axis(
        "events",
        "events in a micro-batch",
        (25_000, 50_000, 100_000, 200_000, 400_000, 800_000),
        lambda at, scale: (sessions(), _stream(_of(at, scale), _of(at * 2 // 5, scale))),
    ),
    Axis(
        "keys",
        "keys, among 200,000 events",
        (2_000, 10_000, 25_000, 50_000, 100_000, 200_000),
        lambda at, scale: (sessions(), _stream(_of(200_000, scale), _of(at, scale))),
    ),
    Axis(
        "windows",
        "open sessions, 20,000 of them touched",
        (125_000, 250_000, 500_000, 1_000_000, 2_000_000),
        lambda at, scale: (
            sessions("1 hour"),
            Standing(_of(at, scale), (_of(20_000, scale),) * BATCHES, warm=_WARM),
        ),
    ),
    Axis(
        "lateness",
        "minutes of allowed lateness, 100,000 events in five minutes",
        (0, 5, 10, 20, 40),
        _by_lateness,
    ),
    Axis(
        "stages",
        "groupings in a row, 50,000 events",
        (1, 2, 3, 4, 5),
        lambda at, scale: (in_a_row(at), _stream(_of(50_000, scale), _of(20_000, scale))),
    ),
    Axis(
        "shards",
        "shards, 100,000 events",
        (2, 4, 8, 16, 32, 64),
        lambda at, scale: (sessions(shards=at), _stream(_of(100_000, scale), _of(40_000, scale))),
    ),
    Axis(
        "tasks",
        "partitions of each shuffle, three groupings in a row, 20,000 events",
        (2, 8, 32, 100),
        lambda at, scale: (in_a_row(3), _stream(_of(20_000, scale), _of(8_000, scale), batches=8)),
        _partitions,
    ),
    Axis(
        "joins",
        "joins in a row, 50,000 events",
        (1, 2, 3),
        lambda at, scale: (joins_in_a_row(at), _stream(_of(50_000, scale), _of(20_000, scale))),
    ),
)
