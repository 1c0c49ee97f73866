"""Accumulators as Arrow columns, so that state can be read without running user code.

Each built-in combine function has a layout of one or two typed columns. A user's own function may
declare the type of its accumulators; other accumulators are saved as pickles in one binary column.
An encoded value comes back equal, or it is refused.
"""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar, Final

import attrs
import cloudpickle
import pyarrow as pa

from beamlike.errors import CombineError
from beamlike.machine.columnar.folds.base import from_objects
from beamlike.machine.equality import is_same
from beamlike.model import combine
from beamlike.model.combine import CombineFn, Stamped
from beamlike.safe_text import USER_RAISED, problem_of, safe_repr

ARROW: Final[Mapping[type, pa.DataType]] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
}
"""Types of Python whose values come back from Arrow unchanged."""


class AccumulatorColumns(ABC):
    """How the accumulators of one combine function lie in a table."""

    pickles: ClassVar[bool] = False
    """Whether values have no Arrow type and are saved as pickles."""

    @abstractmethod
    def types(self) -> dict[str, pa.DataType]:
        """The suffix and the type of each column. The suffix is added to the aggregate's name."""

    @abstractmethod
    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        """One array for each column."""

    @abstractmethod
    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        """The accumulators of all rows."""


@attrs.frozen
class PlainColumn(AccumulatorColumns):
    """The accumulator is a plain value: counts, sums, least and greatest values."""

    dtype: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"": self.dtype}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [from_objects(accumulators, self.dtype)]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return columns[0].to_pylist()  # type: ignore[no-any-return]


class PlainParts(AccumulatorColumns):
    """The accumulator is made of plain values, one for each column."""

    @abstractmethod
    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        """The values of an accumulator."""

    @abstractmethod
    def made_of(self, parts: tuple[Any, ...]) -> Any:
        """The accumulator that has these values."""

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        rows = list(map(self.parts_of, accumulators))
        return [
            from_objects([row[index] for row in rows], dtype)
            for index, dtype in enumerate(self.types().values())
        ]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return list(map(self.made_of, rows))


@attrs.frozen
class ListColumn(PlainParts):
    """The accumulator is a tuple of plain values."""

    dtype: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"": pa.list_(self.dtype)}

    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        return (list(accumulator),)

    def made_of(self, parts: tuple[Any, ...]) -> Any:
        return tuple(parts[0])


_SUMS: Final[Mapping[int, Callable[[Any], Any]]] = {
    pa.float64().id: float,
    pa.decimal128(1).id: Decimal,
}
"""By the number of a type of Arrow, what makes sums of it: those of nothing are whole numbers."""


@attrs.frozen
class MeanColumns(PlainParts):
    """The accumulator is a sum and a count.

    Args:
        total: The type of the sum.
    """

    total: pa.DataType = attrs.field(factory=pa.float64)

    def types(self) -> dict[str, pa.DataType]:
        return {"_sum": self.total, "_count": pa.int64()}

    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        total, count = accumulator
        cls = _SUMS.get(self.total.id)
        return total if cls is None else cls(total), count

    def made_of(self, parts: tuple[Any, ...]) -> Any:
        return parts


@attrs.frozen
class ExactColumns(PlainParts):
    """The accumulator is an exact sum of floats, see `beamlike.model.combine.corrected`."""

    def types(self) -> dict[str, pa.DataType]:
        return {"_sum": pa.binary(), "_counts": pa.list_(pa.int64())}

    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        total, *counts = accumulator
        return total.to_bytes(total.bit_length() // 8 + 1, "little", signed=True), counts

    def made_of(self, parts: tuple[Any, ...]) -> Any:
        total, counts = parts
        return int.from_bytes(total, "little", signed=True), *counts


@attrs.frozen
class StampedColumns(PlainParts):
    """The accumulator is a value with its event time (ms), or None: no time."""

    dtype: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"_value": self.dtype, "_ts": pa.int64()}

    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        return (None, None) if accumulator is None else (accumulator.value, accumulator.timestamp)

    def made_of(self, parts: tuple[Any, ...]) -> Any:
        value, time = parts
        return None if time is None else Stamped(value, time)


@attrs.frozen
class TuplesColumn(PlainParts):
    """The accumulator is a tuple of tuples, whose items have these names and types."""

    fields: Mapping[str, pa.DataType]

    def types(self) -> dict[str, pa.DataType]:
        return {"": pa.list_(pa.struct(list(self.fields.items())))}

    def parts_of(self, accumulator: Any) -> tuple[Any, ...]:
        return ([dict(zip(self.fields, items, strict=True)) for items in accumulator],)

    def made_of(self, parts: tuple[Any, ...]) -> Any:
        return tuple(tuple(row[name] for name in self.fields) for row in parts[0])


@attrs.frozen
class CheckedColumn(PlainColumn):
    """The accumulator is what its user says: a value of a type that was declared for it.

    Args:
        name: That of the aggregate.
        dtype: The declared type.
        declared: The declared type as the user wrote it.
    """

    name: str
    dtype: pa.DataType
    declared: str

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        # All at once: it is faster, and nearly always right.
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            array = pa.array(accumulators, self.dtype)
            if is_same(array.to_pylist(), list(accumulators)):
                return [array]
        for accumulator in accumulators:
            self.check(accumulator)
        return [pa.array(accumulators, self.dtype)]

    def check(self, accumulator: Any) -> None:
        """Refuse an accumulator that would come back changed.

        Raises:
            CombineError: The text says what would come back.
        """
        back = converted(
            accumulator, self.dtype, f"aggregate {self.name!r}: the accumulator", self.declared
        )
        if not is_same(back, accumulator):
            raise CombineError(
                f"aggregate {self.name!r}: the accumulator {accumulator!r} comes back from "
                f"accumulator={self.declared!r} as {back!r}; let the function use that form (a "
                "list for an array, a dict for a struct), or leave the accumulator's type out to "
                "have it pickled"
            )


def converted(value: Any, dtype: pa.DataType, subject: str, declared: str) -> Any:
    """A value as it comes back from a declared type.

    Raises:
        CombineError: It does not fit.
    """
    if _stays_as_it_is(value, dtype):
        return value  # most do, and Arrow takes longer than all else that is done with a row
    try:
        back = pa.array([value], dtype).to_pylist()[0]
        lost = "" if _holds(back, value) else f"it would become {back!r}"
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        back, lost = None, str(error)
    if lost:
        raise CombineError(
            f"{subject} {value!r}, which does not fit the declared type {declared!r}: {lost}; "
            "declare the type that it has, or let the function return a value of that type"
        )
    return back


_PLAIN: Final = {dtype.id: cls for cls, dtype in ARROW.items()}
"""The class of the values that come back, by the id of their Arrow type."""
_LONGS: Final = range(-(2**63), 2**63)


def _stays_as_it_is(value: Any, dtype: pa.DataType) -> bool:
    """Whether a value is plain and certain to come back unchanged from a type."""
    cls = type(value)
    if _PLAIN.get(dtype.id) is not cls:
        return False
    return value in _LONGS if cls is int else cls is not str or value.isascii()


def _holds(back: Any, value: Any) -> bool:
    """Whether a value came back without loss. Arrow cuts off fractions, drops fields, and splits
    texts into letters.

    These are not losses: another class of container, another zone of an instant, and digits beyond
    those of a float.
    """
    match back:
        case list():
            items = list(value.items()) if isinstance(value, Mapping) else value
            return not isinstance(items, str) and all(map(_holds, back, items))
        case dict() if isinstance(value, Mapping):
            fields = value.keys() <= back.keys()
            return fields and all(_holds(back[name], value.get(name)) for name in back)
        case dict() | tuple():
            items = back.values() if isinstance(back, dict) else back
            return len(items) == len(value) and all(map(_holds, items, value))
        case None | bool() | int() | str():
            return bool(back == value)
        case datetime():
            return True
        case date():
            return not isinstance(value, datetime)
    return True


@attrs.frozen
class PickledColumn(AccumulatorColumns):
    """Any Python value, pickled: for user-made functions without a declared type."""

    pickles = True

    def types(self) -> dict[str, pa.DataType]:
        return {"_pickled": pa.binary()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [pa.array(self.dumps(accumulators), pa.binary())]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return list(map(self.loads, columns[0].to_pylist()))

    def dumps(self, accumulators: Sequence[Any]) -> list[bytes]:
        """The accumulators as bytes, each for itself.

        Raises:
            CombineError: One cannot be pickled.
        """
        return list(map(_pickled, accumulators))

    def loads(self, blob: bytes) -> Any:
        """The accumulator in these bytes."""
        return pickle.loads(blob)


def _pickled(accumulator: Any) -> bytes:
    try:
        pickled: bytes = cloudpickle.dumps(accumulator)
    except USER_RAISED as error:
        raise CombineError(
            f"the accumulator {safe_repr(accumulator)} cannot be pickled, and has to wait for the "
            f"next micro-batch: {problem_of(error)}; let the function keep plain values"
        ) from error
    return pickled


_NUMBER: Final = ARROW[int]


def as_column(values: Sequence[Any]) -> pa.Array | None:
    """The values as an Arrow array, if they are all of one plain type and fit; else None."""
    classes = set(map(type, values))
    dtype = ARROW.get(classes.pop()) if len(classes) == 1 else None
    if dtype is None:
        return None
    try:
        return pa.array(values, dtype)
    except (pa.ArrowException, OverflowError, UnicodeError):  # too large, or no Unicode
        return None


def columns_of(fn: CombineFn, dtype: pa.DataType) -> tuple[AccumulatorColumns, pa.DataType] | None:
    """How a function's accumulators are saved over values of a type, and the type of its results.

    None if the function is a user's own, or if it computes numbers of values that are not numbers.
    """
    is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
    match fn:
        case combine.Count():
            return PlainColumn(_NUMBER), _NUMBER
        case combine.Collect() | combine.CollectSet():
            return ListColumn(dtype), pa.list_(dtype)
        case combine.CountDistinct():
            return ListColumn(dtype), _NUMBER
        case combine.Sum() if is_number:
            return PlainColumn(dtype), dtype
        case combine.Mean() if is_number:
            return MeanColumns(), pa.float64()
        case combine.Min() | combine.Max():
            return PlainColumn(dtype), dtype
        case combine.First() | combine.Latest():
            return StampedColumns(dtype), dtype
    return None
