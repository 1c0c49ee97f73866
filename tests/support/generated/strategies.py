"""Random triggers, window functions and strategies, dense in boundaries.

Everything is drawn from a `random.Random`, so a seed names a strategy.

>>> any_trigger(Random(7)) == any_trigger(Random(7))
True
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from random import Random
from typing import Any, Final, TypeVar

import beamlike as bl
from beamlike.errors import TriggerError
from beamlike.model.described import argument_defaults
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.time import MAX_TIMESTAMP

Item = TypeVar("Item")

TRIGGERS: tuple[type[bl.Trigger], ...] = (
    bl.AfterCount,
    bl.AfterProcessingTime,
    bl.AfterWatermark,
    bl.DefaultTrigger,
    bl.AfterSynchronizedProcessingTime,
    bl.Never,
    bl.Always,
    bl.Repeatedly,
    bl.AfterFirst,
    bl.AfterAll,
    bl.AfterEach,
    bl.OrFinally,
)
"""Every kind of trigger, leaves first."""

OWN_TRIGGERS: tuple[type[bl.CustomTrigger[Any]], ...] = tuple(EXTRA_TRIGGERS.values())
"""Kinds of triggers that Beam does not have, and no machine but the reference machine."""

_COMPOSITES = frozenset((bl.Repeatedly, bl.AfterFirst, bl.AfterAll, bl.AfterEach, bl.OrFinally))


def pick(random: Random, items: Sequence[Item]) -> Item:
    """One of these, each as likely as any other."""
    return items[random.randrange(len(items))]


def any_trigger(
    random: Random, depth: int = 3, kinds: Sequence[type[bl.Trigger]] = TRIGGERS
) -> bl.Trigger:
    """A trigger tree of at most ``depth`` levels, made of these kinds only."""
    if depth <= 1:
        kinds = [kind for kind in kinds if kind not in _COMPOSITES]
    kind = pick(random, kinds)

    def child() -> bl.Trigger:
        return any_trigger(random, depth - 1, kinds)

    def maybe() -> bl.Trigger | None:
        return child() if depth > 1 and random.randrange(3) else None

    if kind is bl.AfterWatermark:
        return bl.AfterWatermark(maybe(), maybe())
    if kind is bl.AfterCount:
        return bl.AfterCount(random.randint(1, 3))
    if kind is bl.AfterProcessingTime:
        transforms = (bl.Delay(random.randint(0, 5)), bl.AlignTo(5, random.randrange(5)))
        return bl.AfterProcessingTime(*transforms[: random.randint(1, 2)])
    if issubclass(kind, bl.CustomTrigger):
        return _extra(random, kind)
    if kind is bl.Repeatedly:
        return bl.Repeatedly(child())
    if kind is bl.OrFinally:
        return bl.OrFinally(child(), child())
    several: dict[type[bl.Trigger], Callable[..., bl.Trigger]] = {
        bl.AfterFirst: bl.AfterFirst,
        bl.AfterAll: bl.AfterAll,
        bl.AfterEach: bl.AfterEach,
    }
    if kind in several:
        return several[kind](*(child() for _ in range(random.randint(2, 3))))
    return kind()


_ARGUMENTS: Final[Mapping[str, Callable[[Random], Any]]] = {
    "count": lambda random: random.randint(1, 3),
    "number": lambda random: random.randint(0, 6),
    "duration": lambda random: random.randint(1, 9),
    "flag": lambda random: random.randrange(2) == 0,
}


def _extra(random: Random, cls: type[bl.CustomTrigger[Any]]) -> bl.Trigger:
    """A trigger that Beam does not have, drawn by the kinds of its arguments."""
    make: Callable[..., bl.Trigger] = cls
    while True:
        given = {
            name: _ARGUMENTS[argument](random)
            for name, argument in cls.arguments.items()
            if argument in _ARGUMENTS
            and (argument_defaults(cls)[name] is Parameter.empty or random.randrange(2))
        }
        try:
            return make(**given)
        except TriggerError:  # arguments that do not go together
            continue


def is_fifth(value: Any) -> bool:
    """Whether an element ends its session: a whole number, alone or as the only one of a tuple."""
    number = value[0] if isinstance(value, tuple) else value
    return isinstance(number, int) and number % 5 == 0


def gap_of_number(number: int) -> int:
    """The gap (ms) that an element asks for in sessions with dynamic gaps."""
    return 1 + number % 7


def _fixed(random: Random, size: int) -> bl.WindowFn:
    return bl.FixedWindows(size, random.randrange(size))


def _sliding(random: Random, size: int) -> bl.WindowFn:
    # A period longer than the size leaves gaps, in which elements vanish.
    period = random.randint(max(1, size // 3), size + 2)
    return bl.SlidingWindows(size, period, random.randrange(period))


def _global(random: Random, size: int) -> bl.WindowFn:
    return bl.GlobalWindows()


def _sessions(random: Random, size: int) -> bl.WindowFn:
    return bl.Sessions(size, **_rules_of_sessions(random, size))


def _ended_sessions(random: Random, size: int) -> bl.WindowFn:
    return bl.Sessions(size + 1, **_rules_of_sessions(random, size + 1), ends_with=is_fifth)


def _sessions_by_value(random: Random, size: int) -> bl.WindowFn:
    return bl.Sessions(gap_of_number, **_rules_of_sessions(random, size))


def _rules_of_sessions(random: Random, size: int) -> dict[str, Any]:
    bounds = pick(random, BOUNDS)(random, size)
    # Two in three merge as Beam's do.
    return bounds | {"merge_touching": random.randrange(3) == 0}


def _unbounded(random: Random, size: int) -> dict[str, Any]:
    return {}


def _max_duration(random: Random, size: int) -> dict[str, Any]:
    return {"max_duration": size + random.randint(0, 15)}


def _max_elements(random: Random, size: int) -> dict[str, Any]:
    return {"max_elements": random.randint(1, 4)}


BOUNDS: Final = (*[_unbounded] * 6, _max_duration, _max_elements)
"""Bounds of sessions, as often as they are drawn; each makes arguments of `Sessions`."""

WINDOW_FNS: Final = (_fixed, _fixed, _sliding, _global, _sessions, _sessions, _sessions)
"""Makers of window functions, as often as they are drawn."""

OPTIONS: Final[Mapping[str, Sequence[Any]]] = {
    "timestamp_combiner": list(bl.TimestampCombiner),
    "closing_behavior": list(bl.ClosingBehavior),
    "on_time_behavior": list(bl.OnTimeBehavior),
    # Three in four judge lateness as Beam does.
    "late_check": [
        *[bl.LateCheck.ASSIGNED] * (3 * len(bl.LateCheck) - 3),
        *(check for check in bl.LateCheck if check is not bl.LateCheck.ASSIGNED),
    ],
}
"""Arguments of `WindowingStrategy` besides the first four, with the values to draw from."""

RETRACTING_OPTIONS: Final[Mapping[str, Sequence[Any]]] = {"unchanged": list(bl.Unchanged)}
"""More of them, which only retracting strategies take."""


def any_window_fn(
    random: Random, *, gap_functions: bool = False, end_events: bool = False
) -> bl.WindowFn:
    """A window function whose windows are a few milliseconds long, or the global one.

    Args:
        gap_functions: Sessions may also ask `gap_of_number` for their gap. Their elements must
            then be whole numbers, which those of a plan for DataFrames are not.
        end_events: Sessions may also ask `is_fifth` whether an element ends them.
    """
    by_value = (_sessions_by_value,) if gap_functions else ()
    ended = (_ended_sessions,) if end_events else ()
    make = pick(random, (*WINDOW_FNS, *by_value, *ended))
    return make(random, random.randint(1, 12))


def any_strategy(
    random: Random,
    *,
    window_fn: bl.WindowFn | None = None,
    trigger: bl.Trigger | None = None,
    accumulation: bl.AccumulationMode | None = None,
    gap_functions: bool = False,
    end_events: bool = False,
    retracting_options: bool = False,
    unit: int = 1,
) -> bl.WindowingStrategy:
    """A strategy that has a meaning, safe or not; parts that are given stay as given.

    Args:
        gap_functions: As for `any_window_fn`.
        end_events: Likewise.
        retracting_options: A retracting strategy may have options that others do not take.
        unit: As for `tests.support.generated.scenarios.any_script`.
    """
    window_fn = window_fn or any_window_fn(
        random, gap_functions=gap_functions, end_events=end_events
    )
    trigger = trigger or any_trigger(random)
    accumulation = accumulation or pick(random, list(bl.AccumulationMode))
    lateness = pick(random, (0, 0, 1, 7, 20, MAX_TIMESTAMP))
    options = {name: pick(random, values) for name, values in OPTIONS.items()}
    if window_fn.is_merging and window_fn.longest_own_window is None:
        # Sessions are retained for as long as a window can be; here nobody knows how long.
        checks = [check for check in OPTIONS["late_check"] if check is not bl.LateCheck.RETAIN]
        options["late_check"] = pick(random, checks)
    if retracting_options and accumulation is bl.AccumulationMode.RETRACTING:
        options |= {name: pick(random, values) for name, values in RETRACTING_OPTIONS.items()}
    return bl.WindowingStrategy(
        window_fn,
        trigger,
        accumulation,
        lateness if lateness == MAX_TIMESTAMP else lateness * unit,
        **options,
    )


def patient_strategy(random: Random, *, gap_functions: bool = True) -> bl.WindowingStrategy:
    """A strategy for which `tests.support.machines.bundles.is_patient` holds."""
    window_fn = any_window_fn(random, gap_functions=gap_functions)
    if isinstance(window_fn, bl.Sessions):
        window_fn = bl.Sessions(window_fn.gap, merge_touching=window_fn.merge_touching)
    impatient: set[type[bl.Trigger]] = {bl.AfterCount, bl.Always}
    if window_fn.is_merging:
        impatient.add(bl.AfterEach)
    kinds = [kind for kind in TRIGGERS if kind not in impatient]
    trigger = any_trigger(random, 3, kinds)
    while window_fn.is_merging and trigger.may_finish:
        trigger = any_trigger(random, 3, kinds)
    return any_strategy(random, window_fn=window_fn, trigger=trigger)


def any_counted_sessions(random: Random) -> bl.Sessions:
    """Sessions that may hold only so many elements."""
    gap = random.randint(1, 12)
    longest = random.choice((None, gap + random.randint(0, 15)))
    return bl.Sessions(gap, max_duration=longest, max_elements=random.randint(1, 4))


def any_ended_sessions(random: Random) -> bl.Sessions:
    """Sessions that every fifth number ends."""
    gap = random.randint(2, 12)
    return bl.Sessions(
        gap,
        max_duration=random.choice((None, None, gap + random.randint(0, 15))),
        max_elements=random.choice((None, None, random.randint(1, 4))),
        merge_touching=random.randrange(3) == 0,
        ends_with=is_fifth,
    )
