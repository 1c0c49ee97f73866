"""What the query wrote, read back as values."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import attrs
import pyarrow as pa

from beamlike.demo.flights import NEW_YORK
from beamlike.model.time import show_duration

Group = tuple[str, int]
"""A carrier, and the start of an hour in epoch milliseconds."""

HOUR_MS = 3_600_000


@attrs.frozen
class FlightPane:
    """A pane of one carrier's hour, and the micro-batch that it came out in."""

    timing: str
    index: int
    departures: int
    delay: float | None
    tails: tuple[str, ...]
    batch: int


@attrs.frozen
class DroppedFlight:
    """A flight that its window did not take.

    ``missed_ms`` is how much earlier the watermark would have had to be, None where no time
    would have helped.
    """

    group: Group
    scheduled_ms: int
    reason: str
    missed_ms: int | None
    element: dict[str, Any] = attrs.field(eq=False)

    @property
    def identity(self) -> tuple[str, int, str | None, float | None]:
        """What distinguishes flights of one carrier: time, aircraft and delay."""
        element = self.element
        return self.group[0], self.scheduled_ms, element["tailnum"], element["dep_delay"]


def read_panes(table: pa.Table) -> dict[Group, Sequence[FlightPane]]:
    """The panes of every carrier's hour, in order of their index."""
    groups: dict[Group, list[FlightPane]] = {}
    for row in table.to_pylist():
        pane, values = row["pane"], (row["departures"], row["delay"], tuple(row["tails"]))
        group = row["carrier"], _instant_ms(row["window"]["start"])
        flight_pane = FlightPane(pane["timing"], pane["index"], *values, row["batch"])
        groups.setdefault(group, []).append(flight_pane)
    by_index = attrgetter("index")
    return {group: tuple(sorted(panes, key=by_index)) for group, panes in groups.items()}


def read_drops(table: pa.Table) -> tuple[DroppedFlight, ...]:
    """The dropped flights, in the order in which they were dropped."""
    return tuple(
        DroppedFlight(
            (row["carrier"], _instant_ms(row["window"]["start"])),
            _instant_ms(row["dropped"]["timestamp"]),
            row["dropped"]["reason"],
            row["dropped"]["missed_ms"],
            json.loads(row["dropped"]["element"]),
        )
        for row in table.to_pylist()
    )


def show_local(milliseconds: int, form: str = "%d %b %H:%M") -> str:
    """An instant on New York's clocks."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(NEW_YORK).strftime(form)


def show_minutes(milliseconds: int) -> str:
    """A duration to the minute.

    >>> show_minutes(45_000_001)
    '12h 30m'
    """
    return show_duration(round(milliseconds / 60_000) * 60_000)


def show_group(group: Group) -> str:
    """A carrier's hour in words.

    >>> show_group(("UA", 1_357_034_400_000))
    'UA 01 Jan 2013 05:00-06:00'
    """
    carrier, start = group
    return f"{carrier} {show_local(start, '%d %b %Y %H:%M')}-{show_local(start + HOUR_MS, '%H:%M')}"


def _instant_ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000
