"""Which parts of a grouping may change between two starts of a query from one checkpoint.

Saved state lists what it depends on, in words (`Plan.identity`). Each start compares that list with
its own before it takes any row. State continues if the words differ in one of these ways only:

====================  ==========================================================================
word                  may differ, and what follows
====================  ==========================================================================
allowed lateness      longer or shorter, unless the late check is ``retain``. Open windows end by
                      the new one. A window that has ended is not remembered: if a longer lateness
                      lets a row in for it, it opens anew, with pane 0
trigger               in its counts and delays, while the tree is made of the same triggers. A
                      window that has enough elements by the new count fires with its next one; a
                      delay that has begun keeps its length. A tree with a trigger of the user's
                      own may not differ: nothing is known of what it keeps
late check            between ``assigned``, ``merged`` and ``element``: it judges rows that come
closing behavior,     in any way: they apply when a pane comes out, and no state depends on
on-time behavior,     them
unchanged panes
====================  ==========================================================================

Everything else is refused, because saved state was made by it: windows by their window function,
accumulators by their aggregates and the accumulation mode, holds by the timestamp combiner, saved
rows by the keys' types, their places by shards and buckets. A late check ``retain`` keeps sessions
that the others forget.

Whatever the words do not name may change freely: how panes are rendered, which rows are delivered,
what happens to bad ones, the machine, the names, the watermark's delay.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from beamlike.errors import StateError, TriggerError
from beamlike.model.custom_trigger import custom_triggers_in
from beamlike.model.options import LateCheck
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.texts import trigger_of
from beamlike.model.triggers import AfterWatermark, Trigger

Words = Mapping[str, str]

_LINE: Final = re.compile(r"(<lambda at [^:>]*):\d+>")
LAYOUTS: Final = (4, 5, 6, 7)
"""The versions of the layout of saved state that are read; the last one is written. Versions:

4. Panes that are not withdrawn are saved with all that they were emitted with.
5. What they have in common with their window is null.
6. The sum of a window without a value is null, and not 0.
7. Whole numbers of pages have no more bytes than they need, see `beamlike.runtime.store.narrow`.
"""

RESOLUTION: Final = "resolution"
"""The word for the unit of saved times. State without it counts milliseconds."""

_LAYOUT: Final = "layout version"
_LATENESS: Final = "allowed lateness"
_LATE_CHECK: Final = "late check"
_TRIGGER: Final = "trigger"
_CLOSING: Final = "closing behavior"
_ON_TIME: Final = "on-time behavior"
_UNCHANGED: Final = "unchanged panes"

_APPLIED_LATER: Final = frozenset((_CLOSING, _ON_TIME, _UNCHANGED))


def strategy_words(strategy: WindowingStrategy) -> dict[str, str]:
    """The parts of a windowing strategy that saved state depends on, in words."""
    custom_states = {
        type(node).__name__: f"{node.keeps}, version {node.state_version}"
        for node in custom_triggers_in(strategy.trigger)
    }
    return {
        "window": strategy.windows_in_words,
        _TRIGGER: str(strategy.trigger),
        "accumulation": strategy.accumulation.value,
        _LATENESS: lateness_words(strategy.allowed_lateness, strategy.resolution),
        "timestamp combiner": strategy.timestamp_combiner.value,
        _CLOSING: strategy.closing_behavior.value,
        _ON_TIME: strategy.on_time_behavior.value,
        _LATE_CHECK: strategy.late_check.value,
        _UNCHANGED: strategy.unchanged.value,
    } | {f"state of {name}": keeps for name, keeps in custom_states.items()}


def resolution_in(saved: Mapping[str, Any]) -> Resolution:
    """What the times of saved state count.

    Raises:
        KeyError: This version does not know it.
    """
    return Resolution[saved.get(RESOLUTION, MILLISECONDS.word).upper()]


def lateness_words(ticks: int, resolution: Resolution) -> str:
    """An allowed lateness as saved state names it."""
    millis, rest = divmod(ticks, resolution.per_ms)
    return f"{ticks * resolution.micros} us" if rest else f"{millis} ms"


def unnumbered(label: str) -> str:
    """The label of a transform without the line numbers of functions, which change easily.

    >>> unnumbered("Orders/Map(<lambda at orders.py:12>)")
    'Orders/Map(<lambda at orders.py>)'
    """
    return _LINE.sub(r"\1>", label)


def continues(saved: Words, now: Words) -> bool:
    """Check that saved state can continue in a query as it is now.

    Args:
        saved: The words of the state.
        now: The words of the query.

    Returns:
        Whether the words differ, so that deadlines have to be computed again.

    Raises:
        StateError: They differ in what state cannot follow. The text names each difference.
    """
    if saved == now:
        return False
    check_layout(saved, now)
    changes = list(refused(saved, now))
    if changes:
        raise StateError(
            "the checkpoint belongs to another grouping and cannot be continued:\n  "
            + "\n  ".join(changes)
            + "\nChange the query back; or bring its windows to their end with beamlike.drain, and "
            "start this one with a new checkpointLocation."
        )
    return True


def check_layout(saved: Words, now: Words) -> None:
    """Refuse state in a layout that this version of beamlike does not read.

    Raises:
        StateError: The text names both layouts.
    """
    had, has = saved.get(_LAYOUT), now.get(_LAYOUT)
    if had != has and had not in [str(layout) for layout in LAYOUTS]:
        raise StateError(
            f"the checkpoint has state of layout version {had}, and this beamlike reads "
            f"{read_layouts()}; bring its windows to their end with beamlike.drain of the version "
            "that wrote it, and start this one with a new checkpointLocation"
        )


def read_layouts() -> str:
    """The versions that are read, in words."""
    *before, last = map(str, LAYOUTS)
    return f"{', '.join(before)} and {last}"


def refused(saved: Words, now: Words) -> Iterator[str]:
    """Each difference that state cannot follow, in words."""
    for fromkey in dict.fromkeys((*now, *saved)):
        had, has = saved.get(fromkey), now.get(fromkey)
        if had != has and not _may_differ(fromkey, saved, now):
            before, after = _readable(fromkey, had), _readable(fromkey, has)
            yield f"{fromkey}: the checkpoint has {before}, the query has {after}"


def _readable(aspect: str, text: str | None) -> str:
    """A word of saved state for people. Lateness is saved as a number of ms."""
    if text is None:
        return repr(MILLISECONDS.word) if aspect == RESOLUTION else "none"
    number = text.removesuffix(" ms")
    if aspect == _LATENESS and number.isdigit():
        text = MILLISECONDS.show_duration(int(number))
    return repr(text)


def _may_differ(aspect: str, saved: Words, now: Words) -> bool:
    if aspect == _LAYOUT:
        return True  # `check_layout` has seen it
    if aspect not in saved or aspect not in now or _TRIGGER not in saved or _TRIGGER not in now:
        return False  # only groupings have a trigger; nothing else follows any change
    if aspect in _APPLIED_LATER:
        return True
    if aspect == _TRIGGER:
        return _is_same_tree(saved[aspect], now[aspect])
    if aspect in (_LATENESS, _LATE_CHECK):
        return LateCheck.RETAIN.value not in (saved.get(_LATE_CHECK), now.get(_LATE_CHECK))
    return False


def _is_same_tree(first: str, second: str) -> bool:
    try:
        return _shape(trigger_of(first)) == _shape(trigger_of(second))
    except TriggerError:  # a text that no version of this one has written
        return False


def _shape(trigger: Trigger) -> tuple[Any, ...]:
    """The kinds of all triggers of a tree, and where they stand in it."""
    below: tuple[Trigger | None, ...] = trigger.children
    if isinstance(trigger, AfterWatermark):
        below = (trigger.early, trigger.late)
    return type(trigger), *(sub and _shape(sub) for sub in below)
