"""A scenario through the Spark host's shard, without Spark: its blobs rest in a dict.

Every step reads its state from bytes and writes it to bytes, as it does in a micro-batch. So
a run in a shard is also a restart between any two of its steps.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

import attrs
import pyarrow as pa

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Effect, Element, Pane
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model import custom_trigger
from beamlike.model.combine import CombineFn
from beamlike.model.rescaled import reading
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import PickledColumn, columns_of
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.script import Arrive, Output, Script, ScriptStep
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.stores import DictStore
from beamlike.testing.scenarios.files import AGGREGATIONS
from tests.support.machines.rows_of_plans import rows_of

_NUMBER: Final = pa.int64()

MicroBatch = tuple[ScriptStep, ...]
"""Steps that the shard takes at once: at most one of each kind, clock, elements, watermark."""


def micro_batches(script: Script, *, together: bool) -> tuple[list[MicroBatch], list[int]]:
    """The script in micro-batches, and for each of its steps the batch that it is in.

    Args:
        together: As many steps in a micro-batch as it can hold, in the order in which a shard
            lets them happen; otherwise each step is one.
    """
    order = (AdvanceClock, Arrive, AdvanceWatermark)
    batches: list[list[ScriptStep]] = []
    owner = []
    reached = len(order)
    for happens in script:
        place = order.index(type(happens))
        if not together or place <= reached:
            batches.append([])
        batches[-1].append(happens)
        reached = place if together else len(order)
        owner.append(len(batches) - 1)
    return [tuple(batch) for batch in batches], owner


def run_in_shard(
    strategy: WindowingStrategy,
    aggregation: str,
    batches: Sequence[MicroBatch],
    *,
    buckets: int = 1,
) -> tuple[list[Output], DictStore]:
    """What comes out of each micro-batch, and the state that is left.

    Args:
        aggregation: A name as in transcripts. Elements are whole numbers.
        buckets: Over how many blobs the keys are spread.
    """
    combine = AGGREGATIONS[aggregation]
    assert combine is not None, "a shard groups"
    plan = plan_of_numbers(strategy, combine, buckets)
    shard, store, outputs = Shard(plan), DictStore(), list[Output]()
    watermark, clock = MIN_TIMESTAMP, 0
    for number, batch in enumerate(batches):
        tables = []
        for happens in batch:
            match happens:
                case Arrive():
                    tables = [rows_of(plan, happens)]
                case AdvanceWatermark(to):
                    watermark = to
                case AdvanceClock(to):
                    clock = to
        effects = shard.step(store, ShardInput(tables, [HostWatermark(watermark)], clock)).effects
        outputs += [Output(number, key, _unwrapped(effect)) for (key,), effect in effects]
    return outputs, store


def plan_of_numbers(strategy: WindowingStrategy, combine: CombineFn, buckets: int = 1) -> Plan:
    """A plan of one aggregate, ``value``, over a column of whole numbers. Functions of the strategy
    get the number, and not the row."""
    window_fn = strategy.window_fn
    if isinstance(window_fn, Sessions) and callable(window_fn.gap):
        strategy = strategy.configured(reading(window_fn, itemgetter(0)))
    strategy = strategy.configured(trigger=custom_trigger.reading(strategy.trigger, itemgetter(0)))
    columns, result = columns_of(combine, _NUMBER) or (PickledColumn(), pa.list_(_NUMBER))
    part = Part("value", combine, 0, columns, result)
    keys, values = {"key": pa.string()}, {"value": _NUMBER}
    return Plan(strategy, keys, values, (part,), shards=1, buckets=buckets)


def _unwrapped(effect: Effect) -> Effect:
    """The effect as the machine in memory makes it, where an element is no tuple of columns."""
    if isinstance(effect, Pane):
        (value,) = effect.value
        return attrs.evolve(effect, value=value)
    if not isinstance(effect.element, Element):
        return effect  # some that were combined before: they are counted, not shown
    (value,) = effect.element.value
    return attrs.evolve(effect, element=attrs.evolve(effect.element, value=value))
