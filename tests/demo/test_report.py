"""The summary, as a person reads it."""

from typing import Any

import attrs

from beamlike.demo.check import check
from beamlike.demo.report import render


def summary_of(scene: Any) -> list[str]:
    verdict = check(scene.flights, scene.panes, scene.drops)
    return render(scene.flights, scene.panes, scene.drops, 5, verdict).splitlines()


def test_the_summary_of_a_small_morning(scene: Any):
    assert summary_of(scene) == [
        "input      7 scheduled departures in 5 micro-batches;",
        "           cancelled among them: 1, which arrive on schedule, delay unknown",
        "panes      5 for 2 carrier-hours: 1 early, 2 on time, 2 late",
        "changed    2 carrier-hours changed after the on-time pane",
        "           most: AA 01 Jan 2013 06:00-07:00, on time 1 with mean delay 0.0 min,",
        "           in the end 2 with mean delay 150.0 min",
        "dropped    1 (1 expired)",
        "           missed the window by 7h 30m at most",
        "check      holds: 6 in panes + 1 dropped = 7 in the input;",
        "           count, mean delay and aircraft of all 2 carrier-hours equal those",
        "           of a plain batch aggregation",
    ]


def test_a_result_that_does_not_hold_is_called_so(scene: Any):
    del scene.panes["AA", scene.start]
    headline, window, total = summary_of(scene)[-3:]
    assert headline == "check      DOES NOT HOLD, 2 problem(s):"
    assert window.startswith("           AA 01 Jan 2013 06:00-07:00: the last pane is None, the")
    assert total == "           in all: 4 rows in panes and 1 dropped are 5, but the input has 7"


def test_a_morning_without_late_or_dropped_flights(scene: Any):
    scene.panes = {
        group: tuple(pane for pane in panes if pane.timing != "LATE")
        for group, panes in scene.panes.items()
    }
    scene.drops.clear()
    scene.flights = scene.flights.take([0, 1, 2, 3])
    assert summary_of(scene)[3:6] == [
        "changed    0 carrier-hours changed after the on-time pane",
        "dropped    nothing",
        "check      holds: 4 in panes + 0 dropped = 4 in the input;",
    ]


def test_drops_are_reported_by_their_reasons(scene: Any):
    scene.drops.append(attrs.evolve(scene.drops[0], reason="closed", missed_ms=None))
    assert "dropped    2 (1 expired, 1 closed)" in summary_of(scene)
