"""Between Arrow and NumPy, over the same memory where they agree, and exactly where they do not.

NumPy has numbers and no nulls. Dates and times are the whole numbers that Arrow keeps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beamlike.errors import OutgrownError
from beamlike.machine.columnar.arrays import Array, Bools, Ints, Lists
from beamlike.machine.columnar.folds.base import Values


def numpy_type(kind: pa.DataType) -> np.dtype[Any] | None:
    """How NumPy holds values of a type; None if it does not."""
    number: np.dtype[Any] | None = None
    if pt.is_integer(kind) or pt.is_floating(kind):
        # Not `to_pandas_dtype`, which needs pandas.
        letter = "f" if pt.is_floating(kind) else "u" if pt.is_unsigned_integer(kind) else "i"
        number = np.dtype(f"{letter}{kind.bit_width // 8}")
    elif pt.is_boolean(kind):
        number = np.dtype(np.bool_)
    elif pt.is_date(kind) or pt.is_time(kind) or pt.is_timestamp(kind) or pt.is_duration(kind):
        number = np.dtype(f"i{kind.bit_width // 8}")
    return number


def present_in(array: pa.Array) -> Bools | None:
    """Which are not null; None: all of them."""
    if not array.null_count:
        return None
    return pc.is_valid(array).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def numbers_of(array: pa.Array) -> Array:
    """The numbers of an array of a type that NumPy has; anything where it is null."""
    kind = numpy_type(array.type)
    if kind == np.bool_:
        return pc.fill_null(array, False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    return _words_of(array, kind)


def number_values(array: pa.Array) -> Values:
    """The numbers of an array, and which of them are not null."""
    return Values(numbers_of(array), present_in(array))


def _words_of(array: pa.Array, kind: Any, each: int = 1) -> Array:
    """The buffer of an array's values as numbers, ``each`` of them for a value."""
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(0, kind)
    skipped = array.offset * each * np.dtype(kind).itemsize
    return np.frombuffer(buffer, kind, len(array) * each, skipped)


def decimal_words(array: pa.Array) -> tuple[Ints, Ints]:
    """The lower words of decimals of 128 bits, which have no sign, and the upper, which do."""
    words = _words_of(array, np.int64, 2).reshape(-1, 2)
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])


def array_of(data: Array, present: Bools | None, kind: pa.DataType) -> pa.Array:
    """Numbers as an array of a type that has as many bytes for each."""
    if pt.is_boolean(kind):
        return pa.array(data, kind, mask=None if present is None else ~present)
    bits = None
    if present is not None and not present.all():
        bits = pa.py_buffer(np.packbits(present, bitorder="little"))
    count = len(data) * data.dtype.itemsize * 8 // kind.bit_width
    return pa.Array.from_buffers(kind, count, [bits, pa.py_buffer(np.ascontiguousarray(data))])


def from_objects(values: Sequence[Any], kind: pa.DataType, whose: str = "an aggregate") -> pa.Array:
    """Python's values as an array.

    Raises:
        OutgrownError: One does not fit the type.
    """
    try:
        return pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid) as error:
        raise OutgrownError(whose, str(kind), str(error)) from error


def fitted(array: pa.Array, kind: pa.DataType, whose: str = "an aggregate") -> pa.Array:
    """The same values as another type.

    Raises:
        OutgrownError: One does not fit the type.
    """
    if array.type == kind:
        return array
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        return from_objects(array.to_pylist(), kind, whose)  # which says what is wrong


def list_array(lists: Lists, kind: pa.DataType) -> pa.Array:
    """Lists of Arrow's values as an array of lists."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lists.lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), lists.items, type=kind)


def values_array(values: Values, kind: pa.DataType, name: str) -> pa.Array:
    """The values of panes as a column of their result type.

    Args:
        values: What a fold extracted.
        kind: The result type.
        name: The aggregate's, for the message.

    Raises:
        OutgrownError: A value outgrew the type.
    """
    data, whose = values.data, f"aggregate {name!r}"
    if isinstance(data, Lists):
        return list_array(data, kind)
    if isinstance(data, pa.Array):
        return fitted(data, kind, whose)
    if data.dtype == object or data.dtype != numpy_type(kind):
        return from_objects(values.to_pylist(), kind, whose)
    return array_of(data, values.present, kind)


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """The values of a column in one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
