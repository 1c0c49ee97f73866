"""A program over rows of a DataFrame in a shard, without Spark.

In a shard states and timers rest as bytes between any two steps, so each of them is a restart.
"""

from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
from pyspark.sql import Row

from beamlike.api.dataframe.row_functions import row_function
from beamlike.api.function_rows import FunctionRows
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Effect, Element, Pane
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.options import OnError
from beamlike.runtime.per_key import PerKeyOperation, Returned
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Output, Script
from beamlike.runtime.shard import Shard
from tests.stateful.programs import Program
from tests.support.machines.in_shard import DictStore

_COLUMNS = {"key": pa.string(), "number": pa.int64()}
_TEXT = {"text": pa.string()}


class _AsText(Returned):
    """Takes whatever a function answers."""

    def row(self, answer: Any, key: Any) -> tuple[Any, ...]:
        return (repr(answer),)


class _BareKeys(FunctionRows):
    """Keys as pipelines have them."""

    def key(self, values: Any) -> Any:
        return values[0]


def run_as_rows(program: Program) -> tuple[list[Output], DictStore]:
    """What comes out of a program, and what is left in the store."""
    strategy = WindowingStrategy(program.window_fn)
    strategy = strategy.configured(allowed_lateness=program.lateness)
    on_error: OnError = "drop" if program.fails else "fail"
    return run_rows(program.fn, strategy, on_error, program.script)


def run_rows(
    fn: object, strategy: WindowingStrategy, on_error: OnError, script: Script
) -> tuple[list[Output], DictStore]:
    """What a function brings out of rows of a key and a number, and what is left in the store."""
    rows = _BareKeys([*_COLUMNS], ["key"], _AsText(_TEXT, {}, frozenset(), ["key"]), Row)
    does = PerKeyOperation(
        row_function(fn, rows, "States"), strategy, _COLUMNS, _TEXT, on_error=on_error
    )
    keys = {"key": _COLUMNS["key"]}
    plan = Plan(
        strategy, keys, _COLUMNS, (), shards=1, buckets=2, custom_operation=does, on_error=on_error
    )
    store, watermark, clock = DictStore(), MIN_TIMESTAMP, 0
    outputs: list[Output] = []
    for number, step in enumerate(script):
        tables = [_arrivals(step)] if isinstance(step, Arrive) else []
        match step:
            case AdvanceWatermark(to):
                watermark = to
            case AdvanceClock(to):
                clock = to
        # Each step by another worker, to which the plan comes as bytes.
        shard = Shard(cloudpickle.loads(cloudpickle.dumps(plan)))
        effects = shard.step(store, ShardInput(tables, [HostWatermark(watermark)], clock)).effects
        outputs += [Output(number, key, as_text(effect)) for (key,), effect in effects]
    return outputs, store


def _arrivals(step: Arrive) -> pa.Table:
    keys = [key for key, _ in step.elements]
    return pa.table(
        {
            "key_key": pa.array(keys, pa.string()),
            "value_key": pa.array(keys, pa.string()),
            "value_number": pa.array([it.value for _, it in step.elements], pa.int64()),
            "ts": pa.array([it.timestamp for _, it in step.elements], pa.int64()),
            "bucket": pa.array([len(str(key)) % 2 for key in keys], pa.int32()),
        }
    )


def as_text(effect: Effect) -> Effect:
    """The effect as both have it: results are texts, elements are rows."""
    if isinstance(effect, Pane) and len(effect.value) > 1:
        return attrs.evolve(effect, value=(repr(effect.value),))
    if isinstance(effect, Drop) and isinstance(effect.element, Element):
        value, _ = effect.element.value
        return attrs.evolve(effect, element=attrs.evolve(effect.element, value=tuple(value)))
    return effect
