"""Panes that would say again what stands already: ``unchanged="omit"``."""

import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.machine.events import AdvanceWatermark, Element, Suppressed
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Max
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive

END = AdvanceWatermark(MAX_TIMESTAMP)
EARLY_AND_LATE = bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1))


TEN = bl.FixedWindows(10)


def greatest(unchanged, window_fn=TEN):
    return bl.WindowingStrategy(
        window_fn, EARLY_AND_LATE, "retracting", allowed_lateness=20, unchanged=unchanged
    )


def test_by_default_an_unchanged_pane_takes_the_place_of_itself(play):
    assert play(greatest("re_emit"), [5], AdvanceWatermark(10), combine=Max()) == [
        "0 [0,10) EARLY #0/-1 first 5 @9",
        "1 [0,10) EARLY #0/-1 first withdrawn 5 @9",
        "1 [0,10) ON_TIME #1/0 5 @9",
    ]


def test_left_out_nothing_is_withdrawn_and_no_index_is_used(play):
    assert play(greatest("omit"), [5], AdvanceWatermark(10), [3], [7], END, combine=Max()) == [
        "0 [0,10) EARLY #0/-1 first 5 @9",
        "3 [0,10) EARLY #0/-1 first withdrawn 5 @9",
        "3 [0,10) LATE #1/0 7 @9",
    ]


def test_a_window_that_grew_is_another_row_though_its_value_is_the_same(play):
    assert play(greatest("omit", bl.Sessions(10)), [5], [3], combine=Max()) == [
        "0 [5,15) EARLY #0/-1 first 5 @14",
        "1 [5,15) EARLY #0/-1 first withdrawn 5 @14",
        "1 [3,15) EARLY #0/-1 first 5 @14",
    ]


def test_values_that_cannot_be_compared_are_not_known_to_be_unchanged(play):
    class Odd(Max):
        def extract(self, accumulator):
            return Incomparable()

    class Incomparable:
        def __eq__(self, other):
            raise TypeError("no")

        def __repr__(self):
            return "odd"

    assert play(greatest("omit"), [5], [6], combine=Odd()) == [
        "0 [0,10) EARLY #0/-1 first odd @9",
        "1 [0,10) EARLY #0/-1 first withdrawn odd @9",
        "1 [0,10) EARLY #1/-1 odd @9",
    ]


def test_the_story_tells_that_the_trigger_fired_for_nothing():
    arrive = [Arrive((("k", Element(at, at)),)) for at in (5, 3)]
    run = run_in_memory(Grouping(greatest("omit"), Max()), tuple(arrive))
    assert run.trace[-1].happening == Suppressed(
        bl.IntervalWindow(0, 10), "AfterWatermark.early[AfterCount(1)]"
    )


@pytest.mark.parametrize("mode", ["discarding", "accumulating"])
def test_there_is_nothing_to_leave_out_where_nothing_is_withdrawn(mode):
    with pytest.raises(WindowingError) as refused:
        bl.WindowingStrategy(bl.FixedWindows(10), accumulation=mode, unchanged="omit")
    assert str(refused.value) == (
        'unchanged="omit" leaves out a pane that would withdraw an equal one, but '
        f'accumulation="{mode}" withdraws nothing; write unchanged="re_emit", or '
        'accumulation="retracting"'
    )
