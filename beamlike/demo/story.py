"""Which carrier's hour to draw, and its story."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.demo.flights import ARRIVED, NEW_YORK, SCHEDULED, hour_ms
from beamlike.demo.job import ALLOWED_LATENESS, WATERMARK_DELAY, MicroBatch
from beamlike.demo.pace import ArrivalFile
from beamlike.demo.results import HOUR_MS, Drop, Flown, Group, show_local, show_minutes
from beamlike.model.time import duration_ms, show_duration
from beamlike.viz.picture import Dot, PaneBand, Story

__all__ = ["choose_group", "tell_story"]

_READABLE_PANES = 6


def choose_group(panes: Mapping[Group, Sequence[Flown]], drops: Sequence[Drop]) -> Group:
    """The carrier's hour with the most to tell.

    All three timings and a drop before less; then more panes, as long as they can be told
    apart in a picture; then more departures; then the first.
    """
    dropped = {drop.group for drop in drops}

    def interest(group: Group) -> tuple[int, int, int, int, str]:
        history = panes[group]
        variety = len({pane.timing for pane in history}) + (group in dropped)
        readable = len(history) if len(history) <= _READABLE_PANES else 0
        return (-variety, -readable, -history[-1].departures, group[1], group[0])

    return min(panes, key=interest)


def tell_story(
    group: Group,
    panes: Sequence[Flown],
    drops: Sequence[Drop],
    flights: pa.Table,
    files: Sequence[ArrivalFile],
    batches: Sequence[MicroBatch],
) -> Story:
    """The picture of one carrier's hour.

    A pane's height is the arrival of the last flight in its micro-batch: Spark fires at the
    end of a batch, and the demo replays arrivals faster than they happened.
    """
    carrier, start = group
    end = start + HOUR_MS
    reached = _reached(files, batches)
    watermark = [
        (reached[batch.number], batch.watermark_ms)
        for batch in batches
        if batch.watermark_ms is not None
    ]
    expiry = end - 1 + duration_ms(ALLOWED_LATENESS, "allowed lateness")
    expired = next((at for at, reading in watermark if reading > expiry), None)
    dots = list(_dots(group, drops, flights))
    latest = max(dot.arrival_ms for dot in dots)
    return Story(
        title=f"{carrier}, departures scheduled {show_local(start, '%H:%M')} to "
        f"{show_local(end, '%H:%M')} on {show_local(start, '%d %B %Y')}",
        note=f"watermark {WATERMARK_DELAY} behind, allowed lateness {ALLOWED_LATENESS}; "
        "each pane holds all departures so far",
        window_ms=(start, end),
        dots=dots,
        panes=[PaneBand(pane.timing, reached[pane.batch], _value(pane)) for pane in panes],
        watermark=watermark,
        expired_ms=expired if expired is not None and expired <= latest else None,
        event_axis="scheduled departure (event time, New York)",
        arrival_axis="actual departure (arrival, New York)",
        zone=NEW_YORK,
    )


def _reached(files: Sequence[ArrivalFile], batches: Sequence[MicroBatch]) -> dict[int, int]:
    """For each batch the arrival (epoch ms) up to which the stream had been read."""
    reached, done = {}, files[0].first_ms
    unread = iter(files)
    for batch in batches:
        if batch.rows:
            file = next(unread, None)
            done = done if file is None else file.last_ms
        reached[batch.number] = done
    return reached


def _dots(group: Group, drops: Sequence[Drop], flights: pa.Table) -> Iterable[Dot]:
    carrier, start = group
    mine = pc.and_(pc.equal(flights.column("carrier"), carrier), pc.equal(hour_ms(flights), start))
    missed = {drop.identity: drop.missed_ms for drop in drops if drop.group == group}
    for row in flights.filter(mine).to_pylist():
        event, arrival = (int(row[name].timestamp()) * 1000 for name in (SCHEDULED, ARRIVED))
        identity = (carrier, event, row["tailnum"], row["dep_delay"])
        if identity not in missed:
            yield Dot(event, arrival)
            continue
        late = show_duration(arrival - event)
        by = missed[identity]
        missed_by = "" if by is None else f", missed the window by {show_minutes(by)}"
        yield Dot(event, arrival, True, f"{row['tailnum']}: {late} late{missed_by}")


def _value(pane: Flown) -> str:
    delay = "delay unknown" if pane.delay is None else f"mean delay {pane.delay:.0f} min"
    noun = "departure" if pane.departures == 1 else "departures"
    return f"{pane.departures} {noun}, {delay}"
