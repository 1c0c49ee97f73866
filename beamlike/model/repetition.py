"""Whether several panes of a grouping hold the same element, which the next grouping would count
several times.

Accumulating panes do, as soon as a window can emit more than one. A pane that withdraws another
one is a different matter: what follows could subtract it.
"""

import attrs

from beamlike.model.options import AccumulationMode, LateCheck
from beamlike.model.report import outlives_its_end
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.trigger_analysis import can_stay_open

_ONE_PANE = "trigger=AfterWatermark(), allowed_lateness=0"
_ONE_OF_A_WINDOW = frozenset({"is_first", "is_last", "on_time"})


@attrs.frozen
class Repetition:
    """Panes of a grouping repeat elements.

    Attributes:
        because: Why, in words.
        instead: What makes one pane of each window, in words.
        one_pane: Marks of panes. Of the panes that have one of these marks no two hold the same
            element.
    """

    because: str
    instead: str
    one_pane: frozenset[str]


def repetition(strategy: WindowingStrategy, *, unbounded: bool) -> Repetition | None:
    """How several panes of a grouping can hold the same element; None if they cannot.

    None is certain. Anything else means that nothing in the strategy rules it out.

    Args:
        unbounded: The input is a stream. Bounded input arrives at once and then the watermark
            goes straight to infinity: only a trigger that elements make ready fires before that.

    >>> from beamlike.model.triggers import AfterCount, AfterWatermark
    >>> from beamlike.model.windowfns import FixedWindows
    >>> once = WindowingStrategy(FixedWindows(10), AfterWatermark(), "accumulating")
    >>> print(repetition(once, unbounded=True))
    None
    """
    if strategy.accumulation is not AccumulationMode.ACCUMULATING:
        return None
    trigger = strategy.trigger
    if unbounded:
        several = can_stay_open(trigger, outlives_its_end(strategy))
    else:
        several = can_stay_open(trigger, end_comes=False) and trigger.fires_on_arrival
    if strategy.is_merging and unbounded and strategy.late_check is LateCheck.RETAIN:
        return Repetition(
            'late_check="retain" puts the elements of a session that has expired into the panes '
            "of a longer one, too",
            f'{_ONE_PANE}, late_check="assigned"',
            frozenset(),
        )
    if not several:
        return None
    # A session that merges into a longer one has had panes of its own, but never a last one.
    marks = frozenset({"is_last"}) if strategy.is_merging else _ONE_OF_A_WINDOW
    return Repetition(f"{trigger} can fire several times for a window", _ONE_PANE, marks)
