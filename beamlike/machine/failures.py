"""Failures of a user's functions: whether they raise or drop, their texts, and the drops.

The functions are those of the window function (``assign``, ``merge``) and of the combine function
(``create``, ``add``, ``merge``, ``compact``, ``extract``, ``after_pane``), and functions given to
triggers. Whatever they raise is a failure, also errors of beamlike: a gap that is not a duration is
a mistake of the function that returned it. An accumulator or a result that does not fit its type is
one too, where a host lets the combine function check that.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Literal, TypeVar

import attrs

from beamlike.errors import OutgrownError, UserFunctionError, because_of
from beamlike.machine.events import Drop, DropReason, Element, Item, Lifted
from beamlike.model.combine import CombineFn, Together
from beamlike.model.fingerprint import how_many
from beamlike.model.resolution import Resolution
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.safe_text import UserRaised, problem_of, safe_str, short_repr

Happened = TypeVar("Happened")


class OnFailure(Enum):
    """What to do when a function of the user's raises."""

    FAIL = "fail"
    """Raise a `UserFunctionError` with what failed, and for what."""
    DROP = "drop"
    """Drop the elements it raised for, as `DropReason.FAILED`, as if they had never arrived."""


OnFailureLike = OnFailure | Literal["fail", "drop"]


@attrs.frozen
class FunctionFailure:
    """A function of the user's raised.

    ``items`` are the elements that it raised for, if that is known; ``window`` is the window that
    they would have gone to.
    """

    function: str
    cause: UserRaised
    items: Sequence[Item] = ()
    window: Window | None = None

    @classmethod
    def of(
        cls,
        owner: WindowFn | CombineFn,
        method: str,
        cause: UserRaised,
        items: Sequence[Item] = (),
        window: Window | None = None,
    ) -> "FunctionFailure":
        """The failure of a method of a window function or a combine function."""
        if isinstance(owner, Together):
            function = f"{owner.method_name(method)} of the aggregates {', '.join(owner.parts)}"
        else:
            named = owner.method_name(method) if isinstance(owner, CombineFn) else method
            function = f"{safe_str(owner)}.{named}" if named else safe_str(owner)
        return cls(function, cause, items, window)

    def __str__(self) -> str:
        if isinstance(self.cause, OutgrownError):
            return self.cause.reason
        return f"{self.function} raised {self._problem}"

    @property
    def _problem(self) -> str:
        return problem_of(self.cause)

    def error_in(self, unit: Resolution) -> UserFunctionError | OutgrownError:
        """The error for this failure. Its text shows times in ``unit``."""
        shown = [_shown(self.items, unit)] if self.items else []
        shown += [f"window {unit.show_window(self.window)}"] if self.window is not None else []
        place = ", ".join(shown)
        error: UserFunctionError | OutgrownError
        if isinstance(self.cause, OutgrownError):
            error = self.cause.of_place(place)
        else:
            error = UserFunctionError(self.function, self._problem, place)
        return because_of(error, self.cause)


def left_out(
    element: Element,
    failure: FunctionFailure,
    on_error: OnFailure,
    watermark: int | None,
    unit: Resolution,
) -> Drop:
    """The drop of an element that a function of the user's raised for; ``watermark`` is None where
    it is not known.

    Raises:
        UserFunctionError: That is to be reported.
    """
    if on_error is OnFailure.FAIL:
        raise failure.error_in(unit) from failure.cause
    return Drop(
        element,
        failure.window,
        DropReason.FAILED,
        watermark=watermark,
        error=str(failure),
        cause=failure.cause,
    )


def without_cause(event: Happened) -> Happened:
    """An effect or a trace event without its exception, which cannot be sent to another process,
    and whose frames keep objects alive."""
    if isinstance(event, Drop) and event.cause is not None:
        return attrs.evolve(event, cause=None)
    return event


def _shown(items: Sequence[Item], unit: Resolution) -> str:
    if len(items) > 1:
        return f"{len(items)} elements together"
    (item,) = items
    instant = unit.show_exactly(item.timestamp)
    if isinstance(item, Lifted):
        return f"{how_many(item.count, 'element')} combined before, the last one at {instant}"
    return f"the element {short_repr(item.value)} at {instant}"
