"""The usual query of these tests: rows in windows of an hour, by a key."""

from collections.abc import Mapping
from typing import Any

import beamlike as bl


def hourly(rows: Any, aggregate: Mapping[str, Any] | None = None, **changes: Any) -> Any:
    """The counts of column ``k`` by the hour of column ``at``, but for what a test changes of it.

    ``changes`` are arguments of `beamlike.windowed`.
    """
    call: dict[str, Any] = {
        **{"key": "k", "timestamp": "at", "window": bl.FixedWindows("1 hour")},
        "aggregate": {"n": bl.count()} if aggregate is None else aggregate,
    }
    return bl.windowed(rows, **(call | changes))
