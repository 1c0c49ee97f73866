"""Combine functions that refuse what could not be saved or emitted, at the element that causes it.

An accumulator is saved in columns of declared types, and a result becomes a column. Machines first
combine all elements at once; when the result is saved it shows whether everything fits. If
something does not, the step is done once more with these functions. The reference machine treats
their refusal as a failure of a user's function: see `beamlike.machine.failures`.
"""

from decimal import Decimal
from typing import Any

import attrs
import pyarrow as pa

from beamlike.errors import OutgrownError
from beamlike.machine.columnar.folds.base import from_objects
from beamlike.model.combine import CombineFn
from beamlike.model.combine.base import Around
from beamlike.runtime.accumulator_columns import AccumulatorColumns, converted
from beamlike.safe_text import short_repr


@attrs.frozen
class Checked(Around):
    """A combine function whose accumulators fit their columns, and whose results fit their type.

    Args:
        name: The aggregate's, for messages.
        of: The function.
        columns: How its accumulators are saved.
        result: The type of its results.
    """

    name: str
    of: CombineFn
    columns: AccumulatorColumns
    result: pa.DataType

    def compact(self, accumulator: Any) -> Any:
        """The accumulator that a window keeps.

        Raises:
            OutgrownError: It does not fit its columns.
            CombineError: It does not fit the type that its user declared, or cannot be pickled.
        """
        return self._fitting(self.of.compact(accumulator))

    def after_pane(self, accumulator: Any) -> Any:
        """The accumulator that stays after a pane; see `compact`."""
        return self._fitting(self.of.after_pane(accumulator))

    def extract(self, accumulator: Any) -> Any:
        """The result.

        Raises:
            OutgrownError: It does not fit its type.
        """
        result = self.of.extract(accumulator)
        try:
            from_objects([result], self.result)
        except OutgrownError as error:
            raise self._outgrown(result, error) from error
        return result

    def __str__(self) -> str:
        return str(self.of)

    def _fitting(self, accumulator: Any) -> Any:
        try:
            self.columns.encode([accumulator])
        except OutgrownError as error:
            raise self._outgrown(accumulator, error) from error
        return accumulator

    def _outgrown(self, value: Any, error: OutgrownError) -> OutgrownError:
        shown = str(value) if isinstance(value, int | Decimal) else short_repr(value)
        return OutgrownError(f"aggregate {self.name!r}", error.kind, f"it would be {shown}")


@attrs.frozen
class UserMade(Around):
    """A function whose results have a declared type, and come out as that type holds them.

    A pane that is withdrawn later is compared with the pane that replaces it; so a result is
    given its final form at once, a list where the function returned a tuple.

    Args:
        of: The user's function.
        returns: The type of its results as the user wrote it.
        accumulator: The type of its accumulators as the user wrote it; None: they are pickled.
    """

    name: str
    of: CombineFn
    result: pa.DataType
    returns: str
    accumulator: str | None

    def extract(self, accumulator: Any) -> Any:
        """The result in the form that its type gives it.

        Raises:
            CombineError: The result does not fit.
        """
        result = self.of.extract(accumulator)
        subject = f"aggregate {self.name!r}: {self.of} returned"
        return converted(result, self.result, subject, self.returns)

    def __str__(self) -> str:
        # What saved state depends on: without a declared type it is a pickle.
        return f"{self.of} (accumulator {self.accumulator or 'pickled'})"
