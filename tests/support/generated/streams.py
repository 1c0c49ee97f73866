"""Many random streams of elements under one strategy and one course of the clocks.

Each key is a scenario of its own, as random as one of `tests.support.generated.scenarios`: where
the others' elements lie must not matter to it. A machine that steps all keys at once has them all
in one pass.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

import attrs

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Script, ScriptStep
from tests.support.generated.scenarios import AGGREGATIONS, RandomScenario, any_script, any_setting

EARLY: Final = 25
"""As early before the ``origin`` as `any_script` begins, in units."""


def any_streams(random: Random, keys: int) -> RandomScenario:
    """A scenario in which so many keys each have elements of their own.

    In one of eight some elements come with a window, as from a grouping before.

    >>> any_streams(Random(3), 40) == any_streams(Random(3), 40)
    True
    """
    strategy, origin, unit = any_setting(random, gap_functions=False)
    course = any_script(
        random,
        keys=("",),
        steps=random.randint(4, 16),
        origin=origin,
        to_infinity=random.randrange(4) != 0,
        unit=unit,
    )
    carries = random.randrange(8) == 0
    script = tuple(_streams(random, course, origin - EARLY * unit, unit, keys, carries))
    return RandomScenario(strategy, random.choice(AGGREGATIONS), script)


def _streams(
    random: Random, course: Script, around: int, unit: int, keys: int, carries: bool
) -> Iterator[ScriptStep]:
    """The course of the clocks with other elements wherever one arrives, for every key."""
    beside = (0,) if unit == 1 else (-1, 0, 0, 1)
    names = [f"k{number}" for number in range(keys - 1)] + [None]
    value = 0
    for happens in course:
        if isinstance(happens, AdvanceWatermark) and happens.to not in (
            MIN_TIMESTAMP,
            MAX_TIMESTAMP,
        ):
            around = happens.to
        if not isinstance(happens, Arrive):
            yield happens
            continue
        arriving = [name for name in names for _ in range(random.choice((0, 0, 1, 1, 2, 3, 5)))]
        random.shuffle(arriving)
        elements = []
        for name in arriving or names[:1]:
            at = around + random.randint(-12, 20) * unit + random.choice(beside)
            element = Element(value, min(max(at, MIN_TIMESTAMP), MAX_TIMESTAMP - 1))
            if carries and random.randrange(3):
                start = element.timestamp - random.randint(0, 5) * unit
                end = start + random.randint(1, 20) * unit
                element = attrs.evolve(element, window=bl.IntervalWindow(start, end))
            elements.append((name, element))
            value += 1
        yield Arrive(tuple(elements))


def features_of(scenario: RandomScenario) -> Counter[str]:
    """What the scenario has of all that one can have, by name, each once."""
    strategy, script = scenario.strategy, scenario.script
    features = [
        *{f"trigger {type(node).__name__}" for node in strategy.trigger.walk()},
        f"trigger depth {_depth(strategy.trigger)}",
        f"windows {type(strategy.window_fn).__name__}",
        *_options(strategy),
    ]
    features += sorted({f"step {type(happens).__name__}" for happens in script})
    window_fn = strategy.window_fn
    if isinstance(window_fn, bl.Sessions):
        bounded = ("max_duration", "max_elements")
        features += [f"sessions {name}" for name in bounded if getattr(window_fn, name) is not None]
        features += ["sessions merge_touching"] * window_fn.merge_touching
        features += ["sessions ends_with"] * (window_fn.ends_with is not None)
    elements = (
        element
        for happens in script
        if isinstance(happens, Arrive)
        for _, element in happens.elements
    )
    if any(element.window is not None for element in elements):
        features.append("elements with windows")
    return Counter(features)


def _options(strategy: bl.WindowingStrategy) -> Iterator[str]:
    yield f"accumulation {strategy.accumulation.value}"
    yield f"late check {strategy.late_check.value}"
    if strategy.is_merging:
        yield f"late check {strategy.late_check.value} of sessions"
    yield f"timestamp {strategy.timestamp_combiner.value}"
    yield f"closing {strategy.closing_behavior.value}"
    yield f"on time {strategy.on_time_behavior.value}"
    if strategy.accumulation is bl.AccumulationMode.RETRACTING:
        yield f"unchanged {strategy.unchanged.value}"
    known = {0: "none", MAX_TIMESTAMP: "endless"}
    yield f"lateness {known.get(strategy.allowed_lateness, 'some')}"


def _depth(trigger: bl.Trigger) -> int:
    return 1 + max(map(_depth, trigger.children), default=0)
