"""Panes with the arguments of Beam Python's ``PaneInfo``.

Source: Beam Python ``utils.windowed_value``.
"""

from typing import Any

from beamlike.errors import PipelineError
from beamlike.model import panes
from beamlike.model.panes import NO_FIRING, Timing

__all__ = ["PANE_INFO_UNKNOWN", "PaneInfo", "PaneInfoTiming"]

PANE_INFO_UNKNOWN = NO_FIRING
"""The pane of an element that was never grouped."""


class PaneInfoTiming:
    """The timings of panes, and their texts. Source: Beam Python ``PaneInfoTiming``."""

    EARLY, ON_TIME, LATE, UNKNOWN = Timing.EARLY, Timing.ON_TIME, Timing.LATE, Timing.UNKNOWN

    @staticmethod
    def to_string(value: Timing) -> str:
        """The text of a timing."""
        return value.value

    @staticmethod
    def from_string(value: str) -> Timing:
        """The timing of a text.

        Raises:
            PipelineError: There is none.
        """
        try:
            return Timing(value)
        except ValueError:
            texts = ", ".join(it.value for it in Timing)
            raise PipelineError(f"the timing of a pane is one of {texts}, got {value!r}") from None


class _OfTheCore(type(panes.PaneInfo)):  # type: ignore[misc]
    """Makes panes of the core, and counts all of these as its own."""

    def __call__(
        cls,
        is_first: bool,
        is_last: bool,
        timing: Timing,
        index: int,
        nonspeculative_index: int,
    ) -> panes.PaneInfo:
        return panes.PaneInfo(timing, index, nonspeculative_index, is_first, is_last)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, panes.PaneInfo)


class PaneInfo(panes.PaneInfo, metaclass=_OfTheCore):
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
