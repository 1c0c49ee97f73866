"""What a stage does: its machine, and how the values of that machine lie among columns."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beamlike.machine.columnar.folds.base import from_objects
from beamlike.model.resolution import Resolution
from beamlike.model.stateful import StatefulFn
from beamlike.runtime.accumulator_columns import AccumulatorColumns
from beamlike.runtime.script import Machine


class Operation(ABC):
    """The machine of a stage, and how columns become its values and its values columns.

    A row of the plan's value columns becomes the value of an element. Between steps an accumulator
    is saved in columns. The value of a pane becomes columns of the result.
    """

    @property
    @abstractmethod
    def machine(self) -> Machine:
        """A new machine. A plan makes one only."""

    def in_resolution(self, resolution: Resolution) -> "Operation":
        """This operation with its times in ticks of a resolution. Not called for a node of a graph:
        all of these are made with one resolution."""
        raise NotImplementedError

    @property
    @abstractmethod
    def accumulator(self) -> AccumulatorColumns:
        """How the accumulator of a window is saved."""

    @property
    @abstractmethod
    def results(self) -> Mapping[str, pa.DataType]:
        """Name and type of each column that the value of a pane becomes."""

    @property
    @abstractmethod
    def state_identity(self) -> Mapping[str, str]:
        """What saved state depends on, in words, besides the columns and how keys are spread."""

    @property
    @abstractmethod
    def why_key_by_key(self) -> str | None:
        """Why only the reference machine can do this, key by key; None: the columnar one can
        too."""

    @abstractmethod
    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        """The value of an element for each row of the plan's value columns."""

    def fields(self, value: Any) -> Mapping[str, pa.Scalar]:
        """The value of an element by name, for the row that is shown when it is dropped. Not called
        for a node of a graph, whose elements have no columns."""
        raise NotImplementedError

    def show(self, values: Sequence[Any]) -> list[pa.Array]:
        """The values of panes as columns of `results`: tuples of these, and None where there is no
        pane. Not of a node of a graph.

        Raises:
            OutgrownError: A value does not fit its type.
        """
        return [
            from_objects(
                [None if value is None else value[index] for value in values],
                dtype,
                f"aggregate {name!r}",
            )
            for index, (name, dtype) in enumerate(self.results.items())
        ]


def types_in_words(types: Mapping[str, pa.DataType]) -> str:
    """Columns with their types, as saved state names them."""
    return ", ".join(f"{name} {dtype}" for name, dtype in types.items())


def function_words(fn: StatefulFn) -> dict[str, str]:
    """The parts of a function with states and timers that saved state depends on, in words."""
    return {
        name: ", ".join(sorted(spec.state_identity for spec in specs.values())) or "none"
        for name, specs in (("states", fn.states), ("timers", fn.timers))
    }
