"""Random strategies and scripts, small enough to read and dense in boundaries.

Everything is drawn from a `random.Random`, so a seed names a scenario. Times lie close
together: most draws put elements, window ends, watermarks and clocks within a millisecond of
each other, because that is where rules differ.

>>> any_trigger(Random(7)) == any_trigger(Random(7))
True
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from beamlike.hosts.script import Arrive, Script, ScriptStep
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
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
    Delay,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import (
    FixedWindows,
    GlobalWindows,
    SlidingWindows,
    WindowFn,
)

__all__ = ["any_script", "any_strategy", "any_trigger", "any_window_fn", "gap_of_number"]

Item = TypeVar("Item")

TRIGGERS: tuple[type[Trigger], ...] = (
    AfterCount,
    AfterProcessingTime,
    AfterWatermark,
    DefaultTrigger,
    AfterSynchronizedProcessingTime,
    Never,
    Always,
    Repeatedly,
    AfterFirst,
    AfterAll,
    AfterEach,
    OrFinally,
)
"""Every kind of trigger, leaves first."""

_COMPOSITES = frozenset((Repeatedly, AfterFirst, AfterAll, AfterEach, OrFinally))


def _pick(random: Random, items: Sequence[Item]) -> Item:
    return items[random.randrange(len(items))]


def any_trigger(
    random: Random, depth: int = 3, kinds: Sequence[type[Trigger]] = TRIGGERS
) -> Trigger:
    """A trigger tree of at most ``depth`` levels, made of these kinds only."""
    if depth <= 1:
        kinds = [kind for kind in kinds if kind not in _COMPOSITES]
    kind = _pick(random, kinds)

    def child() -> Trigger:
        return any_trigger(random, depth - 1, kinds)

    def maybe() -> Trigger | None:
        return child() if depth > 1 and random.randrange(3) else None

    if kind is AfterWatermark:
        return AfterWatermark(maybe(), maybe())
    if kind is AfterCount:
        return AfterCount(random.randint(1, 3))
    if kind is AfterProcessingTime:
        transforms = (Delay(random.randint(0, 5)), AlignTo(5, random.randrange(5)))
        return AfterProcessingTime(*transforms[: random.randint(1, 2)])
    if kind is Repeatedly:
        return Repeatedly(child())
    if kind is OrFinally:
        return OrFinally(child(), child())
    several: dict[type[Trigger], Callable[..., Trigger]] = {
        AfterFirst: AfterFirst,
        AfterAll: AfterAll,
        AfterEach: AfterEach,
    }
    if kind in several:
        return several[kind](*(child() for _ in range(random.randint(2, 3))))
    return kind()


def gap_of_number(number: int) -> int:
    """The gap (ms) that an element of `any_script` asks for in sessions with dynamic gaps."""
    return 1 + number % 7


def any_window_fn(random: Random, *, gap_functions: bool = False) -> WindowFn:
    """A window function whose windows are a few milliseconds long, or the global one.

    Args:
        gap_functions: Sessions may also ask `gap_of_number` for their gap. Their elements must
            then be whole numbers, which those of a plan for DataFrames are not.
    """
    size = random.randint(1, 12)
    kind = random.randrange(7)
    if kind <= 1:
        return FixedWindows(size, random.randrange(size))
    if kind == 2:
        # A period longer than the size leaves gaps, in which elements vanish.
        period = random.randint(max(1, size // 3), size + 2)
        return SlidingWindows(size, period, random.randrange(period))
    if kind == 3:
        return GlobalWindows()
    longest = size + random.randint(0, 15) if random.randrange(4) == 0 else None
    if gap_functions and random.randrange(4) == 0:
        return Sessions(gap_of_number, max_duration=longest)
    return Sessions(size, max_duration=longest)


def any_strategy(
    random: Random,
    *,
    window_fn: WindowFn | None = None,
    trigger: Trigger | None = None,
    accumulation: AccumulationMode | None = None,
    gap_functions: bool = False,
) -> WindowingStrategy:
    """A strategy that has a meaning, safe or not; parts that are given stay as given.

    Three in four judge lateness as Beam does. ``gap_functions`` as for `any_window_fn`.
    """
    beam = LateCheck.ASSIGNED
    return WindowingStrategy(
        window_fn or any_window_fn(random, gap_functions=gap_functions),
        trigger or any_trigger(random),
        accumulation or _pick(random, list(AccumulationMode)),
        _pick(random, (0, 0, 1, 7, 20, MAX_TIMESTAMP)),
        _pick(random, list(TimestampCombiner)),
        _pick(random, list(ClosingBehavior)),
        _pick(random, list(OnTimeBehavior)),
        _pick(random, (beam, beam, beam, beam, beam, beam, LateCheck.MERGED, LateCheck.ELEMENT)),
    )


def any_script(
    random: Random,
    *,
    keys: Sequence[str] = ("a", "b"),
    steps: int = 14,
    origin: int = 0,
    to_infinity: bool = True,
) -> Script:
    """Bundles around a creeping watermark, and a clock that moves by a few milliseconds.

    Element values are 0, 1, 2, ... in order of arrival, so a pane says which elements it holds.

    Args:
        origin: Where event time happens (ms); half of it lies before.
        to_infinity: End with the watermark's last advance.
    """
    happens: list[ScriptStep] = []
    # Nobody has to tell a watermark first: until then it is the beginning of time.
    watermark, known, clock, value = origin - 25, False, 0, 0
    for _ in range(steps):
        kind = random.randrange(8)
        if kind <= 3:
            elements = []
            for _ in range(_pick(random, (1, 1, 2, 3, 5))):
                timestamp = watermark + random.randint(-12, 20)
                elements.append((_pick(random, keys), Element(value, timestamp)))
                value += 1
            happens.append(Arrive(tuple(elements)))
        elif kind <= 5:
            watermark += _pick(random, (0, 1, 1, 3, 8, 20)) if known else 0
            known = True
            happens.append(AdvanceWatermark(watermark))
        else:
            clock += _pick(random, (0, 1, 1, 2, 4, 6))
            happens.append(AdvanceClock(clock))
    if to_infinity:
        happens.append(AdvanceWatermark(MAX_TIMESTAMP))
    return tuple(happens)
