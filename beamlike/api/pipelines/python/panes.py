"""Panes with the arguments of Beam Python's ``PaneInfo``.

Source: Beam Python ``utils.windowed_value``.
"""

from typing import Any

from beamlike.api.pipelines.beams_own import needs_beams_sdk
from beamlike.model import panes
from beamlike.model.panes import NO_FIRING, Timing
from beamlike.model.panes import Timing as PaneInfoTiming
from beamlike.model.readable import ReadableABC

__all__ = ["PANE_INFO_UNKNOWN", "PaneInfo", "PaneInfoTiming"]


class OfTheCore(ReadableABC):
    """The metaclass of a class of Beam Python's whose values are those of a class of the core.

    The class is below that of the core. Its ``__new__`` takes Beam Python's arguments and makes a
    value of the core, and all values of the core count as its own.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls.__module__.startswith("beamlike."):
            raise needs_beams_sdk(f"a class below {cls.__mro__[1].__name__}")
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


PANE_INFO_UNKNOWN = NO_FIRING
"""The pane of an element that was never grouped."""


class PaneInfo(panes.PaneInfo, metaclass=OfTheCore):
    """Where a pane stands among the panes of its key and window, see `beamlike.PaneInfo`.

    Args:
        is_first: No pane came before it.
        is_last: No pane can follow.
        timing: When it fired, seen from the end of its window.
        index: How many panes came before it.
        nonspeculative_index: How many of these were not early; -1 for an early one.
    """

    def __new__(
        cls, is_first: bool, is_last: bool, timing: Timing, index: int, nonspeculative_index: int
    ) -> Any:
        return panes.PaneInfo(timing, index, nonspeculative_index, is_first, is_last)
