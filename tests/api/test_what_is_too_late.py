"""Which rows are too late: one rule, whichever way the same job is written.

A row is judged by the watermark that all micro-batches before its own have set. The measure is a
loop over the files that knows nothing of watermark carriers.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import QueryTest

MakeFeed = Callable[[str], Any]

MINUTE = 60
DELAY = 2 * MINUTE
LATENESS = 3 * MINUTE
WINDOW = 5 * MINUTE
NOON = int(datetime(2020, 1, 1, 12, tzinfo=UTC).timestamp())
FILES = 5

PARTS: dict[str, Any] = {
    "accumulation": "discarding",
    "allowed_lateness": "3 minutes",
    "trigger": bl.AfterWatermark(late=bl.AfterCount(1)),
}


def rows_of(file: int) -> Iterator[tuple[str, int]]:
    """Users and seconds after noon: each file covers five minutes, one row in four is old."""
    rng = Random(file)
    for _ in range(60):
        late = rng.randrange(4, 20) * MINUTE if rng.randrange(4) == 0 else 0
        yield rng.choice("abc"), max(0, file * WINDOW + rng.randrange(WINDOW) - late)


def expected() -> tuple[Counter[tuple[str, int]], int]:
    """The rows in time of each user and window that has ended, and how many are too late."""
    counts: Counter[tuple[str, int]] = Counter()
    dropped, greatest = 0, -(10**6)
    for file in range(FILES):
        watermark = greatest - DELAY
        for user, at in rows_of(file):
            start = at // WINDOW * WINDOW
            if start + WINDOW + LATENESS <= watermark:
                dropped += 1
            else:
                counts[user, start] += 1
        greatest = max(greatest, *(at for _, at in rows_of(file)))
    ended = {at: n for at, n in counts.items() if at[1] + WINDOW <= greatest - DELAY}
    return Counter(ended), dropped


def started(feed: Any) -> Any:
    for file in range(FILES):
        times = ((user, datetime.fromtimestamp(NOON + at, UTC)) for user, at in rows_of(file))
        feed.put(*({"user": user, "at": time.isoformat()} for user, time in times))
    return feed


def run(feed: Any, frame: Any, **trigger: Any) -> list[dict[str, Any]]:
    feed.start(frame, **trigger)
    if trigger:
        feed.query.awaitTermination(120)
    else:
        feed.query.processAllAvailable()
    return [row for _, row in feed.numbered]


def judged(job: Callable[[Any], Any], **host: Any) -> tuple[Counter[tuple[str, int]], int]:
    """The same of a query that is fed a file in each micro-batch."""
    with QueryTest(job, "user string, at timestamp", **host) as query:
        for file in range(FILES):
            query.send(*({"user": user, "at": (NOON + at) * 1000} for user, at in rows_of(file)))
    counts: Counter[tuple[str, int]] = Counter()
    for row in query.rows:
        if not row["dropped"]:
            counts[row["user"], int(row["window"]["start"].timestamp()) - NOON] += row["n"]
    return counts, sum(row["dropped"] is not None for row in query.rows)


def windowed(events: Any, **options: Any) -> Any:
    return bl.windowed(
        events,
        key="user",
        timestamp="at",
        watermark="2 minutes",
        window=bl.FixedWindows("5 minutes"),
        aggregate={"n": bl.count()},
        shards=2,
        **PARTS,
        **options,
    )


def streamed(events: Any) -> Any:
    rows = bl.stream(events, timestamp="at", watermark="2 minutes")
    return rows.window(bl.FixedWindows("5 minutes"), **PARTS).group("user", {"n": bl.count()})


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"machine": "columnar"}, id="columnar"),
        pytest.param({"machine": "reference"}, id="reference"),
        pytest.param({"hot_key_fanout": 2}, id="fanout"),
    ],
)
def test_windowed_judges_by_all_micro_batches_before(options: dict[str, Any]) -> None:
    assert judged(lambda events: windowed(events, **options)) == expected()


def test_a_stream_judges_likewise() -> None:
    assert judged(streamed) == expected()


@pytest.mark.spark
@pytest.mark.parametrize("job", [windowed, pytest.param(streamed, marks=pytest.mark.nightly)])
def test_both_do_on_spark(job: Callable[[Any], Any], spark: Any) -> None:
    assert judged(job, host="spark", spark=spark) == expected()


@pytest.mark.spark
@pytest.mark.nightly
def test_it_does_not_matter_whether_micro_batches_without_data_run(
    feed: MakeFeed, no_empty_batches: None
) -> None:
    stream = started(feed("user string, at timestamp"))
    panes = bl.windowed(
        stream.frame,
        key="user",
        timestamp="at",
        watermark="2 minutes",
        window=bl.FixedWindows("5 minutes"),
        aggregate={"n": bl.count()},
        output="dropped",
        **PARTS,
    )

    assert len(run(stream, panes)) == expected()[1]


@pytest.mark.spark
def test_a_pipeline_judges_likewise(feed: MakeFeed) -> None:
    stream = started(feed("user string, at timestamp"))
    pipeline = beam.Pipeline()
    counts = (
        pipeline
        | beam.FromDataFrame(stream.frame, timestamp="at", watermark="2 minutes")
        | beam.Map(lambda row: (row.user, 1))
        | beam.WindowInto(
            beam.FixedWindows("5 minutes"),
            trigger=PARTS["trigger"],
            accumulation_mode=beam.AccumulationMode.DISCARDING,
            allowed_lateness="3 minutes",
        )
        | "Count" >> beam.CombinePerKey(sum)
    )
    run(stream, beam.to_data_frame(counts, "user string, n long"), availableNow=True)
    reported = [
        observed["Count"]
        for progress in stream.query.recentProgress
        if "Count" in (observed := progress["observedMetrics"])
    ]

    assert sum(each["dropped_expired"] for each in reported) == expected()[1]
