"""Which carrier's hour to draw, and its picture."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.demo.flights import ARRIVED, NEW_YORK, SCHEDULED, ArrivalFile, hour_ms
from beamlike.demo.job import ALLOWED_LATENESS, WATERMARK_DELAY, FlightBatch
from beamlike.demo.results import (
    HOUR_MS,
    DroppedFlight,
    FlightPane,
    Group,
    show_local,
    show_minutes,
)
from beamlike.model.fingerprint import how_many
from beamlike.model.time import duration_ms, show_duration
from beamlike.model.windows import IntervalWindow
from beamlike.viz.axis import FoldedTime
from beamlike.viz.scene import Box, End, Fate, Life, Mark, RowLabel, Scene

_READABLE_PANES = 6
_ROWS = 14
"""The picture is about so many rows high."""
_MARGIN = 0.6


def choose_group(
    panes: Mapping[Group, Sequence[FlightPane]], drops: Sequence[DroppedFlight]
) -> Group:
    """The carrier's hour with the most to show.

    All three timings and a drop before less; then more panes, as long as a picture
    shows them apart; then more departures; then the first.
    """
    dropped = {drop.group for drop in drops}

    def interest(group: Group) -> tuple[int, int, int, int, str]:
        history = panes[group]
        variety = len({pane.timing for pane in history}) + (group in dropped)
        readable = len(history) if len(history) <= _READABLE_PANES else 0
        return (-variety, -readable, -history[-1].departures, group[1], group[0])

    return min(panes, key=interest)


def story_scene(
    group: Group,
    panes: Sequence[FlightPane],
    drops: Sequence[DroppedFlight],
    flights: pa.Table,
    files: Sequence[ArrivalFile],
    batches: Sequence[FlightBatch],
) -> Scene:
    """The picture of one carrier's hour.

    A pane's height is the arrival of the last flight in its micro-batch: Spark fires at the
    end of a batch, and the demo replays arrivals faster than they happened. Hours without any
    arrival are folded, so that a flight twelve hours late is still in the picture.
    """
    carrier, start = group
    window = IntervalWindow(start, start + HOUR_MS)
    reached = _reached(files, batches)
    readings = [
        (reached[batch.number], batch.watermark_ms)
        for batch in batches
        if batch.watermark_ms is not None
    ]
    flown = list(_flown(group, drops, flights))
    latest = max(arrival for _, arrival, _ in flown)
    over = window.max_timestamp + duration_ms(ALLOWED_LATENESS, "allowed lateness")
    expired = next((when for when, reading in readings if reading > over and when <= latest), None)

    fired = [reached[pane.batch] for pane in panes]
    events = [*(arrival for _, arrival, _ in flown), *fired]
    events += [] if expired is None else [expired]
    time, first, last = FoldedTime(events, limit_ms=HOUR_MS), min(events), max(events)
    unit = max(time.position(last) - time.position(first), HOUR_MS) / _ROWS

    def row(instant: int) -> float:
        return (time.position(instant) - time.position(first)) / unit

    top = row(last) + _MARGIN
    opened = min(row(arrival) for _, arrival, _ in flown)
    ended, end = (top, End.OPEN) if expired is None else (row(expired), End.EXPIRED)
    left, right = window.start - HOUR_MS * 3 // 10, window.end + HOUR_MS * 3 // 10
    return Scene(
        title=f"{carrier}, departures scheduled {show_local(start, '%H:%M')} to "
        f"{show_local(window.end, '%H:%M')} on {show_local(start, '%d %B %Y')}",
        note=f"watermark {WATERMARK_DELAY} behind, allowed lateness {ALLOWED_LATENESS}; "
        "each pane holds all departures so far",
        marks=tuple(
            Mark(event, row(arrival), label, _fate(event, arrival, label, readings))
            for event, arrival, label in flown
        ),
        lives=(Life(window, opened, ended, end),),
        boxes=tuple(  # each holds all departures so far
            Box(window, pane.timing, None, _value(pane), opened, row(arrival))
            for pane, arrival in zip(panes, fired, strict=True)
        ),
        watermark=tuple((row(when), reading) for when, reading in readings if row(when) <= top),
        rows=(-_MARGIN, top),
        span=(left, right),
        event=FoldedTime([(left, right)], limit_ms=HOUR_MS),
        ticks=tuple(
            RowLabel(row(hour), show_local(hour, "%H:%M"), strong=True)
            for hour in range(-(-first // HOUR_MS) * HOUR_MS, last + 1, HOUR_MS)
            if time.shows(hour)
        ),
        folds=tuple(
            RowLabel(row(fold), f"{show_duration((until - fold) // 60_000 * 60_000)} left out")
            for fold, until in time.folds
        ),
        ideal=tuple((row(instant), instant) for instant in (left, right)),
        event_axis="scheduled departure (event time, New York)",
        arrival_axis="actual departure (arrival, New York)",
        zone=NEW_YORK,
    )


def _fate(event: int, arrival: int, label: str, readings: Sequence[tuple[int, int]]) -> Fate:
    """What became of a flight: only those that were dropped have a label."""
    if label:
        return Fate.DROPPED
    behind = any(reading > event for when, reading in readings if when < arrival)
    return Fate.LATE if behind else Fate.TAKEN


def _reached(files: Sequence[ArrivalFile], batches: Sequence[FlightBatch]) -> dict[int, int]:
    """For each batch the arrival (epoch ms) up to which the stream had been read."""
    reached, read_until = {}, files[0].first_ms
    unread = iter(files)
    for batch in batches:
        if batch.rows:
            file = next(unread, None)
            read_until = read_until if file is None else file.last_ms
        reached[batch.number] = read_until
    return reached


def _flown(
    group: Group, drops: Sequence[DroppedFlight], flights: pa.Table
) -> Iterable[tuple[int, int, str]]:
    """Event time and arrival (ms) of the hour's flights; those dropped, with a label."""
    carrier, start = group
    of_carrier = pc.equal(flights.column("carrier"), carrier)
    in_group = pc.and_(of_carrier, pc.equal(hour_ms(flights), start))
    missed = {drop.identity: drop.missed_ms for drop in drops if drop.group == group}
    for row in flights.filter(in_group).to_pylist():
        event, arrival = (int(row[name].timestamp()) * 1000 for name in (SCHEDULED, ARRIVED))
        identity, label = (carrier, event, row["tailnum"], row["dep_delay"]), ""
        if identity in missed:
            label = f"{row['tailnum']}: {show_duration(arrival - event)} late"
            by = missed[identity]
            label += "" if by is None else f", missed the window by {show_minutes(by)}"
        yield event, arrival, label


def _value(pane: FlightPane) -> str:
    delay = "delay unknown" if pane.delay is None else f"mean delay {pane.delay:.0f} min"
    return f"{how_many(pane.departures, 'departure')}, {delay}"
