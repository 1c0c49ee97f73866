"""The value that a window would bring out at a moment, by the combine function of the run."""

from collections.abc import Mapping, Sequence
from typing import Final

from beamlike.machine.events import Element
from beamlike.machine.reference.state import WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.windows import Window
from beamlike.viz.table import shorten

_LABEL: Final = 36
"""Characters of a value inside the figure."""


def running_value(machine: Grouping, remembered: WindowState) -> str:
    """The value of a pane that fired now, in words; "" if nothing came since the last one."""
    if remembered.closed or not remembered.new_elements:
        return ""
    try:
        return shorten(machine.combine.extract(remembered.accumulator), _LABEL)
    except Exception:  # a function of the user's own, which says so once the pane fires
        return ""


def running_values(
    windows: Mapping[Window, str], elements: Sequence[Element]
) -> Mapping[int, tuple[str, Window]]:
    """The values of windows after a step, each by the last element of the step that lies in it.

    It is known of windows that have something new, and of elements that lie in no other window.

    Args:
        windows: What `running_value` says of the windows of a key.
        elements: What came in the step.
    """
    found: dict[Window, int] = {}
    for number, element in enumerate(elements):
        own = [it for it in windows if it.start <= element.timestamp <= it.max_timestamp]
        if len(own) == 1:
            found[own[0]] = number
    return {number: (windows[it], it) for it, number in found.items() if windows[it]}
