"""Sessions that merge on touch, on both machines: a millisecond before the gap, at it and after."""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, Element
from beamlike.model.combine import Collect
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive
from tests.support.machines.either import run_in_both

END = AdvanceWatermark(MAX_TIMESTAMP)
# A bound that never comes into play: bounded sessions merge in another way, with this result.
FREE = bl.Sessions(10, merge_touching=True)
LONG = bl.Sessions(10, max_duration=99, merge_touching=True)
FULL = bl.Sessions(10, max_elements=99, merge_touching=True)
ALL = pytest.mark.parametrize("sessions", [FREE, LONG, FULL], ids=str)


def arrive(*times: int) -> Arrive:
    return Arrive(tuple(("k", Element(time, time)) for time in times))


def found(sessions: bl.Sessions, *bundles: Arrive) -> list[tuple[int, int, list[int]]]:
    """The sessions at the end of time, with their elements; both machines agree."""
    strategy, script = bl.WindowingStrategy(sessions), (*bundles, END)
    panes = (output.effect for output in run_in_both(strategy, script, Collect()).panes)
    return sorted((pane.window.start, pane.window.end, sorted(pane.value)) for pane in panes)


def nearest_session(
    sessions: bl.Sessions, live: int, watermark: int, late: int
) -> bl.IntervalWindow | None:
    """What a late element nearly joined; both machines agree."""
    strategy = bl.WindowingStrategy(sessions)
    script = arrive(live), AdvanceWatermark(watermark), arrive(late)
    (drop,) = (output.effect for output in run_in_both(strategy, script, Collect()).drops)
    assert isinstance(drop, Drop)
    return drop.nearest_session


@ALL
def test_a_millisecond_less_than_the_gap_joins(sessions: bl.Sessions) -> None:
    assert found(sessions, arrive(0, 9)) == [(0, 19, [0, 9])]
    assert found(sessions, arrive(9), arrive(0)) == [(0, 19, [0, 9])]


@ALL
def test_exactly_the_gap_joins(sessions: bl.Sessions) -> None:
    assert found(sessions, arrive(0, 10)) == [(0, 20, [0, 10])]
    assert found(sessions, arrive(10), arrive(0)) == [(0, 20, [0, 10])]


@ALL
def test_a_millisecond_more_than_the_gap_stays_apart(sessions: bl.Sessions) -> None:
    apart = [(0, 10, [0]), (11, 21, [11])]
    assert found(sessions, arrive(0, 11)) == found(sessions, arrive(11), arrive(0)) == apart


@ALL
def test_a_late_element_nearly_joins_a_session_that_overlaps_it(sessions: bl.Sessions) -> None:
    assert nearest_session(sessions, 10, 15, 1) == bl.IntervalWindow(1, 20)


@ALL
def test_a_late_element_nearly_joins_a_session_that_it_touches(sessions: bl.Sessions) -> None:
    assert nearest_session(sessions, 10, 15, 0) == bl.IntervalWindow(0, 20)


@ALL
def test_a_late_element_is_alone_a_millisecond_before_it_would_touch(sessions: bl.Sessions) -> None:
    assert nearest_session(sessions, 10, 15, -1) is None
