"""One shard's step: all of its keys that have data or a deadline, in one pass.

No Spark here. A `Store` gives and takes blobs; the processor puts one over Spark's state, a
test puts one over a dict.

The order within a step: the clock moves, then the elements arrive at the watermark of the
shard's last step, then the watermark moves. So elements of a micro-batch are judged before
the watermark that they arrive with, as Spark itself judges them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import pyarrow as pa

from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.state import Key, StateLayout, key_tuples
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Effect,
    Element,
)
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.wakes import Wakes
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["Index", "KeyedEffect", "Shard", "Store"]

NEVER = 2**63 - 1
"""A deadline that no clock passes."""

KeyedEffect = tuple[Key, Effect]


class Store(Protocol):
    """Where a shard's blobs rest between steps."""

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
    ``event``      per bucket, the event time that the   when no key of the bucket waits
                   watermark has to pass                 for the watermark
    ``timer``      per bucket, the same of the clock     when no key waits for the clock
    ``windows``    per bucket, how many windows          -
    =============  ====================================  ===============================
    """

    watermark: int
    clock: int
    event: Any
    timer: Any
    windows: Any

    @classmethod
    def load(cls, plan: Plan, blob: bytes | None) -> "Index":
        if blob is None:
            never = np.full(plan.buckets, NEVER, np.int64)
            return cls(MIN_TIMESTAMP, 0, never, never.copy(), np.zeros(plan.buckets, np.int64))
        table, header = unpack_blob(blob)
        plan.check_identity(header["plan"])
        columns = [table.column(name).to_numpy().copy() for name in ("event", "timer", "windows")]
        return cls(header["watermark"], header["clock"], *columns)

    def note(self, bucket: int, states: dict[Key, KeyState], deadlines: list[Wakes]) -> None:
        """What a bucket holds after its keys were stepped, and when it has to be asked again."""
        self.event[bucket] = min((w.event for w in deadlines if w.event is not None), default=NEVER)
        self.timer[bucket] = min((w.clock for w in deadlines if w.clock is not None), default=NEVER)
        self.windows[bucket] = sum(len(state.windows) for state in states.values())

    def dump(self, plan: Plan) -> bytes:
        table = pa.table({"event": self.event, "timer": self.timer, "windows": self.windows})
        header = {"plan": plan.identity, "watermark": self.watermark, "clock": self.clock}
        return pack_blob(table, header)


class Shard:
    """Steps shards of one plan. Holds no state itself: that is in the store."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.grouping = plan.grouping
        self.layout = StateLayout(plan)

    def step(
        self, store: Store, arrivals: Sequence[pa.Table], watermark: int, clock: int
    ) -> list[KeyedEffect]:
        """Take one shard through one micro-batch.

        Args:
            store: The shard's state; read, and written where something changed.
            arrivals: Rows with the key columns, ``ts`` (ms), the value columns and ``bucket``,
                in order of arrival.
            watermark: The input watermark now (ms). A lower one than before is ignored: a
                restarted query may report an older watermark at first.
            clock: Processing time now (ms), likewise.

        Raises:
            StateError: The state was written by another plan.
        """
        index = Index.load(self.plan, store.read_index())
        watermark, clock = max(watermark, index.watermark), max(clock, index.clock)
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
                out, wakes = self._step_key(states, key, arrived.get(key), index, watermark, clock)
                effects += out
                deadlines.append(wakes)
            self._save(store, bucket, states, blob is not None)
            index.note(bucket, states, deadlines)
        if touched or watermark > index.watermark or clock > index.clock:
            index.watermark, index.clock = watermark, clock
            store.write_index(index.dump(self.plan))
        return effects

    def _bundles(self, arrivals: Iterable[pa.Table]) -> dict[int, dict[Key, list[Element]]]:
        """The arriving elements by bucket and key, in order of arrival."""
        bundles: dict[int, dict[Key, list[Element]]] = {}
        for table in arrivals:
            columns = [table.column(f"key_{name}") for name in self.plan.keys]
            keys = key_tuples(columns, table.num_rows)
            values = [table.column(f"value_{name}").to_pylist() for name in self.plan.values]
            elements = map(
                Element,
                zip(*values, strict=True) if values else [()] * table.num_rows,
                table.column("ts").to_pylist(),
            )
            for bucket, key, element in zip(
                table.column("bucket").to_pylist(), keys, elements, strict=True
            ):
                bundles.setdefault(bucket, {}).setdefault(key, []).append(element)
        return bundles

    def _step_key(
        self,
        states: dict[Key, KeyState],
        key: Key,
        arrived: list[Element] | None,
        index: Index,
        watermark: int,
        clock: int,
    ) -> tuple[list[KeyedEffect], Wakes]:
        """The events of one key in one micro-batch, those that can change anything."""
        grouping = self.grouping
        state = states.get(key) or KeyState.unseen(index.watermark, index.clock)
        effects: tuple[Effect, ...] = ()
        wakes = None
        if not arrived or grouping.needs_clock:
            wakes = grouping.wakes(state)
            if wakes.clock_due(clock):
                state = state.at(index.watermark, index.clock)
                state, effects = grouping.step(state, AdvanceClock(clock))
                wakes = None
        if arrived:
            state = state.at(index.watermark, clock)
            state, out = grouping.step(state, Bundle(tuple(arrived)))
            effects += out
            wakes = None
        wakes = wakes or grouping.wakes(state)
        if wakes.event_due(watermark):
            state = state.at(index.watermark, clock)
            state, out = grouping.step(state, AdvanceWatermark(watermark))
            effects += out
            wakes = grouping.wakes(state)
        states[key] = state
        return [(key, effect) for effect in effects], wakes

    def _save(self, store: Store, bucket: int, states: dict[Key, KeyState], existed: bool) -> None:
        if any(state.windows for state in states.values()):
            store.write(bucket, pack_blob(self.layout.encode(states), {}))
        elif existed:
            store.write(bucket, None)
