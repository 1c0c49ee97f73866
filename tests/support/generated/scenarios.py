"""Random scripts and whole scenarios, small enough to read and dense in boundaries.

Everything is drawn from a `random.Random`, so a seed names a scenario. Times lie close
together: most draws put elements, window ends, watermarks and clocks within a millisecond of
each other, because that is where rules differ.
"""

from collections.abc import Callable, Hashable, Sequence
from random import Random
from typing import Final

import attrs

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.calendar import CalendarWindows
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Script, ScriptStep
from tests.support.generated.strategies import any_strategy, patient_strategy, pick


def any_script(
    random: Random,
    *,
    keys: Sequence[Hashable] = ("a", "b"),
    steps: int = 14,
    origin: int = 0,
    to_infinity: bool = True,
    unit: int = 1,
) -> Script:
    """Bundles around a creeping watermark, and a clock that moves by a few milliseconds.

    Element values are 0, 1, 2, ... in order of arrival, so a pane says which elements it holds.

    Args:
        origin: Where event time happens (ms); half of it lies before.
        to_infinity: End with the watermark's last advance.
        unit: Event times lie at multiples of it (ms) after the origin, or one beside them.
    """
    beside = (0,) if unit == 1 else (-1, 0, 0, 1)
    happens: list[ScriptStep] = []
    # Nobody has to tell a watermark first: until then it is the beginning of time.
    around, watermark, clock, value = origin - 25 * unit, MIN_TIMESTAMP, 0, 0
    for _ in range(steps):
        kind = random.randrange(8)
        if kind <= 3:
            elements = []
            for _ in range(pick(random, (1, 1, 2, 3, 5))):
                timestamp = around + random.randint(-12, 20) * unit + pick(random, beside)
                elements.append((pick(random, keys), Element(value, timestamp)))
                value += 1
            happens.append(Arrive(tuple(elements)))
        elif kind <= 5:
            known = watermark != MIN_TIMESTAMP
            around += pick(random, (0, 1, 1, 3, 8, 20)) * unit if known else 0
            watermark = max(watermark, around + pick(random, beside))
            happens.append(AdvanceWatermark(watermark))
        else:
            clock += pick(random, (0, 1, 1, 2, 4, 6))
            happens.append(AdvanceClock(clock))
    if to_infinity:
        happens.append(AdvanceWatermark(MAX_TIMESTAMP))
    return tuple(happens)


# -- whole scenarios -------------------------------------------------------------------------

_HOUR: Final = 3_600_000

CALENDARS: Final[Sequence[tuple[Callable[..., CalendarWindows], int]]] = (
    (bl.CalendarDays, _HOUR),
    (bl.CalendarWeeks, 6 * _HOUR),
    (bl.CalendarMonths, 24 * _HOUR),
    (bl.CalendarYears, 15 * 24 * _HOUR),
)
"""Kinds of calendar windows, each with the ``unit`` of a script that crosses their ends."""

_ZONES: Final = ("UTC", "Europe/Warsaw", "America/New_York")
# The epoch, a leap day, and the clock changes of Warsaw in spring and of New York in autumn.
_DATES: Final = (0, 1_330_473_600_000, 1_364_688_000_000, 1_383_436_800_000)

_KEYS: Final[Sequence[Sequence[Hashable]]] = (("a",), ("a", "b"), ("a", "b", "c"), ("a", None))
_ORIGINS: Final = (*[0] * 18, MIN_TIMESTAMP + 100, END_OF_GLOBAL_WINDOW - 400)

AGGREGATIONS: Final = (
    *("list", "list", "list_by_timestamp", "count", "sum", "min", "max", "mean", "latest"),
)
"""Names of aggregations as in transcripts, as often as they are drawn."""


@attrs.frozen
class RandomScenario:
    """A grouping and what happens to it; ``aggregation`` is a name as in transcripts."""

    strategy: bl.WindowingStrategy
    aggregation: str
    script: Script


def any_setting(
    random: Random, *, gap_functions: bool = True
) -> tuple[bl.WindowingStrategy, int, int]:
    """A strategy of any kind, with the ``origin`` and the ``unit`` of a script for it."""
    unit, origin = 1, pick(random, _ORIGINS)
    if random.randrange(7) == 0:
        kind, unit = pick(random, CALENDARS)
        window_fn = kind(random.randint(1, 2), pick(random, _ZONES))
        origin = pick(random, _DATES)
        strategy = any_strategy(random, window_fn=window_fn, retracting_options=True, unit=unit)
    elif random.randrange(4) == 0:
        strategy = patient_strategy(random, gap_functions=gap_functions)
    else:
        strategy = any_strategy(
            random, gap_functions=gap_functions, end_events=True, retracting_options=True
        )
    return strategy, origin, unit


def any_scenario(random: Random) -> RandomScenario:
    """A scenario with anything in it that a strategy or a script can have.

    One in seven groups by calendar windows, and one strategy in four does not care how bundles
    are cut (`patient_strategy`).

    >>> any_scenario(Random("0:17")) == any_scenario(Random("0:17"))
    True
    """
    strategy, origin, unit = any_setting(random)
    script = any_script(
        random,
        keys=pick(random, _KEYS),
        steps=random.randint(4, 16),
        origin=origin,
        to_infinity=random.randrange(4) != 0,
        unit=unit,
    )
    return RandomScenario(strategy, pick(random, AGGREGATIONS), script)
