"""The proof that nothing was lost: panes plus drops against a plain batch aggregation.

The reference is one ``group_by`` of pyarrow over the input. It shares no code with the
windows and triggers that it judges.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.demo.flights import SCHEDULED, hour_ms
from beamlike.demo.results import Drop, Flown, Group, show_group

_TIMINGS: Final = {"EARLY": 0, "ON_TIME": 1, "LATE": 2}


@attrs.frozen
class Totals:
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


def check(flights: pa.Table, panes: dict[Group, Sequence[Flown]], drops: Sequence[Drop]) -> Verdict:
    """Hold the result of the stream against its input.

    For each carrier and hour: the panes are numbered without gaps, their timings read
    EARLY* ON_TIME? LATE*, at most one is on time, each holds at least what the pane before
    held; the on-time pane plus the late additions plus the drops equal the input; and the
    last pane's count, mean delay and aircraft equal those of a batch aggregation over the
    input without the drops.
    """
    problems = [problem for group in panes for problem in _history(group, panes[group])]
    accepted, unknown = _without(flights, drops)
    problems += [
        f"{show_group(drop.group)}: dropped {drop.element}, which is not in the input"
        for drop in unknown
    ]
    everything, kept = _aggregate(flights), _aggregate(accepted)
    dropped = Counter(drop.group for drop in drops)
    for group, totals in everything.items():
        problems += _compare(group, panes.get(group, ()), totals, kept.get(group), dropped[group])
    problems += [
        f"{show_group(group)}: has panes, but there is no such flight in the input"
        for group in panes
        if group not in everything
    ]
    in_panes = sum(history[-1].departures for history in panes.values())
    if in_panes + len(drops) != len(flights):
        problems.append(
            f"in all: {in_panes} rows in panes and {len(drops)} dropped are "
            f"{in_panes + len(drops)}, but the input has {len(flights)}"
        )
    return Verdict(len(flights), in_panes, len(drops), len(everything), tuple(problems))


def _history(group: Group, panes: Sequence[Flown]) -> Iterable[str]:
    """What is wrong with the order of one window's panes."""
    if [pane.index for pane in panes] != list(range(len(panes))):
        yield f"{show_group(group)}: the panes are numbered {[pane.index for pane in panes]}"
    ranks = [_TIMINGS[pane.timing] for pane in panes]
    if ranks != sorted(ranks) or ranks.count(_TIMINGS["ON_TIME"]) > 1:
        yield f"{show_group(group)}: the timings are {', '.join(pane.timing for pane in panes)}"
    if panes[-1].timing == "EARLY":
        yield f"{show_group(group)}: the window never closed, its last pane is early"
    for before, after in pairwise(panes):
        if after.departures < before.departures:
            yield (
                f"{show_group(group)}: pane {after.index} has {after.departures} departures, "
                f"the pane before had {before.departures}"
            )


def _compare(
    group: Group,
    panes: Sequence[Flown],
    input_totals: Totals,
    kept: Totals | None,
    dropped: int,
) -> Iterable[str]:
    """What differs between one window's panes and the batch aggregation."""
    final = [pane for pane in panes if pane.timing != "EARLY"]
    on_time = final[0].departures if final else 0
    additions = sum(after.departures - before.departures for before, after in pairwise(final))
    if on_time + additions + dropped != input_totals.departures:
        yield (
            f"{show_group(group)}: {on_time} on time + {additions} added late + {dropped} dropped "
            f"is not {input_totals.departures}, the number in the input"
        )
    if kept is None or not panes:
        if kept is not None or panes:
            rows = kept.departures if kept else 0
            yield f"{show_group(group)}: {len(panes)} pane(s) for {rows} row(s)"
        return
    last = panes[-1]
    if not _same_mean(last.delay, kept.delay):
        yield (
            f"{show_group(group)}: mean delay {last.delay} in the last pane, "
            f"{kept.delay} in the batch aggregation"
        )
    if tuple(sorted(last.tails)) != kept.tails:
        extra = sorted((Counter(last.tails) - Counter(kept.tails)).elements())
        missing = sorted((Counter(kept.tails) - Counter(last.tails)).elements())
        yield (
            f"{show_group(group)}: aircraft in the last pane: {extra} too many, {missing} missing"
        )


def _same_mean(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _without(flights: pa.Table, drops: Sequence[Drop]) -> tuple[pa.Table, list[Drop]]:
    """The flights less the dropped ones, and the drops that match no flight."""
    wanted: dict[Any, list[Drop]] = {}
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


def _aggregate(flights: pa.Table) -> dict[Group, Totals]:
    """The plain batch aggregation, by carrier and start of the hour."""
    table = pa.table(
        {
            "carrier": flights.column("carrier"),
            "hour": hour_ms(flights),
            "delay": flights.column("dep_delay"),
            "tail": flights.column("tailnum"),
        }
    )
    totals = table.group_by(["carrier", "hour"]).aggregate(
        [([], "count_all"), ("delay", "mean"), ("tail", "list")]
    )
    columns = ("carrier", "hour", "count_all", "delay_mean", "tail_list")
    return {
        (carrier, hour): Totals(
            count, mean, tuple(sorted(tail for tail in tails if tail is not None))
        )
        for carrier, hour, count, mean, tails in zip(
            *(totals.column(name).to_pylist() for name in columns), strict=True
        )
    }
