"""An operator of Apex: its parts, and what they are in the model."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import attrs

from beamlike.dialects.apex_accumulations import PerKey
from beamlike.dialects.apex_options import (
    FixedDiffEventTimeWatermarkGen,
    FixedDiffProcessingTimeWatermarkGen,
    Storages,
    TriggerOption,
    WindowOption,
    check_option,
    strategy_of,
)
from beamlike.dialects.stages import check_combine, check_function, check_kind
from beamlike.model.combine import CombineFn
from beamlike.model.options import AccumulationMode
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike, duration_ms

Extract = Callable[[Any], int]
"""From an element's value to its event time (ms)."""

_GENERATORS = (FixedDiffEventTimeWatermarkGen, FixedDiffProcessingTimeWatermarkGen)


def _trigger(trigger: TriggerOption | None) -> TriggerOption:
    return TriggerOption() if trigger is None else trigger


def _lateness(lateness: DurationLike | None) -> int | None:
    return None if lateness is None else duration_ms(lateness, "allowed_lateness")


def check_extractor(_: object, field: "attrs.Attribute[Any]", function: object) -> None:
    """Refuse what is no function from a value to its event time, as a field of attrs.

    Raises:
        CombineError: It is none.
    """
    if function is not None:
        check_function(field.name, function, "an element's value")


@attrs.frozen
class Operator:
    """The parts of an operator, see `beamlike.dialects.apex.WindowedOperator`."""

    window: WindowOption | None
    accumulation: CombineFn
    trigger: TriggerOption = attrs.field(default=None, converter=_trigger)
    allowed_lateness: int | None = attrs.field(default=None, converter=_lateness, kw_only=True)
    keyed: bool = attrs.field(default=False, kw_only=True)
    timestamp_extractor: Extract | None = attrs.field(
        default=None, validator=check_extractor, kw_only=True
    )
    watermark_generator: (
        FixedDiffEventTimeWatermarkGen | FixedDiffProcessingTimeWatermarkGen | None
    ) = attrs.field(default=None, kw_only=True)
    storages: Storages | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        window, generator, storages = self.window, self.watermark_generator, self.storages
        if window is not None:
            check_kind("window", window, WindowOption, 'WindowOption.time_windows("1 second")')
        check_kind("trigger", self.trigger, TriggerOption, "TriggerOption.at_watermark()")
        check_combine("accumulation", self.accumulation)
        if generator is not None:
            example = 'FixedDiffEventTimeWatermarkGen("10 seconds")'
            check_kind("watermark_generator", generator, _GENERATORS, example)
        check_option(window, self.trigger, keyed=self.keyed)
        if storages is not None:
            check_kind("storages", storages, Storages, "Storages.all_of(Storage.SPILLABLE)")
            storages.check(self.trigger)

    def extractor(self, stream: int | None) -> Extract | None:
        """From an element's value to its event time; of two streams, in stream 1 or 2."""
        return self.timestamp_extractor

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing, for a watermark one millisecond less.

        `run` leaves out the panes at the end of a window that no trigger asked for.
        """
        return strategy_of(self.window, self.trigger, self.allowed_lateness)

    def strategy_in_batches(self, batch_interval: int) -> WindowingStrategy:
        """The windowing where times are looked at when a batch ends, so often (ms)."""
        return strategy_of(self.window, self.trigger, self.allowed_lateness, batch_interval)

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

    def group(self, key: Hashable) -> Hashable:
        """The group of an element with this key."""
        return None if self.holds_all_keys else key

    def element(self, key: Hashable, value: Any) -> Any:
        """An element of a group, with this key and value."""
        return (key, value) if self.holds_all_keys else value

    def by_key(self, group: Hashable, value: Any) -> Mapping[Any, Any]:
        """The value of each key in what a group says."""
        return value if self.holds_all_keys else {group: value}

    @property
    def _in_sessions(self) -> bool:
        return self.window is not None and isinstance(self.window.window_fn, Sessions)
