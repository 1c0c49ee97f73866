"""A query is started again from its checkpoint, with other words than before.

Which words may differ is a table of docs/pages/operating.md; `tests/hosts/test_changes.py` has an
example of each of its rows. Here is what Spark has its part in.
"""

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from tests.support.queries.rows import MakeFeed, event
from tests.support.queries.shown import lines

pytestmark = pytest.mark.spark


EVENTS = "user string, at timestamp, v int"


def clocked(delay: str) -> bl.AfterWatermark:
    """Early panes by the clock, long after the test."""
    return bl.AfterWatermark(early=bl.AfterProcessingTime(delay), late=bl.AfterCount(1))


HOURS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "10 minutes",
    "window": bl.FixedWindows("1 hour"),
    "trigger": clocked("10 days"),
    "accumulation": "accumulating",
    "allowed_lateness": "12 hours",
    "aggregate": {"n": bl.count()},
    "output": "all",
    "shards": 2,
    "buckets": 2,
    "wake_every": "1 day",
}


@pytest.mark.nightly
def test_other_lateness_delays_and_watermark_go_on_and_a_trigger_without_a_clock_does_not(
    spark: Any, feed: MakeFeed, setting: Any
) -> None:
    events = feed(EVENTS)
    events.start(bl.windowed(events.frame, **HOURS))
    # The watermark is at 02:50. The first hour waits for late rows, the third for its end.
    first = events.send(
        event("ann", "00:05:00"), event("ann", "02:10:00"), event("bob", "03:00:00")
    )
    events.stop()

    changed = HOURS | {
        "trigger": clocked("20 days"),
        "allowed_lateness": "1 hour",
        "watermark": "1 minute",
        "wake_every": "2 days",
        "machine": "reference",
        "name": "hours",
    }
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    setting("spark.sql.shuffle.partitions", "5")
    events.start(bl.windowed(events.frame, **changed))
    second = events.send(event("ann", "00:10:00"), event("bob", "03:10:00"))
    third = events.send(event("ann", "02:20:00"), event("eva", "05:00:00"))
    progress = [it["stateOperators"] for it in events.query.recentProgress]
    events.stop()

    assert lines(first) == ["ann 1 | 00:00-01:00 ON_TIME 0"]
    assert lines(second) == [
        "ann 1 | 02:00-03:00 ON_TIME 0",
        'dropped by hours, expired: {"user":"ann"} | timestamp 00:10, watermark 02:50, missed_ms '
        "3000001, window 00:00-01:00, count 1",
    ]
    assert lines(third) == ["ann 2 | 02:00-03:00 LATE 1", "bob 2 | 03:00-04:00 ON_TIME 0"]
    # Spark keeps the number that the checkpoint has.
    assert {it["numShufflePartitions"] for (it,) in progress} == {int(partitions)}

    plain = HOURS | {"trigger": bl.AfterWatermark(late=bl.AfterCount(1))}
    events.start(bl.windowed(events.frame, **plain))
    with pytest.raises(StreamingQueryException) as refused:
        events.send(event("ann", "05:10:00"))
    assert "There are [2] sources in the checkpoint offsets and now there are [1] sources" in str(
        refused.value
    )
