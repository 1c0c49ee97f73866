"""The summary, as a person reads it."""

from typing import Any

import attrs

from beamlike.demo.check import check
from beamlike.demo.report import render, summarise


def summary_of(scene: Any) -> str:
    verdict = check(scene.flights, scene.panes, scene.drops)
    return render(summarise(scene.flights, scene.panes, scene.drops, batches=5), verdict)


def test_the_summary_of_a_small_morning(scene: Any):
    assert summary_of(scene).splitlines() == [
        "input      7 scheduled departures in 5 micro-batches;",
        "           cancelled among them: 1, which arrive on schedule, delay unknown",
        "panes      5 for 2 carrier-hours: 1 early, 2 on time, 2 late",
        "changed    2 carrier-hours changed after the on-time pane",
        "           most: AA 01 Jan 2013 06:00-07:00, on time 1 with mean delay 0.0 min,",
        "           in the end 2 with mean delay 150.0 min",
        "latecomer  UA 5 (JFK to BOS), scheduled 01 Jan 06:15, left 15h late:",
        "           dropped, it missed its window by 7h 30m",
        "dropped    1 (1 expired)",
        "           missed its window by 7h 30m",
        "check      holds: 6 in panes + 1 dropped = 7 in the input;",
        "           count, mean delay and aircraft of all 2 carrier-hours equal those",
        "           of a plain batch aggregation",
    ]


def test_a_result_that_does_not_hold_is_called_so(scene: Any):
    del scene.panes["AA", scene.start]
    assert summary_of(scene).splitlines()[-4:] == [
        "check      DOES NOT HOLD, 3 problem(s):",
        "           AA 01 Jan 2013 06:00-07:00: 0 on time + 0 added late + 0 dropped is not 2, the "
        "number in the input",
        "           AA 01 Jan 2013 06:00-07:00: 0 pane(s) for 2 row(s)",
        "           in all: 4 rows in panes and 1 dropped are 5, but the input has 7",
    ]


def test_a_morning_without_late_or_dropped_flights(scene: Any):
    scene.panes = {
        group: tuple(pane for pane in panes if pane.timing != "LATE")
        for group, panes in scene.panes.items()
    }
    scene.drops.clear()
    scene.flights = scene.flights.take([0, 1, 2, 3])
    assert summary_of(scene).splitlines() == [
        "input      4 scheduled departures in 5 micro-batches;",
        "           cancelled among them: 1, which arrive on schedule, delay unknown",
        "panes      3 for 2 carrier-hours: 1 early, 2 on time, 0 late",
        "changed    0 carrier-hours changed after the on-time pane",
        "latecomer  UA 3 (JFK to BOS), scheduled 01 Jan 06:20, left 20m late:",
        "           first seen in its window's early pane",
        "dropped    nothing",
        "check      holds: 4 in panes + 0 dropped = 4 in the input;",
        "           count, mean delay and aircraft of all 2 carrier-hours equal those",
        "           of a plain batch aggregation",
    ]


def test_drops_of_several_windows_are_reported_by_their_spread(scene: Any):
    first = scene.drops[0]
    scene.drops += [attrs.evolve(first, missed_ms=at) for at in (60_001, 120_001)]
    scene.drops.append(attrs.evolve(first, reason="closed", missed_ms=None))
    summary = summarise(scene.flights, scene.panes, scene.drops, batches=5)
    verdict = check(scene.flights, scene.panes, scene.drops)
    assert render(summary, verdict).splitlines()[8:10] == [
        "dropped    4 (3 expired, 1 closed)",
        "           missed their windows by 1m to 7h 30m, half of them by 2m or more",
    ]


def test_an_hour_whose_flights_all_came_late_is_mentioned(scene: Any):
    group = ("AA", scene.start)
    scene.panes[group] = (attrs.evolve(scene.panes[group][-1], index=0),)
    lines = summary_of(scene).splitlines()
    assert lines[3:7] == [
        "changed    1 carrier-hour changed after the on-time pane",
        "           most: UA 01 Jan 2013 06:00-07:00, on time 3 with mean delay 15.0 min,",
        "           in the end 4 with mean delay 70.0 min",
        "           1 carrier-hour had no on-time pane: all flights came late",
    ]
