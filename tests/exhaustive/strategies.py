"""The strategies that are searched, and the values around their boundaries.

Every trigger meets every window function. The other parts are chosen so that each value of each
part meets each value of each other part in at least one strategy.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from typing import Any, Final

from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    OnTimeBehavior,
    TimestampCombiner,
    WindowingStrategy,
)
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    AlignTo,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from tests.exhaustive.streams import Alphabet

Delayed = AfterProcessingTime

TRIGGERS: Final[tuple[Trigger, ...]] = (
    DefaultTrigger(),
    Never(),
    Always(),
    AfterCount(1),
    AfterCount(2),
    AfterCount(3),
    Delayed(),
    Delayed(2),
    Delayed(AlignTo(3)),
    Delayed(1, AlignTo(3, 1)),
    AfterSynchronizedProcessingTime(),
    AfterWatermark(),
    AfterWatermark(early=AfterCount(1)),
    AfterWatermark(early=AfterCount(2), late=AfterCount(1)),
    AfterWatermark(late=AfterCount(2)),
    AfterWatermark(early=Delayed(2)),
    AfterWatermark(late=Delayed(2)),
    AfterWatermark(early=Delayed(2), late=Delayed(1)),
    AfterWatermark(
        early=AfterFirst(AfterCount(2), Delayed(2)), late=AfterAll(AfterCount(1), Delayed(1))
    ),
    AfterWatermark(early=AfterEach(AfterCount(1), AfterCount(2)), late=Never()),
    Repeatedly(AfterCount(1)),
    Repeatedly(AfterCount(2)),
    Repeatedly(Delayed(2)),
    Repeatedly(AfterSynchronizedProcessingTime()),
    Repeatedly(AfterWatermark()),
    Repeatedly(AfterFirst(AfterWatermark(), Delayed(2))),
    Repeatedly(AfterAll(AfterWatermark(), AfterCount(2))),
    Repeatedly(AfterEach(AfterCount(1), AfterWatermark())),
    Repeatedly(OrFinally(DefaultTrigger(), AfterCount(2))),
    AfterEach(AfterCount(1), AfterCount(2)),
    AfterEach(AfterWatermark(), AfterCount(1)),
    AfterEach(AfterCount(1), AfterWatermark()),
    AfterEach(Delayed(1), Repeatedly(AfterCount(2))),
    AfterEach(AfterWatermark(early=AfterCount(1)), Repeatedly(AfterCount(1))),
    AfterFirst(AfterWatermark(), AfterCount(2)),
    AfterFirst(AfterCount(2), Delayed(2)),
    AfterFirst(AfterEach(AfterCount(1), AfterCount(1)), AfterAll(AfterCount(2), Delayed(1))),
    AfterAll(AfterCount(2), Delayed(2)),
    AfterAll(AfterWatermark(), AfterCount(1)),
    AfterAll(Repeatedly(AfterCount(1)), AfterSynchronizedProcessingTime()),
    OrFinally(Repeatedly(AfterCount(1)), AfterWatermark()),
    OrFinally(AfterEach(AfterCount(1), AfterCount(1)), AfterCount(3)),
    OrFinally(Repeatedly(Delayed(1)), AfterCount(3)),
    OrFinally(Never(), Delayed(2)),
)

WINDOWS: Final[tuple[WindowFn, ...]] = (
    FixedWindows(10),
    FixedWindows(10, 3),
    SlidingWindows(10, 5),
    SlidingWindows(4, 6),
    Sessions(5),
    GlobalWindows(),
)

FACTORS: Final[Mapping[str, tuple[Any, ...]]] = {
    "window_fn": WINDOWS,
    "trigger": TRIGGERS,
    "accumulation": tuple(AccumulationMode),
    "allowed_lateness": (0, 1, 7, MAX_TIMESTAMP),
    "timestamp_combiner": tuple(TimestampCombiner),
    "closing_behavior": tuple(ClosingBehavior),
    "on_time_behavior": tuple(OnTimeBehavior),
}
"""The parts of a strategy, and the values of each."""

Values = tuple[Any, ...]


def _pairs(values: Values) -> frozenset[tuple[int, int, int, int]]:
    """The pairs of values in a choice, each value by its part and its place there."""
    return frozenset((a, values[a], b, values[b]) for a, b in combinations(range(len(values)), 2))


def _all_pairs() -> set[tuple[int, int, int, int]]:
    sizes = [len(values) for values in FACTORS.values()]
    return {
        (a, one, b, other)
        for a, b in combinations(range(len(sizes)), 2)
        for one, other in product(range(sizes[a]), range(sizes[b]))
    }


def _choices() -> Iterator[Values]:
    """Choices, each the places of its values, until every pair was chosen."""
    windows, triggers, *others = FACTORS.values()
    rest = list(product(*(range(len(values)) for values in others)))
    covered: set[tuple[int, int, int, int]] = set()
    number = 0
    for trigger, window in product(range(len(triggers)), range(len(windows))):
        # Begin elsewhere each time: where several cover as much, the first is taken.
        turned = [*rest[number % len(rest) :], *rest[: number % len(rest)]]
        best = max(turned, key=lambda one: len(_pairs((window, trigger, *one)) - covered))
        covered |= _pairs((window, trigger, *best))
        number += 37
        yield (window, trigger, *best)
    for a, one, b, other in sorted(_all_pairs() - covered):
        choice = [0] * len(FACTORS)
        choice[a], choice[b] = one, other
        yield tuple(choice)


@cache
def _strategies() -> tuple[WindowingStrategy, ...]:
    return tuple(
        WindowingStrategy(
            **{name: values[at] for (name, values), at in zip(FACTORS.items(), choice, strict=True)}
        )
        for choice in _choices()
    )


STRATEGIES: Final = _strategies()


# -- values around the boundaries ----------------------------------------------------------------

TIMES: Final[Mapping[type[WindowFn], tuple[tuple[int, ...], tuple[int, ...]]]] = {
    # Around the beginning and the end of a window; for sessions, around a gap after the first.
    FixedWindows: ((0, 9, 10), (-1, 0, 1, 9, 10)),
    SlidingWindows: ((0, 4, 5), (-1, 0, 3, 4, 5)),
    Sessions: ((0, 4, 5), (0, 4, 5, 6, 9)),
    GlobalWindows: ((0, 5), (0, 5)),
}
"""Times of elements: the few of the deep search, and more of the wide one."""


def _end(window_fn: WindowFn) -> int:
    """The end of the window of an element at 0, before any merging."""
    return min(window.end for window in window_fn.assign(0) or window_fn.assign(6))


def _moved(window_fn: WindowFn) -> int:
    return getattr(window_fn, "offset", 0)


def _times(window_fn: WindowFn, which: int) -> tuple[int, ...]:
    return tuple(time + _moved(window_fn) for time in TIMES[type(window_fn)][which])


def _watermarks(strategy: WindowingStrategy, around: tuple[int, ...]) -> tuple[int, ...]:
    """Around the end of a window and around its expiry."""
    if isinstance(strategy.window_fn, GlobalWindows):
        return (5, 6)
    end = _end(strategy.window_fn)
    lateness = strategy.allowed_lateness
    expiry = end if lateness == MAX_TIMESTAMP else end + lateness
    return tuple(sorted({at + move for at in (end, expiry) for move in around}))


def deep(strategy: WindowingStrategy) -> Alphabet:
    """Up to six events over few values."""
    clocks = (2, 3) if strategy.trigger.needs_clock else ()
    times = _times(strategy.window_fn, 0)
    return Alphabet(times[-2:] if clocks else times, _watermarks(strategy, (-1, 0)), clocks, 6)


def wide(strategy: WindowingStrategy) -> Alphabet:
    """Up to four events over all values around each boundary."""
    clocks = (1, 2, 3, 4) if strategy.trigger.needs_clock else ()
    return Alphabet(_times(strategy.window_fn, 1), _watermarks(strategy, (-1, 0, 1)), clocks, 4)
