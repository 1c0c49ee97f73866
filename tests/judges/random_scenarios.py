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

import beamlike as bl
from beamlike.machine.events import AdvanceClock
from beamlike.machine.reference.step import Grouping
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


def _strategy(random: Random) -> bl.WindowingStrategy:
    return bl.WindowingStrategy(
        _window_fn(random),
        _trigger(random, 3),
        pick(random, (bl.AccumulationMode.DISCARDING, bl.AccumulationMode.ACCUMULATING)),
        pick(random, (0, 0, 1, 3, 8, 30)),
        timestamp_combiner=pick(random, list(bl.TimestampCombiner)),
        closing_behavior=pick(random, list(bl.ClosingBehavior)),
        on_time_behavior=pick(random, list(bl.OnTimeBehavior)),
    )


def _window_fn(random: Random) -> bl.WindowFn:
    size = random.randint(1, 12)
    draw = random.randrange(7)
    if draw <= 1:
        return bl.FixedWindows(size, random.randrange(size))
    if draw == 2:
        period = random.randint(max(1, size // 3), size)
        return bl.SlidingWindows(size, period, random.randrange(period))
    return bl.GlobalWindows() if draw == 3 else bl.Sessions(size)


def _trigger(random: Random, depth: int) -> bl.Trigger:
    composites = (
        bl.Repeatedly,
        bl.AfterFirst,
        bl.AfterAll,
        bl.AfterEach,
        bl.OrFinally,
        bl.AfterWatermark,
    )
    if depth == 1 or random.randrange(2):
        return pick(random, (_leaf(random), bl.DefaultTrigger(), bl.AfterWatermark(), bl.Always()))
    composite = pick(random, composites)

    def child() -> bl.Trigger:
        return _trigger(random, depth - 1)

    if composite is bl.Repeatedly:
        return bl.Repeatedly(child())
    if composite is bl.OrFinally:
        return bl.OrFinally(child(), child())
    if composite is bl.AfterWatermark:
        return bl.AfterWatermark(_leaf_or_none(random), _leaf_or_none(random))
    several = [child() for _ in range(random.randint(2, 3))]
    if composite is bl.AfterFirst:
        return bl.AfterFirst(*several)
    return bl.AfterAll(*several) if composite is bl.AfterAll else bl.AfterEach(*several)


def _leaf(random: Random) -> bl.Trigger:
    draw = random.randrange(5)
    if draw <= 1:
        return bl.AfterCount(random.randint(1, 3))
    if draw == 4:
        return bl.Never()
    transforms = (bl.Delay(random.randint(0, 5)), bl.AlignTo(5, random.randrange(5)))
    return bl.AfterProcessingTime(*transforms[: random.randint(1, 2)])


def _leaf_or_none(random: Random) -> bl.Trigger | None:
    return _leaf(random) if random.randrange(3) else None
