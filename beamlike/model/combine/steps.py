"""Combine functions in the shape of Beam Python's, as those that machines take."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeGuard

import attrs

from beamlike.model.combine.base import CombineFn
from beamlike.model.copies import own_copies, own_copy
from beamlike.model.fingerprint import stable_repr
from beamlike.safe_text import USER_RAISED, UserRaised, safe_str

_METHODS: Final = ("create_accumulator", "add_input", "merge_accumulators", "extract_output")

_NAMES: Final = {
    "create": "create_accumulator",
    "add": "add_input",
    "merge": "merge_accumulators",
    "extract": "extract_output",
}


class InSteps(Protocol):
    """What Beam Python calls a ``CombineFn``."""

    def create_accumulator(self) -> Any:
        """The accumulator of no elements."""

    def add_input(self, mutable_accumulator: Any, element: Any, /) -> Any:
        """The accumulator with one more element."""

    def merge_accumulators(self, accumulators: Iterable[Any], /) -> Any:
        """One accumulator for the elements of several."""

    def extract_output(self, accumulator: Any, /) -> Any:
        """The value of an accumulator."""


def in_steps(fn: Any) -> TypeGuard[InSteps]:
    """Whether this has Beam Python's four methods. So has a class, which is no function yet."""
    return all(callable(getattr(fn, method, None)) for method in _METHODS)


@attrs.frozen
class Stepwise(CombineFn):
    """A combine function with Beam Python's four methods.

    These may change accumulators and elements in place: each call is given copies.

    Args:
        args: Given to each call.
        kwargs: Likewise.
    """

    fn: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)

    def create(self) -> Any:
        return self.fn.create_accumulator(*self.args, **self.kwargs)

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        grown = own_copy(accumulator)
        for value in own_copies(values):
            grown = self.fn.add_input(grown, value, *self.args, **self.kwargs)
        return grown

    def merge(self, first: Any, second: Any) -> Any:
        parts = [own_copy(first), own_copy(second)]
        return self.fn.merge_accumulators(parts, *self.args, **self.kwargs)

    def compact(self, accumulator: Any) -> Any:
        compact = getattr(self.fn, "compact", None)
        if compact is None:
            return accumulator
        return compact(own_copy(accumulator), *self.args, **self.kwargs)

    def extract(self, accumulator: Any) -> Any:
        try:
            return self.made_of(accumulator)
        except USER_RAISED as cause:
            if not self._may_be_empty(accumulator):
                raise
            raise empty_pane(cause, "may be empty") from cause

    def _may_be_empty(self, accumulator: Any) -> bool:
        # It does not say how many elements it is of: the sum of 1 and -1 is that of none, too.
        # Some cannot be compared, such as arrays.
        try:
            return bool(accumulator == self.create())
        except Exception:
            return False

    def made_of(self, accumulator: Any) -> Any:
        """The result, or what the function itself raises if it knows none."""
        return self.fn.extract_output(own_copy(accumulator), *self.args, **self.kwargs)

    def method_name(self, method: str) -> str:
        return _NAMES.get(method, method)

    def __str__(self) -> str:
        return stable_repr(self.fn)


def as_combine_fn(fn: Any) -> CombineFn | None:
    """A combine function of either shape as one that machines take; None if it is none."""
    if isinstance(fn, CombineFn):
        return fn
    return Stepwise(fn) if in_steps(fn) and not isinstance(fn, type) else None


def empty_pane(cause: UserRaised, is_empty: str = "is empty") -> ValueError:
    """The error of a function that has no result for no elements, and how sure it is that there are
    none."""
    return ValueError(
        f"{safe_str(cause)}; the pane {is_empty}, as an on-time pane may be when everything came "
        'out before it: say on_time_behavior="fire_if_non_empty" where the collection is windowed, '
        "or take a function that knows an answer for no values"
    )
