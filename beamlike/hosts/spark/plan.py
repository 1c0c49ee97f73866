"""The plan of a grouping on Spark: everything that a worker needs to know, as one value."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import attrs
import pyarrow as pa

from beamlike.errors import StateError
from beamlike.hosts.spark.columns import AccumulatorColumns
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn, Together
from beamlike.model.strategy import WindowingStrategy

__all__ = ["Part", "Plan"]

LAYOUT_VERSION = 1
"""Raised whenever saved state of an older beamlike would be read wrongly."""


@attrs.frozen
class Part:
    """One aggregate of the result.

    ``input`` is the position of its column among the plan's values, None if it needs none.
    ``result`` is the Arrow type of its value in the output.
    """

    name: str
    fn: CombineFn
    input: int | None
    columns: AccumulatorColumns
    result: pa.DataType


@attrs.frozen(slots=False)
class Plan:
    """What is grouped, how, and how its state is laid out.

    Keys are spread over ``shards`` groups of Spark, and within each over ``buckets`` blobs of
    state. Both are part of the layout: they cannot change while a checkpoint is in use.
    """

    strategy: WindowingStrategy
    keys: Mapping[str, pa.DataType]
    values: Mapping[str, pa.DataType]
    parts: tuple[Part, ...]
    shards: int
    buckets: int
    on_error: Literal["drop", "fail"] = "drop"

    @cached_property
    def combine(self) -> Together:
        return Together({part.name: (part.fn, part.input) for part in self.parts})

    @cached_property
    def grouping(self) -> Grouping:
        return Grouping(self.strategy, self.combine)

    @cached_property
    def shard_ids(self) -> tuple[int, ...]:
        """The grouping keys of the shards, chosen so that Spark spreads them evenly."""
        return spread_shards(self.shards)

    @cached_property
    def identity(self) -> dict[str, str]:
        """What saved state depends on, in words. Two plans with equal words share state."""
        strategy = self.strategy
        return {
            "layout version": str(LAYOUT_VERSION),
            "window": str(strategy.window_fn),
            "trigger": str(strategy.trigger),
            "accumulation": strategy.accumulation.value,
            "allowed lateness": f"{strategy.allowed_lateness} ms",
            "timestamp combiner": strategy.timestamp_combiner.value,
            "closing behavior": strategy.closing_behavior.value,
            "on-time behavior": strategy.on_time_behavior.value,
            "late check": strategy.late_check.value,
            "key": ", ".join(f"{name} {kind}" for name, kind in self.keys.items()),
            "aggregates": ", ".join(
                f"{part.name}={part.fn}"
                + (
                    ""
                    if part.input is None
                    else " of {} {}".format(*list(self.values.items())[part.input])
                )
                for part in self.parts
            ),
            "shards": str(self.shards),
            "buckets": str(self.buckets),
        }

    def check_identity(self, saved: Mapping[str, str]) -> None:
        """Refuse state that another plan has written.

        Raises:
            StateError: Naming each difference.
        """
        if saved == self.identity:
            return
        changes = [
            f"{what}: the checkpoint has {saved.get(what)!r}, the query has {now!r}"
            for what, now in self.identity.items()
            if saved.get(what) != now
        ]
        raise StateError(
            "the checkpoint belongs to another grouping and cannot be continued:\n  "
            + "\n  ".join(changes)
            + "\nChange the query back, or start it with a new checkpointLocation."
        )

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again, from what they received.
        fields = {field.name for field in attrs.fields(type(self))}
        return {name: value for name, value in self.__dict__.items() if name in fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def spread_shards(count: int) -> tuple[int, ...]:
    """Shard ids whose Spark hashes are all different modulo ``count``.

    Spark places a group by the hash of its key modulo the number of shuffle partitions. Ids
    0, 1, 2, ... collide: one task would get three shards and another none. These ids fall
    evenly into any number of partitions that divides ``count``.
    """
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < count:
        found.setdefault(_murmur3_int(candidate) % count, candidate)
        candidate += 1
    return tuple(found[rest] for rest in sorted(found))


def _murmur3_int(value: int, seed: int = 42) -> int:
    """Spark's hash of an integer column (Murmur3 x86 32), as a signed number."""
    mask = 0xFFFFFFFF

    def rotate(x: int, by: int) -> int:
        return ((x << by) | (x >> (32 - by))) & mask

    mixed = rotate((value * 0xCC9E2D51) & mask, 15) * 0x1B873593 & mask
    hashed = (rotate(seed ^ mixed, 13) * 5 + 0xE6546B64) & mask
    hashed ^= 4
    hashed = ((hashed ^ (hashed >> 16)) * 0x85EBCA6B) & mask
    hashed = ((hashed ^ (hashed >> 13)) * 0xC2B2AE35) & mask
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed
