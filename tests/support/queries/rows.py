"""Rows as tests of DataFrames write and read them, and the sorts of fixtures that they share."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

Row = dict[str, Any]

ON_BOTH = pytest.mark.parametrize("host", ["local", pytest.param("spark", marks=pytest.mark.spark)])
"""A test of a query on the local host and on Spark."""

ON_BOTH_AT_NIGHT = pytest.mark.parametrize(
    "host", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]
)
"""The same, where other tests have Spark for each change."""

MakeFeed = Callable[[str], Any]
"""The fixture ``feed``: makes a stream of files with these columns."""

ONLY_PANE: dict[str, Any] = {
    **{"timing": "ON_TIME", "index": 0, "nonspeculative_index": 0},
    **{"is_first": True, "is_last": True},
}
"""Of a window that has no other one."""

NEVER_FIRED = ONLY_PANE | {"timing": "UNKNOWN"}
"""Of a row that no grouping has emitted."""

SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}


def event(user: str, time: str, v: int = 1) -> Row:
    """What a user does at a time of the day of these stories."""
    return {"user": user, "at": f"2020-01-01T{time}Z", "v": v}


def of_key(key: str, time: str, v: int = 1) -> Row:
    """The same of a key."""
    return {"k": key, "at": f"2020-01-01T{time}Z", "v": v}


def observed(feed: Any, name: str = "beamlike") -> list[Any]:
    """What a grouping reports in the progress of the query of a feed."""
    return [it.observedMetrics[name] for it in feed.progress if name in it.observedMetrics]


def counts_by_hour(rows: list[Row], key: str) -> list[str]:
    """Each row as its key, the begin of its window and its count, or why it was dropped."""
    return sorted(
        f"{row[key]} dropped as {row['dropped']['reason']}"
        if row["dropped"]
        else f"{row[key]} {row['window']['start']:%H:%M} {row['n']}"
        for row in rows
    )


def counts_of(feed: Any, name: str = "beamlike") -> Counter[str]:
    """The counts of panes and drops in all of these reports, added up."""
    total: Counter[str] = Counter()
    for counts in observed(feed, name):
        by_name = counts.asDict().items()
        total.update({it: n for it, n in by_name if it.startswith(("panes_", "dropped_"))})
    return total
