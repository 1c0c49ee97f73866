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
    """Makes values of the core of Beam Python's arguments, and counts all of these as its own.

    A class with it is below one of the core, and says in ``_of`` what that is for its arguments.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls.__module__.startswith("beamlike."):
            raise needs_beams_sdk(f"a class below {cls.__mro__[1].__name__}")
        return cls._of(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def _of(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


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

    def __init__(
        self,
        is_first: bool,
        is_last: bool,
        timing: Timing,
        index: int,
        nonspeculative_index: int,
    ) -> None:
        """For type checkers and documentation: the metaclass makes a pane of the core."""

    @staticmethod
    def _of(
        is_first: bool, is_last: bool, timing: Timing, index: int, nonspeculative_index: int
    ) -> panes.PaneInfo:
        """The core's for these arguments."""
        return panes.PaneInfo(timing, index, nonspeculative_index, is_first, is_last)
