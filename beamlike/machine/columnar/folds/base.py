"""The contract of folds: what `beamlike.model.combine.CombineFn` is, for many windows at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Bools, Ints, Lists

Accumulators = tuple[Any, ...]
"""The columns of one fold, of any kind that `arrays` knows, a row for each window."""


class FunctionRaised(Exception):
    """A combine function raised while it folded many windows; its ``__cause__`` is what it raised.

    For which element, only a machine that takes one key after the other can find.
    """


@attrs.frozen(eq=False)
class Values:
    """A column of values with its nulls.

    Args:
        data: A NumPy array, where the data under a null is anything, and dates and times are the
            whole numbers that Arrow has for them; an Arrow array, with nulls of its own; `Lists`;
            None where only ``present`` counts.
        present: Which of a NumPy array's values are not null; None: all of them, or they say so
            themselves. What one fold extracts is always the one or always the other.
    """

    data: Any
    present: Bools | None = None

    @classmethod
    def of_objects(cls, values: Sequence[Any]) -> "Values":
        """Any values of Python; None is null."""
        return cls(objects(values))

    def to_pylist(self) -> list[Any]:
        """The values as Python has them; dates and times may be whole numbers."""
        if isinstance(self.data, Lists):
            items = Values(self.data.items).to_pylist()
            ends = np.cumsum(self.data.lengths).tolist()
            return [items[a:b] for a, b in zip(self.data.first.tolist(), ends, strict=True)]
        if isinstance(self.data, pa.Array):
            return self.data.to_pylist()  # type: ignore[no-any-return]
        found: list[Any] = self.data.tolist()
        if self.present is None:
            return found
        return [it if there else None for it, there in zip(found, self.present, strict=True)]


def objects(values: Sequence[Any]) -> Any:
    """A NumPy array with these as they are; lists and tuples among them are not taken apart."""
    return np.fromiter(values, object, len(values))


class SavedForm(Protocol):
    """Accumulators as Arrow columns and back."""

    def types(self) -> dict[str, pa.DataType]: ...

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]: ...

    def decode(self, columns: Sequence[Any]) -> list[Any]: ...


class Fold(ABC):
    """One combine function over columns.

    Accumulators are values: no method changes its arguments.
    """

    @abstractmethod
    def types(self) -> list[pa.DataType]:
        """The types of saved accumulators."""

    @abstractmethod
    def create(self, count: int) -> Accumulators:
        """So many accumulators without elements."""

    @abstractmethod
    def of(self, values: Values | None, at: Ints, first: Ints, counts: Ints) -> Accumulators:
        """The accumulators of elements that lie window by window, in order of arrival.

        Args:
            values: The elements' values; None if the fold needs none.
            first: For each window its first element. Each has at least one.
            counts: For each window how many it has.
        """

    def add(
        self, held: Accumulators, values: Values | None, at: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        """The accumulators of windows with elements added, which came later; see `of`."""
        return self.both(held, self.of(values, at, first, counts))

    @abstractmethod
    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        """Merged window by window; the elements of ``other`` count as later."""

    @abstractmethod
    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        """Accumulators that lie next to each other merged into one, in their order.

        ``first`` is the row of the first part of each result.
        """

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        """Accumulators with others merged into each, one after the other; see `merged`."""
        return self.both(held, self.merged(parts, first))

    @abstractmethod
    def extract(self, accumulators: Accumulators) -> Values:
        """The values of panes."""

    def values_of(self, columns: Sequence[pa.Array]) -> Values | None:
        """What `of` is given for elements that have these columns, one for each input."""
        return None

    @abstractmethod
    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        """The accumulators as they are saved, of `types`.

        Raises:
            OutgrownError: One outgrew its type.
        """

    @abstractmethod
    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        """The accumulators that were saved so."""
