"""An operator of Apex: its parts, and what they are in the model."""

from collections.abc import Callable
from typing import Any

import attrs

from beamlike.dialects.apex_accumulations import PerKey
from beamlike.dialects.apex_options import (
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    Storages,
    TriggerOption,
    WindowOption,
)
from beamlike.dialects.stages import check_combine, check_function, kind_of
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.extra_triggers import EveryCount
from beamlike.model.interval_triggers import EveryProcessingTime
from beamlike.model.options import AccumulationMode
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, DurationLike, duration_ms
from beamlike.model.triggers import AfterCount, AfterFirst, AfterWatermark, Never, Trigger
from beamlike.model.windowfns import GlobalWindows

Extract = Callable[[Any], int]
"""From an element's value to its event time (ms)."""
WatermarkGen = FixedDiffEventTimeWatermarkGen | FixedDiffProcessingTimeWatermarkGen


def _trigger(trigger: TriggerOption | None) -> TriggerOption:
    return TriggerOption() if trigger is None else trigger


def _lateness(lateness: DurationLike | None) -> int | None:
    return None if lateness is None else duration_ms(lateness, "allowed_lateness")


def _check_accumulation(_: object, field: "attrs.Attribute[Any]", accumulation: object) -> None:
    check_combine(field.name, accumulation)


def check_extractor(_: object, field: "attrs.Attribute[Any]", function: object) -> None:
    """Refuse what is no function from a value to its event time, as a field of attrs."""
    check_function(field.name, function, "an element's value")


@attrs.frozen
class Operator:
    """The parts of an operator, see `beamlike.dialects.apex.WindowedOperator`."""

    window: WindowOption | None = attrs.field(
        validator=kind_of(WindowOption | None, 'WindowOption.time_windows("1 second")')
    )
    accumulation: CombineFn = attrs.field(validator=_check_accumulation)
    trigger: TriggerOption = attrs.field(
        default=None,
        converter=_trigger,
        validator=kind_of(TriggerOption, "TriggerOption.at_watermark()"),
    )
    allowed_lateness: int | None = attrs.field(default=None, converter=_lateness, kw_only=True)
    keyed: bool = attrs.field(default=False, kw_only=True)
    timestamp_extractor: Extract | None = attrs.field(
        default=None, validator=attrs.validators.optional(check_extractor), kw_only=True
    )
    watermark_generator: WatermarkGen | None = attrs.field(
        default=None,
        validator=kind_of(WatermarkGen | None, 'FixedDiffEventTimeWatermarkGen("10 seconds")'),
        kw_only=True,
    )
    storages: Storages | None = attrs.field(
        default=None,
        validator=kind_of(Storages | None, "Storages.all_of(Storage.SPILLABLE)"),
        kw_only=True,
    )

    def __attrs_post_init__(self) -> None:
        trigger = self.trigger
        if self._in_sessions and not self.keyed:
            raise WindowingError("session_windows need keys, as in Apex; say keyed=True")
        if trigger.only_updated and trigger.mode is AccumulationMode.DISCARDING:
            raise WindowingError(
                "firing_only_updated_panes() compares with the pane before, which "
                "discarding_fired_panes() does not keep; ask for accumulating_fired_panes()"
            )
        if not trigger.on_time:
            self._check_without_end()
        if self.storages is not None:
            self.storages.check(trigger)

    def _check_without_end(self) -> None:
        """Refuse late firings where the one at the watermark, which the model has and `OperatorRun`
        leaves out, would be seen; and those after which the model would not know what came last."""
        trigger, accumulates = self.trigger, self.trigger.mode is AccumulationMode.ACCUMULATING
        fires_late = trigger.late_count is not None or trigger.late_every is not None
        plain = accumulates and not trigger.only_updated
        if fires_late and (self._in_sessions or trigger.times or not plain):
            raise UnsupportedError(
                "late firings without a firing at the watermark are here by counts alone, of "
                "windows that are no sessions, with accumulating_fired_panes(); begin with "
                "TriggerOption.at_watermark()"
            )
        counts = trigger.early_count not in (None, 1)
        if self._in_sessions and not accumulates and (counts or trigger.early_every is not None):
            asked = str(trigger.early_count) if counts else "a time"
            raise UnsupportedError(
                f"with_early_firings_at_every({asked}) of sessions whose panes are withdrawn or "
                "discarded needs a firing at the watermark too; begin with "
                "TriggerOption.at_watermark(), or count 1"
            )

    @property
    def extractors(self) -> tuple[Extract | None, ...]:
        """What says when an element happened, for each of its streams."""
        return (self.timestamp_extractor,)

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing, for a watermark one millisecond less than Apex's.

        `run` leaves out the panes at the end of a window that no trigger asked for.
        """
        return self.strategy_in_batches(1)

    def strategy_in_batches(self, batch_interval: int) -> WindowingStrategy:
        """The windowing where times are looked at when a batch ends, so often (ms): that is when
        the clock is past the batch's own time."""
        trigger, mode = self.trigger, self.trigger.mode
        window_fn = GlobalWindows() if self.window is None else self.window.window_fn
        early = _phase(trigger.early_count, trigger.early_every, batch_interval)
        late = _phase(trigger.late_count, trigger.late_every, batch_interval, is_late=True)
        in_global = isinstance(window_fn, GlobalWindows) and self.window is not None
        if in_global and trigger.early_every is not None and trigger.early_count is None:
            # Apex's global window is there from the beginning, and its rhythm with it.
            every = trigger.early_every
            early = EveryProcessingTime(every + -every % batch_interval, fire_unchanged=True)
        fires_ever = trigger.on_time or early is not None or late is not None
        at_end = trigger.on_time and mode is not AccumulationMode.DISCARDING
        return WindowingStrategy(
            window_fn,
            AfterWatermark(early=early, late=late or Never()) if fires_ever else Never(),
            # What compares with the pane before has to keep it.
            "retracting" if trigger.only_updated else mode,
            END_OF_GLOBAL_WINDOW if self.allowed_lateness is None else self.allowed_lateness,
            on_time_behavior="fire_always" if at_end else "fire_if_non_empty",
            late_check="merged",
            unchanged="omit" if trigger.only_updated else "re_emit",
        )

    @property
    def holds_all_keys(self) -> bool:
        """Whether one group holds all keys, because a condition is of all keys of a window: counts
        and times of an operator with keys. Not in sessions, which are of one key each, and not if
        every element fires and the other keys of its window have nothing new."""
        trigger = self.trigger
        if not self.keyed or self._in_sessions:
            return False
        counts = {trigger.early_count, trigger.late_count} - {None}
        alone = trigger.mode is AccumulationMode.DISCARDING or trigger.only_updated
        return bool(trigger.times) or (bool(counts) and not (alone and counts == {1}))

    @property
    def combine(self) -> CombineFn:
        """The combine function of a group."""
        return PerKey(self.accumulation) if self.holds_all_keys else self.accumulation

    @property
    def _in_sessions(self) -> bool:
        return self.window is not None and isinstance(self.window.window_fn, Sessions)


def _phase(
    count: int | None, every: int | None, batch_interval: int, *, is_late: bool = False
) -> Trigger | None:
    by_count: Trigger | None = None
    if count is not None:
        # What counts on over other firings, and from before the end, is asked key by key; where
        # that is the same, the plain count is not.
        alone = count == 1 or (every is None and not is_late)
        by_count = AfterCount(count) if alone else EveryCount(count)
    if every is None:
        return by_count
    by_time = EveryProcessingTime(
        every, since_firing=True, tick=batch_interval, fire_unchanged=True
    )
    return by_time if by_count is None else AfterFirst(by_count, by_time)
