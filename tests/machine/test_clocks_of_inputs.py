"""The input watermark of a stage whose inputs have watermarks of their own."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import (
    Idle,
    InputState,
    ShardWatermark,
    SourceClock,
    SourceProgress,
    StageClock,
    WatermarkUpdate,
)
from beamlike.model.time import MIN_TIMESTAMP

ORDERS, PAYMENTS = 0, 1


def after(clocks: Clocks, *batches: tuple[int, list[WatermarkUpdate]]) -> list[int]:
    """The watermark after each micro-batch, given as its clock and the updates."""
    states: tuple[InputState, ...] = ()
    watermarks = []
    for clock, updates in batches:
        states, watermark = clocks.update(states, updates, clock)
        watermarks.append(watermark)
    return watermarks


def test_a_source_trails_its_greatest_event_time_by_its_delay() -> None:
    clocks = Clocks((SourceClock(delay=60),))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(ORDERS, 100)]),
        (1, [SourceProgress(ORDERS, 500), SourceProgress(ORDERS, 300)]),
        (2, [SourceProgress(ORDERS, 200)]),
    ]
    assert after(clocks, *shown) == [40, 440, 440]


def test_nothing_is_known_before_every_source_has_spoken() -> None:
    clocks = Clocks((SourceClock(0), SourceClock(0)))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, []),
        (1, [SourceProgress(ORDERS, 100)]),
        (2, [SourceProgress(PAYMENTS, 70)]),
    ]
    assert after(clocks, *shown) == [MIN_TIMESTAMP, MIN_TIMESTAMP, 70]


def test_the_slowest_source_decides() -> None:
    clocks = Clocks((SourceClock(0), SourceClock(30)))
    first: list[WatermarkUpdate] = [SourceProgress(ORDERS, 100), SourceProgress(PAYMENTS, 100)]
    assert after(clocks, (0, first), (1, [SourceProgress(PAYMENTS, 200)])) == [70, 100]


def test_a_time_ahead_of_the_clock_moves_the_watermark_no_further_than_the_clock() -> None:
    clocks = Clocks((SourceClock(5, max_ahead=1_000),))
    batches: list[tuple[int, list[WatermarkUpdate]]] = [
        (100, [SourceProgress(ORDERS, 100)]),
        (200, [SourceProgress(ORDERS, 1_200)]),
        (300, [SourceProgress(ORDERS, 250)]),
        (400, []),
    ]
    assert after(clocks, *batches) == [95, 195, 245, 245]


def test_without_a_limit_the_future_moves_the_watermark_as_it_is() -> None:
    clocks = Clocks((SourceClock(5, max_ahead=None),))
    assert after(clocks, (100, [SourceProgress(ORDERS, 1_200)])) == [1_195]


def test_an_advancing_source_never_passes_the_clock_either() -> None:
    clocks = Clocks((SourceClock(5, idle_after=10, idle=Idle.ADVANCE, max_ahead=1_000),))
    batches: list[tuple[int, list[WatermarkUpdate]]] = [
        (100, [SourceProgress(ORDERS, 900)]),
        (110, []),
        (150, []),
        (900, []),
    ]
    assert after(clocks, *batches) == [95, 95, 135, 885]


def test_a_side_input_has_a_watermark_of_its_own_before_that_of_the_main_input_or_behind() -> None:
    # Two inputs make up the side input. The second one falls silent after a while.
    side = (SourceClock(0), SourceClock(0, idle_after=10))
    clocks = Clocks((*side, SourceClock(0)), side=frozenset({0, 1}))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(0, 500)]),
        (1, [SourceProgress(1, 300), SourceProgress(2, 100)]),
        (2, [SourceProgress(2, 400)]),
        (12, [SourceProgress(2, 450)]),
    ]
    states: tuple[InputState, ...] = ()
    watermarks = []
    for clock, updates in shown:
        states, watermark = clocks.update(states, updates, clock)
        watermarks.append((watermark, clocks.of_side(states, watermark, clock)))
    assert watermarks == [(MIN_TIMESTAMP, MIN_TIMESTAMP), (100, 300), (400, 300), (450, 500)]
    assert Clocks(clocks.inputs).of_side(states, 450, 12) is None


def test_an_idle_main_or_side_input_is_as_far_as_it_came_and_as_the_other_if_that_is_further():
    for silent in (0, 1):
        patience = [10 if at == silent else None for at in (0, 1)]
        inputs = tuple(SourceClock(0, idle_after=it) for it in patience)
        clocks = Clocks(inputs, side=frozenset({0}))
        states, watermark = clocks.update((), [SourceProgress(0, 5), SourceProgress(1, 90)], 0)
        assert (watermark, clocks.of_side(states, watermark, 0)) == (90, 5)
        states, watermark = clocks.update(states, [], 11)
        side = 90 if silent == 0 else 5
        assert (watermark, clocks.of_side(states, watermark, 11)) == (90, side)


def test_a_silent_source_holds_the_others_until_just_after_its_time() -> None:
    clocks = Clocks((SourceClock(0), SourceClock(0, idle_after=10)))
    both: list[WatermarkUpdate] = [SourceProgress(ORDERS, 100), SourceProgress(PAYMENTS, 50)]
    orders: list[WatermarkUpdate] = [SourceProgress(ORDERS, 200)]
    shown = [(0, both), (9, orders), (10, orders), (11, orders)]
    assert after(clocks, *shown) == [50, 50, 50, 200]


def test_a_source_that_never_spoke_counts_as_silent_from_the_first_step() -> None:
    clocks = Clocks((SourceClock(0), SourceClock(0, idle_after=10)))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (5, [SourceProgress(ORDERS, 100)]),
        (15, []),
        (16, []),
    ]
    assert after(clocks, *shown) == [MIN_TIMESTAMP, MIN_TIMESTAMP, 100]


def test_a_source_that_speaks_again_counts_again() -> None:
    clocks = Clocks((SourceClock(0), SourceClock(0, idle_after=10)))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(ORDERS, 100), SourceProgress(PAYMENTS, 50)]),
        (20, [SourceProgress(ORDERS, 200)]),
        (21, [SourceProgress(PAYMENTS, 150)]),
    ]
    # The stage itself never goes back from 200; it goes on once the payments are past that.
    assert after(clocks, *shown) == [50, 200, 150]


def test_a_source_that_is_idle_alone_leaves_the_watermark_where_its_rows_have_moved_it() -> None:
    clocks = Clocks((SourceClock(5, idle_after=10),))
    assert after(clocks, (0, [SourceProgress(ORDERS, 100)]), (11, [])) == [95, 95]
    assert after(clocks, (0, []), (11, [])) == [MIN_TIMESTAMP, MIN_TIMESTAMP]


def test_when_all_sources_are_idle_the_greatest_of_their_watermarks_counts() -> None:
    clocks = Clocks((SourceClock(5, idle_after=10), SourceClock(0, idle_after=30)))
    both: list[WatermarkUpdate] = [SourceProgress(ORDERS, 100), SourceProgress(PAYMENTS, 50)]
    assert after(clocks, (0, both), (11, []), (31, [])) == [50, 50, 95]
    assert after(clocks, (0, both), (31, [])) == [50, 95]


def test_an_advancing_source_goes_on_with_the_clock_from_the_end_of_its_patience() -> None:
    clocks = Clocks((SourceClock(5, idle_after=10, idle=Idle.ADVANCE),))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(ORDERS, 100)]),
        (10, []),
        (11, []),
        (40, []),
        (41, [SourceProgress(ORDERS, 110)]),
    ]
    assert after(clocks, *shown) == [95, 95, 96, 125, 105]


def test_a_grouping_before_is_as_far_as_its_slowest_shard() -> None:
    clocks = Clocks((StageClock(shards=2),))
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [ShardWatermark(0, 0, 100)]),
        (1, [ShardWatermark(0, 1, 60)]),
        (2, [ShardWatermark(0, 1, 90), ShardWatermark(0, 0, 120)]),
    ]
    assert after(clocks, *shown) == [MIN_TIMESTAMP, 60, 90]


BY_PART = Clocks((SourceClock(10, idle_after=50, by_part=True),))


def test_the_part_that_is_furthest_behind_decides() -> None:
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(0, 100, "a")]),
        (1, [SourceProgress(0, 70, "b")]),
        (2, [SourceProgress(0, 300, "a"), SourceProgress(0, 90, "b")]),
        (3, [SourceProgress(0, 80, "b")]),
    ]
    assert after(BY_PART, *shown) == [90, 60, 80, 80]


@pytest.mark.parametrize(
    ("silence", "watermark"), [(49, 60), (50, 60), (51, 290)], ids=["before", "at", "after"]
)
def test_a_part_is_waited_for_until_it_is_idle(silence: int, watermark: int) -> None:
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(0, 100, "a"), SourceProgress(0, 70, "b")]),
        (silence, [SourceProgress(0, 300, "a")]),
    ]
    assert after(BY_PART, *shown)[-1] == watermark


def test_a_part_that_comes_back_is_waited_for_again() -> None:
    shown: list[tuple[int, list[WatermarkUpdate]]] = [
        (0, [SourceProgress(0, 100, "a"), SourceProgress(0, 70, "b")]),
        (60, [SourceProgress(0, 300, "a")]),
        (61, [SourceProgress(0, 200, "b")]),
    ]
    assert after(BY_PART, *shown) == [60, 290, 190]


@pytest.mark.parametrize(("idle", "known"), [(Idle.RELEASE, [60, 90]), (Idle.ADVANCE, [60, 91])])
def test_where_all_parts_are_idle_the_watermark_of_the_greatest_counts(
    idle: Idle, known: list[int]
) -> None:
    clocks = Clocks((SourceClock(10, idle_after=50, idle=idle, by_part=True),))
    progress: list[WatermarkUpdate] = [SourceProgress(0, 100, "a"), SourceProgress(0, 70, "b")]
    assert after(clocks, (0, progress), (51, [])) == known


def test_parts_no_longer_count_where_the_source_has_one_watermark_again() -> None:
    states, _ = BY_PART.update((), [SourceProgress(0, 100, "a"), SourceProgress(0, 70, "b")], 0)
    plain = Clocks((SourceClock(10, idle_after=50),))
    assert plain.update(states, [], 1)[1] == 90
    assert plain.silent(states, 60) == set()


def test_it_is_known_which_parts_are_idle() -> None:
    states, _ = BY_PART.update(
        (), [SourceProgress(0, 100, "a"), SourceProgress(0, 70, "b"), SourceProgress(0, 80)], 0
    )
    assert [(it.part, it.greatest) for it in states[0].parts] == [("a", 100), ("b", 80)]
    states, _ = BY_PART.update(states, [SourceProgress(0, 300, "a")], 60)
    assert BY_PART.silent(states, 60) == {(0, "b")}
    assert BY_PART.silent(states, 50) == set()


def test_only_patience_needs_the_clock() -> None:
    assert Clocks((SourceClock(0), SourceClock(0, idle_after=10))).needs_clock
    assert not Clocks((SourceClock(0), StageClock(4))).needs_clock


heard_from = st.one_of(
    st.builds(
        SourceProgress, st.just(ORDERS), st.integers(0, 1000), st.sampled_from([None, "a", "b"])
    ),
    st.builds(ShardWatermark, st.just(1), st.integers(0, 2), st.integers(0, 1000)),
)


@given(updates=st.lists(heard_from, max_size=10), order=st.randoms())
def test_what_is_heard_in_one_step_counts_in_any_order(
    updates: list[WatermarkUpdate], order: object
) -> None:
    clocks = Clocks((SourceClock(7, idle_after=50), StageClock(3)))
    shuffled = list(updates)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert clocks.update((), updates, 3) == clocks.update((), shuffled, 3)


waiting = st.builds(
    SourceClock,
    delay=st.integers(0, 20),
    idle_after=st.integers(1, 30),
    idle=st.sampled_from(Idle),
    by_part=st.booleans(),
)
progress_of_three = st.builds(
    SourceProgress, st.integers(0, 2), st.integers(0, 1000), st.sampled_from(["a", "b", "c"])
)


@given(
    inputs=st.tuples(waiting, waiting, waiting),
    side=st.frozensets(st.integers(1, 2)),
    arrivals=st.lists(st.tuples(st.integers(0, 20), progress_of_three), min_size=1, max_size=6),
    looks=st.just(range(21, 60)) | st.sets(st.integers(21, 60)).map(sorted),
)
def test_how_often_the_clock_is_read_while_nothing_comes_does_not_matter(
    inputs: tuple[SourceClock, ...],
    side: frozenset[int],
    arrivals: list[tuple[int, SourceProgress]],
    looks: Sequence[int],
) -> None:
    clocks = Clocks(inputs, side)
    states: tuple[InputState, ...] = ()
    reached: tuple[int, int | None] = (MIN_TIMESTAMP, None)
    for clock, update in sorted(arrivals, key=lambda arrival: arrival[0]):
        states, watermark = clocks.update(states, [update], clock)
        reached = furthest(reached, clocks, states, watermark, clock)
    end, often = 60, reached
    for clock in (*looks, end):
        often = furthest(often, clocks, *clocks.update(states, [], clock), clock)
    assert furthest(reached, clocks, *clocks.update(states, [], end), end) == often


def furthest(
    reached: tuple[int, int | None],
    clocks: Clocks,
    states: tuple[InputState, ...],
    watermark: int,
    clock: int,
) -> tuple[int, int | None]:
    """The watermarks of a stage and of its side input after a look, neither of which goes back."""
    watermark = max(watermark, reached[0])
    side = clocks.of_side(states, watermark, clock)
    return watermark, max([mark for mark in (side, reached[1]) if mark is not None], default=None)


@given(updates=st.lists(heard_from, max_size=10))
def test_what_is_known_survives_its_saved_form(updates: list[WatermarkUpdate]) -> None:
    clocks = Clocks((SourceClock(7), StageClock(3)))
    states, _ = clocks.update((), updates, 3)
    assert tuple(InputState.from_json(state.to_json()) for state in states) == states
