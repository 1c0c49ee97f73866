"""A function with states and timers over rows of a DataFrame.

The value columns of the plan are all columns of a row, also those of its key. For the machine the
value of an element is a pair (see `beamlike.machine.userstate.machine`): the row as a tuple, and
the pane in which it arrives. A result is a tuple of the columns that `Returned` has.
"""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import pyarrow as pa

from beamlike.errors import ColumnError, CombineError
from beamlike.machine.equality import is_same
from beamlike.machine.failures import OnFailure
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.panes import NO_FIRING, PaneInfo, Timing
from beamlike.model.resolution import Resolution, Span
from beamlike.model.stateful import StatefulFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.accumulator_columns import AccumulatorColumns, PickledColumn, converted
from beamlike.runtime.changes import lateness_words
from beamlike.runtime.json_rows import scalars
from beamlike.runtime.known_keys import KnownColumn
from beamlike.runtime.operation import Operation, function_words, types_in_words
from beamlike.runtime.options import OnError

Types = Mapping[str, pa.DataType]


@attrs.frozen
class Returned:
    """Makes rows of a function's answers, with the columns that were declared for it.

    Args:
        columns: Names and types.
        declared_types: The types as the user wrote them.
        required: The columns that must not be null.
        keys: The columns of the key, which every result has.
    """

    columns: Types
    declared_types: Mapping[str, str]
    required: frozenset[str]
    keys: Sequence[str]

    def row(self, answer: Any, key: Sequence[Any]) -> tuple[Any, ...]:
        """One row of a result.

        Args:
            answer: A mapping, a ``Row`` or another tuple with names: values by the names of
                columns, where a column without one is null. Or a tuple or list of all values. By
                name the columns of the key may be there too.
            key: The values of the key.

        Raises:
            ColumnError: The answer has another form, or does not fit the columns.
        """
        if hasattr(answer, "asDict") and hasattr(answer, "__fields__"):  # a Row with names
            answer = answer.asDict(recursive=True)
        elif isinstance(answer, tuple) and hasattr(answer, "_fields"):
            answer = dict(zip(answer._fields, answer, strict=True))
        if isinstance(answer, Mapping):
            values = self._by_name(answer, key)
        elif isinstance(answer, tuple | list):
            values = list(answer)
            if len(values) != len(self.columns):
                raise ColumnError(
                    f"the result {answer!r} has {len(values)} values, and returns= declares "
                    f"{len(self.columns)} columns: {self._named}; yield a value for each"
                )
        else:
            raise ColumnError(
                f"the result {answer!r} is no row, and returns= declares the columns "
                f"{self._named}; yield a dict, such as {{{next(iter(self.columns))!r}: ...}}"
            )
        return tuple(
            self._fitting(name, dtype, value)
            for (name, dtype), value in zip(self.columns.items(), values, strict=True)
        )

    @property
    def _named(self) -> str:
        return ", ".join(f"{name} {word}" for name, word in self.declared_types.items())

    def _by_name(self, answer: Mapping[str, Any], key: Sequence[Any]) -> list[Any]:
        of_key = dict(zip(self.keys, key, strict=True))
        for name in answer:
            if name in of_key:
                if not is_same(answer[name], of_key[name]):
                    raise ColumnError(
                        f"the result {dict(answer)!r} is for the key {of_key!r}, and says "
                        f"{name!r} is {answer[name]!r}; leave the columns of the key out, they are "
                        "in the output anyway"
                    )
            elif name not in self.columns:
                raise ColumnError(
                    f"the result {dict(answer)!r} has {name!r}, and returns= declares the columns "
                    f"{self._named}; declare it there, or leave it out"
                )
        return [answer.get(name) for name in self.columns]

    def _fitting(self, name: str, dtype: pa.DataType, value: Any) -> Any:
        if value is None:
            if name in self.required:
                raise ColumnError(
                    f"the column {name!r} of a result is null, and returns= declares it as not "
                    "null; give it a value, or leave NOT NULL out"
                )
            return None
        try:
            return converted(
                value, dtype, f"the column {name!r} of a result is", self.declared_types[name]
            )
        except CombineError as error:
            raise ColumnError(str(error)) from None


@attrs.frozen
class PerKeyOperation(Operation):
    """Rows given to a function with states and timers, one by one.

    Args:
        fn: The function. Elements are tuples of the plan's values, as are its results of those of
            ``results``.
        strategy: The windows of the rows.
        columns: What a row has.
        results: What comes out.
        pane: The column with the pane of a grouping before; None: there is none.
        on_error: What to do when the function raises.

    Raises:
        WindowingError: The windows merge.
    """

    fn: StatefulFn
    strategy: WindowingStrategy
    columns: Types
    results: Types
    pane: str | None = None
    on_error: OnError = "drop"

    def __attrs_post_init__(self) -> None:
        _ = self.machine  # which refuses windows that merge

    @property
    def machine(self) -> StatefulParDo:
        return StatefulParDo(
            self.strategy.window_fn,
            self.fn,
            Span(self.strategy.allowed_lateness, self.strategy.resolution),
            OnFailure(self.on_error),
            already_merged=self.strategy.already_merged,
            tagged=False,
        )

    def in_resolution(self, resolution: Resolution) -> "PerKeyOperation":
        return attrs.evolve(
            self,
            strategy=self.strategy.in_resolution(resolution),
            fn=self.fn.in_resolution(resolution),
        )

    @property
    def accumulator(self) -> AccumulatorColumns:
        keeps = self.fn.keeps_first
        return _SavedColumn() if keeps is None else KnownColumn(keeps)

    @property
    def why_key_by_key(self) -> str | None:
        if self.fn.keeps_first is not None and self.pane is None:
            return None
        return "it calls a function with states and timers for each row"

    @property
    def state_identity(self) -> Mapping[str, str]:
        fn = self.fn
        identity = {
            "window": self.strategy.windows_in_words,
            "allowed lateness": lateness_words(
                self.strategy.allowed_lateness, self.strategy.resolution
            ),
            **function_words(fn),
        }
        if fn.sorts:  # only then rows are saved
            identity["waiting rows"] = types_in_words(self.columns)
        return identity

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        if self.pane is None:
            return ((row, NO_FIRING) for row in rows)
        index = [*self.columns].index(self.pane)
        return ((row, _info(row[index])) for row in rows)

    def fields(self, value: Any) -> Mapping[str, pa.Scalar]:
        row, _ = value
        return scalars(self.columns, row)


def _info(pane: Mapping[str, Any] | None) -> PaneInfo:
    """The pane of an earlier grouping, from its column."""
    if pane is None:
        return NO_FIRING
    return PaneInfo(**{**pane, "timing": Timing(pane["timing"])})


@attrs.frozen
class _SavedColumn(PickledColumn):
    """The state of a window, see `beamlike.machine.userstate.saved.Saved`.

    All of it is plain values, for which plain pickles are enough.
    """

    def dumps(self, accumulators: Sequence[Any]) -> list[bytes]:
        return [pickle.dumps(accumulator, protocol=5) for accumulator in accumulators]
