"""How large a scenario may be. A file may come from anywhere, and a line of it can ask for years.

Reading a file takes about a second and some hundred megabytes at most, and so does running any
scenario that can be read, but for long ones: those take minutes, and no more memory. What a person
writes, or `beamlike capture` saves, is far below each limit.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.combine import Collect, CollectByTimestamp, CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import SlidingWindows
from beamlike.runtime.script import Arrive, Script
from beamlike.testing.scenarios.functions import NamedFn
from beamlike.testing.scenarios.places import Place

MOST_BYTES: Final = 8 * 1024 * 1024
"""Of a file."""
MOST_VALUES: Final = 500_000
"""Values in a file: objects, lists and what is in them."""
MOST_SCENARIOS: Final = 10_000
"""In a file."""
MOST_UNREADABLE: Final = 200
"""Scenarios of a file that cannot be read, after which the rest is left alone."""
MOST_STEPS: Final = 20_000
"""In a scenario."""
MOST_ASSIGNMENTS: Final = 100_000
"""Windows of all elements of a scenario, each counted for every element in it."""
MOST_KEY_STEPS: Final = 5_000_000
"""Keys of a scenario times its steps: a watermark, or a clock, advances for each key."""
MOST_COLLECTED: Final = 20_000_000
"""Elements in the lists of all panes, where each step with an element may bring a pane."""
MOST_FIRINGS: Final = 100_000
"""Firings of the timers of a function that sets one again and again."""


def check_steps(place: Place) -> None:
    """Refuse a list of steps, before they are read, that has too many, or too many elements."""
    steps = place.value if isinstance(place.value, list) else []
    _check(place, len(steps), MOST_STEPS, "steps")
    arrivals = [step.get("elements") for step in steps if isinstance(step, dict)]
    elements = sum(len(bundle) for bundle in arrivals if isinstance(bundle, list))
    _check(place, elements, MOST_ASSIGNMENTS, "elements")


def check_run(
    place: Place,
    strategy: WindowingStrategy,
    combine: CombineFn | None,
    function: NamedFn | None,
    script: Script,
) -> None:
    """Refuse a scenario of which a run would not come to an end within minutes, or fill memory."""
    elements, windows = Counter(key for key, _ in _arrivals(script)), 1
    if isinstance(window_fn := strategy.window_fn, SlidingWindows):
        windows = -(-window_fn.size // window_fn.period)
    of_each = f"; each element is in {windows:,}" if windows > 1 else ""
    assigned = elements.total() * windows
    _check(place, assigned, MOST_ASSIGNMENTS, "windows over all elements", of_each)
    keys = f"; there are {len(elements):,} keys"
    _check(place, len(elements) * len(script), MOST_KEY_STEPS, "steps over all keys", keys)
    if strategy.accumulates and isinstance(combine, Collect | CollectByTimestamp):
        advice = '; write "aggregation": "count", or more elements in a step'
        collected = _collected(script) * windows
        _check(place, collected, MOST_COLLECTED, "elements in lists over all panes", advice)
    if function is not None:
        firings = _firings(strategy, function, script)
        _check(place, firings, MOST_FIRINGS, f"firings of the timers of {function.name}")


def _collected(script: Script) -> int:
    """Elements of a key at each step that has some of it."""
    known: Counter[Any] = Counter()
    collected = 0
    for step in script:
        if isinstance(step, Arrive):
            known.update(key for key, _ in step.elements)
            collected += sum(known[key] for key in {key for key, _ in step.elements})
    return collected


def _firings(strategy: WindowingStrategy, function: NamedFn, script: Script) -> int:
    """How often timers of a function may fire that it sets again and again."""
    watermark = max(
        (s.to for s in script if isinstance(s, AdvanceWatermark)), default=MIN_TIMESTAMP
    )
    clock = max((step.to for step in script if isinstance(step, AdvanceClock)), default=0)
    firings, begun = 0, set()
    for key, element in _arrivals(script):
        for window in strategy.window_fn.assign(element.timestamp, element.value):
            if (key, window) not in begun:
                begun.add((key, window))
                latest = min(strategy.expiry(window), watermark)
                firings += function.most_firings(element.timestamp, latest, clock)
    return firings


def check_number(document: Place, scenarios: int) -> None:
    """Refuse a file of too many scenarios."""
    _check(document, scenarios, MOST_SCENARIOS, "scenarios")


def _arrivals(script: Script) -> Iterator[tuple[Any, Element]]:
    for step in script:
        if isinstance(step, Arrive):
            yield from step.elements


def _check(place: Place, number: int, most: int, things: str, why: str = "") -> None:
    if number > most:
        count = f"{number:,}" if number < 10**15 else "more than 10^15"
        place.fail(f"has {count} {things}, and at most {most:,} are read{why}")
