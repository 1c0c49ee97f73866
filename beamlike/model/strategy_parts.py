"""The parts of a strategy that a call may set, beside its windows; and which parts go together.

Source: Beam Java, the checks in ``Window.applicableTo`` and ``GroupByKey.applicableTo``. Retained
sessions and unchanged panes are not in Beam.
"""

from typing import TypedDict

from beamlike.errors import WindowingError
from beamlike.model.fingerprint import Spelling
from beamlike.model.options import (
    AccumulationMode,
    AccumulationModeLike,
    ClosingBehaviorLike,
    LateCheckLike,
    OnTimeBehaviorLike,
    TimestampCombinerLike,
    Unchanged,
    UnchangedLike,
)
from beamlike.model.resolution import Resolution
from beamlike.model.time import DurationLike
from beamlike.model.triggers import DefaultTrigger, Trigger
from beamlike.model.windowfns import GlobalWindows, WindowFn


class StrategyParts(TypedDict, total=False):
    """The parts of a strategy besides its windows, as keyword arguments; None is as not given.

    * ``trigger``: When panes are emitted.
    * ``accumulation``: Whether a pane holds what is new or everything so far. Must be given where
      a window may emit several panes.
    * ``allowed_lateness``: How far the watermark may pass the end of a window before data for it is
      dropped. Must be given with a trigger outside the global window.
    * ``timestamp_combiner``: Which event time a pane is stamped with.
    * ``closing_behavior``: Whether an empty last pane is emitted.
    * ``on_time_behavior``: Whether an empty on-time pane is emitted.
    * ``late_check``: What decides that an element is too late; Beam's way by default.
    * ``unchanged``: Whether a pane with an unchanged value comes out again, where panes are
      withdrawn.
    """

    trigger: Trigger | None
    accumulation: AccumulationModeLike | None
    allowed_lateness: DurationLike | None
    timestamp_combiner: TimestampCombinerLike | None
    closing_behavior: ClosingBehaviorLike | None
    on_time_behavior: OnTimeBehaviorLike | None
    late_check: LateCheckLike | None
    unchanged: UnchangedLike | None


def check_without_lateness(window_fn: WindowFn, trigger: Trigger) -> None:
    """Refuse a trigger outside the global window while no allowed lateness is set."""
    if isinstance(trigger, DefaultTrigger) or isinstance(window_fn, GlobalWindows):
        return
    raise WindowingError(
        f"trigger {trigger} requires that the allowed lateness be specified; "
        'add allowed_lateness="0 s", or as long as late data shall be waited for'
    )


def check_without_accumulation(
    window_fn: WindowFn,
    trigger: Trigger,
    allowed_lateness: int,
    unit: Resolution,
    given_lateness: DurationLike | None,
    spelling: Spelling,
) -> None:
    """Refuse what may emit several panes of a window while no accumulation mode is set; the
    lateness that this window transform gives is as it is written."""
    waits = allowed_lateness > 0 and not isinstance(window_fn, GlobalWindows)
    if not isinstance(trigger, DefaultTrigger):
        cause = f"trigger {trigger}"
    elif not waits:
        return
    elif given_lateness is not None:
        cause = f"allowed_lateness={given_lateness!r}"
    else:
        cause = f"an allowed lateness of {unit.show_duration(allowed_lateness)}"
    raise WindowingError(
        f"{cause} requires that the accumulation mode be specified, because a window may "
        f'emit several panes; add {spelling.accumulation}="discarding" (each pane holds '
        f'what is new) or {spelling.accumulation}="accumulating" (each pane holds '
        "everything so far)"
    )


def check_retained(window_fn: WindowFn) -> None:
    """Refuse to retain expired sessions without a bound on how long."""
    if window_fn.longest_own_window is None:
        raise WindowingError(
            'late_check="retain" keeps an expired session for as long as the window of one '
            f"element can reach it, but how long such a window of {window_fn} can be is "
            'not known; for Sessions with a function for the gap, add max_duration="1 hour", '
            "or as long as a gap can be; for a window function of your own, define the "
            "property longest_own_window"
        )


def check_unchanged(unchanged: Unchanged, accumulation: AccumulationMode) -> None:
    """Refuse to omit panes that withdraw an equal one where none withdraws any."""
    if unchanged is Unchanged.OMIT and accumulation is not AccumulationMode.RETRACTING:
        raise WindowingError(
            'unchanged="omit" leaves out a pane that would withdraw an equal one, but '
            f'accumulation="{accumulation.value}" withdraws nothing; write '
            'unchanged="re_emit", or accumulation="retracting"'
        )


def check_comes_out(window_fn: WindowFn, trigger: Trigger) -> None:
    """Refuse a stream that waits for the end of time."""
    if isinstance(window_fn, GlobalWindows) and isinstance(trigger, DefaultTrigger):
        raise WindowingError(
            "a stream in the global window with the default trigger never emits anything; "
            "use FixedWindows, SlidingWindows or Sessions, or a trigger such as "
            "Repeatedly(AfterCount(100))"
        )
