"""Folds: combine functions (`beamlike.model.combine.CombineFn`) over many windows at once.

Values are in Arrow or in NumPy: over the same memory where the two have one form, else converted
without loss. NumPy has numbers and no nulls. Dates and times are the whole numbers of Arrow.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beamlike.errors import OutgrownError
from beamlike.machine.columnar.arrays import Array, Bools, Ints, Lists

Accumulators = tuple[Any, ...]
"""The columns of one fold, of any kind that `arrays` knows, a row for each window."""


class FunctionRaised(Exception):
    """A combine function raised while it folded many windows; ``__cause__`` is what it raised.

    Only the reference machine can find the element for which it raised.
    """


@attrs.frozen(eq=False)
class Values:
    """A column of values with its nulls.

    Args:
        data: A NumPy array, with anything in place of a null, and dates and times as the whole
            numbers of Arrow; or an Arrow array, with its own nulls; or `Lists`; or None where only
            ``present`` counts.
        present: Which values of a NumPy array are not null; None: all are, or ``data`` has nulls of
            its own. One fold always extracts values of the same form.
    """

    data: Any
    present: Bools | None = None

    @property
    def validity(self) -> Bools | None:
        """Which values are not null; None: all of them."""
        return present_in(self.data) if isinstance(self.data, pa.Array) else self.present

    @classmethod
    def of_objects(cls, values: Sequence[Any]) -> "Values":
        """Values of Python as such a column; None becomes null."""
        return cls(objects(values))

    def to_pylist(self) -> list[Any]:
        """The values as Python has them; dates and times may be whole numbers."""
        if isinstance(self.data, Lists):
            items = Values(self.data.items).to_pylist()
            ends = np.cumsum(self.data.lengths).tolist()
            return [items[a:b] for a, b in zip(self.data.first.tolist(), ends, strict=True)]
        if isinstance(self.data, pa.Array):
            return self.data.to_pylist()  # type: ignore[no-any-return]
        values: list[Any] = self.data.tolist()
        if self.present is None:
            return values
        return [
            value if is_present else None
            for value, is_present in zip(values, self.present, strict=True)
        ]


def objects(values: Sequence[Any]) -> Any:
    """A NumPy array of these objects; lists and tuples among them are not taken apart."""
    return np.fromiter(values, object, len(values))


class SavedForm(Protocol):
    """Accumulators as Arrow columns and back."""

    def types(self) -> dict[str, pa.DataType]: ...

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]: ...

    def decode(self, columns: Sequence[Any]) -> list[Any]: ...


@attrs.frozen(eq=False)
class ElementsByWindow:
    """Elements that lie window by window, in order of arrival.

    Args:
        inputs: Their values; None if the fold needs none.
        timestamps: Their event times (ticks).
        first: The place of the first element of each window. Each window has one or more.
        counts: How many elements each window has.
    """

    inputs: Values | None
    timestamps: Ints
    first: Ints
    counts: Ints

    @property
    def values(self) -> Values:
        """The values of a fold that has an input."""
        assert self.inputs is not None, "this fold has an input"
        return self.inputs

    def present_counts(self) -> Ints:
        """For each window how many of its values are not null."""
        present = self.values.validity
        if present is None:
            return self.counts
        return np.add.reduceat(present, self.first, dtype=np.int64)


class Fold(ABC):
    """One combine function over columns.

    Accumulators are values: no method changes its arguments. By default they are columns of
    numbers, which are saved as they are, and are the values of panes.
    """

    dtype: pa.DataType
    """The type of the values, or of what is saved of them."""

    def types(self) -> list[pa.DataType]:
        """The types of saved accumulators; by default one column of ``dtype``."""
        return [self.dtype]

    @abstractmethod
    def create(self, count: int) -> Accumulators:
        """``count`` accumulators without elements."""

    @abstractmethod
    def of(self, elements: ElementsByWindow) -> Accumulators:
        """The accumulators of windows with these elements."""

    def add(self, held: Accumulators, elements: ElementsByWindow) -> Accumulators:
        """The accumulators of windows after later elements were added."""
        return self.merge(held, self.of(elements))

    @abstractmethod
    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        """The accumulators merged window by window; those of ``later`` have later elements."""

    @abstractmethod
    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        """Runs of accumulators, each merged into one in their order; ``first`` is the row of the
        first part of each run."""

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        """Accumulators with a run of others merged into each, one after the other; see `merged`."""
        return self.merge(held, self.merged(parts, first))

    def extract(self, accumulators: Accumulators) -> Values:
        """The values of panes."""
        return Values(*accumulators)

    def values_of(self, columns: Sequence[pa.Array]) -> Values | None:
        """The values that `of` takes, from the columns of elements: one for each input."""
        (column,) = columns
        return Values(column) if numpy_type(column.type) is None else number_values(column)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        """The accumulators as columns of `types`, to be saved.

        Raises:
            OutgrownError: One outgrew its type.
        """
        pairs = zip(accumulators, self.types(), strict=True)
        return [array_of(column, None, dtype) for column, dtype in pairs]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        """The accumulators in columns that `save` made."""
        return tuple(map(numbers_of, columns))


def numpy_type(dtype: pa.DataType) -> np.dtype[Any] | None:
    """The NumPy type for values of an Arrow type; None if there is none."""
    number: np.dtype[Any] | None = None
    if pt.is_integer(dtype) or pt.is_floating(dtype):
        # Not `to_pandas_dtype`, which needs pandas.
        letter = "f" if pt.is_floating(dtype) else "u" if pt.is_unsigned_integer(dtype) else "i"
        number = np.dtype(f"{letter}{dtype.bit_width // 8}")
    elif pt.is_boolean(dtype):
        number = np.dtype(np.bool_)
    elif pt.is_date(dtype) or pt.is_time(dtype) or pt.is_timestamp(dtype) or pt.is_duration(dtype):
        number = np.dtype(f"i{dtype.bit_width // 8}")
    return number


def present_in(array: pa.Array) -> Bools | None:
    """Which values of an array are not null; None: all of them."""
    if not array.null_count:
        return None
    return pc.is_valid(array).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def numbers_of(array: pa.Array) -> Array:
    """The numbers of an array whose type NumPy has; anything in place of nulls."""
    dtype = numpy_type(array.type)
    if dtype == np.bool_:
        return pc.fill_null(array, False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    return _words_of(array, dtype)


def filled(data: Array, present: Bools | None, instead: Any) -> Array:
    """The same numbers with another one where there is none; None: all are there."""
    return data if present is None else np.where(present, data, instead)


def number_values(array: pa.Array) -> Values:
    """The numbers of an array, and which of them are not null."""
    return Values(numbers_of(array), present_in(array))


def _words_of(array: pa.Array, dtype: Any, per_value: int = 1) -> Array:
    """The buffer of an array's values as numbers, ``per_value`` of them for a value."""
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(0, dtype)
    skipped = array.offset * per_value * np.dtype(dtype).itemsize
    return np.frombuffer(buffer, dtype, len(array) * per_value, skipped)


def decimal_words(array: pa.Array) -> tuple[Ints, Ints]:
    """Decimals of 128 bits as lower words, which are unsigned, and upper words, which are
    signed."""
    pairs = _words_of(array, np.int64, 2).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def array_of(data: Array, present: Bools | None, dtype: pa.DataType) -> pa.Array:
    """Numbers as an array of an Arrow type with as many bytes for a value."""
    if pt.is_boolean(dtype):
        return pa.array(data, dtype, mask=None if present is None else ~present)
    bits = None
    if present is not None and not present.all():
        bits = pa.py_buffer(np.packbits(present, bitorder="little"))
    count = len(data) * data.dtype.itemsize * 8 // dtype.bit_width
    return pa.Array.from_buffers(dtype, count, [bits, pa.py_buffer(np.ascontiguousarray(data))])


def from_objects(
    values: Sequence[Any], dtype: pa.DataType, whose: str = "an aggregate"
) -> pa.Array:
    """Python's values as an array.

    Raises:
        OutgrownError: One does not fit the type.
    """
    try:
        return pa.array(values, dtype)
    except (OverflowError, pa.ArrowInvalid) as error:
        raise OutgrownError(whose, str(dtype), str(error)) from error


def fitted(array: pa.Array, dtype: pa.DataType, whose: str = "an aggregate") -> pa.Array:
    """The values of an array in another type.

    Raises:
        OutgrownError: One does not fit the type.
    """
    if array.type == dtype:
        return array
    try:
        return array.cast(dtype)
    except pa.ArrowInvalid:
        return from_objects(array.to_pylist(), dtype, whose)  # which says what is wrong


def list_array(lists: Lists, dtype: pa.DataType) -> pa.Array:
    """Lists of Arrow's values as an array of lists."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lists.lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), lists.items, type=dtype)


def values_array(values: Values, dtype: pa.DataType, name: str) -> pa.Array:
    """The values of panes as a column of their result type; ``name`` is the aggregate's.

    Raises:
        OutgrownError: A value outgrew the type.
    """
    data, whose = values.data, f"aggregate {name!r}"
    if isinstance(data, Lists):
        return list_array(data, dtype)
    if isinstance(data, pa.Array):
        return fitted(data, dtype, whose)
    if data.dtype == object or data.dtype != numpy_type(dtype):
        return from_objects(values.to_pylist(), dtype, whose)
    return array_of(data, values.present, dtype)


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """The values of a column in one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
