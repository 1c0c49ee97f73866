"""A trigger of a user's own over a DataFrame: its panes, a restart, and what is refused."""

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from beamlike.errors import UnsupportedError
from tests.support.generated.own_triggers import AfterSpend
from tests.support.queries.rows import MakeFeed, event
from tests.support.queries.shown import lines

pytestmark = pytest.mark.spark


EVENTS = "user string, at timestamp, v int"

HOURS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "10 minutes",
    "window": bl.FixedWindows("1 hour"),
    "trigger": bl.AfterWatermark(early=AfterSpend(100), late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "12 hours",
    "aggregate": {"spent": bl.sum("v")},
    "window_input": "v",
    "output": "all",
    "shards": 2,
    "buckets": 2,
}


@pytest.mark.nightly
def test_it_fires_and_goes_on_from_a_checkpoint_and_another_one_does_not(
    spark: Any, feed: MakeFeed
) -> None:
    events = feed(EVENTS)
    panes = bl.windowed(events.frame, **HOURS)
    plan = " ".join(bl.explain_plan(panes).split())
    assert plan.startswith("beamlike: reference machine")
    assert "AfterSpend(limit=100), a trigger of yours, runs key by key" in plan

    events.start(panes)
    said = [lines(events.send(event("ann", "00:05:00", 60), event("bob", "00:06:00", 99)))]
    said.append(lines(events.send(event("ann", "00:07:00", 50))))
    said.append(lines(events.send(event("ann", "00:08:00", 30))))
    events.stop()

    # What is kept of a window outlasts the query: 99 of bob's, 30 of ann's since her pane.
    events.start(bl.windowed(events.frame, **HOURS))
    said.append(lines(events.send(event("bob", "00:09:00", 1), event("ann", "00:10:00", 70))))
    said.append(lines(events.send(event("ann", "01:30:00", 5))))
    events.stop()

    assert [sorted(each) for each in said] == [
        [],
        ["ann 110 | 00:00-01:00 EARLY 0"],
        [],
        ["ann 210 | 00:00-01:00 EARLY 1", "bob 100 | 00:00-01:00 EARLY 0"],
        ["ann 210 | 00:00-01:00 ON_TIME 2", "bob 100 | 00:00-01:00 ON_TIME 1"],
    ]

    changed = bl.AfterWatermark(early=AfterSpend(200), late=bl.AfterCount(1))
    events.start(bl.windowed(events.frame, **HOURS | {"trigger": changed}))
    with pytest.raises(StreamingQueryException, match=r"AfterSpend\(limit=200\)"):
        events.send(event("ann", "00:10:00", 1))


def test_one_that_looks_at_values_needs_to_know_of_which_column(feed: MakeFeed) -> None:
    without = {name: value for name, value in HOURS.items() if name != "window_input"}

    with pytest.raises(UnsupportedError, match=r"AfterSpend\(limit=100\) looks at the value"):
        bl.windowed(feed(EVENTS).frame, **without)
