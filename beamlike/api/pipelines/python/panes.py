"""Panes with the arguments of Beam Python's ``PaneInfo``.

Source: Beam Python ``utils.windowed_value``.
"""

from typing import Any

from beamlike.model import panes
from beamlike.model.panes import NO_FIRING, Timing
from beamlike.model.panes import Timing as PaneInfoTiming

__all__ = ["PANE_INFO_UNKNOWN", "PaneInfo", "PaneInfoTiming"]

PANE_INFO_UNKNOWN = NO_FIRING
"""The pane of an element that was never grouped."""


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
