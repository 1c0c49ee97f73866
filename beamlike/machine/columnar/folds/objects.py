"""Combine functions that work on Python's values, window by window."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Array, Ints
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    FunctionRaised,
    SavedForm,
    Values,
    objects,
)
from beamlike.model.combine import CombineFn
from beamlike.model.combine.isolated import isolated
from beamlike.safe_text import USER_RAISED


class Objects(Fold):
    """Any combine function, over any values. It is called as the reference machine calls it.

    Args:
        fn: The function.
        saved_form: How its accumulators are saved; None: they are never saved.
    """

    def __init__(self, fn: CombineFn, saved_form: SavedForm | None = None) -> None:
        self.fn = isolated(fn)
        self.saved_form = saved_form

    def types(self) -> list[pa.DataType]:
        return list(self._form.types().values())

    def create(self, count: int) -> Accumulators:
        with _raising():
            return (objects([self.fn.create() for _ in range(count)]),)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return self.add(self.create(len(elements.first)), elements)

    def add(self, held: Accumulators, elements: ElementsByWindow) -> Accumulators:
        fn, times, inputs = self.fn, elements.timestamps.tolist(), elements.inputs
        values = [None] * len(times) if inputs is None else inputs.to_pylist()
        first, beyond = elements.first, elements.first + elements.counts
        spans = zip(held[0], first.tolist(), beyond.tolist(), strict=True)
        with _raising():
            added = [
                fn.compact(fn.add(accumulator, values[begin:end], times[begin:end]))
                for accumulator, begin, end in spans
            ]
        return (objects(added),)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        fn = self.fn
        pairs = zip(earlier[0], later[0], strict=True)
        with _raising():
            return (objects([fn.compact(fn.merge(first, second)) for first, second in pairs]),)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        column: Array = parts[0]
        accumulators = column[first]
        ends = np.append(first[1:], len(column))
        with _raising():
            for row in np.nonzero(ends - first > 1)[0].tolist():
                accumulator = accumulators[row]
                for part in column[first[row] + 1 : ends[row]]:
                    accumulator = self.fn.merge(accumulator, part)
                accumulators[row] = self.fn.compact(accumulator)
        return (accumulators,)

    def extract(self, accumulators: Accumulators) -> Values:
        with _raising():
            return Values.of_objects(
                [self.fn.extract(accumulator) for accumulator in accumulators[0]]
            )

    def values_of(self, columns: Sequence[pa.Array]) -> Values | None:
        if not columns:
            return None
        lists = [column.to_pylist() for column in columns]
        return Values.of_objects(lists[0] if len(lists) == 1 else list(zip(*lists, strict=True)))

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        columns: list[pa.Array] = self._form.encode(accumulators[0].tolist())
        return columns

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        return (objects(self._form.decode(columns)),)

    @property
    def _form(self) -> Any:
        assert self.saved_form is not None, f"accumulators of {self.fn} have no saved form"
        return self.saved_form


@contextmanager
def _raising() -> Iterator[None]:
    """Turns what a function raises inside the block into `FunctionRaised`."""
    try:
        yield
    except USER_RAISED as cause:
        raise FunctionRaised from cause
