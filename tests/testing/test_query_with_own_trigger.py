"""A query with a trigger of a user's own, on what runs in production, without Java."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import StateError
from beamlike.testing import QueryTest, early_pane, emit_exactly, on_time_pane
from tests.support.generated.own_triggers import AfterSpend

EVENTS = "user string, at timestamp, v int"


def spending(limit: int) -> Any:
    def job(events: Any) -> Any:
        return bl.windowed(
            events,
            key="user",
            timestamp="at",
            watermark="10 minutes",
            window=bl.FixedWindows("1 hour"),
            trigger=bl.AfterWatermark(early=AfterSpend(limit), late=bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="12 hours",
            aggregate={"spent": bl.sum("v")},
            window_input="v",
        )

    return job


def event(user: str, time: str, v: int) -> dict[str, Any]:
    return {"user": user, "at": time, "v": v}


def test_it_goes_on_after_a_restart_and_a_changed_one_is_refused() -> None:
    query = QueryTest(spending(100), EVENTS)
    query.send(event("ann", "00:05:00", 60), event("bob", "00:06:00", 99))
    query.restart()
    query.send(event("ann", "00:07:00", 50))
    query.send(event("ann", "00:08:00", 30))
    query.restart()
    query.send(event("bob", "00:09:00", 1), event("ann", "00:10:00", 70))
    query.advance_watermark_to("01:00:00")

    hour = ("00:00:00", "01:00:00")
    query.results.should(
        emit_exactly(
            early_pane("ann", {"spent": 110}, *hour, index=0, is_last=False),
            early_pane("ann", {"spent": 210}, *hour, index=1, is_last=False),
            early_pane("bob", {"spent": 100}, *hour, index=0, is_last=False),
            on_time_pane("ann", {"spent": 210}, *hour, index=2, is_last=False),
            on_time_pane("bob", {"spent": 100}, *hour, index=1, is_last=False),
        )
    )
    query.restart(spending(200))
    with pytest.raises(StateError, match=r"AfterSpend\(limit=200\)"):
        query.send(event("ann", "01:30:00", 1))
