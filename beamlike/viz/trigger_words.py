"""What is shown of a window's trigger: only what was written, and what still counts."""

from typing import Final

import attrs

from beamlike.machine.reference.running import TriggerView

OVER: Final = "nothing: the early phase is over"
"""What an early trigger waits for after the end of its window."""
_DEFAULT_EARLY: Final = "Never"


def spoken(view: TriggerView) -> TriggerView:
    """The tree without an early trigger that was not written.

    One that was written is over once the end of the window has been dealt with. What is below
    it counts no more, and is left out.
    """
    subs = []
    for sub in view.subs:
        if view.name == "AfterWatermark" and sub.path == f"{view.path}.early":
            if sub.name == _DEFAULT_EARLY:
                continue
            if sub.finished:
                subs.append(attrs.evolve(sub, waits_for=OVER, subs=()))
                continue
        subs.append(spoken(sub))
    return attrs.evolve(view, subs=tuple(subs))
