"""The input watermark of a stage whose inputs have watermarks of their own."""

from collections.abc import Sequence
from typing import Any

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


Batch = tuple[int, list[WatermarkUpdate]]
"""The clock of a micro-batch, and the updates that it brings."""


def orders(*times: int) -> list[WatermarkUpdate]:
    return [SourceProgress(ORDERS, time) for time in times]


def payments(*times: int) -> list[WatermarkUpdate]:
    return [SourceProgress(PAYMENTS, time) for time in times]


def part(name: str, time: int) -> SourceProgress:
    return SourceProgress(ORDERS, time, name)


def patient(*, delay: int = 0, **options: Any) -> SourceClock:
    return SourceClock(delay, idle_after=10, **options)


PLAIN = SourceClock(0)
BY_PART = Clocks((SourceClock(10, idle_after=50, by_part=True),))

WATERMARKS: dict[str, tuple[Clocks, list[Batch], list[int]]] = {
    "a source trails its greatest event time by its delay": (
        Clocks((SourceClock(delay=60),)),
        [(0, orders(100)), (1, orders(500, 300)), (2, orders(200))],
        [40, 440, 440],
    ),
    "nothing is known before every source has spoken": (
        Clocks((PLAIN, PLAIN)),
        [(0, []), (1, orders(100)), (2, payments(70))],
        [MIN_TIMESTAMP, MIN_TIMESTAMP, 70],
    ),
    "the slowest source decides": (
        Clocks((PLAIN, SourceClock(30))),
        [(0, [*orders(100), *payments(100)]), (1, payments(200))],
        [70, 100],
    ),
    "a time ahead of the clock moves the watermark no further than the clock": (
        Clocks((SourceClock(5, max_ahead=1_000),)),
        [(100, orders(100)), (200, orders(1_200)), (300, orders(250)), (400, [])],
        [95, 195, 245, 245],
    ),
    "without a limit the future moves the watermark as it is": (
        Clocks((SourceClock(5, max_ahead=None),)),
        [(100, orders(1_200))],
        [1_195],
    ),
    "an advancing source never passes the clock either": (
        Clocks((patient(delay=5, idle=Idle.ADVANCE, max_ahead=1_000),)),
        [(100, orders(900)), (110, []), (150, []), (900, [])],
        [95, 95, 135, 885],
    ),
    "a silent source holds the others until just after its time": (
        Clocks((PLAIN, patient())),
        [(0, [*orders(100), *payments(50)]), *((clock, orders(200)) for clock in (9, 10, 11))],
        [50, 50, 50, 200],
    ),
    "a source that never spoke counts as silent from the first step": (
        Clocks((PLAIN, patient())),
        [(5, orders(100)), (15, []), (16, [])],
        [MIN_TIMESTAMP, MIN_TIMESTAMP, 100],
    ),
    # The stage itself never goes back from 200; it goes on once the payments are past that.
    "a source that speaks again counts again": (
        Clocks((PLAIN, patient())),
        [(0, [*orders(100), *payments(50)]), (20, orders(200)), (21, payments(150))],
        [50, 200, 150],
    ),
    "a source that is idle alone leaves the watermark where its rows have moved it": (
        Clocks((patient(delay=5),)),
        [(0, orders(100)), (11, [])],
        [95, 95],
    ),
    "a source that is idle alone and has never spoken leaves it at the beginning": (
        Clocks((patient(delay=5),)),
        [(0, []), (11, [])],
        [MIN_TIMESTAMP, MIN_TIMESTAMP],
    ),
    "when all sources are idle the greatest of their watermarks counts": (
        Clocks((patient(delay=5), SourceClock(0, idle_after=30))),
        [(0, [*orders(100), *payments(50)]), (11, []), (31, [])],
        [50, 50, 95],
    ),
    "and also when all of them are seen idle at once": (
        Clocks((patient(delay=5), SourceClock(0, idle_after=30))),
        [(0, [*orders(100), *payments(50)]), (31, [])],
        [50, 95],
    ),
    "an advancing source goes on with the clock from the end of its patience": (
        Clocks((patient(delay=5, idle=Idle.ADVANCE),)),
        [(0, orders(100)), (10, []), (11, []), (40, []), (41, orders(110))],
        [95, 95, 96, 125, 105],
    ),
    "a grouping before is as far as its slowest shard": (
        Clocks((StageClock(shards=2),)),
        [
            (0, [ShardWatermark(0, 0, 100)]),
            (1, [ShardWatermark(0, 1, 60)]),
            (2, [ShardWatermark(0, 1, 90), ShardWatermark(0, 0, 120)]),
        ],
        [MIN_TIMESTAMP, 60, 90],
    ),
    "the part that is furthest behind decides": (
        BY_PART,
        [
            *((0, [part("a", 100)]), (1, [part("b", 70)])),
            *((2, [part("a", 300), part("b", 90)]), (3, [part("b", 80)])),
        ],
        [90, 60, 80, 80],
    ),
    "a part is waited for until it is idle, before its time": (
        BY_PART,
        [(0, [part("a", 100), part("b", 70)]), (49, [part("a", 300)])],
        [60, 60],
    ),
    "a part is waited for until it is idle, at its time": (
        BY_PART,
        [(0, [part("a", 100), part("b", 70)]), (50, [part("a", 300)])],
        [60, 60],
    ),
    "a part is waited for until it is idle, and no longer": (
        BY_PART,
        [(0, [part("a", 100), part("b", 70)]), (51, [part("a", 300)])],
        [60, 290],
    ),
    "a part that comes back is waited for again": (
        BY_PART,
        [(0, [part("a", 100), part("b", 70)]), (60, [part("a", 300)]), (61, [part("b", 200)])],
        [60, 290, 190],
    ),
    "where all parts are idle the watermark of the greatest counts": (
        BY_PART,
        [(0, [part("a", 100), part("b", 70)]), (51, [])],
        [60, 90],
    ),
    "where all parts are idle and advance it goes on with the clock": (
        Clocks((SourceClock(10, idle_after=50, idle=Idle.ADVANCE, by_part=True),)),
        [(0, [part("a", 100), part("b", 70)]), (51, [])],
        [60, 91],
    ),
}


@pytest.mark.parametrize(("clocks", "batches", "watermarks"), WATERMARKS.values(), ids=WATERMARKS)
def test_the_watermark_after_each_micro_batch(
    clocks: Clocks, batches: list[Batch], watermarks: list[int]
) -> None:
    states: tuple[InputState, ...] = ()
    reached = []
    for clock, updates in batches:
        states, watermark = clocks.update(states, updates, clock)
        reached.append(watermark)
    assert reached == watermarks


def test_a_side_input_has_a_watermark_of_its_own_before_that_of_the_main_input_or_behind() -> None:
    # Two inputs make up the side input. The second one falls silent after a while.
    side = (SourceClock(0), SourceClock(0, idle_after=10))
    clocks = Clocks((*side, SourceClock(0)), side=frozenset({0, 1}))
    shown: list[Batch] = [
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
