"""Steps of a stream that take its rows one by one.

Source: Beam ``Filter``, ``Map``, ``FlatMapElements``.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

from beamlike.api.dataframe.inputs import Inputs, Reject, without_rejected
from beamlike.errors import ColumnError
from beamlike.runtime.session_identity import check_renamed

if TYPE_CHECKING:
    from pyspark.sql import Column

    from beamlike.model.strategy import WindowingStrategy


class RowSteps:
    """What a `Stream` does with its rows one by one. Event times and windows stay."""

    __slots__ = ()

    if TYPE_CHECKING:
        strategy: WindowingStrategy
        inputs: Inputs

    def where(self, condition: "Column | str") -> Self:
        """Only the rows for which a condition holds.

        As in Beam, a row that is left out still moves the watermark of its source. To keep
        rows from moving it, filter the DataFrame before `stream`.
        """
        from beamlike.runtime.pane_conditions import marks_of_all

        left = self.inputs.changed_by(self.inputs.frames.where, condition)
        return self._with(left.after("where", frozenset(marks_of_all(condition))))

    def reject(self, conditions: Reject) -> Self:
        """Without the rows for which a condition holds: the next step drops them with its reason.

        The next step is a grouping, a join, a look-up or a function with states; it drops them
        whatever its ``on_error`` says. A rejected row still moves the watermark.

        Args:
            conditions: Conditions by reason, in SQL or as columns. The first that holds counts.

        Raises:
            WindowingError: There is no condition, or a reason cannot be one.
            ColumnError: A condition cannot be used.

        >>> import beamlike as bl
        >>> from beamlike.testing import QueryTest
        >>> def paid(orders):
        ...     rows = bl.stream(orders, timestamp="at", watermark="0 s")
        ...     return rows.reject({"a test": "test"}).deduplicate("no", within="1 hour")
        >>> query = QueryTest(paid, "no int, at timestamp, test boolean")
        >>> tea = {"no": 7, "at": "12:01:00", "test": False}
        >>> rows = query.send(tea, {"no": 8, "at": "12:02:00", "test": True})
        >>> [(row["no"], row["dropped"] and row["dropped"]["reason"]) for row in rows]
        [(8, 'a test'), (7, None)]
        """
        return self._with(without_rejected(self.inputs, conditions))

    def select(self, *columns: "Column | str") -> Self:
        """Other columns, as ``DataFrame.select``. Event time and window stay what they are.

        Raises:
            ColumnError: A column is called ``dropped``; an expression such as ``F.explode``,
                for which there is `explode`; a ``*`` inside an expression.
        """
        chosen = columns[0] if len(columns) == 1 and isinstance(columns[0], list) else columns
        for column in chosen:
            check_renamed("select", column, self.inputs.frame.columns)
        changed = self.inputs.changed_by(self.inputs.frames.select, chosen)
        # The hidden column is the last one. Another of its name would be the user's.
        changed.frame_columns.check_free(changed.frame.columns[:-1], "select")
        return self._with(changed.after("select"))

    def with_columns(self, columns: Mapping[str, "Column"]) -> Self:
        """More columns, as ``DataFrame.withColumns``. Event time and window stay.

        Raises:
            ColumnError: As `select`.
        """
        if not isinstance(columns, Mapping):
            raise ColumnError(
                f'columns must map names to columns, such as {{"n": F.lit(1)}}, got {columns!r}'
            )
        self.inputs.frame_columns.check_free(columns, "with_columns")
        changed = self.inputs.changed_by(self.inputs.frames.with_columns, columns)
        return self._with(changed.after("with_columns"))

    def explode(self, column: "Column | str", as_: str) -> Self:
        """A row for each item of an array, in a column of this name.

        Each keeps the event time and the window of its row. A row whose array is empty or null
        is left out, as by `where`.

        Args:
            column: The name of an array column, or an expression that makes an array.
            as_: The column of the items; one that is there is replaced.

        Raises:
            ColumnError: It is no array; as `select`.

        Source: Beam ``FlatMapElements``, Scio ``flatMap``.
        """
        self.inputs.frame_columns.check_free([as_], "as_")
        changed = self.inputs.changed_by(self.inputs.frames.explode, column, as_)
        return self._with(changed.after("explode"))

    def _with(self, inputs: Inputs) -> Self:
        """A copy of the strategy, over other rows."""
        make: Callable[[WindowingStrategy, Inputs], Self] = type(self)
        return make(self.strategy, inputs)
