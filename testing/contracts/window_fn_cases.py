"""A window function and the elements to try it on: what the rules of window functions ask.

What the function raises is reported by `UserFunctionRaised`, with the call that raised it.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from random import Random
from typing import Any, Final

import attrs

from beamlike.errors import TestStreamError
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.testing.contracts.values import UserFunctionRaised, short
from beamlike.testing.spelling import instant_code

Sizes = Mapping[IntervalWindow, int]
"""Windows to merge, each with the number of elements that it holds."""

_SETS: Final = tuple(size for size in (1, 2, 3, 4, 6, 9) for _ in range(25))
"""The sizes of the random sets of windows that are merged, besides all of them. They are drawn
with a fixed seed, so that a check is the same each time."""


@attrs.frozen(slots=False)
class WindowFnCase:
    """A window function, the elements to try it on, and what is asked of it."""

    fn: WindowFn
    elements: list[tuple[int, Any]]
    contains: bool
    any_order: bool

    @cached_property
    def assigned(self) -> list[tuple[tuple[int, Any], tuple[Window, ...]]]:
        """Each element with its windows."""
        return [(element, self.ask(element)) for element in self.elements]

    @cached_property
    def times_of(self) -> dict[IntervalWindow, list[int]]:
        """Each window before any merging, in order, with the times of its elements."""
        times: dict[IntervalWindow, list[int]] = {}
        for (time, _), windows in self.assigned:
            for window in windows:
                if isinstance(window, IntervalWindow):
                    times.setdefault(window, []).append(within_time(time))
        return dict(sorted(times.items()))

    @cached_property
    def sets(self) -> list[dict[IntervalWindow, int]]:
        """Windows to merge, each set in order, small ones first."""
        random, every = Random(0), list(self.times_of)
        some = {tuple(sorted(random.sample(every, n))) for n in _SETS if n < len(every)}
        sets = [*sorted(some, key=lambda one: (len(one), one)), every]
        return [self.sizes(windows) for windows in sets]

    def sizes(self, windows: Iterable[IntervalWindow]) -> dict[IntervalWindow, int]:
        """The windows with the number of their own elements."""
        return {window: len(self.times_of[window]) for window in windows}

    def ask(self, element: tuple[int, Any]) -> tuple[Window, ...]:
        try:
            return self.fn.assign(*element)
        except Exception as error:
            raise UserFunctionRaised(f"{call(element)} raises {error!r}") from error

    @property
    def is_sized(self) -> bool:
        """Whether the machine asks `merge_sized` for a plan."""
        return isinstance(self.fn, MergingWindowFn) and self.fn.needs_sizes

    def plan(self, given: Sizes, *, as_iterator: bool = False) -> tuple[Merge, ...]:
        """The plan for these windows, asked for as the machine does."""
        assert isinstance(self.fn, MergingWindowFn)
        try:
            if self.fn.needs_sizes:
                return tuple(self.fn.merge_sized(dict(given)))
            return tuple(self.fn.merge(iter(list(given)) if as_iterator else tuple(given)))
        except Exception as error:
            shown = f"an iterator over {listed(given)}" if as_iterator else self.shown(given)
            raise UserFunctionRaised(f"{self.asked} raises {error!r} for {shown}") from error

    @property
    def asked(self) -> str:
        """The name of the method that makes plans."""
        return "merge_sized" if self.is_sized else "merge"

    def shown(self, given: Sizes) -> str:
        """Windows in words, with the numbers of their elements if plans depend on them."""
        if not self.is_sized or not given:
            return listed(given)
        return ", ".join(f"{window} with {size}" for window, size in given.items())

    def refuse_nothing(self) -> None:
        """Refuse a check that could not have failed.

        Raises:
            TestStreamError: No element has a window, or no windows merge.
        """
        if not any(windows for _, windows in self.assigned):
            raise TestStreamError(
                f"check_window_fn has nothing to check: {self.fn} assigns no window to any of "
                "these timestamps and values; give some to which it does"
            )
        if isinstance(self.fn, MergingWindowFn) and not any(map(self.plan, self.sets)):
            raise TestStreamError(
                f"check_window_fn saw no merge: {self.fn} leaves the windows of these timestamps "
                "and values as they are; give some that lie closer together"
            )


# -- words -----------------------------------------------------------------------------------


def within_time(timestamp: int) -> int:
    """The time (ms) that windows are asked for: elements of the last day of time belong to the
    instant before it."""
    return min(timestamp, END_OF_GLOBAL_WINDOW)


def call(element: tuple[int, Any]) -> str:
    """The question for an element's windows, as code."""
    time, value = element
    return f"assign({instant_code(time)}{'' if value is None else f', {short(value)}'})"


def listed(windows: Iterable[Window]) -> str:
    """Windows in words."""
    return ", ".join(map(str, windows)) or "no windows"
