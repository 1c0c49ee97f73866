"""Accumulators as Arrow columns, so that state can be read without running user code.

Each built-in combine function has a layout of one or two typed columns. A function of a user's
own may declare the type of its accumulators; those of the others are saved as pickles in one binary
column. What was encoded comes back equal, or is refused.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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
"""Types whose values come back from Arrow as they were."""


class AccumulatorColumns(ABC):
    """How the accumulators of one combine function lie in a table."""

    pickles: ClassVar[bool] = False
    """Whether values have no Arrow type and are saved as pickles."""

    @abstractmethod
    def types(self) -> dict[str, pa.DataType]:
        """Suffix and type of each column; the suffix is added to the aggregate's name."""

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


@attrs.frozen
class ListColumn(AccumulatorColumns):
    """The accumulator is a tuple of plain values."""

    dtype: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"": pa.list_(self.dtype)}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [from_objects([list(items) for items in accumulators], pa.list_(self.dtype))]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [tuple(items) for items in columns[0].to_pylist()]


@attrs.frozen
class MeanColumns(AccumulatorColumns):
    """The accumulator is a sum and a count.

    Args:
        total: The type of the sum.
    """

    total: pa.DataType = attrs.field(factory=pa.float64)

    def types(self) -> dict[str, pa.DataType]:
        return {"_sum": self.total, "_count": pa.int64()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        totals = [total for total, _ in accumulators]
        if pa.types.is_floating(self.total):
            totals = list(map(float, totals))
        elif pa.types.is_decimal(self.total):
            totals = list(map(Decimal, totals))
        return [
            from_objects(totals, self.total),
            pa.array([count for _, count in accumulators], pa.int64()),
        ]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return list(zip(columns[0].to_pylist(), columns[1].to_pylist(), strict=True))


@attrs.frozen
class ExactColumns(AccumulatorColumns):
    """The accumulator is an exact sum of floats, see `beamlike.model.combine.corrected`."""

    def types(self) -> dict[str, pa.DataType]:
        return {"_sum": pa.binary(), "_counts": pa.list_(pa.int64())}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        totals = [
            total.to_bytes(total.bit_length() // 8 + 1, "little", signed=True)
            for total, *_ in accumulators
        ]
        counts = [counts for _, *counts in accumulators]
        return [pa.array(totals, pa.binary()), pa.array(counts, pa.list_(pa.int64()))]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        totals, counts = (column.to_pylist() for column in columns)
        return [
            (int.from_bytes(total, "little", signed=True), *count)
            for total, count in zip(totals, counts, strict=True)
        ]


@attrs.frozen
class StampedColumns(AccumulatorColumns):
    """The accumulator is a value with its event time (ms), or None: no time."""

    dtype: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"_value": self.dtype, "_ts": pa.int64()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [
            from_objects([stamped and stamped.value for stamped in accumulators], self.dtype),
            pa.array([stamped and stamped.timestamp for stamped in accumulators], pa.int64()),
        ]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        values, times = (column.to_pylist() for column in columns)
        return [
            None if time is None else Stamped(value, time)
            for value, time in zip(values, times, strict=True)
        ]


@attrs.frozen
class TuplesColumn(AccumulatorColumns):
    """The accumulator is a tuple of tuples, whose items have these names and types."""

    fields: Mapping[str, pa.DataType]

    def types(self) -> dict[str, pa.DataType]:
        return {"": pa.list_(pa.struct(list(self.fields.items())))}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        rows = [
            [dict(zip(self.fields, items, strict=True)) for items in accumulator]
            for accumulator in accumulators
        ]
        return [from_objects(rows, self.types()[""])]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [
            tuple(tuple(row[name] for name in self.fields) for row in rows)
            for rows in columns[0].to_pylist()
        ]


@attrs.frozen
class CheckedColumn(AccumulatorColumns):
    """The accumulator is what its user says: a value of a type that was declared for it.

    Args:
        dtype: The declared type.
        declared: The same as its user wrote it.
    """

    name: str
    dtype: pa.DataType
    declared: str

    def types(self) -> dict[str, pa.DataType]:
        return {"": self.dtype}

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
        """Refuse an accumulator that would not come back as it is.

        Raises:
            CombineError: With what it would come back as.
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

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return columns[0].to_pylist()  # type: ignore[no-any-return]


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
"""By the number of a type of Arrow, the class of the values that it gives back."""
_LONGS: Final = range(-(2**63), 2**63)


def _stays_as_it_is(value: Any, dtype: pa.DataType) -> bool:
    """Whether a value is plain and certain to come back from a type."""
    cls = type(value)
    if _PLAIN.get(dtype.id) is not cls:
        return False
    return value in _LONGS if cls is int else cls is not str or value.isascii()


def _holds(back: Any, value: Any) -> bool:
    """Whether nothing was lost. Arrow cuts fractions, drops fields and takes texts apart.

    Not lost: the form of a container, the zone of an instant, digits beyond those of a float.
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
    """Any Python value, pickled: for user-made functions of no declared type."""

    pickles = True

    def types(self) -> dict[str, pa.DataType]:
        return {"_pickled": pa.binary()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [pa.array(list(map(_pickled, accumulators)), pa.binary())]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [cloudpickle.loads(blob) for blob in columns[0].to_pylist()]


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

    None if it is a function of a user's own, or makes numbers of this type, which has none.
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
