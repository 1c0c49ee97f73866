"""A scenario through a Spark shard that either machine may step, beside memory.

Compared after each micro-batch: what came out of each key, the whole state of each key as it
rests, accumulators too, and what the index knows of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from random import Random
from typing import Any, Final
from unittest.mock import patch

import attrs
import pyarrow as pa

from beamlike.errors import WindowingError
from beamlike.machine.columnar.arrays import NEVER
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Effect, Lifted
from beamlike.machine.input_clocks import HostWatermark, next_output_watermark
from beamlike.machine.liftable import check_liftable
from beamlike.machine.reference.state import KeyState, earliest_hold
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import bounds
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard, ColumnsStepped
from beamlike.runtime.envelope import arriving
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.output import drops_of_step, keyed_panes
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive, Run, Script, with_elements
from beamlike.runtime.shard import KeyedEffect, Shard
from beamlike.runtime.store import pages
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages
from beamlike.runtime.store.state import Key, StateLayout, with_bucket
from tests.support.machines.in_shard import (
    DictStore,
    MicroBatch,
    micro_batches,
    plan_of_numbers,
)
from tests.support.machines.rows_of_plans import PARTS, VALUES, bucket_of, combined_rows, rows_of

Mix = Callable[[int], bool]
"""Of a micro-batch by its number."""


def never(number: int) -> bool:
    """Of no micro-batch."""
    return False


def _always(number: int) -> bool:
    return True


def in_turn(number: int) -> bool:
    """Of every other one."""
    return number % 2 == 0


def _in_pairs(number: int) -> bool:
    return number % 4 >= 2


_MIXES: Final = (_always, _always, in_turn, _in_pairs)
_OTHERS: Final = (never, _always, in_turn, _in_pairs)


@attrs.frozen
class Setting:
    """How a scenario goes through a shard.

    ``in_columns`` says of each micro-batch whether the columnar machine steps it. With ``lift``
    the elements of a key are combined, window by window, before they arrive. Before the
    micro-batches of which ``restarts`` says so another worker takes over, and those of which
    ``fails`` says so are first done by one whose work is thrown away, after other rows than
    those that arrive the second time. ``few``, ``page`` and ``log`` are those of `forgetful`.
    """

    plan: Plan
    batches: Sequence[MicroBatch]
    in_columns: Mix
    lift: bool = False
    restarts: Mix = never
    fails: Mix = never
    few: int = 0
    page: int = 1_000
    log: int = 64


def any_setting_of_shards(dice: Random, strategy: WindowingStrategy, script: Script) -> Setting:
    """Some aggregates, one bucket or more, steps together or apart, and a mix of machines."""
    batches, _ = micro_batches(script, together=bool(dice.randrange(2)))
    in_columns = dice.choice(_MIXES)
    parts = (PARTS[9], *dice.sample([*PARTS[:9], *PARTS[10:]], 2))
    plan = Plan(
        strategy,
        {"key": pa.string()},
        VALUES,
        parts,
        shards=1,
        buckets=dice.choice((1, 2, 5)),
        on_error="fail",
    )
    items = (item for step in script if isinstance(step, Arrive) for _, item in step.elements)
    lift = dice.randrange(6) == 0 and _is_liftable(strategy)
    return Setting(
        plan,
        batches,
        in_columns,
        lift and all(item.window is None for item in items),
        restarts=dice.choice(_OTHERS),
        fails=dice.choice(_OTHERS),
        few=dice.choice((0, 0, 10, 1_000)),
        page=dice.choice((1_000, 10_000, 2**20)),
        log=dice.choice((2, 5, 64)),
    )


def _is_liftable(strategy: WindowingStrategy) -> bool:
    try:
        check_liftable(strategy)
    except WindowingError:
        return False
    return True


def unlike_memory_in_shard(setting: Setting) -> list[str]:
    """In what the shard and memory differ, in sentences, after the first micro-batch where they do.

    Raises:
        UnsupportedError: The columnar machine cannot do this.
    """
    with forgetful(setting.few, setting.page, setting.log):
        return _unlike_memory(setting)


def unlike_memory(strategy: WindowingStrategy, script: Script, combine: CombineFn) -> list[str]:
    """In what the columnar machine and memory differ after a step, as `unlike_memory_in_shard`.

    Elements are whole numbers, of which ``combine`` makes the values of panes. In each arrival
    either all were combined before or none were. Each step is a micro-batch.
    """
    batches: list[MicroBatch] = []
    watermark = MIN_TIMESTAMP
    for step in script:
        if isinstance(step, AdvanceWatermark):
            watermark = step.to
        batches.append((step,))
        if isinstance(step, Arrive) and any(isinstance(item, Lifted) for _, item in step.elements):
            # What was judged before may come after its window; a micro-batch ends with that.
            batches[-1] = (*_of_one_part((step,)), AdvanceWatermark(watermark))
    return unlike_memory_in_shard(Setting(plan_of_numbers(strategy, combine), batches, _always))


def run_in_both(strategy: WindowingStrategy, script: Script, combine: CombineFn) -> Run:
    """The run in memory, once the columnar machine has said and remembered the same."""
    assert unlike_memory(strategy, script, combine) == []
    return run_in_memory(Grouping(strategy, combine), script)


def _of_one_part(script: Script) -> Script:
    """Combined elements with accumulators as a plan of one aggregate has them."""
    return with_elements(
        script, lambda key, item: (key, attrs.evolve(item, accumulator=(item.accumulator,)))
    )


def panes_of_step(plan: Plan, stepped: ColumnsStepped) -> list[KeyedEffect]:
    """The panes of all passes as values."""
    return [pane for one in stepped.passes for pane in keyed_panes(plan, one)]


def _unlike_memory(setting: Setting) -> list[str]:
    plan, store = setting.plan, DictStore()
    reference = Shard(plan)
    in_columns = any(map(setting.in_columns, range(len(setting.batches))))
    columns = ColumnShard(plan) if in_columns else None
    memory = MemoryStage(plan.machine)
    watermark, clock, promised = MIN_TIMESTAMP, 0, MIN_TIMESTAMP

    def step(number: int, store: DictStore, tables: list[pa.Table]) -> list[KeyedEffect]:
        if columns is None or not setting.in_columns(number):
            return reference.step(
                store, ShardInput(tables, [HostWatermark(watermark)], clock)
            ).effects
        passes = 1 + number % 3  # whatever their number, the same comes out
        stepped = columns.step(store, ShardInput(tables, [HostWatermark(watermark)], clock), passes)
        return [*panes_of_step(plan, stepped), *drops_of_step(plan, stepped)]

    for number, batch in enumerate(setting.batches):
        tables, expected = list[pa.Table](), list[KeyedEffect]()
        for happens in batch:
            match happens:
                case Arrive():
                    tables = [_table(setting, happens, memory.watermark)]
                    happens = _arriving(plan, tables[0])
                case AdvanceWatermark(to):
                    watermark = to
                case AdvanceClock(to):
                    clock = to
            expected += [(output.key, output.effect) for output in memory.play(happens)]
        if setting.fails(number):
            step(number, deepcopy(store), [table.slice(1) for table in tables])
        with (
            forgetful(setting.few, setting.page, setting.log)
            if setting.restarts(number)
            else nullcontext()
        ):
            found = step(number, store, tables)
        states: Mapping[Any, KeyState] = {
            key: state for key, state in memory.states.items() if state.windows
        }
        promised = next_output_watermark(promised, watermark, _earliest(plan, states))
        unlike = [
            *_unlike(_by_key(found), _by_key(expected)),
            *_unlike(keys_at_rest(plan, store), {k: _shown(state) for k, state in states.items()}),
            *_unlike_index(plan, store, states, promised),
        ]
        if unlike:
            machine = "columnar" if setting.in_columns(number) else "reference"
            return [f"micro-batch {number}, {machine} machine: {batch}", *unlike]
    return []


def _table(setting: Setting, happens: Arrive, watermark: int) -> pa.Table:
    rows = rows_of(setting.plan, happens)
    return combined_rows(setting.plan, rows, watermark) if setting.lift else rows


def _arriving(plan: Plan, table: pa.Table) -> Arrive:
    """What the table brings, for a host in memory; it may have been combined before."""
    items: Any = arriving(plan, table)
    return Arrive(tuple(items))


@contextmanager
def forgetful(
    few: int = pages.ALWAYS_REWRITTEN_ROWS, page: int = pages.PAGE_BYTES, log: int = pages.LOG_BLOBS
) -> Iterator[None]:
    """Within: a worker that remembers no rows, as after a restart.

    Args:
        few: So many rows are written anew in any case, see `beamlike.runtime.store.pages`.
        page: Bytes of a page at most.
        log: Blobs of a log at most.
    """
    with (
        patch.object(pages, "_MEMORY", pages.rows_memory()),
        patch.object(pages, "ALWAYS_REWRITTEN_ROWS", few),
        patch.object(pages, "PAGE_BYTES", page),
        patch.object(pages, "LOG_BLOBS", log),
    ):
        yield


# -- what is compared ------------------------------------------------------------------------


def _by_key(effects: Sequence[KeyedEffect]) -> dict[Key, Counter[Any]]:
    """What came out of each key; its windows come in no promised order."""
    found: dict[Key, list[Any]] = defaultdict(list)
    for key, effect in effects:
        found[key].append(_said(effect))
    return {key: Counter(shown) for key, shown in found.items()}


def keys_at_rest(plan: Plan, store: DictStore) -> dict[Key, tuple[Any, ...]]:
    """Every key that rests in a store, with its state, comparable to the last bit."""
    layout, index = StateLayout(plan), Index.load(plan, store)
    with forgetful():
        rows = Pages(with_bucket(layout.schema), store, index.contents).read()
    states = layout.decode(
        rows.table.filter(pa.array(rows.lives)), index.clocks.watermark, index.clocks.clock
    )
    # Keys that nothing woke for a while have not said yet what they promise by now.
    return {
        key: _shown(state.caught_up(index.clocks.watermark, index.clocks.clock))
        for key, state in states.items()
    }


def _unlike_index(
    plan: Plan, store: DictStore, states: Mapping[Key, KeyState], promised: int
) -> list[str]:
    """In what the index differs from what it has to know of these states."""
    index = Index.load(plan, store)
    found = {"output watermark": index.output}
    expected = {"output watermark": promised}
    for bucket in range(plan.buckets):
        own = {key: state for key, state in states.items() if bucket_of(plan, key[0]) == bucket}
        next_timers = [plan.machine.next_timers(state) for state in own.values()]
        events = [next_timer.event for next_timer in next_timers if next_timer.event is not None]
        timers = [next_timer.clock for next_timer in next_timers if next_timer.clock is not None]
        for name, at, deadline in (
            ("event", index.deadline, min(events, default=NEVER)),
            ("timer", index.clock_deadline, min(timers, default=NEVER)),
        ):
            found[f"{name} of bucket {bucket}"] = int(at[bucket])
            expected[f"{name} of bucket {bucket}"] = deadline
    return _unlike(found, expected)


def _earliest(plan: Plan, states: Mapping[Key, KeyState]) -> int | None:
    """The earliest hold of all keys. What a key has promised already, it cannot hold back.

    Where a window can still fire, a pane that it may withdraw holds for the allowed lateness.
    """
    holds = [
        max(held, state.output_watermark)
        for state in states.values()
        if (held := earliest_hold(state.windows)) is not None
    ]
    holds += [
        pane.timestamp + plan.strategy.allowed_lateness
        for state in states.values()
        for window, each in state.windows.items()
        if not each.trigger.finished and state.watermark <= plan.strategy.expiry(window)
        for pane in each.unretracted_panes
    ]
    return min(holds, default=None)


def _unlike(found: Mapping[Any, Any], expected: Mapping[Any, Any]) -> list[str]:
    if found == expected:
        return []
    return [
        f"{name!r}: {found.get(name)}, in memory {expected.get(name)}"
        for name in [*expected, *(name for name in found if name not in expected)]
        if found.get(name) != expected.get(name)
    ]


def _shown(state: KeyState) -> tuple[Any, ...]:
    """All of a state, comparable."""
    windows = {
        window: (
            kept.trigger,
            _exact(kept.accumulator),
            *(
                kept.new_elements,
                kept.element_hold,
                kept.end_timer_set,
                kept.processing_timers,
                kept.last_pane,
            ),
            tuple(map(_said, kept.unretracted_panes)),
            kept.size,
        )
        for window, kept in sorted(state.windows.items(), key=lambda it: bounds(it[0]))
    }
    return state.watermark, state.clock, state.output_watermark, windows


def _said(effect: Effect) -> tuple[Any, ...]:
    """All of an effect, comparable. That panes are equal says nothing of their sessions."""
    fields = (getattr(effect, field.name) for field in attrs.fields(type(effect)))
    return type(effect).__name__, *map(_exact, fields)


def _exact(value: Any) -> Any:
    """A value that equals another only if they are the same to the last bit, whatever their type.

    Every NaN is the same, and minus zero is not zero.
    """
    kind = type(value)
    if kind is int or kind is str or value is None:
        return value
    if kind is float:
        if value == 0:
            return "-0" if str(value) == "-0.0" else 0
        return value if value == value else "NaN"
    if kind is tuple or kind is list:
        return tuple(map(_exact, value))
    if attrs.has(kind):
        return kind.__name__, *(_exact(getattr(value, field.name)) for field in attrs.fields(kind))
    return value
