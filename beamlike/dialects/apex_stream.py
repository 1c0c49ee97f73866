"""Apex's windowed streams: operators by what they compute.

    counts = window(WindowOption.time_windows("1 minute"), TriggerOption.at_watermark()).count()

Each method makes a `WindowedOperator` of the windows, the trigger and the lateness that the stream
says. Those by key take elements that come with their keys. Apex declares ``group`` and
``group_by_key`` too, and they throw; ``accumulate(Group())`` is what they would be.

Source: Apex Malhar ``WindowedStream``, ``ApexWindowedStreamImpl``.
"""

from collections.abc import Callable
from typing import Any

import attrs

from beamlike.dialects.apex import WindowedOperator
from beamlike.dialects.apex_accumulations import FoldFn, ReduceFn, TopN
from beamlike.dialects.apex_words import TriggerOption, WindowOption
from beamlike.model.combine import CombineFn, Count
from beamlike.model.time import DurationLike

__all__ = ["WindowedStream", "window"]


def window(
    option: WindowOption | None = None,
    trigger: TriggerOption | None = None,
    allowed_lateness: DurationLike | None = None,
) -> "WindowedStream":
    """A stream with windows, see `WindowedOperator` for what the arguments mean."""
    return WindowedStream(option, trigger, allowed_lateness)


@attrs.frozen
class WindowedStream:
    """A stream with windows. Made by `window`; what it says is checked by the operators of it."""

    option: WindowOption | None
    trigger: TriggerOption | None
    allowed_lateness: DurationLike | None

    def reset_trigger(self, trigger: TriggerOption) -> "WindowedStream":
        """The same with another trigger."""
        return attrs.evolve(self, trigger=trigger)

    def reset_allowed_lateness(self, allowed_lateness: DurationLike) -> "WindowedStream":
        """The same with another lateness."""
        return attrs.evolve(self, allowed_lateness=allowed_lateness)

    def accumulate(self, accumulation: CombineFn) -> WindowedOperator:
        """An accumulation of all elements of a window."""
        return self._operator(accumulation, keyed=False)

    def accumulate_by_key(self, accumulation: CombineFn) -> WindowedOperator:
        """An accumulation of the elements of each key."""
        return self._operator(accumulation, keyed=True)

    def count(self) -> WindowedOperator:
        """How many elements."""
        return self.accumulate(Count())

    def count_by_key(self) -> WindowedOperator:
        """How many elements of each key."""
        return self.accumulate_by_key(Count())

    def top(self, n: int) -> WindowedOperator:
        """The greatest elements, see `TopN`."""
        return self.accumulate(TopN(n))

    def top_by_key(self, n: int) -> WindowedOperator:
        """The greatest elements of each key. `TopNByKey` is another thing: the keys with the
        greatest values."""
        return self.accumulate_by_key(TopN(n))

    def reduce(self, reduce: Callable[[Any, Any], Any]) -> WindowedOperator:
        """Elements made one by a function of two."""
        return self.accumulate(ReduceFn(reduce))

    def reduce_by_key(self, reduce: Callable[[Any, Any], Any]) -> WindowedOperator:
        """The elements of each key made one."""
        return self.accumulate_by_key(ReduceFn(reduce))

    def fold(
        self,
        initial: Any,
        fold: Callable[[Any, Any], Any],
        merge_folded: Callable[[Any, Any], Any],
    ) -> WindowedOperator:
        """Elements folded into an initial value, see `FoldFn`."""
        return self.accumulate(FoldFn(initial, fold, merge_folded))

    def fold_by_key(
        self,
        initial: Any,
        fold: Callable[[Any, Any], Any],
        merge_folded: Callable[[Any, Any], Any],
    ) -> WindowedOperator:
        """The elements of each key folded."""
        return self.accumulate_by_key(FoldFn(initial, fold, merge_folded))

    def _operator(self, accumulation: CombineFn, *, keyed: bool) -> WindowedOperator:
        return WindowedOperator(
            self.option,
            accumulation,
            self.trigger,
            allowed_lateness=self.allowed_lateness,
            keyed=keyed,
        )
