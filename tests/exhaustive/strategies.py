"""The strategies that are searched, and the values around their boundaries.

Every trigger meets every window function. The other parts are chosen so that each value of each
part meets each value of each other part in at least one strategy.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from typing import Any, Final

import beamlike as bl
from beamlike.model.time import MAX_TIMESTAMP
from tests.exhaustive.streams import Alphabet

Delayed = bl.AfterProcessingTime

TRIGGERS: Final[tuple[bl.Trigger, ...]] = (
    bl.DefaultTrigger(),
    bl.Never(),
    bl.Always(),
    bl.AfterCount(1),
    bl.AfterCount(2),
    bl.AfterCount(3),
    Delayed(),
    Delayed(2),
    Delayed(bl.AlignTo(3)),
    Delayed(1, bl.AlignTo(3, 1)),
    bl.AfterSynchronizedProcessingTime(),
    bl.AfterWatermark(),
    bl.AfterWatermark(early=bl.AfterCount(1)),
    bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
    bl.AfterWatermark(late=bl.AfterCount(2)),
    bl.AfterWatermark(early=Delayed(2)),
    bl.AfterWatermark(late=Delayed(2)),
    bl.AfterWatermark(early=Delayed(2), late=Delayed(1)),
    bl.AfterWatermark(
        early=bl.AfterFirst(bl.AfterCount(2), Delayed(2)),
        late=bl.AfterAll(bl.AfterCount(1), Delayed(1)),
    ),
    bl.AfterWatermark(early=bl.AfterEach(bl.AfterCount(1), bl.AfterCount(2)), late=bl.Never()),
    bl.Repeatedly(bl.AfterCount(1)),
    bl.Repeatedly(bl.AfterCount(2)),
    bl.Repeatedly(Delayed(2)),
    bl.Repeatedly(bl.AfterSynchronizedProcessingTime()),
    bl.Repeatedly(bl.AfterWatermark()),
    bl.Repeatedly(bl.AfterFirst(bl.AfterWatermark(), Delayed(2))),
    bl.Repeatedly(bl.AfterAll(bl.AfterWatermark(), bl.AfterCount(2))),
    bl.Repeatedly(bl.AfterEach(bl.AfterCount(1), bl.AfterWatermark())),
    bl.Repeatedly(bl.OrFinally(bl.DefaultTrigger(), bl.AfterCount(2))),
    bl.AfterEach(bl.AfterCount(1), bl.AfterCount(2)),
    bl.AfterEach(bl.AfterWatermark(), bl.AfterCount(1)),
    bl.AfterEach(bl.AfterCount(1), bl.AfterWatermark()),
    bl.AfterEach(Delayed(1), bl.Repeatedly(bl.AfterCount(2))),
    bl.AfterEach(bl.AfterWatermark(early=bl.AfterCount(1)), bl.Repeatedly(bl.AfterCount(1))),
    bl.AfterFirst(bl.AfterWatermark(), bl.AfterCount(2)),
    bl.AfterFirst(bl.AfterCount(2), Delayed(2)),
    bl.AfterFirst(
        bl.AfterEach(bl.AfterCount(1), bl.AfterCount(1)), bl.AfterAll(bl.AfterCount(2), Delayed(1))
    ),
    bl.AfterAll(bl.AfterCount(2), Delayed(2)),
    bl.AfterAll(bl.AfterWatermark(), bl.AfterCount(1)),
    bl.AfterAll(bl.Repeatedly(bl.AfterCount(1)), bl.AfterSynchronizedProcessingTime()),
    bl.OrFinally(bl.Repeatedly(bl.AfterCount(1)), bl.AfterWatermark()),
    bl.OrFinally(bl.AfterEach(bl.AfterCount(1), bl.AfterCount(1)), bl.AfterCount(3)),
    bl.OrFinally(bl.Repeatedly(Delayed(1)), bl.AfterCount(3)),
    bl.OrFinally(bl.Never(), Delayed(2)),
)

WINDOWS: Final[tuple[bl.WindowFn, ...]] = (
    bl.FixedWindows(10),
    bl.FixedWindows(10, 3),
    bl.SlidingWindows(10, 5),
    bl.SlidingWindows(4, 6),
    bl.Sessions(5),
    bl.GlobalWindows(),
)

FACTORS: Final[Mapping[str, tuple[Any, ...]]] = {
    "window_fn": WINDOWS,
    "trigger": TRIGGERS,
    "accumulation": tuple(bl.AccumulationMode),
    "allowed_lateness": (0, 1, 7, MAX_TIMESTAMP),
    "timestamp_combiner": tuple(bl.TimestampCombiner),
    "closing_behavior": tuple(bl.ClosingBehavior),
    "on_time_behavior": tuple(bl.OnTimeBehavior),
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
def _strategies() -> tuple[bl.WindowingStrategy, ...]:
    return tuple(
        bl.WindowingStrategy(
            **{name: values[at] for (name, values), at in zip(FACTORS.items(), choice, strict=True)}
        )
        for choice in _choices()
    )


STRATEGIES: Final = _strategies()


# -- values around the boundaries ----------------------------------------------------------------

TIMES: Final[Mapping[type[bl.WindowFn], tuple[tuple[int, ...], tuple[int, ...]]]] = {
    # Around the beginning and the end of a window; for sessions, around a gap after the first.
    bl.FixedWindows: ((0, 9, 10), (-1, 0, 1, 9, 10)),
    bl.SlidingWindows: ((0, 4, 5), (-1, 0, 3, 4, 5)),
    bl.Sessions: ((0, 4, 5), (0, 4, 5, 6, 9)),
    bl.GlobalWindows: ((0, 5), (0, 5)),
}
"""Times of elements: the few of the deep search, and more of the wide one."""


def _end(window_fn: bl.WindowFn) -> int:
    """The end of the window of an element at 0, before any merging."""
    return min(window.end for window in window_fn.assign(0) or window_fn.assign(6))


def _moved(window_fn: bl.WindowFn) -> int:
    return getattr(window_fn, "offset", 0)


def _times(window_fn: bl.WindowFn, which: int) -> tuple[int, ...]:
    return tuple(time + _moved(window_fn) for time in TIMES[type(window_fn)][which])


def _watermarks(strategy: bl.WindowingStrategy, around: tuple[int, ...]) -> tuple[int, ...]:
    """Around the end of a window and around its expiry."""
    if isinstance(strategy.window_fn, bl.GlobalWindows):
        return (5, 6)
    end = _end(strategy.window_fn)
    lateness = strategy.allowed_lateness
    expiry = end if lateness == MAX_TIMESTAMP else end + lateness
    return tuple(sorted({at + move for at in (end, expiry) for move in around}))


def deep(strategy: bl.WindowingStrategy) -> Alphabet:
    """Up to six events over few values."""
    clocks = (2, 3) if strategy.trigger.needs_clock else ()
    times = _times(strategy.window_fn, 0)
    return Alphabet(times[-2:] if clocks else times, _watermarks(strategy, (-1, 0)), clocks, 6)


def wide(strategy: bl.WindowingStrategy) -> Alphabet:
    """Up to four events over all values around each boundary."""
    clocks = (1, 2, 3, 4) if strategy.trigger.needs_clock else ()
    return Alphabet(_times(strategy.window_fn, 1), _watermarks(strategy, (-1, 0, 1)), clocks, 4)
