"""How far rows bring a source that one row may not pull alone: the rule, and its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.machine.clocks import Clocks
from beamlike.machine.gaps import Stretch, reach_of
from beamlike.machine.input_clocks import Idle, SourceClock, SourceProgress

JUMP = 100
TIMES = st.integers(-2_000, 2_000)


def rows(*times: int) -> list[Stretch]:
    """Each row as a stretch of its own, which a key of its own sent."""
    return [(time, time, 1) for time in times]


@pytest.mark.parametrize(
    ("times", "known", "is_silent", "reach"),
    [
        ([150], 100, False, 150),
        ([200], 100, False, 200),
        ([201], 100, False, 100),
        ([201], 100, True, 201),
        ([150, 240, 900], 100, False, 240),
        ([150, 900], 100, True, 150),  # it is not silent: a row comes from before the gap
        ([-50, 900], 100, True, 900),  # what is so far behind shows nothing
        ([900, 950, 2_000], 100, True, 950),
        ([5], 100, False, 100),
        ([7, 9, 900], None, False, 9),
        ([7, 900], None, False, 7),
        ([7, 900, 901], None, False, 901),
    ],
)
def test_how_far_rows_bring_their_source(
    times: list[int], known: int | None, is_silent: bool, reach: int
) -> None:
    assert reach_of(rows(*times), known, JUMP, is_silent=is_silent) == reach


@given(st.lists(TIMES, min_size=1), TIMES, st.booleans())
def test_a_source_never_goes_back_and_no_further_than_its_rows(
    times: list[int], known: int, is_silent: bool
) -> None:
    reach = reach_of(rows(*times), known, JUMP, is_silent=is_silent)

    assert known <= reach <= max(known, *times)


@given(st.lists(TIMES, min_size=1), TIMES)
def test_rows_beyond_a_gap_change_nothing_as_long_as_others_come(times: list[int], known: int):
    reach = reach_of(rows(*times), known, JUMP, is_silent=False)
    beyond = rows(*(reach + JUMP + 1 + number for number in range(50)))

    assert reach_of([*rows(*times), *beyond], known, JUMP, is_silent=False) == reach


@given(st.lists(TIMES, min_size=1), TIMES, st.booleans())
def test_the_tasks_that_read_the_rows_and_their_order_do_not_matter(
    times: list[int], known: int, is_silent: bool
) -> None:
    reach = reach_of(rows(*times), known, JUMP, is_silent=is_silent)
    together = []
    for time in sorted(times):
        if together and time - together[-1][1] <= JUMP:
            together[-1] = (together[-1][0], time, together[-1][2] + 1)
        else:
            together.append((time, time, 1))

    assert reach_of(rows(*reversed(times)), known, JUMP, is_silent=is_silent) == reach
    assert reach_of(together, known, JUMP, is_silent=is_silent) == reach


@pytest.mark.parametrize("idle", Idle)
def test_a_source_goes_on_after_a_gap_once_its_stage_has_seen_it_idle(idle: Idle) -> None:
    clocks = Clocks((SourceClock(5, idle_after=10, idle=idle, max_jump=JUMP),))
    states, _ = clocks.update((), [SourceProgress(0, 1_000)], 1, 0)
    watermarks = []
    for clock, before in ((2, 1), (12, 2), (13, 12), (14, 13)):
        states, watermark = clocks.update(states, [SourceProgress(0, 5_000)], clock, before)
        watermarks.append(watermark)

    moved = 1 if idle is Idle.ADVANCE else 0  # by the millisecond for which it was idle
    assert watermarks == [995, 995 + moved, 4_995, 4_995]


def test_a_source_that_holds_a_jump_is_idle_for_the_others() -> None:
    """Its rows beyond the gap count as if they had not come."""
    clocks = Clocks((SourceClock(5, idle_after=10, max_jump=JUMP), SourceClock(5)))
    states, first = clocks.update((), [SourceProgress(0, 100), SourceProgress(1, 200)], 1, 0)
    far = [SourceProgress(0, 5_000), SourceProgress(1, 300)]
    states, second = clocks.update(states, far, 20, 1)

    assert (first, second) == (95, 295)
