"""Triggers, accumulation and lateness that are often wanted together, under one name.

Each is the parts of a strategy, for ``**`` in `beamlike.windowed` and `Stream.window`. A preset of
your own is a `StrategyParts` with some parts. Others may be said after it, or anew:
``**(bl.final_only() | {"closing_behavior": "fire_always"})``.
"""

from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import DurationLike
from beamlike.model.triggers import AfterCount, AfterProcessingTime, AfterWatermark, Repeatedly


def final_only() -> StrategyParts:
    """One pane for each window, when the watermark passes its end; what is late is dropped.

    Stands for ``trigger=AfterWatermark(), accumulation="discarding", allowed_lateness=0``.

    >>> import beamlike as bl
    >>> rows = bl.WindowingStrategy.unwindowed()
    >>> print(rows.configured(bl.FixedWindows("1 hour"), **final_only()))
    FixedWindows(1h), AfterWatermark(), discarding, allowed lateness 0ms
    """
    return {"trigger": AfterWatermark(), "accumulation": "discarding", "allowed_lateness": 0}


def early_every(every: DurationLike) -> StrategyParts:
    """Panes of what there is so far, so long after each first new row, then a final one.

    Stands for ``trigger=AfterWatermark(early=AfterProcessingTime(every)),
    accumulation="retracting", allowed_lateness=0``: each pane withdraws the one before, and what is
    late is dropped.

    Raises:
        TimeError: The duration cannot be read.

    >>> import beamlike as bl
    >>> rows = bl.WindowingStrategy.unwindowed()
    >>> print(rows.configured(bl.FixedWindows("1 hour"), **early_every("1 minute")).trigger)
    AfterWatermark(early=AfterProcessingTime(1m))
    """
    trigger = AfterWatermark(early=AfterProcessingTime(every))
    return {"trigger": trigger, "accumulation": "retracting", "allowed_lateness": 0}


def live_and_corrected(every: DurationLike, allowed_lateness: DurationLike) -> StrategyParts:
    """Panes as `early_every`, and after the end of the window one for each late bundle.

    Stands for ``trigger=AfterWatermark(early=AfterProcessingTime(every), late=AfterCount(1)),
    accumulation="retracting"`` and the lateness: each pane withdraws the one before.

    Args:
        every: How long after the first new row an early pane comes, by the clock.
        allowed_lateness: How long after its end a window is corrected.

    Raises:
        TimeError: A duration cannot be read.

    >>> import beamlike as bl
    >>> rows = bl.WindowingStrategy.unwindowed()
    >>> hours = rows.configured(bl.FixedWindows("1 hour"), **live_and_corrected("1 min", "2 hours"))
    >>> print(hours.trigger, hours.allowed_lateness)
    AfterWatermark(early=AfterProcessingTime(1m), late=AfterCount(1)) 7200000
    """
    trigger = AfterWatermark(early=AfterProcessingTime(every), late=AfterCount(1))
    return {"trigger": trigger, "accumulation": "retracting", "allowed_lateness": allowed_lateness}


def every_update(allowed_lateness: DurationLike) -> StrategyParts:
    """A pane for each bundle with rows of the window, which withdraws the one before.

    Stands for ``trigger=Repeatedly(AfterCount(1)), accumulation="retracting"`` and the lateness.

    Args:
        allowed_lateness: How long after its end a window is corrected.

    Raises:
        TimeError: The duration cannot be read.

    >>> import beamlike as bl
    >>> rows = bl.WindowingStrategy.unwindowed()
    >>> print(rows.configured(bl.FixedWindows("1 hour"), **every_update("2 hours")))
    FixedWindows(1h), Repeatedly(AfterCount(1)), retracting, allowed lateness 2h
    """
    return {
        "trigger": Repeatedly(AfterCount(1)),
        "accumulation": "retracting",
        "allowed_lateness": allowed_lateness,
    }
