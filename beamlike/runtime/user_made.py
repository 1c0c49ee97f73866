"""Combine functions of a user's own, between the columns of a DataFrame."""

from collections.abc import Sequence
from typing import Any

import attrs
import pyarrow as pa

from beamlike.model.combine import CombineFn
from beamlike.runtime.columns import converted


@attrs.frozen
class UserMade(CombineFn):
    """A function whose results have a declared type, and come out as that type holds them.

    A pane that is withdrawn later is compared with the pane that replaces it; so a result is
    given its final form at once, a list where the function returned a tuple.

    Args:
        name: The aggregate's, for messages.
        fn: The user's function.
        result: The type of its results.
        returns: The same as its user wrote it.
        accumulator: The type of its accumulators as its user wrote it; None: they are pickled.
    """

    name: str
    fn: CombineFn
    result: pa.DataType
    returns: str
    accumulator: str | None

    def create(self) -> Any:
        return self.fn.create()

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.fn.add(accumulator, values, timestamps)

    def merge(self, first: Any, second: Any) -> Any:
        return self.fn.merge(first, second)

    def compact(self, accumulator: Any) -> Any:
        return self.fn.compact(accumulator)

    @property
    def evicts(self) -> bool:
        return self.fn.evicts

    def after_pane(self, accumulator: Any) -> Any:
        return self.fn.after_pane(accumulator)

    def extract(self, accumulator: Any) -> Any:
        """The result as its type holds it.

        Raises:
            CombineError: The result does not fit.
        """
        result = self.fn.extract(accumulator)
        what = f"aggregate {self.name!r}: {self.fn} returned"
        return converted(result, self.result, what, self.returns)

    def __str__(self) -> str:
        # What saved state depends on: without a declared type it is a pickle.
        return f"{self.fn} (accumulator {self.accumulator or 'pickled'})"
