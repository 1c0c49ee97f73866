"""Accumulators as Arrow columns, so that state can be read without running user code.

Each built-in combine function has a layout of one or two typed columns. A function or a
value that Arrow has no type for rests in one binary column, written by the coder that the
plan declares.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import cloudpickle
import pyarrow as pa

from beamlike.errors import InputRowError

__all__ = ["AccumulatorColumns", "ListColumn", "MeanColumns", "PickledColumn", "PlainColumn"]


class AccumulatorColumns(ABC):
    """How the accumulators of one combine function lie in a table."""

    pickles: ClassVar[bool] = False
    """Whether values have no Arrow type and rest as pickles."""

    @abstractmethod
    def types(self) -> dict[str, pa.DataType]:
        """Suffix and type of each column; the suffix is added to the aggregate's name."""

    @abstractmethod
    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        """One array for each column."""

    @abstractmethod
    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        """The accumulators of all rows."""


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid) as error:
        raise InputRowError(
            f"an aggregate outgrew its type {kind}: {error}; cast its input column to "
            "decimal(38, 0) or double before the call"
        ) from error


@attrs.frozen
class PlainColumn(AccumulatorColumns):
    """The accumulator is a plain value: counts, sums, least and greatest values."""

    kind: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"": self.kind}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [_array(accumulators, self.kind)]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return columns[0].to_pylist()  # type: ignore[no-any-return]


@attrs.frozen
class ListColumn(AccumulatorColumns):
    """The accumulator is a tuple of plain values."""

    kind: pa.DataType

    def types(self) -> dict[str, pa.DataType]:
        return {"": pa.list_(self.kind)}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [_array([list(items) for items in accumulators], pa.list_(self.kind))]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [tuple(items) for items in columns[0].to_pylist()]


@attrs.frozen
class MeanColumns(AccumulatorColumns):
    """The accumulator is a sum and a count."""

    def types(self) -> dict[str, pa.DataType]:
        return {"_sum": pa.float64(), "_count": pa.int64()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [
            pa.array([float(total) for total, _ in accumulators], pa.float64()),
            pa.array([count for _, count in accumulators], pa.int64()),
        ]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return list(zip(columns[0].to_pylist(), columns[1].to_pylist(), strict=True))


@attrs.frozen
class PickledColumn(AccumulatorColumns):
    """Any Python value, pickled: for tests and user-made functions only."""

    pickles = True

    def types(self) -> dict[str, pa.DataType]:
        return {"_pickled": pa.binary()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [pa.array([cloudpickle.dumps(value) for value in accumulators], pa.binary())]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return [cloudpickle.loads(blob) for blob in columns[0].to_pylist()]
