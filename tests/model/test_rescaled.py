"""Window functions of users where a query counts finer than they do."""

from collections.abc import Iterable
from typing import Any

from beamlike.machine.assigning import assigned
from beamlike.model.rescaled import reading, window_fn_in
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import IntervalWindow


class ByFirst(WindowFn):
    """A window as long as the first number of the value, which it takes out."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        return (IntervalWindow(timestamp, timestamp + value.pop(0)),)


class ByFirstMerging(ByFirst, MergingWindowFn):
    """The same windows, of which all of a key become one."""

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        sources = tuple(windows)
        start, end = min(window.start for window in sources), max(window.end for window in sources)
        return (Merge(sources, IntervalWindow(start, end)),)


def test_a_window_function_that_changes_its_value_changes_a_copy() -> None:
    for window_fn in (ByFirst(), ByFirstMerging()):
        value = [3, 4]
        finer = window_fn_in(window_fn, MICROSECONDS)
        assert assigned(finer, 5_999, value) == (IntervalWindow(5_000, 8_000),)
        assert value == [3, 4]


def test_windows_of_milliseconds_merge_in_milliseconds() -> None:
    finer = window_fn_in(ByFirstMerging(), MICROSECONDS)
    assert isinstance(finer, MergingWindowFn)
    windows = (IntervalWindow(5_000, 8_000), IntervalWindow(1_000, 2_000))
    assert finer.merge(windows) == (Merge(windows, IntervalWindow(1_000, 8_000)),)


def test_a_window_function_that_reads_columns_reads_them_in_any_resolution() -> None:
    over_columns = reading(ByFirst(), lambda columns: columns[1])
    finer = window_fn_in(over_columns, MICROSECONDS)
    row = ("ann", [3, 4])
    assert finer.assign(5_999, row) == (IntervalWindow(5_000, 8_000),)
    assert window_fn_in(finer, MILLISECONDS) == over_columns
    assert row == ("ann", [3, 4])
