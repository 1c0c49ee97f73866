"""The parts of a strategy that a call may set, beside its windows."""

from typing import TypedDict

from beamlike.model.options import (
    AccumulationModeLike,
    ClosingBehaviorLike,
    LateCheckLike,
    OnTimeBehaviorLike,
    TimestampCombinerLike,
    UnchangedLike,
)
from beamlike.model.time import DurationLike
from beamlike.model.triggers import Trigger


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
