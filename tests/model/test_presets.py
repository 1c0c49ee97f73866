"""Presets: which panes come out of a window, by name."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

HOUR = bl.FixedWindows("1 hour")


def shown(parts: Any) -> list[str]:
    """What comes out of an hour with two early rows, one more after a minute, and a late one."""

    def job(hits: Any) -> bl.Stream:
        rows = bl.stream(hits, timestamp="at", watermark="0 s")
        return rows.window(HOUR, **parts).group([], {"n": bl.count()}, shards=1, buckets=1)

    said: list[str] = []

    def take(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["dropped"] is not None:
                said.append(f"dropped: {row['dropped']['reason']}")
            else:
                sign = "-" if row.get("retraction") else "+"
                said.append(f"{sign}{row['n']} {row['pane']['timing']}")

    with QueryTest(job, "at timestamp") as query:
        take(query.send({"at": "12:01:00"}, {"at": "12:02:00"}))
        take(query.advance_processing_time("61 s"))
        take(query.send({"at": "12:30:00"}))
        take(query.advance_watermark_to("13:10:00"))
        take(query.send({"at": "12:40:00"}))
    return said


@pytest.mark.parametrize(
    ("parts", "panes"),
    [
        (bl.final_only(), ["+3 ON_TIME", "dropped: expired"]),
        (bl.early_every("1 minute"), ["+2 EARLY", "-2 EARLY", "+3 ON_TIME", "dropped: expired"]),
        (
            bl.live_and_corrected("1 minute", "2 hours"),
            ["+2 EARLY", "-2 EARLY", "+3 ON_TIME", "-3 ON_TIME", "+4 LATE"],
        ),
        (bl.every_update("2 hours"), ["+2 EARLY", "-2 EARLY", "+3 EARLY", "-3 EARLY", "+4 LATE"]),
    ],
    ids=["final", "early", "corrected", "every update"],
)
def test_what_comes_out_of_a_window(parts: Any, panes: list[str]) -> None:
    assert shown(parts) == panes
