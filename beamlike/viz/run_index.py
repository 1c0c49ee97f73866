"""What a run says of each key, in order."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop, Effect, Element, Pane, TraceEvent
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.script import Arrive, Run


def identity(key: Any) -> Hashable:
    """What is equal for keys that are one: NaN is one key, in tuples too, whatever object it is."""
    if isinstance(key, float) and key != key:
        return ("not a number",)
    if isinstance(key, tuple):
        return tuple(map(identity, key))
    known: Hashable = key
    return known


def keys_of(run: Run) -> list[Any]:
    """The keys of a run, in the order in which they came."""
    arrived = (key for step in run.script if isinstance(step, Arrive) for key in step.by_key())
    found: dict[Hashable, Any] = {}
    for key in (*arrived, *(output.key for output in run.outputs)):
        found.setdefault(identity(key), key)
    return list(found.values())


def busiest(run: Run, keys: Sequence[Any], most: int) -> list[Any]:
    """So many keys with the most elements, panes and drops, in the order given."""
    events = Counter(identity(output.key) for output in run.outputs)
    for step in run.script:
        if isinstance(step, Arrive):
            events.update(identity(key) for key, _ in step.elements)
    chosen = set(sorted(map(identity, keys), key=lambda key: -events[key])[:most])
    return [key for key in keys if identity(key) in chosen]


def by_step(run: Run, key: Any) -> tuple[dict[int, list[Effect]], dict[int, list[TraceEvent]]]:
    """The outputs and the trace of one key, by the step that they belong to."""
    wanted = identity(key)
    effects: dict[int, list[Effect]] = {}
    for output in run.outputs:
        if identity(output.key) == wanted:
            effects.setdefault(output.step, []).append(output.effect)
    trace: dict[int, list[TraceEvent]] = {}
    for traced in run.trace:
        if identity(traced.key) == wanted:
            trace.setdefault(traced.step, []).append(traced.happening)
    return effects, trace


def own_windows(window_fn: WindowFn, element: Element) -> tuple[Window, ...]:
    """The windows of an element before any merging; none if the window function raises."""
    if element.window is not None:
        return (element.window,)
    try:
        return tuple(window_fn.assign(element.timestamp, element.value))
    except Exception:  # the drop of the element says what
        return ()


def take_drops(element: Element, drops: list[Drop], most: int) -> list[Drop]:
    """The drops of an element of one step, at most one for each window.

    They are taken from the list, so that those of an equal element remain for that one.
    """
    mine: list[Drop] = []
    # What came back from another process is only equal.
    for exactly in (True, False):
        for drop in list(drops):
            fits = drop.element is element if exactly else is_dropped(element, drop)
            if fits and len(mine) < most and drop.window not in {it.window for it in mine}:
                mine.append(drop)
                at = next(index for index, it in enumerate(drops) if it is drop)
                del drops[at]
    return mine


def is_dropped(element: Element, drop: Drop) -> bool:
    """Whether it is this element, or an equal one, that was dropped."""
    lost = drop.element
    if not isinstance(lost, Element) or lost.timestamp != element.timestamp:
        return False
    return lost is element or is_same(lost.value, element.value)


def is_same_value(one: Any, other: Any) -> bool:
    """Equal, where a list is what it holds: its order is not guaranteed."""
    if is_same(one, other):
        return True
    if not isinstance(one, list | tuple) or not isinstance(other, list | tuple):
        return False
    rest = list(other)
    for item in one:
        at = next((index for index, it in enumerate(rest) if is_same_value(item, it)), None)
        if at is None:
            return False
        del rest[at]
    return not rest


def is_same_pane(one: Pane, other: Pane) -> bool:
    """Whether two panes agree in all fields; lists in their values have no order."""
    fields = (one.window, one.timestamp, one.info, one.retraction)
    others = (other.window, other.timestamp, other.info, other.retraction)
    return fields == others and is_same_value(one.value, other.value)
