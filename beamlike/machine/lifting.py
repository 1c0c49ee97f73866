"""Combiner lifting: elements are combined, window by window, before they are grouped.

Many elements of a key become a few `Lifted` ones, near their source or spread over workers that
share a hot key. The grouping that they reach emits the panes that it would have emitted for the
elements themselves, because all that it needs of a bundle is how many elements each window got.

Source: Beam ``CombinePerKey`` with combiner lifting, ``withHotKeyFanout``.
"""

from collections.abc import Sequence

from beamlike.machine.events import Bundle, Drop, Item, Lifted, Merged, TraceEvent
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.liftable import check_liftable
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.options import LateCheck
from beamlike.model.resolution import Span
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import Never
from beamlike.model.windows import Window


class Lifting:
    """Combines elements of one key that arrive together. Keeps nothing between calls.

    It is a grouping that starts afresh and never fires: what its windows hold in the end, is
    what is passed on.

    Args:
        strategy: The strategy of the grouping that follows.
        combine: Its combine function.
        on_error: What it does when a function of the user's raises.

    Raises:
        WindowingError: As `check_liftable`.
    """

    def __init__(
        self,
        strategy: WindowingStrategy,
        combine: CombineFn,
        on_error: OnFailureLike = OnFailure.FAIL,
    ) -> None:
        check_liftable(strategy)
        self._earliest = strategy.resolution.earliest
        silent = WindowingStrategy(
            strategy.window_fn,
            Never(),
            allowed_lateness=Span(strategy.allowed_lateness, strategy.resolution),
            late_check=strategy.late_check,
        )
        self._grouping = Grouping(silent, combine, on_error)
        # Only the grouping knows the merged window that decides with "merged".
        self._judges = strategy.late_check is not LateCheck.MERGED

    def lift(
        self, elements: Sequence[Item], watermark: int | None
    ) -> tuple[tuple[Lifted, ...], tuple[Drop, ...]]:
        """Combine the elements of one key to one for each window; and the drops of late elements.

        Args:
            elements: In order of arrival. Some may have been combined before.
            watermark: The input watermark that judges which of them are late (ticks). With
                ``late_check="merged"`` the grouping that follows judges instead. It does so too if
                this is None, which is right only for windows that do not merge.

        Raises:
            UserFunctionError: A function of the user's raised, and that is to be reported.
        """
        judged = watermark is not None and self._judges
        judged_at = self._earliest if watermark is None or not self._judges else watermark
        before, trace = KeyState.unseen(judged_at, 0), list[TraceEvent]()
        after, effects = self._grouping.step(before, Bundle(tuple(elements)), trace.append)
        merged: set[Window] = {event.into for event in trace if isinstance(event, Merged)}
        before_that = [item for item in elements if isinstance(item, Lifted)]
        merged |= {item.window for item in before_that if item.merged}
        # Elements that were judged where they were first combined stay so.
        all_judged = judged or (
            len(before_that) == len(elements) and all(item.judged for item in before_that)
        )
        lifted = (
            Lifted(
                state.accumulator,
                state.new_elements,
                window,
                _greatest(elements, window),
                all_judged,
                window in merged,
            )
            for window, state in after.windows.items()
        )
        return tuple(lifted), tuple(effect for effect in effects if isinstance(effect, Drop))


def _greatest(elements: Sequence[Item], window: Window) -> int:
    """The greatest event time of those in a window. Some may come in another one that overlaps
    it."""
    inside = (
        element.timestamp
        for element in elements
        if window.start <= element.timestamp < window.end and element.window in (None, window)
    )
    return max(inside, default=window.max_timestamp)
