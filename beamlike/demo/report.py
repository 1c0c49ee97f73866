"""The summary: what a person wants to know of the run, in plain sentences."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.demo.check import Verdict
from beamlike.demo.flights import CANCELLED, SCHEDULED, hour_ms
from beamlike.demo.results import (
    Drop,
    Flown,
    Group,
    show_group,
    show_local,
    show_minutes,
)
from beamlike.model.fingerprint import how_many

_SHOWN_PROBLEMS = 10


@attrs.frozen
class Latecomer:
    """The flight with the longest delay, and what became of it."""

    flight: str
    scheduled_ms: int
    delay_ms: int
    fate: str


@attrs.frozen
class Summary:
    """The facts of a run.

    Attributes:
        rows: Rows of the input.
        cancelled: How many of them never left.
        batches: Micro-batches.
        timings: Panes by timing.
        groups: Carrier-hours (one carrier, one hour) that have panes.
        changed: How many of them changed after their on-time pane, each by late panes.
        largest: The hour whose mean delay changed most after on time: group, on-time pane,
            last pane. None if there is no such change.
        unannounced: Hours whose first pane was late: every flight came after the end.
        latecomer: The longest delay of all; None without delays.
        drops: What was dropped.
    """

    rows: int
    cancelled: int
    batches: int
    timings: Counter[str]
    groups: int
    changed: int
    largest: tuple[Group, Flown, Flown] | None
    unannounced: int
    latecomer: Latecomer | None
    drops: Sequence[Drop]


def summarise(
    flights: pa.Table,
    panes: Mapping[Group, Sequence[Flown]],
    drops: Sequence[Drop],
    batches: int,
) -> Summary:
    """Collect the facts."""
    changes = []
    unannounced = 0
    for group, history in panes.items():
        on_time = next((pane for pane in history if pane.timing == "ON_TIME"), None)
        if on_time is None:
            unannounced += 1
        elif history[-1] is not on_time:
            changes.append((group, on_time, history[-1]))
    return Summary(
        rows=len(flights),
        cancelled=pc.sum(flights.column(CANCELLED)).as_py() or 0,
        batches=batches,
        timings=Counter(pane.timing for history in panes.values() for pane in history),
        groups=len(panes),
        changed=len(changes),
        largest=max(
            (change for change in changes if change[1].delay is not None), key=_change, default=None
        ),
        unannounced=unannounced,
        latecomer=_latecomer(flights, panes, drops),
        drops=drops,
    )


def render(summary: Summary, verdict: Verdict) -> str:
    """The summary and the verdict as lines of text."""
    lines = [
        *_line(
            "input",
            f"{summary.rows:,} scheduled departures in {summary.batches} micro-batches;",
            f"cancelled among them: {summary.cancelled:,}, which arrive on schedule, delay unknown",
        ),
        *_line("panes", _panes(summary)),
        *_line("changed", *_changed(summary)),
        *_line("latecomer", *_latest(summary.latecomer)),
        *_line("dropped", *_dropped(summary.drops)),
        *_line("check", *_verdict(verdict)),
    ]
    return "\n".join(lines)


def _line(name: str, *sentences: str) -> list[str]:
    return [
        f"{name if at == 0 else '':<10} {sentence}".rstrip()
        for at, sentence in enumerate(sentences)
    ]


def _panes(summary: Summary) -> str:
    early, on_time, late = (summary.timings[name] for name in ("EARLY", "ON_TIME", "LATE"))
    return (
        f"{early + on_time + late:,} for {_hours(summary.groups)}: "
        f"{early:,} early, {on_time:,} on time, {late:,} late"
    )


def _changed(summary: Summary) -> list[str]:
    lines = [f"{_hours(summary.changed)} changed after the on-time pane"]
    if summary.largest is not None:
        group, before, after = summary.largest
        lines.append(f"most: {show_group(group)}, on time {_value(before)},")
        lines.append(f"in the end {_value(after)}")
    if summary.unannounced:
        lines.append(f"{_hours(summary.unannounced)} had no on-time pane: all flights came late")
    return lines


def _hours(count: int) -> str:
    return how_many(count, "carrier-hour")


def _value(pane: Flown) -> str:
    delay = "unknown" if pane.delay is None else f"{pane.delay:.1f} min"
    return f"{pane.departures} with mean delay {delay}"


def _latest(latecomer: Latecomer | None) -> list[str]:
    if latecomer is None:
        return ["no flight was delayed"]
    return [
        f"{latecomer.flight}, scheduled {show_local(latecomer.scheduled_ms)}, left "
        f"{show_minutes(latecomer.delay_ms)} late:",
        latecomer.fate,
    ]


def _dropped(drops: Sequence[Drop]) -> list[str]:
    if not drops:
        return ["nothing"]
    reasons = Counter(drop.reason for drop in drops)
    lines = [f"{len(drops):,} ({', '.join(f'{n:,} {why}' for why, n in reasons.items())})"]
    missed = [drop.missed_ms for drop in drops if drop.missed_ms is not None]
    if missed:
        least, middle, most = (
            show_minutes(int(at)) for at in (min(missed), statistics.median(missed), max(missed))
        )
        lines.append(
            f"missed its window by {least}"
            if len(missed) == 1
            else f"missed their windows by {least} to {most}, half of them by {middle} or more"
        )
    return lines


def _verdict(verdict: Verdict) -> list[str]:
    if not verdict.problems:
        return [
            f"holds: {verdict.in_panes:,} in panes + {verdict.dropped:,} dropped = "
            f"{verdict.rows:,} in the input;",
            f"count, mean delay and aircraft of all {verdict.groups:,} carrier-hours equal those",
            "of a plain batch aggregation",
        ]
    shown = verdict.problems[:_SHOWN_PROBLEMS]
    rest = len(verdict.problems) - len(shown)
    lines = [f"DOES NOT HOLD, {len(verdict.problems):,} problem(s):", *shown]
    return [*lines, f"and {rest:,} more"] if rest else lines


def _change(change: tuple[Group, Flown, Flown]) -> tuple[float, int]:
    _, before, after = change
    moved = abs((after.delay or 0.0) - (before.delay or 0.0))
    return (moved, after.departures - before.departures)


def _latecomer(
    flights: pa.Table, panes: Mapping[Group, Sequence[Flown]], drops: Sequence[Drop]
) -> Latecomer | None:
    longest = pc.max(flights.column("dep_delay")).as_py()
    if longest is None or longest <= 0:
        return None
    at = pc.index(flights.column("dep_delay"), longest).as_py()
    row = flights.slice(at, 1).to_pylist()[0]
    group = (row["carrier"], hour_ms(flights)[at].as_py())
    scheduled = int(row[SCHEDULED].timestamp()) * 1000
    identity = (row["carrier"], scheduled, row["tailnum"], row["dep_delay"])
    fate = "its window never came out"
    dropped = next((drop for drop in drops if drop.identity == identity), None)
    if dropped is not None:
        by = dropped.missed_ms
        fate = "dropped" if by is None else f"dropped, it missed its window by {show_minutes(by)}"
    elif group in panes:
        pane = next((p for p in panes[group] if row["tailnum"] in p.tails), panes[group][-1])
        fate = f"first seen in its window's {pane.timing.lower().replace('_', '-')} pane"
    return Latecomer(
        f"{row['carrier']} {row['flight']} ({row['origin']} to {row['dest']})",
        scheduled,
        int(longest * 60_000),
        fate,
    )
