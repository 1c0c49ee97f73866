"""Which rows end their session, for the columnar machine, which does not look at values itself."""

from typing import TypeGuard

import numpy as np
import pyarrow as pa

from beamlike.errors import UserFunctionError, WindowError
from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints
from beamlike.machine.columnar.folds.buffers import one_chunk
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.plan import Plan
from beamlike.runtime.values import Picked, read_by
from beamlike.safe_text import USER_RAISED, safe_repr


def in_columns(strategy: WindowingStrategy) -> WindowingStrategy:
    """The strategy with sessions as their author wrote them, where it is known beside the machine
    which elements end them."""
    window_fn, read = read_by(strategy.window_fn)
    if read is None or not _ends(window_fn):
        return strategy
    return strategy.configured(window_fn)


def ends_in(plan: Plan, table: pa.Table, start: Ints | None) -> Bools | None:
    """Which rows end their session; None if none can.

    Args:
        plan: Whose rows they are.
        table: The rows, see `beamlike.runtime.arrivals`.
        start: Where the window begins (ms) in which each row comes, `NOTHING` for one that comes in
            none: only these are looked at. None: none comes in a window.

    Raises:
        WindowError: A function of the user's raised, or said neither True nor False.
    """
    window_fn, read = read_by(plan.strategy.window_fn)
    if not _ends(window_fn) or plan.strategy.already_merged:
        return None
    asked = np.ones(table.num_rows, np.bool_) if start is None else start == NOTHING
    is_end = np.zeros(table.num_rows, np.bool_)
    if not asked.any():
        return is_end
    columns = [table.column(f"value_{name}").filter(pa.array(asked)) for name in plan.values]
    if isinstance(read, Picked) and len(read.at) == 1:
        is_end[asked] = _of_column(window_fn, columns[read.at[0]])
        return is_end
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    values = plan.operation.elements(rows)
    is_end[asked] = [_is_end(window_fn, value if read is None else read(value)) for value in values]
    return is_end


def _ends(window_fn: WindowFn) -> TypeGuard[Sessions]:
    return type(window_fn) is Sessions and window_fn.ends_with is not None


def _of_column(window_fn: Sessions, column: pa.ChunkedArray) -> Bools:
    """Each different value is asked for once, where Arrow can compare values of its type."""
    try:
        coded = one_chunk(column).dictionary_encode()
    except pa.ArrowNotImplementedError:
        return np.array([_is_end(window_fn, value) for value in column.to_pylist()], np.bool_)
    known = coded.dictionary.to_pylist()
    if coded.null_count:  # it has no code, and is asked for as None, last
        known.append(None)
    of_each = np.array([_is_end(window_fn, value) for value in known], np.bool_)
    codes = coded.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
    found: Bools = of_each[codes]
    return found


def _is_end(window_fn: Sessions, value: object) -> bool:
    try:
        return window_fn.is_end(value)
    except (WindowError, UserFunctionError):
        raise
    except USER_RAISED as cause:
        # The reference machine then finds for which elements it raises.
        raise WindowError(f"{window_fn} raised {safe_repr(cause)}") from cause
