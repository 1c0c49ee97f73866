"""Scripts as stages of shards: the plan of a grouping of Python values, and its rows.

A script's elements are Python values. Where all of them have one Arrow type that the combine
function has columns for, they lie in columns of that type, as those of a DataFrame do, and the
columnar machine folds them typed. Else they are pickles, and are folded as the objects they are.
Keys travel as numbers.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import cloudpickle
import pyarrow as pa

from beamlike.errors import UnsupportedError, UserFunctionError
from beamlike.machine.events import Effect, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.passthrough import PassThrough
from beamlike.machine.reference.step import Grouping
from beamlike.model import combine
from beamlike.model.combine import CombineFn, EmptyPane
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import bounds
from beamlike.runtime.columns import AccumulatorColumns, PickledColumn
from beamlike.runtime.operation import Operation
from beamlike.runtime.options import OnError
from beamlike.runtime.plan import Aggregation, Part, Plan, PlanOptions
from beamlike.runtime.script import Arrive, Machine, Script
from beamlike.runtime.shard import KeyedEffect
from beamlike.runtime.typed import as_column, columns_of
from beamlike.runtime.values import pickled_value

Staged = WindowingStrategy | WindowFn | Machine
"""What a stage does. A bare window function only assigns windows and groups nothing."""

_NUMBER: Final = pa.int64()
_EXACT: Final = 2**53
"""Sums of whole numbers below this are exact in each type."""


@attrs.frozen
class _Alone(CombineFn):
    """A combine function whose accumulators and results are tuples of one, as those of a plan
    are. Otherwise it is the function itself, and an error names the function itself."""

    fn: CombineFn

    def create(self) -> tuple[Any]:
        return (self.fn.create(),)

    def add(
        self, accumulator: tuple[Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any]:
        return (self.fn.add(accumulator[0], values, timestamps),)

    def merge(self, first: tuple[Any], second: tuple[Any]) -> tuple[Any]:
        return (self.fn.merge(first[0], second[0]),)

    def compact(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.compact(accumulator[0]),)

    def extract(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.extract(accumulator[0]),)

    @property
    def evicts(self) -> bool:
        return self.fn.evicts

    def after_pane(self, accumulator: tuple[Any]) -> tuple[Any]:
        return (self.fn.after_pane(accumulator[0]),)

    @property
    def on_empty(self) -> EmptyPane:
        of_one = self.fn.on_empty
        return attrs.evolve(of_one, value=(of_one.value,))

    def __str__(self) -> str:
        return str(self.fn)


@attrs.frozen
class _AggregationOfValues(Aggregation):
    """An aggregation of single values by its only part.

    The machine gets the values themselves, and not rows: so its drops and its errors are those
    of the memory host.
    """

    @property
    def machine(self) -> Grouping:
        (part,) = self.parts
        return Grouping(self.strategy, _Alone(part.fn), self.on_error)

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        values: Iterable[Any] = (value for (value,) in rows)
        read = self.parts[0].read
        return values if read is None else read(values)


def _unpickled(blobs: Iterable[bytes]) -> Iterable[Any]:
    return map(cloudpickle.loads, blobs)


class ScriptedPlan(Plan):
    """The plan of a grouping whose elements are single values."""

    @cached_property
    def checking_machine(self) -> Machine:
        (part,) = self.parts
        # What is pickled has no type that it could outgrow.
        fn = part.checked if part.read is None else part.fn
        return Grouping(self.strategy, _Alone(fn), self.on_error)

    @cached_property
    def operation(self) -> Operation:
        return _AggregationOfValues(self.strategy, self.values, self.parts, self.on_error)


@attrs.frozen
class OverPickles(Operation):
    """Any machine, over pickled values."""

    of: Machine

    @property
    def machine(self) -> Machine:
        return self.of

    @property
    def accumulator(self) -> AccumulatorColumns:
        return PickledColumn()

    @property
    def results(self) -> Mapping[str, pa.DataType]:
        return {"value": pa.binary()}

    @property
    def why_key_by_key(self) -> str:
        return f"{type(self.of).__name__} takes one key after the other"

    @property
    def words(self) -> Mapping[str, str]:
        return {"machine": type(self.of).__name__}

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return map(pickled_value, rows)

    def fields(self, value: Any) -> Mapping[str, Any]:
        return {"value": value}

    def show(self, values: Sequence[Any]) -> list[pa.Array]:
        pickles = [None if it is None else cloudpickle.dumps(it) for it in values]
        return [pa.array(pickles, pa.binary())]


# -- from a script to columns ----------------------------------------------------------------


def _part_of(fn: CombineFn, values: Sequence[Any]) -> tuple[Part, pa.DataType]:
    """The part of a plan for a combine function over these values, and their saved type."""
    column = as_column(values)
    if column is not None and _is_exact(fn, values):
        found = columns_of(fn, column.type)
        if found is not None:
            columns, result = found
            return Part("value", fn, 0, columns, result), column.type
    return Part("value", fn, 0, PickledColumn(), pa.binary(), _unpickled), pa.binary()


def _is_exact(fn: CombineFn, values: Sequence[Any]) -> bool:
    if not isinstance(fn, combine.Sum | combine.Mean) or not isinstance(values[0], int):
        return True
    return bool(sum(map(abs, values)) < _EXACT)


@attrs.frozen
class ScriptedStage:
    """A stage, what it is given as rows, and what comes out of it as values.

    Args:
        plan: What the shards do.
        keys: The keys by their numbers.
        groups: Whether panes are those of a grouping.
    """

    plan: Plan
    keys: Mapping[Hashable, int]
    groups: bool

    @classmethod
    def of(
        cls,
        does: Staged,
        fn: CombineFn | None,
        script: Script,
        on_error: OnFailure = OnFailure.FAIL,
    ) -> "ScriptedStage":
        """The stage of a script.

        Args:
            does: A strategy, or another machine.
            fn: The combine function of a strategy.
            script: Everything that will arrive.
            on_error: What a strategy or a window function does when a function raises.

        Raises:
            UnsupportedError: A strategy without a combine function.
        """
        elements = [it for step in script if isinstance(step, Arrive) for it in step.elements]
        known = dict.fromkeys(key for key, _ in elements)
        keys = {key: number for number, key in enumerate(known)}
        key = {"key": _NUMBER}
        if isinstance(does, WindowingStrategy):
            if fn is None:
                raise UnsupportedError("a grouping needs a combine function, got None")
            part, kind = _part_of(fn, [element.value for _, element in elements])
            on: OnError = "drop" if on_error is OnFailure.DROP else "fail"
            values = {"value": kind}
            # As in memory, all that fails is dropped, however much that is.
            options: PlanOptions = {"shards": 1, "buckets": 1, "on_error": on, "max_failures": 1.0}
            plan = ScriptedPlan(does, key, values, (part,), **options)
            return cls(plan, keys, groups=True)
        machine = PassThrough(does, on_error) if isinstance(does, WindowFn) else does
        nothing = WindowingStrategy.unwindowed()
        values, over = {"value": pa.binary()}, OverPickles(machine)
        return cls(Plan(nothing, key, values, (), shards=1, buckets=1, does=over), keys, False)

    def rows(self, happens: Arrive) -> pa.Table:
        """Elements that arrive together, see `beamlike.runtime.arrivals`."""
        spans = [
            (None, None) if element.window is None else bounds(element.window)
            for _, element in happens.elements
        ]
        values = [element.value for _, element in happens.elements]
        (kind,) = self.plan.values.values()
        if pa.types.is_binary(kind):
            values = [cloudpickle.dumps(value) for value in values]
        count = len(values)
        return pa.table(
            {
                "key_key": pa.array([self.keys[key] for key, _ in happens.elements], _NUMBER),
                "ts": pa.array([element.timestamp for _, element in happens.elements], _NUMBER),
                "start": pa.array([start for start, _ in spans], _NUMBER),
                "end": pa.array([end for _, end in spans], _NUMBER),
                "value_value": pa.array(values, kind),
                "bucket": pa.array([0] * count, pa.int32()),
            }
        )

    def shown(self, effects: Iterable[KeyedEffect]) -> Iterator[tuple[Hashable, Effect]]:
        """What came out, by key, as the machine in memory would have made it."""
        names = list(self.keys)
        for (number,), effect in effects:
            if self.groups and isinstance(effect, Pane):
                effect = attrs.evolve(effect, value=effect.value[0])
            yield names[number], effect

    def named(self, error: UserFunctionError) -> UserFunctionError:
        """The error with the key itself in place of its number."""
        keys = {(number,): key for key, number in self.keys.items()}
        return error if error.known_key not in keys else error.of_key(keys[error.known_key])
