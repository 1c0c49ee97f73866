"""Columns of Arrow as values of Python, made when they are needed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from beamlike.model.bundle import Bundle, Spans
from beamlike.model.column_bundle import ColumnBundle, PairsColumn, RepeatedKey, listed

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ArrowColumn:
    """A column of Arrow. Instants are those of ``datetime``."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def tolist(self) -> list[Any]:
        return python_values(self.array)


def python_values(column: pa.Array) -> list[Any]:
    """The values of a column as Python's. Arrow takes twenty times as long for instants."""
    dtype = column.type
    if not pa.types.is_timestamp(dtype) or dtype.unit != "us" or dtype.tz is None:
        values: list[Any] = column.to_pylist()
        return values
    since_epoch = column.cast(pa.int64()).fill_null(0).to_numpy().astype("timedelta64[us]")
    instants = [_EPOCH + length for length in since_epoch.tolist()]
    if not column.null_count:
        return instants
    valid = column.is_valid().to_pylist()
    return [instant if known else None for instant, known in zip(instants, valid, strict=True)]


def one_key_of(bundle: Bundle) -> RepeatedKey | None:
    """The key of pairs that are known to have the same one; None if they may have several."""
    key, count = None, 0
    for part in bundle.parts():
        pairs = part.column if isinstance(part, ColumnBundle) else None
        if not isinstance(pairs, PairsColumn) or (count and pairs.key is not key):
            return None
        key, count = pairs.key, count + len(pairs)
    return RepeatedKey(key, count)


def values_of_pairs(bundle: Bundle, dtype: pa.DataType) -> Sequence[Any]:
    """The values of pairs of one key: an array, where they come in columns of this type."""
    columns = [part.column.of for part in bundle.parts()]  # type: ignore[attr-defined]
    arrays = [column.array for column in columns if isinstance(column, ArrowColumn)]
    if arrays and len(arrays) == len(columns) and all(_is_of(array, dtype) for array in arrays):
        values: Sequence[Any] = pa.concat_arrays([array.cast(dtype) for array in arrays])
        return values
    return [value for column in columns for value in listed(column)]


def _is_of(array: pa.Array, dtype: pa.DataType) -> bool:
    """Whether all values of a column are those of a type, without rounding."""
    if array.null_count:
        return False
    held = array.type
    return bool(
        held == dtype
        or (pa.types.is_integer(held) and held.bit_width < 64 and dtype == pa.int64())
        or (pa.types.is_float32(held) and dtype == pa.float64())
    )


def times_and_windows(bundle: Bundle) -> tuple[Any, Spans]:
    """The event times (ticks) of elements that are in one window each, and these windows."""
    parts = bundle.parts()
    spans = [_bounds(part) for part in parts]
    times = [part.times if isinstance(part, ColumnBundle) else part.timestamps for part in parts]
    starts, ends = ([pair[side] for pair in spans] for side in (0, 1))
    moments, first, last = (_joined(arrays) for arrays in (times, starts, ends))
    return moments, Spans(first, last)


def _joined(arrays: Sequence[Any]) -> Any:
    return (
        np.concatenate([np.asarray(array, np.int64) for array in arrays])
        if arrays
        else np.arange(0)
    )


def _bounds(part: Bundle) -> tuple[Any, Any]:
    if not isinstance(part, ColumnBundle):
        assert isinstance(part.windows, Spans), "each is in one window"
        return part.windows.starts, part.windows.ends
    if isinstance(part.window, tuple):
        return part.window
    shape = len(part)
    return np.full(shape, part.window.start), np.full(shape, part.window.end)
