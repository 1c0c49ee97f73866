"""Functions with states over rows in a shard, without Spark, beside the same over pairs in memory.

In a shard states and timers rest as bytes between any two steps, so each of them is a restart.
"""

import os
from functools import wraps
from random import Random
from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
import pytest

from beamlike.api.dataframe.row_functions import Rows, row_function
from beamlike.api.pipelines.stateful_doing import StatefulDoing
from beamlike.machine.clocks import HostWatermark
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Effect, Element, Pane
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.panes import NO_FIRING
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.per_key import PerKey, Returned
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Output, Script
from beamlike.runtime.shard import Shard
from tests.support.generated.scenarios import any_script
from tests.support.generated.stateful import AnyExpiringFn, AnyFn, AnySortedFn
from tests.support.machines.in_shard import DictStore

EXAMPLES = int(os.environ.get("BEAMLIKE_EXAMPLES", "200"))

COLUMNS = {"key": pa.string(), "number": pa.int64()}
TEXT = {"text": pa.string()}


class AsText(Returned):
    """Takes whatever a function answers."""

    def row(self, answer: Any, key: Any) -> tuple[Any, ...]:
        return (repr(answer),)


class BareKeys(Rows):
    """Keys as pipelines have them."""

    def key(self, values: Any) -> Any:
        return values[0]


def plan_of(fn: AnyFn, strategy: WindowingStrategy, on_error: Any) -> Plan:
    rows = BareKeys([*COLUMNS], ["key"], AsText(TEXT, {}, frozenset(), ["key"]))
    does = PerKey(row_function(fn, rows, "F"), strategy, COLUMNS, TEXT, on_error=on_error)
    keys = {"key": COLUMNS["key"]}
    return Plan(strategy, keys, COLUMNS, (), shards=1, buckets=2, does=does, on_error=on_error)


def run_in_shard(plan: Plan, script: Script, store: DictStore) -> list[Output]:
    watermark, clock, outputs = MIN_TIMESTAMP, 0, []
    for number, step in enumerate(script):
        tables = [arrivals(step)] if isinstance(step, Arrive) else []
        match step:
            case AdvanceWatermark(to):
                watermark = to
            case AdvanceClock(to):
                clock = to
        # Each step by another worker, to which the plan comes as bytes.
        shard = Shard(cloudpickle.loads(cloudpickle.dumps(plan)))
        effects = shard.step(store, tables, [HostWatermark(watermark)], clock).effects
        outputs += [Output(number, key, plain(effect)) for (key,), effect in effects]
    return outputs


def arrivals(step: Arrive) -> pa.Table:
    keys = [key for key, _ in step.elements]
    return pa.table(
        {
            "key_key": pa.array(keys, pa.string()),
            "value_key": pa.array(keys, pa.string()),
            "value_number": pa.array([it.value for _, it in step.elements], pa.int64()),
            "ts": pa.array([it.timestamp for _, it in step.elements], pa.int64()),
            "bucket": pa.array([ord(str(key)) % 2 for key in keys], pa.int32()),
        }
    )


def plain(effect: Effect) -> Effect:
    """The effect as both have it: results are texts, elements are rows."""
    if isinstance(effect, Pane) and len(effect.value) > 1:
        return attrs.evolve(effect, value=(repr(effect.value),))
    if isinstance(effect, Drop) and isinstance(effect.element, Element):
        value, _ = effect.element.value
        return attrs.evolve(effect, element=attrs.evolve(effect.element, value=tuple(value)))
    return effect


def in_memory(
    fn: AnyFn, strategy: WindowingStrategy, on_error: Any, script: Script
) -> list[Output]:
    """What the same function brings out of pairs."""
    doing = StatefulDoing(fn, (), {}, frozenset(), "F")
    machine = StatefulParDo(strategy.window_fn, doing, strategy.allowed_lateness, on_error)
    pairs = tuple(
        Arrive(
            tuple(
                (key, attrs.evolve(it, value=((key, it.value), NO_FIRING)))
                for key, it in step.elements
                if isinstance(it, Element)
            )
        )
        if isinstance(step, Arrive)
        else step
        for step in script
    )
    outputs = run_in_memory(machine, pairs).outputs
    return [attrs.evolve(it, effect=plain(it.effect)) for it in outputs]


def by_key(outputs: list[Output]) -> dict[Any, list[Output]]:
    """Keys are stepped in any order, each in its own."""
    found: dict[Any, list[Output]] = {}
    for output in outputs:
        found.setdefault((output.step, output.key), []).append(output)
    return found


class AnyFailingFn(AnyExpiringFn):
    """The same, which raises for some elements, after it has changed its states."""

    @wraps(AnyFn.process)
    def process(self, element: Any, *args: Any, **kwargs: Any) -> Any:
        yield from AnyFn.process(self, element, *args, **kwargs)
        if element[1] % 5 == 0:
            raise KeyError(element[1])


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_rows_in_a_shard_that_restarts_at_every_step_give_what_pairs_give_in_memory(
    seed: int,
) -> None:
    dice = Random(seed)
    window_fn = dice.choice([FixedWindows(10), SlidingWindows(10, 5), GlobalWindows()])
    lateness = dice.choice([0, 3, 20])
    strategy = WindowingStrategy(window_fn).configured(allowed_lateness=lateness)
    fn = dice.choice([AnyFn, AnyExpiringFn, AnySortedFn, AnyFailingFn])(seed, lateness)
    on_error = "drop" if isinstance(fn, AnyFailingFn) else "fail"
    script, store = any_script(dice, keys=("a", "b", "c")), DictStore()

    outputs = run_in_shard(plan_of(fn, strategy, on_error), script, store)

    assert by_key(outputs) == by_key(in_memory(fn, strategy, on_error, script))
    assert store.buckets == {}
