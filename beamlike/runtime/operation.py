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
    """The machine of a stage, and the way from columns to its values and back.

    A row of the plan's value columns becomes the value of an element, an accumulator lies in
    columns between steps, and the value of a pane becomes columns of the result.
    """

    @property
    @abstractmethod
    def machine(self) -> Machine:
        """A new one; a plan calls this once."""

    def in_resolution(self, resolution: Resolution) -> "Operation":
        """This operation, its times in the ticks of a resolution. A node of a graph need not have
        this: all nodes of a graph count the same, as they are made."""
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
        """What saved state depends on, beside the columns and how they are spread."""

    @property
    @abstractmethod
    def why_key_by_key(self) -> str | None:
        """Why only a machine that takes one key after the other can do this; None: others can."""

    @abstractmethod
    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        """The value of an element for each row of the plan's value columns."""

    def fields(self, value: Any) -> Mapping[str, pa.Scalar]:
        """The value of an element by name, to be shown when it is dropped; not of a node of a
        graph, whose elements are no columns."""
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
    """What saved state depends on of a function with states and timers."""
    return {
        name: ", ".join(sorted(spec.state_identity for spec in specs.values())) or "none"
        for name, specs in (("states", fn.states), ("timers", fn.timers))
    }
