"""Random scenarios that Beam can express, with what beamlike's reference machine makes of them.

A seed names a scenario. Times lie within a few milliseconds of ends, watermarks and clocks, where
rules differ. What the model leaves open, or Beam Java does by accident, is left out: times before
1970, elements in no window, early and late triggers that have parts. `docs/pages/engines.md` names
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any, Final

import attrs

from beamlike.machine.events import AdvanceClock
from beamlike.machine.reference.step import Grouping
from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    OnTimeBehavior,
    TimestampCombiner,
)
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterWatermark,
    AlignTo,
    Always,
    DefaultTrigger,
    Delay,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.runtime.memory import run_in_memory
from beamlike.testing.scenarios.files import AGGREGATIONS
from beamlike.testing.scenarios.writing import write_scenario
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import pick

_ORIGIN: Final = 200
"""Where event time happens (ms): no element comes near 1970."""
_CLOCK: Final = 10
"""Where the clock begins (ms): past the offset of each alignment."""
_AGGREGATIONS: Final = ("list", "list", "list_by_timestamp", "count", "sum", "min", "max", "latest")


def random_scenarios(seed: int, keys: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Scenarios without an end, as documents.

    Args:
        seed: Which.
        keys: The keys of elements. Beam's DirectRunner has one output watermark for all of them.
    """
    for number in count():
        yield _scenario(Random(f"{seed}:{number}"), f"random_{seed}_{number}", keys)


def _scenario(random: Random, name: str, keys: Sequence[str]) -> Mapping[str, Any]:
    strategy = _strategy(random)
    aggregation = pick(random, _AGGREGATIONS)
    script = any_script(
        random,
        keys=keys,
        steps=random.randint(3, 14),
        origin=_ORIGIN,
        to_infinity=random.randrange(4) != 0,
    )
    shifted = tuple(
        attrs.evolve(step, to=step.to + _CLOCK) if isinstance(step, AdvanceClock) else step
        for step in script
    )
    combine = AGGREGATIONS[aggregation]
    assert combine is not None
    run = run_in_memory(Grouping(strategy, combine), (AdvanceClock(_CLOCK), *shifted))
    return write_scenario(
        name, strategy, aggregation, run, source="a random scenario", authority="fuzz"
    )


def _strategy(random: Random) -> WindowingStrategy:
    return WindowingStrategy(
        _window_fn(random),
        _trigger(random, 3),
        pick(random, (AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING)),
        pick(random, (0, 0, 1, 3, 8, 30)),
        timestamp_combiner=pick(random, list(TimestampCombiner)),
        closing_behavior=pick(random, list(ClosingBehavior)),
        on_time_behavior=pick(random, list(OnTimeBehavior)),
    )


def _window_fn(random: Random) -> WindowFn:
    size = random.randint(1, 12)
    draw = random.randrange(7)
    if draw <= 1:
        return FixedWindows(size, random.randrange(size))
    if draw == 2:
        period = random.randint(max(1, size // 3), size)
        return SlidingWindows(size, period, random.randrange(period))
    return GlobalWindows() if draw == 3 else Sessions(size)


def _trigger(random: Random, depth: int) -> Trigger:
    composites = (Repeatedly, AfterFirst, AfterAll, AfterEach, OrFinally, AfterWatermark)
    if depth == 1 or random.randrange(2):
        return pick(random, (_leaf(random), DefaultTrigger(), AfterWatermark(), Always()))
    composite = pick(random, composites)

    def child() -> Trigger:
        return _trigger(random, depth - 1)

    if composite is Repeatedly:
        return Repeatedly(child())
    if composite is OrFinally:
        return OrFinally(child(), child())
    if composite is AfterWatermark:
        return AfterWatermark(_leaf_or_none(random), _leaf_or_none(random))
    several = [child() for _ in range(random.randint(2, 3))]
    if composite is AfterFirst:
        return AfterFirst(*several)
    return AfterAll(*several) if composite is AfterAll else AfterEach(*several)


def _leaf(random: Random) -> Trigger:
    draw = random.randrange(5)
    if draw <= 1:
        return AfterCount(random.randint(1, 3))
    if draw == 4:
        return Never()
    transforms = (Delay(random.randint(0, 5)), AlignTo(5, random.randrange(5)))
    return AfterProcessingTime(*transforms[: random.randint(1, 2)])


def _leaf_or_none(random: Random) -> Trigger | None:
    return _leaf(random) if random.randrange(3) else None
