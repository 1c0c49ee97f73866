"""Panes with the arguments of Beam Python's ``PaneInfo``.

Source: Beam Python ``utils.windowed_value``.
"""

from beamlike.api.pipelines.python.core_values import OfTheCore
from beamlike.model import panes
from beamlike.model.panes import NO_FIRING, Timing
from beamlike.model.panes import Timing as PaneInfoTiming

__all__ = ["PANE_INFO_UNKNOWN", "PaneInfo", "PaneInfoTiming"]

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
