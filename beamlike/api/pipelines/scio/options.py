"""How elements are windowed, part by part. Source: Scio ``WindowOptions``."""

import attrs

from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    OnTimeBehavior,
    TimestampCombiner,
)
from beamlike.model.time import DurationLike
from beamlike.model.triggers import Trigger


@attrs.frozen
class WindowOptions:
    """What a windowing verb says beside the windows. None: as in the collection before.

    Args:
        trigger: When panes are emitted. One that is not the default needs an allowed lateness,
            outside the global window.
        accumulation_mode: Whether a pane holds what is new (``"discarding"``) or everything so
            far (``"accumulating"``). Required where a window may emit several panes.
        allowed_lateness: How far the watermark may pass the end of a window before data for it
            is dropped. It never shrinks.
        closing_behavior: Whether an empty last pane is emitted. It counts only together with
            an allowed lateness, as in Scio; without one a warning says so.
        timestamp_combiner: Which event time a pane is stamped with.
        on_time_behavior: Whether an empty on-time pane is emitted.

    Source: Scio ``WindowOptions``.
    """

    trigger: Trigger | None = None
    accumulation_mode: AccumulationMode | str | None = None
    allowed_lateness: DurationLike | None = None
    closing_behavior: ClosingBehavior | str | None = None
    timestamp_combiner: TimestampCombiner | str | None = None
    on_time_behavior: OnTimeBehavior | str | None = None
