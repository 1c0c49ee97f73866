"""One shard's step: all of its keys that have data or a deadline, in one pass.

No Spark here. A `Store` gives and takes blobs; the processor puts one over Spark's state, a
test puts one over a dict.

The order within a step: the clock moves, then the elements arrive at the watermark of the
shard's last step, then the watermark moves. So elements of a micro-batch are judged before
the watermark that they arrive with, as Spark itself judges them. And panes of a grouping
before arrive before the watermark that let them out, and are not late.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import UserFunctionError
from beamlike.hosts.spark.arrivals import arriving
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.state import Key, StateLayout
from beamlike.machine.clocks import Heard, InputState
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Effect,
    Item,
)
from beamlike.machine.reference.state import KeyState, earliest_hold, promise
from beamlike.machine.reference.wakes import Wakes
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["Index", "KeyedEffect", "Shard", "Stepped", "Store"]

NEVER = 2**63 - 1
"""A deadline that no clock passes."""

KeyedEffect = tuple[Key, Effect]


class Store(Protocol):
    """Where a shard's blobs rest between steps.

    A step that raises may have written some of them. Whoever goes on after that throws them
    away, as Spark does with what a failed task has written.
    """

    def read(self, bucket: int) -> bytes | None: ...

    def write(self, bucket: int, blob: bytes | None) -> None:
        """Keep the blob; None forgets the bucket."""

    def read_index(self) -> bytes | None: ...

    def write_index(self, blob: bytes) -> None: ...


@attrs.define
class Index:
    """The shard's clocks at its last step, and each bucket's earliest deadlines.

    =============  ====================================  ===============================
    field          stored                                cleared
    =============  ====================================  ===============================
    ``watermark``  the input watermark, ms               never, only forward
    ``clock``      processing time, ms                   never, only forward
    ``output``     the output watermark: the largest so  never, only forward
                   far of min(watermark, all holds), ms
    ``inputs``     what is known of each input's own     never, see `InputState`
                   watermark; none if Spark's is used
    ``event``      per bucket, the event time that the   when no key of the bucket waits
                   watermark has to pass                 for the watermark
    ``timer``      per bucket, the same of the clock     when no key waits for the clock
    ``hold``       per bucket, its earliest hold of      when nothing holds any more
                   the output watermark, ms
    ``windows``    per bucket, how many windows          -
    =============  ====================================  ===============================
    """

    watermark: int
    clock: int
    output: int
    inputs: tuple[InputState, ...]
    event: Any
    timer: Any
    hold: Any
    windows: Any

    @classmethod
    def load(cls, plan: Plan, blob: bytes | None) -> "Index":
        if blob is None:
            never = np.full(plan.buckets, NEVER, np.int64)
            windows = np.zeros(plan.buckets, np.int64)
            start = MIN_TIMESTAMP
            return cls(start, 0, start, (), never, never.copy(), never.copy(), windows)
        table, header = unpack_blob(blob)
        plan.check_identity(header["plan"])
        inputs = tuple(map(InputState.from_json, header["inputs"]))
        columns = [table.column(name).to_numpy().copy() for name in _PER_BUCKET]
        return cls(header["watermark"], header["clock"], header["output"], inputs, *columns)

    def note(self, bucket: int, states: dict[Key, KeyState], deadlines: list[Wakes]) -> None:
        """What a bucket holds after its keys were stepped, and when it has to be asked again."""
        self.event[bucket] = min((w.event for w in deadlines if w.event is not None), default=NEVER)
        self.timer[bucket] = min((w.clock for w in deadlines if w.clock is not None), default=NEVER)
        # What a key has promised already, it cannot hold back again.
        holds = (
            max(held, state.output_watermark)
            for state in states.values()
            if (held := earliest_hold(state.windows)) is not None
        )
        self.hold[bucket] = min(holds, default=NEVER)
        self.windows[bucket] = sum(len(state.windows) for state in states.values())

    def move(self, watermark: int, clock: int) -> None:
        """The clocks at the end of a step."""
        self.watermark, self.clock = watermark, clock
        self.output = promise(self.output, watermark, int(self.hold.min()))

    def dump(self, plan: Plan) -> bytes:
        table = pa.table({name: getattr(self, name) for name in _PER_BUCKET})
        header = {
            "plan": plan.identity,
            "watermark": self.watermark,
            "clock": self.clock,
            "output": self.output,
            "inputs": [state.to_json() for state in self.inputs],
        }
        return pack_blob(table, header)


_PER_BUCKET = ("event", "timer", "hold", "windows")


@attrs.frozen
class Stepped:
    """What came out of a step of a shard, and its output watermark (ms) after it."""

    effects: list[KeyedEffect]
    output_watermark: int


class Shard:
    """Steps shards of one plan. Holds no state itself: that is in the store."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.machine = plan.machine
        self.layout = StateLayout(plan)

    def step(
        self,
        store: Store,
        arrivals: Sequence[pa.Table],
        watermark: int | Sequence[Heard],
        clock: int,
    ) -> Stepped:
        """Take one shard through one micro-batch.

        Args:
            store: The shard's state; read, and written where something changed.
            arrivals: Rows with the key columns, ``ts`` (ms), the value columns, ``bucket`` and,
                if they come in windows, ``start`` and ``end`` (ms), in order of arrival.
            watermark: The input watermark now (ms), or what the plan's inputs told about
                theirs. A lower one than before is ignored: a restarted query may report an
                older watermark at first.
            clock: Processing time now (ms), likewise.

        Raises:
            StateError: The state was written by another plan.
            UserFunctionError: A function of the user's raised, and the plan says to fail then.
        """
        index = Index.load(self.plan, store.read_index())
        clock = max(clock, index.clock)
        moved = index.inputs
        if not isinstance(watermark, int):
            assert self.plan.clocks is not None, "only inputs with clocks of their own tell them"
            moved, watermark = self.plan.clocks.listen(index.inputs, watermark, clock)
        watermark = max(watermark, index.watermark)
        bundles = self._bundles(arrivals)
        touched = set(bundles)
        touched |= set(np.nonzero((index.event < watermark) | (index.timer < clock))[0].tolist())
        effects: list[KeyedEffect] = []
        for bucket in sorted(touched):
            blob = store.read(bucket) if index.windows[bucket] else None
            states = (
                {}
                if blob is None
                else self.layout.decode(unpack_blob(blob)[0], index.watermark, index.clock)
            )
            arrived = bundles.get(bucket, {})
            deadlines: list[Wakes] = []
            for key in [*states, *(key for key in arrived if key not in states)]:
                try:
                    out, wakes = self._step_key(
                        states, key, arrived.get(key), index, watermark, clock
                    )
                except UserFunctionError as error:
                    # The machine does not know the key's name.
                    raise error.of_key(key) from error.__cause__
                effects += out
                deadlines.append(wakes)
            self._save(store, bucket, states, blob is not None)
            index.note(bucket, states, deadlines)
        heard = moved != index.inputs
        if touched or heard or watermark > index.watermark or clock > index.clock:
            index.inputs = moved
            index.move(watermark, clock)
            store.write_index(index.dump(self.plan))
        return Stepped(effects, index.output)

    def _bundles(self, arrivals: Iterable[pa.Table]) -> dict[int, dict[Key, list[Item]]]:
        """What arrives by bucket and key, in order of arrival."""
        bundles: dict[int, dict[Key, list[Item]]] = {}
        for table in arrivals:
            buckets = table.column("bucket").to_pylist()
            for bucket, (key, item) in zip(buckets, arriving(self.plan, table), strict=True):
                bundles.setdefault(bucket, {}).setdefault(key, []).append(item)
        return bundles

    def _step_key(
        self,
        states: dict[Key, KeyState],
        key: Key,
        arrived: list[Item] | None,
        index: Index,
        watermark: int,
        clock: int,
    ) -> tuple[list[KeyedEffect], Wakes]:
        """The events of one key in one micro-batch, those that can change anything."""
        machine = self.machine
        state = states.get(key) or KeyState.unseen(index.watermark, index.clock)
        effects: tuple[Effect, ...] = ()
        wakes = None
        if not arrived or machine.needs_clock:
            wakes = machine.wakes(state)
            if wakes.clock_due(clock):
                state = state.at(index.watermark, index.clock)
                state, effects = machine.step(state, AdvanceClock(clock))
                wakes = None
        if arrived:
            state = state.at(index.watermark, clock)
            state, out = machine.step(state, Bundle(tuple(arrived)))
            effects += out
            wakes = None
        wakes = wakes or machine.wakes(state)
        if wakes.event_due(watermark):
            state = state.at(index.watermark, clock)
            state, out = machine.step(state, AdvanceWatermark(watermark))
            effects += out
            wakes = machine.wakes(state)
        states[key] = state
        return [(key, effect) for effect in effects], wakes

    def _save(self, store: Store, bucket: int, states: dict[Key, KeyState], existed: bool) -> None:
        if any(state.windows for state in states.values()):
            store.write(bucket, pack_blob(self.layout.encode(states), {}))
        elif existed:
            store.write(bucket, None)
