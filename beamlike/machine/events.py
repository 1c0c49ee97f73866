"""The inputs and outputs of a machine. Values shared by every machine and host."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Literal

import attrs

from beamlike.errors import BeamlikeError, WatermarkError
from beamlike.model.combine import Stamped
from beamlike.model.panes import PaneInfo
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.windows import IntervalWindow, Window


@attrs.frozen
class Element(Stamped):
    """An element of a stream: a value and its event time.

    ``window`` is the window that it comes in, given by a grouping before; None: the window
    function assigns.
    """

    window: Window | None = None


@attrs.frozen
class Lifted:
    """Elements of one window that were combined before they arrived.

    ``count`` says how many they are, and ``timestamp`` is the greatest event time among them. If
    they were ``judged`` for lateness where they were combined, they are not judged again; else
    their window decides for all of them. ``merged`` says that some came in other windows than this
    one, which is what became of them: to a live window of the same bounds they are a merge, as they
    would have been one by one.

    Source: Beam's combiner lifting.
    """

    accumulator: Any
    count: int
    window: Window
    timestamp: int
    judged: bool = True
    merged: bool = False


Item = Element | Lifted
"""What arrives: an element, or some that were combined before."""


@attrs.frozen
class Bundle:
    """Elements of one key that arrive together. Triggers are evaluated once, after all of them."""

    elements: tuple[Item, ...]


@attrs.frozen
class AdvanceWatermark:
    """The input watermark becomes ``to`` (event time).

    For a stage with a side input that is the watermark of its main input, and ``side`` that of the
    side input; None: it is there too, if it was not past that before.
    """

    to: int
    side: int | None = None


@attrs.frozen
class AdvanceClock:
    """Processing time becomes ``to``."""

    to: int


Event = Bundle | AdvanceWatermark | AdvanceClock


def refuse_going_back(
    move: AdvanceWatermark | AdvanceClock,
    stands_at: int,
    side_at: int | None = None,
    error: type[BeamlikeError] = WatermarkError,
    unit: Resolution = MILLISECONDS,
) -> None:
    """Refuse a move of a clock that would go back.

    Args:
        move: The move.
        stands_at: Where the clock that moves stands (ticks).
        side_at: Where the watermark of a side input stands (ticks), None if there is none.
        error: The class of the error.
        unit: What a tick is.

    Raises:
        BeamlikeError: One of the class ``error``: the clock would go back.
    """
    name, to = "the watermark", move.to
    if isinstance(move, AdvanceClock):
        name = "processing time"
    elif to >= stands_at and move.side is not None and side_at is not None:
        name, stands_at, to = "the watermark of the side input", side_at, move.side
    if to < stands_at:
        show, abbreviation = unit.show_instant, "ms" if unit is MILLISECONDS else "us"
        raise error(
            f"{name} cannot go back: it stands at {show(stands_at)} ({stands_at} {abbreviation}), "
            f"requested {show(to)} ({to} {abbreviation})"
        )


@attrs.frozen
class Pane:
    """A pane that came out: one value of one window, with its place in the history.

    With ``retraction`` it withdraws the earlier pane that has exactly these fields.

    ``session`` is a name for the window that stays as sessions grow and merge: the bounds of
    the first pane that the window, or the earliest of those that it grew from, ever emitted.
    Retracting mode only, where a pane knows which panes it replaces; else None.
    """

    window: Window
    value: Any
    timestamp: int
    info: PaneInfo
    retraction: bool = False
    session: Window | None = attrs.field(default=None, eq=False)


class DropReason(Enum):
    """Why an element did not get into a window."""

    EXPIRED = "expired"
    """It came too late. By default its own window, before merging, was past its end plus the
    allowed lateness; `LateCheck` may choose another rule."""
    CLOSED = "closed"
    """The trigger of its window, after merging, had finished."""
    FAILED = "failed"
    """A function of the user's raised for it, or it would make an aggregate outgrow its type, and
    such elements are to be left out."""


class RowProblem(Enum):
    """Why a row of a DataFrame became no element."""

    NULL_KEY = "null_key"
    """A column of its key is null."""
    BAD_KEY = "bad_key"
    """A column of its key cannot be read."""
    NULL_TIMESTAMP = "null_timestamp"
    """It has no event time."""
    BAD_TIMESTAMP = "bad_timestamp"
    """Its event time cannot be read."""
    FAR_FUTURE = "far_future"
    """Its event time lies too far ahead of the clock, see `machine.input_clocks.is_far_ahead`."""
    BAD_VALUE = "bad_value"
    """It cannot be read itself, or decoded."""


UNREADABLE_RECORD: Final = ("unreadable_value", "unreadable_key", "null_value")
"""Why a record of a topic became no row, so that its key or its event time may be missing, too."""

ReasonLike = (
    DropReason
    | RowProblem
    | Literal[
        "expired",
        "closed",
        "failed",
        "null_key",
        "bad_key",
        "null_timestamp",
        "bad_timestamp",
        "far_future",
        "bad_value",
    ]
)


@attrs.frozen
class Drop:
    """An element that one of its windows did not accept, or some that were combined before; or a
    row that never became an element.

    ``element`` is None for a row that never became an element, and where the trigger of a window or
    its last pane failed. The pane then loses ``count`` elements; the trigger loses none, and
    ``count`` is 0. ``window`` is None for a row that never became an element, and for an element
    for which the window function raised.

    ``missed_by`` is how many ticks (see `Resolution`) earlier the watermark would have had to be
    for the window to accept it; None for the other reasons, where no time would have helped.
    ``nearest_session`` is the live session, as it would be after merging, that would have taken the
    element in had the merged window decided (see `LateCheck`); None if there is none.

    ``watermark`` is the input watermark (ticks) when the element was dropped; None if it was
    dropped before it reached the machine, where no watermark is known. ``count`` says how many
    elements were lost. ``error`` describes what the user's function raised; ``cause`` is the
    exception itself, and is None outside the step in which it was raised.
    """

    element: Item | None
    window: Window | None
    reason: DropReason | RowProblem
    missed_by: int | None = None
    nearest_session: Window | None = None
    watermark: int | None = attrs.field(default=None, eq=False)
    count: int = 1
    error: str | None = attrs.field(default=None, eq=False)
    cause: BaseException | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def value(self) -> Any:
        """The value of the element; None if there is no single one."""
        return self.element.value if isinstance(self.element, Element) else None

    @property
    def timestamp(self) -> int | None:
        """The event time of the element, or of the latest of several; None if unknown."""
        return None if self.element is None else self.element.timestamp


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
    """A window's trigger fired, but no pane was emitted: it was empty, or as before."""

    window: Window
    by: str

    def __str__(self) -> str:
        return f"{self.window} fired by {self.by}, nothing new, no pane"


TraceEvent = Merged | Fired | Suppressed | Drop
"""One event of a machine's trace, in the order in which things happened."""

OnEvent = Callable[[TraceEvent], None]
