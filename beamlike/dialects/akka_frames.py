"""Akka's sessions over a DataFrame; made by ``SessionWindow.on_dataframe``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.api.arguments import column_names
from beamlike.dialects.folds import Stamp
from beamlike.dialects.frames import GroupOptions, arriving, grouped, reason_of, shown
from beamlike.errors import SessionOverflowError
from beamlike.extras import needs
from beamlike.model import aggregates
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_Held = tuple[tuple[Stamp, ...], tuple[Stamp, ...]]
"""What a session holds, and what it had no room for."""


@attrs.frozen
class Held(CombineFn):
    """The elements of a session, of which there are never more than so many, and the others.

    Args:
        keys: How many of the columns that make an element are its key; its value comes last.
        gap: The inactivity that ends a session (ms).
        max_size: The most elements; None: no limit.
        overflow: ``drop_oldest``, ``drop_newest`` or ``fail``.
        keeps_dropped: Whether dropped elements are kept and emitted with the session.

    Raises:
        SessionOverflowError: There would be more, and that is a failure.
    """

    keys: int
    gap: int
    max_size: int | None
    overflow: str
    keeps_dropped: bool

    def create(self) -> _Held:
        return (), ()

    def add(self, accumulator: _Held, values: Sequence[Any], timestamps: Sequence[int]) -> _Held:
        held, lost = accumulator
        for columns, at in zip(values, timestamps, strict=True):
            parts = columns if self.keys else (columns,)
            self._check(held, parts[: self.keys], at)
            held, lost = self._bounded((*held, Stamp(parts[-1], at)), lost)
        return held, lost

    def merge(self, first: _Held, second: _Held) -> _Held:
        return self._bounded(first[0] + second[0], first[1] + second[1])

    def extract(self, accumulator: _Held) -> dict[str, Any]:
        held, lost = accumulator
        dropped = [{"value": stamp.value, "at": stamp.timestamp} for stamp in lost]
        return {"elements": [stamp.value for stamp in held], "dropped": dropped}

    def _check(self, held: tuple[Stamp, ...], key: tuple[Any, ...], at: int) -> None:
        if self.overflow == "fail" and self.max_size is not None and len(held) >= self.max_size:
            window = (held[0].timestamp, at + self.gap)
            named = key[0] if len(key) == 1 else key or None
            raise SessionOverflowError(named, window, self.max_size)

    def _bounded(self, held: tuple[Stamp, ...], lost: tuple[Stamp, ...]) -> _Held:
        if self.max_size is None or len(held) <= self.max_size:
            return held, lost
        cut = len(held) - self.max_size if self.overflow == "drop_oldest" else self.max_size
        older, newer = held[:cut], held[cut:]
        stay, go = (newer, older) if self.overflow == "drop_oldest" else (older, newer)
        return stay, lost + go if self.keeps_dropped else lost


def on_dataframe(
    df: "DataFrame",
    strategy: WindowingStrategy,
    gap: int,
    max_size: int | None,
    overflow: str,
    *,
    key: str | Sequence[str],
    value: str,
    arrival: str | None,
    keeps_dropped: bool,
    tick: DurationLike,
    options: GroupOptions,
) -> "DataFrame":
    """The rows of a flow, see ``SessionWindow.on_dataframe``."""
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.inputs import as_json, type_of

    keys = column_names(key, "key")
    dtype = type_of(df, value, "value")
    kind = dtype.simpleString()
    columns = [*keys, value]
    made = f"struct<elements: array<{kind}>, dropped: array<struct<value: {kind}, at: bigint>>>"
    held = Held(len(keys), gap, max_size, overflow, keeps_dropped)
    if max_size is not None and overflow == "fail":
        options["on_error"] = "fail"
    everything = grouped(
        arriving(df, arrival, tick),
        strategy,
        aggregates.combine(held, columns, made),
        key=keys,
        value=columns,
        options=options,
    )
    lost = F.transform(
        "value.dropped",
        lambda it: F.struct(
            F.timestamp_millis(it["at"]).alias("at"),
            as_json({value: (it["value"], dtype)}).alias("element"),
        ),
    )
    itself = F.array(
        F.struct(
            F.lit(None).cast("timestamp").alias("at"), F.lit(None).cast("string").alias("element")
        )
    )
    each = everything.withColumn(
        "__beamlike_each", F.explode(F.concat(F.coalesce(lost, F.array()), itself))
    )
    at, element = F.col("__beamlike_each.at"), F.col("__beamlike_each.element")
    is_lost, is_drop = at.isNotNull(), F.col("dropped").isNotNull()
    reason = F.when(is_lost, f"overflow_{overflow.removeprefix('drop_')}")
    no_time = F.lit(None).cast("timestamp")
    return shown(
        each,
        keys,
        kind=F.when(is_lost | is_drop, "dropped").otherwise("value"),
        value=F.when(~is_lost, F.col("value.elements")),
        start=no_time,
        end=no_time,
        timestamp=F.coalesce(at, F.col("dropped.timestamp"), F.col("window.end")),
        reason=reason.otherwise(reason_of()),
        element=F.coalesce(element, F.col("dropped.element")),
    )
