"""What a machine is told, and what it answers. Values shared by every machine and host."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import attrs

from beamlike.model.combine import Stamped
from beamlike.model.panes import PaneInfo
from beamlike.model.windows import IntervalWindow, Window

__all__ = [
    "AdvanceClock",
    "AdvanceWatermark",
    "Bundle",
    "Drop",
    "DropReason",
    "Effect",
    "Element",
    "Event",
    "Fired",
    "Happening",
    "Merged",
    "Pane",
    "Suppressed",
    "Tell",
]


@attrs.frozen
class Element(Stamped):
    """An element of a stream: a value and its event time in milliseconds."""


@attrs.frozen
class Bundle:
    """Elements of one key that arrive together. Triggers are asked once, after all of them."""

    elements: tuple[Element, ...]


@attrs.frozen
class AdvanceWatermark:
    """The input watermark becomes ``to`` (event time, ms)."""

    to: int


@attrs.frozen
class AdvanceClock:
    """Processing time becomes ``to`` (ms)."""

    to: int


Event = Bundle | AdvanceWatermark | AdvanceClock


@attrs.frozen
class Pane:
    """A pane that came out: one value of one window, with its place in the history.

    With ``retraction`` it withdraws the earlier pane that has exactly these fields.
    """

    window: Window
    value: Any
    timestamp: int
    info: PaneInfo
    retraction: bool = False


class DropReason(Enum):
    """Why an element did not get into a window."""

    EXPIRED = "expired"
    """Its own window, before any merging, was past its end plus the allowed lateness."""
    CLOSED = "closed"
    """The trigger of its window, after merging, had finished."""


@attrs.frozen
class Drop:
    """An element that one of its windows did not accept.

    ``missed_by`` is how many milliseconds earlier the watermark would have had to be for the
    window to accept it; None for a closed window, where no time would have helped. ``nearly``
    is the live session, as it would be after merging, that would have taken the element in
    had the merged window been asked (see `LateCheck`); None if there is none.
    """

    element: Element
    window: Window
    reason: DropReason
    missed_by: int | None = None
    nearly: Window | None = None


Effect = Pane | Drop


@attrs.frozen
class Merged:
    """Windows collapsed into one."""

    sources: tuple[IntervalWindow, ...]
    into: IntervalWindow

    def __str__(self) -> str:
        return f"merged {' '.join(map(str, self.sources))} into {self.into}"


@attrs.frozen
class Fired:
    """A window emitted a pane; ``by`` is the path through the trigger tree."""

    window: Window
    by: str
    pane: Pane

    def __str__(self) -> str:
        info = self.pane.info
        return f"{self.window} fired {info.timing.value} #{info.index} by {self.by}"


@attrs.frozen
class Suppressed:
    """A window's trigger fired, but the pane was empty and nobody wanted an empty one."""

    window: Window
    by: str

    def __str__(self) -> str:
        return f"{self.window} fired by {self.by}, nothing new, no pane"


Happening = Merged | Fired | Suppressed | Drop
"""One sentence of a machine's story, in the order in which things happened."""

Tell = Callable[[Happening], None]
