"""Whole numbers of one key that become one number for each window, before anything else is done.

To add up numbers that lie in a column takes a hundredth of the time of adding them one by one.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints
from beamlike.model.bundle import Spans
from beamlike.model.column_bundle import RepeatedKey
from beamlike.model.combine import WholeNumbersFold
from beamlike.runtime.graph.stateful import Keyed

_REDUCE: Final = {"sum": np.add, "min": np.minimum, "max": np.maximum}
_LARGEST: Final = 2**62


def reduced(keyed: Keyed, fold: WholeNumbersFold) -> tuple[Keyed, Ints] | None:
    """One element of each window in place of all, at the greatest event time of these.

    Args:
        keyed: The elements, which have one key.
        fold: What their numbers become.

    Returns:
        The elements that are left, by window, and how many each stands for; None if some are not
        whole numbers of 64 bits, or their sum might not be one.
    """
    numbers = _whole_numbers(keyed.values)
    if numbers is None or not len(numbers) or not isinstance(keyed.keys, RepeatedKey):
        return None
    if fold == "sum" and max(-int(numbers.min()), int(numbers.max())) * len(numbers) >= _LARGEST:
        return None
    starts, ends = map(np.asarray, (keyed.windows.starts, keyed.windows.ends))
    times = np.asarray(keyed.timestamps, np.int64)
    order = np.lexsort((ends, starts))
    starts, ends, times, numbers = (column[order] for column in (starts, ends, times, numbers))
    changes = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
    first = np.concatenate(([0], np.flatnonzero(changes) + 1))
    counts = np.diff(first, append=len(order))
    values = _REDUCE[fold].reduceat(numbers, first).tolist()
    windows = Spans(starts[first].tolist(), ends[first].tolist())
    latest = np.maximum.reduceat(times, first).tolist()
    keys = RepeatedKey(keyed.keys.key, len(first))
    return Keyed(keys, values, latest, windows, keyed.declared), counts


def _whole_numbers(values: Sequence[Any]) -> Ints | None:
    if isinstance(values, pa.Array):
        return values.to_numpy() if pa.types.is_int64(values.type) else None
    if not {int}.issuperset(map(type, values)):
        return None
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def with_counts(lifted: pa.Table, windows: Spans, counts: Ints) -> pa.Table:
    """Combined elements of one key that stand for so many elements in each window."""
    of_window = dict(zip(zip(windows.starts, windows.ends, strict=True), counts, strict=True))
    spans = zip(*(lifted.column(side).to_pylist() for side in ("start", "end")), strict=True)
    numbers = pa.array([of_window[span] for span in spans], pa.int64())
    return lifted.set_column(lifted.column_names.index("count"), "count", numbers)
