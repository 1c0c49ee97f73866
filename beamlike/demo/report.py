"""What a person wants to know of the run, in plain sentences: while it runs, and at its end."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.demo.check import Verdict
from beamlike.demo.flights import CANCELLED, ArrivalFile
from beamlike.demo.results import (
    DroppedFlight,
    FlightPane,
    Group,
    show_group,
    show_local,
    show_minutes,
)
from beamlike.model.fingerprint import how_many

_SHOWN_PROBLEMS: Final = 10


def render(
    flights: pa.Table,
    panes: Mapping[Group, Sequence[FlightPane]],
    drops: Sequence[DroppedFlight],
    batches: int,
    verdict: Verdict,
) -> str:
    """The facts of a run and the verdict as lines of text."""
    timings = Counter(pane.timing for history in panes.values() for pane in history)
    early, on_time, late = (timings[name] for name in ("EARLY", "ON_TIME", "LATE"))
    cancelled = pc.sum(flights.column(CANCELLED)).as_py() or 0
    sections = {
        "input": [
            f"{len(flights):,} scheduled departures in {batches} micro-batches;",
            f"cancelled among them: {cancelled:,}, which arrive on schedule, delay unknown",
        ],
        "panes": [
            f"{early + on_time + late:,} for {how_many(len(panes), 'carrier-hour')}: "
            f"{early:,} early, {on_time:,} on time, {late:,} late"
        ],
        "changed": _changed(panes),
        "dropped": _dropped(drops),
        "check": _verdict(verdict),
    }
    return "\n".join(
        f"{'' if number else name:<10} {sentence}".rstrip()
        for name, sentences in sections.items()
        for number, sentence in enumerate(sentences)
    )


def _changed(panes: Mapping[Group, Sequence[FlightPane]]) -> Iterator[str]:
    """What late panes changed, and where most."""
    changes = [
        (group, pane, history[-1])
        for group, history in panes.items()
        for pane in history[:-1]
        if pane.timing == "ON_TIME"
    ]
    yield f"{how_many(len(changes), 'carrier-hour')} changed after the on-time pane"
    known = [change for change in changes if change[1].delay is not None]
    if known:
        group, before, after = max(
            known, key=lambda change: abs((change[2].delay or 0.0) - (change[1].delay or 0.0))
        )
        yield f"most: {show_group(group)}, on time {_value(before)},"
        yield f"in the end {_value(after)}"


def _value(pane: FlightPane) -> str:
    delay = "unknown" if pane.delay is None else f"{pane.delay:.1f} min"
    return f"{pane.departures} with mean delay {delay}"


def _dropped(drops: Sequence[DroppedFlight]) -> Iterator[str]:
    reasons = Counter(drop.reason for drop in drops)
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    yield f"{len(drops):,} ({counts})" if drops else "nothing"
    missed = [drop.missed_ms for drop in drops if drop.missed_ms is not None]
    if missed:
        yield f"missed the window by {show_minutes(max(missed))} at most"


def _verdict(verdict: Verdict) -> Iterator[str]:
    if not verdict.problems:
        yield (
            f"holds: {verdict.in_panes:,} in panes + {verdict.dropped:,} dropped = "
            f"{verdict.rows:,} in the input;"
        )
        yield f"count, mean delay and aircraft of all {verdict.groups:,} carrier-hours equal those"
        yield "of a plain batch aggregation"
        return
    yield f"DOES NOT HOLD, {len(verdict.problems):,} problem(s):"
    yield from verdict.problems[:_SHOWN_PROBLEMS]
    if len(verdict.problems) > _SHOWN_PROBLEMS:
        yield f"and {len(verdict.problems) - _SHOWN_PROBLEMS:,} more"


_LINES: Final = 12
"""How many lines of progress a run prints."""


class Screen:
    """A line of text each time that a part of the files has been read."""

    def __init__(self, say: Callable[[str], None], files: Sequence[ArrivalFile]) -> None:
        self._say, self._files = say, files
        self._step = max(1, len(files) // _LINES)
        self._next = self._step

    def show(self, counted: Sequence[Counter[str]], watermark_ms: int | None) -> None:
        """Say how far the query is, if that is news; see `run_query`."""
        if len(counted) < self._next:
            return
        self._next = len(counted) + self._step
        rows, in_all = sum(file.rows for file in self._files[: len(counted)]), Counter[str]()
        for of_batch in counted:
            in_all.update(of_batch)
        counts = ", ".join(
            f"{name.lower().replace('_', ' ')} {in_all[name]:,}"
            for name in ("EARLY", "ON_TIME", "LATE", "DROPPED")
        )
        self._say(
            f"rows {rows:,} of {sum(file.rows for file in self._files):,}, "
            f"watermark {self._watermark(watermark_ms)}, {counts}"
        )

    def _watermark(self, watermark: int | None) -> str:
        if watermark is None:
            return "none yet"
        # The closing row moves it a week beyond the last flight, which would puzzle a reader.
        return "past the end" if watermark > self._files[-1].last_ms else show_local(watermark)
