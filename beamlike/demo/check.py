"""The proof that nothing was lost: panes plus drops against a plain batch aggregation.

The reference is one ``group_by`` of pyarrow over the input. It shares no code with the
windows and triggers that it judges.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.demo.flights import SCHEDULED, hour_ms
from beamlike.demo.results import DroppedFlight, FlightPane, Group, show_group

_TIMINGS: Final = ("EARLY", "ON_TIME", "LATE")


@attrs.frozen
class CarrierTotals:
    """What one carrier's hour comes to: rows, mean delay, and its aircraft in sorted order."""

    departures: int
    delay: float | None
    tails: tuple[str, ...]


@attrs.frozen
class Verdict:
    """What the check found.

    Attributes:
        rows: Rows of the input.
        in_panes: Rows in the last panes of all windows.
        dropped: Rows dropped.
        groups: How many carriers' hours were compared.
        problems: A sentence for everything that does not hold; empty if all does.
    """

    rows: int
    in_panes: int
    dropped: int
    groups: int
    problems: tuple[str, ...]


def check(
    flights: pa.Table, panes: dict[Group, Sequence[FlightPane]], drops: Sequence[DroppedFlight]
) -> Verdict:
    """Hold the result of the stream against its input.

    For each carrier and hour: the panes are numbered without gaps, their timings read
    EARLY* ON_TIME? LATE*, each holds at least what the pane before held, and the last one's
    count, mean delay and aircraft equal those of a batch aggregation over the input without
    the drops, each of which is a row of the input.
    """
    accepted, unknown = _without(flights, drops)
    expected = _aggregate(accepted)
    problems = [
        f"{show_group(drop.group)}: dropped {drop.element}, which is not in the input"
        for drop in unknown
    ]
    for group in [*expected, *(group for group in panes if group not in expected)]:
        problems += [
            f"{show_group(group)}: {problem}"
            for problem in _problems(panes.get(group, ()), expected.get(group))
        ]
    in_panes = sum(history[-1].departures for history in panes.values())
    if in_panes + len(drops) != len(flights):
        problems.append(
            f"in all: {in_panes} rows in panes and {len(drops)} dropped are "
            f"{in_panes + len(drops)}, but the input has {len(flights)}"
        )
    return Verdict(len(flights), in_panes, len(drops), len(expected), tuple(problems))


def _problems(panes: Sequence[FlightPane], expected: CarrierTotals | None) -> Iterator[str]:
    """What is wrong with the panes of one window."""
    indices = [pane.index for pane in panes]
    if indices != list(range(len(panes))):
        yield f"the panes are numbered {indices}"
    timings = [pane.timing for pane in panes]
    if timings != sorted(timings, key=_TIMINGS.index) or timings.count("ON_TIME") > 1:
        yield f"the timings are {', '.join(timings)}"
    if timings[-1:] == ["EARLY"]:
        yield "the window never closed, its last pane is early"
    counts = [pane.departures for pane in panes]
    if counts != sorted(counts):
        yield f"the panes hold {counts} departures, and none may hold less than the one before"
    last = None
    if panes:
        last = CarrierTotals(counts[-1], panes[-1].delay, tuple(sorted(panes[-1].tails)))
    if not _is_same(last, expected):
        yield f"the last pane is {last}, the batch aggregation {expected}"


def _is_same(last: CarrierTotals | None, expected: CarrierTotals | None) -> bool:
    """Whether both are one, where means may differ by the order of adding."""
    if last is not None and expected is not None and None not in (last.delay, expected.delay):
        same_mean = math.isclose(last.delay, expected.delay, rel_tol=1e-9, abs_tol=1e-9)  # type: ignore[arg-type]
        return same_mean and attrs.evolve(last, delay=expected.delay) == expected
    return last == expected


def _without(
    flights: pa.Table, drops: Sequence[DroppedFlight]
) -> tuple[pa.Table, list[DroppedFlight]]:
    """The flights less the dropped ones, and the drops that match no flight."""
    wanted: dict[Any, list[DroppedFlight]] = {}
    for drop in drops:
        wanted.setdefault(drop.identity, []).append(drop)
    columns = [flights.column(name).to_pylist() for name in ("carrier", "tailnum", "dep_delay")]
    instants = flights.column(SCHEDULED).cast(pa.int64()).to_numpy() // 1000
    keep = []
    for carrier, tail, delay, instant in zip(*columns, instants.tolist(), strict=True):
        matches = wanted.get((carrier, instant, tail, delay))
        keep.append(not matches)
        if matches:
            matches.pop()
    return flights.filter(pa.array(keep)), [drop for rest in wanted.values() for drop in rest]


def _aggregate(flights: pa.Table) -> dict[Group, CarrierTotals]:
    """The plain batch aggregation, by carrier and start of the hour."""
    columns = {"carrier": "carrier", "delay": "dep_delay", "tail": "tailnum"}
    table = pa.table({name: flights.column(column) for name, column in columns.items()})
    totals = (
        table.append_column("hour", hour_ms(flights))
        .group_by(["carrier", "hour"])
        .aggregate([([], "count_all"), ("delay", "mean"), ("tail", "list")])
    )
    return {
        (row["carrier"], row["hour"]): CarrierTotals(
            row["count_all"], row["delay_mean"], tuple(sorted(filter(None, row["tail_list"])))
        )
        for row in totals.to_pylist()
    }
