"""What is one thing in a run: keys, values and panes that agree, and an element with its drops."""

from collections.abc import Hashable
from operator import attrgetter
from typing import Any

from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop, Element, Pane
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window


def identity(key: Any) -> Hashable:
    """What is equal for keys that are one: NaN is one key, in tuples too, whatever object it is."""
    if isinstance(key, float) and key != key:
        return ("not a number",)
    if isinstance(key, tuple):
        return tuple(map(identity, key))
    known: Hashable = key
    return known


def own_windows(window_fn: WindowFn | None, element: Element) -> tuple[Window, ...]:
    """The windows of an element before any merging; none if the window function raises, or if it is
    not known and the element comes in no window."""
    if element.window is not None:
        return (element.window,)
    if window_fn is None:
        return ()
    try:
        return tuple(window_fn.assign(element.timestamp, element.value))
    except Exception:  # the drop of the element says what
        return ()


def take_drops(element: Element, drops: list[Drop], most: int) -> list[Drop]:
    """The drops of an element of one step, at most one for each window.

    They are taken from the list, so that those of an equal element remain for that one.
    """
    taken: list[Drop] = []
    # What came back from another process is only equal.
    for exactly in (True, False):
        for drop in list(drops):
            lost = drop.element
            fits = lost is element
            if not exactly and isinstance(lost, Element) and lost.timestamp == element.timestamp:
                fits = fits or is_same(lost.value, element.value)
            if fits and len(taken) < most and drop.window not in {other.window for other in taken}:
                taken.append(drop)
                drops[:] = [other for other in drops if other is not drop]
    return taken


def is_same_value(value: Any, other: Any) -> bool:
    """Equal, where a list is what it holds: its order is not guaranteed."""
    if is_same(value, other):
        return True
    if not isinstance(value, list | tuple) or not isinstance(other, list | tuple):
        return False
    rest = list(other)
    for item in value:
        same = [index for index, candidate in enumerate(rest) if is_same_value(item, candidate)]
        if not same:
            return False
        del rest[same[0]]
    return not rest


def is_same_pane(pane: Pane, other: Pane) -> bool:
    """Whether two panes agree in all fields; lists in their values have no order."""
    fields = attrgetter("window", "timestamp", "info", "retraction")
    return fields(pane) == fields(other) and is_same_value(pane.value, other.value)
