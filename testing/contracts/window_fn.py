"""The contract of window functions, as a check for those that users write.

    def test_shifts_are_a_window_function():
        check_window_fn(Shifts("8 hours"), timestamps=["05:59:59.999", "06:00", "14:00"])

A failure has one sentence for each broken rule, with an example.
"""

from collections.abc import Iterable
from typing import Any

from beamlike.errors import TestStreamError
from beamlike.model.time import InstantLike, instant_ms
from beamlike.model.windowfns import WindowFn
from beamlike.testing.contracts.values import ContractAssertionError
from beamlike.testing.contracts.window_fn_cases import Case
from beamlike.testing.contracts.window_fn_rules import broken_rules


class WindowFnAssertionError(ContractAssertionError):
    """A window function breaks its contract. ``broken`` has a sentence for each rule."""


def check_window_fn(
    window_fn: WindowFn,
    *,
    timestamps: Iterable[InstantLike],
    values: Iterable[Any] = (None,),
    windows_contain_timestamps: bool = True,
    any_arrival_order: bool = True,
) -> None:
    """Check that a window function keeps the contract which every host relies on.

    Of every window function: it assigns the same windows each time, each once, and windows of
    the two known kinds; they contain the element and are no longer than ``longest_own_window``,
    if that is known; it is a frozen value that survives pickling, prints the same in every
    process, and is compatible with itself. Of a merging one as well: each plan names only
    windows that were given, each in one plan; the result of a plan is one of its own sources or
    new; plans are complete, depend on neither the order nor the kind of the collection, and
    windows that arrive one after the other end up where they would have together. A function
    that ``needs_sizes`` is asked through ``merge_sized``: at first each window has as many
    elements as open it, and those of a merged window are added up.

    The rules are tried on the windows of each timestamp with each value. Give timestamps at
    the edges, a millisecond before and after them, and before 1970; for a merging function
    also some that lie close together and some that do not.

    Args:
        window_fn: The window function.
        timestamps: Event times of elements.
        values: Values of elements, for functions that look at them.
        windows_contain_timestamps: False allows windows that do not contain the timestamp of
            their element. Beam allows it; panes of such windows are stamped with the end of
            the window or with a time outside it.
        any_arrival_order: False allows that windows which arrive one after the other, not in
            order of ``(start, end)``, end up elsewhere than all together, as is the case for
            ``Sessions(gap, max_duration=...)`` and ``Sessions(gap, max_elements=...)``.

    Raises:
        WindowFnAssertionError: A rule is broken.
        TestStreamError: There is nothing to check: no timestamps or values, no windows, or a
            merging function that merges none of them; or ``window_fn`` is none.
        TimeError: A timestamp cannot be read.

    Source: Beam Java, ``WindowFn``, ``MergingActiveWindowSet.checkInvariants``.
    """
    if not isinstance(window_fn, WindowFn):
        raise TestStreamError(
            f"check_window_fn needs a window function such as FixedWindows(10), got {window_fn!r}"
        )
    times = [instant_ms(timestamp, "check_window_fn timestamp") for timestamp in timestamps]
    elements = [(time, value) for value in values for time in times]
    if not elements:
        raise TestStreamError(
            "check_window_fn has nothing to check: give at least one timestamp and one value"
        )
    case = Case(window_fn, elements, windows_contain_timestamps, any_arrival_order)
    WindowFnAssertionError.refuse(window_fn, broken_rules(case), "rule", "window functions")
