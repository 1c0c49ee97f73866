"""Combining elements before they are grouped changes no pane, and loses none of the elements."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Drop,
    Element,
    Lifted,
    Pane,
)
from beamlike.machine.liftable import check_liftable
from beamlike.machine.lifting import Lifting
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count, Max, Sum, Together
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import bounds

AGGREGATES = Together({"n": (Count(), None), "sum": (Sum(), 0), "max": (Max(), 0)})

strategies = st.builds(
    bl.WindowingStrategy,
    st.sampled_from(
        [
            *(bl.FixedWindows(10), bl.SlidingWindows(10, 4), bl.GlobalWindows()),
            *(bl.Sessions(5), bl.Sessions(5, merge_touching=True)),
        ]
    ),
    st.sampled_from(
        [
            bl.DefaultTrigger(),
            bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(2)),
            bl.Repeatedly(bl.AfterCount(2)),
            bl.Repeatedly(bl.AfterProcessingTime(3)),
            bl.AfterEach(bl.AfterCount(2), bl.AfterWatermark()),
        ]
    ),
    st.sampled_from(bl.AccumulationMode),
    st.sampled_from([0, 6]),
    late_check=st.sampled_from([bl.LateCheck.ASSIGNED, bl.LateCheck.MERGED, bl.LateCheck.RETAIN]),
)
elements = st.builds(Element, st.tuples(st.integers(0, 9)), st.integers(0, 40))
batches = st.lists(
    st.tuples(st.lists(elements, max_size=8), st.integers(0, 15), st.integers(0, 3)), max_size=6
)


def run(
    strategy: bl.WindowingStrategy, fed: list[tuple[list[Element], int, int]], groups: int | None
) -> tuple[list[list[Pane]], Counter[object]]:
    """The panes of each step, and how many elements were dropped in each step and why.

    With ``groups`` the elements of each bundle are dealt out to so many, and each combines its
    own before they arrive together.
    """
    grouping, lifting = Grouping(strategy, AGGREGATES), Lifting(strategy, AGGREGATES)
    state, watermark, clock = KeyState(), 0, 0
    state = KeyState.unseen(watermark, clock)
    panes: list[list[Pane]] = []
    drops: Counter[object] = Counter()
    for step, (arriving, passing, ticking) in enumerate([*fed, ([], MAX_TIMESTAMP, 0)]):
        items: list[Element | Lifted] = list(arriving)
        if groups is not None:
            items = []
            for dealt in (arriving[index::groups] for index in range(groups)):
                if dealt:
                    lifted, dropped = lifting.lift(dealt, watermark)
                    items += lifted
                    for drop in dropped:
                        drops[(step, drop.reason)] += drop.count
        watermark = min(watermark + passing, MAX_TIMESTAMP)
        clock += ticking
        for event in (Bundle(tuple(items)), AdvanceWatermark(watermark), AdvanceClock(clock)):
            if isinstance(event, Bundle) and not event.elements:
                continue
            state, effects = grouping.step(state, event)
            # Windows that fire in one step come in any order.
            out = [effect for effect in effects if isinstance(effect, Pane)]
            panes.append(sorted(out, key=lambda pane: (bounds(pane.window), not pane.retraction)))
            for drop in effects:
                if isinstance(drop, Drop):
                    drops[(step, drop.reason)] += drop.count
    return [pane for pane in panes if pane], drops


@given(strategy=strategies, fed=batches, groups=st.integers(1, 3))
def test_lifting_changes_no_pane_and_drops_the_same_number(
    strategy: bl.WindowingStrategy, fed: list[tuple[list[Element], int, int]], groups: int
) -> None:
    if strategy.may_lose_data and strategy.late_check is bl.LateCheck.RETAIN:
        strategy = bl.WindowingStrategy(strategy.window_fn, None, strategy.accumulation)
    alone, lifted = run(strategy, fed, None), run(strategy, fed, groups)
    assert lifted[0] == alone[0]
    assert lifted[1] == alone[1]


def test_what_has_merged_beforehand_is_a_merge_to_a_live_window_of_the_same_bounds() -> None:
    # The watermark passes the session while its pane waits for the clock. One by one the second
    # bundle merges windows into it again, so that it holds the output watermark no longer.
    strategy = bl.WindowingStrategy(
        bl.Sessions(5), bl.Repeatedly(bl.AfterProcessingTime(3)), "discarding", allowed_lateness=6
    )
    bundle = [Element((1,), 12), Element((1,), 16)]
    fed = [([], 20, 0), (bundle, 1, 0), (bundle, 0, 4)]
    alone, lifted = run(strategy, fed, None), run(strategy, fed, 1)
    assert lifted == alone
    assert [(str(it.window), it.value[0], it.info.timing.name) for (it,) in alone[0]] == [
        ("[00:00:00.012, 00:00:00.021)", 4, "LATE")
    ]


def test_late_elements_are_dropped_one_by_one_and_the_others_combined() -> None:
    lifting = Lifting(bl.WindowingStrategy(bl.Sessions(10)), AGGREGATES)
    lifted, dropped = lifting.lift([Element((5,), 3), Element((6,), 8), Element((7,), 1)], 13)
    (one,) = lifted
    assert (str(one.window), one.count, one.timestamp) == ("[00:00:00.008, 00:00:00.018)", 1, 8)
    assert [(drop.element, drop.missed_by) for drop in dropped] == [
        (Element((5,), 3), 1),
        (Element((7,), 1), 3),
    ]


@pytest.mark.parametrize(
    ("strategy", "needs"),
    [
        (
            bl.WindowingStrategy(bl.FixedWindows(10), timestamp_combiner="latest"),
            "the time of each",
        ),
        (bl.WindowingStrategy(bl.FixedWindows(10), late_check="element"), "by its own time"),
        (bl.WindowingStrategy(bl.Sessions(10, max_duration=50)), "cuts sessions"),
        (bl.WindowingStrategy(bl.Sessions(10, max_elements=50)), "cuts sessions"),
    ],
    ids=lambda it: str(it),
)
def test_what_needs_each_element_cannot_be_lifted(strategy: bl.WindowingStrategy, needs: str):
    with pytest.raises(WindowingError, match=needs):
        check_liftable(strategy)
