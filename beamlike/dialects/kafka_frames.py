"""A table of Kafka Streams over a DataFrame; made by ``KTable.on_dataframe``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import attrs

from beamlike.api.arguments import column_names
from beamlike.api.dataframe.stream import stream as open_stream
from beamlike.dialects.folds import Record
from beamlike.dialects.frames import (
    GroupOptions,
    aggregate_of,
    grouped,
    millis_later,
    shown,
)
from beamlike.dialects.kafka_store import Session
from beamlike.errors import StateError
from beamlike.extras import needs
from beamlike.inspect.opening import open_state
from beamlike.model.combine import CombineFn, Count
from beamlike.model.combine.base import Around
from beamlike.model.options import AccumulationMode
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike

if TYPE_CHECKING:
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession


@attrs.frozen
class OfRecords(Around):
    """A fold of records, given tuples of the key's columns, the value and perhaps the stream.

    Args:
        of: The fold.
        keys: How many columns the key has.
        numbered: Whether the number of the stream comes last.
    """

    of: CombineFn
    keys: int
    numbered: bool

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        return self.of.add(accumulator, [self._record(it) for it in values], timestamps)

    def _record(self, columns: tuple[Any, ...]) -> Record:
        key, value = columns[: self.keys], columns[self.keys]
        return Record(key[0] if self.keys == 1 else key, value, columns[-1] if self.numbered else 0)


def on_dataframe(
    df: "DataFrame",
    strategy: WindowingStrategy,
    combine: CombineFn,
    gap: int,
    *,
    key: str | Sequence[str],
    value: str | None,
    timestamp: str,
    stream: str | None,
    returns: str | None,
    watermark: DurationLike | None,
    **options: Unpack[GroupOptions],
) -> "DataFrame":
    """The rows of a table, see ``KTable.on_dataframe``."""
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    keys = column_names(key, "key")
    columns = [*keys, *([] if value is None else [value]), *([] if stream is None else [stream])]
    if combine != Count():
        combine = OfRecords(combine, len(keys), stream is not None)
    retracting = strategy.accumulation is AccumulationMode.RETRACTING
    everything = grouped(
        open_stream(
            df,
            timestamp=timestamp,
            watermark=watermark if df.isStreaming else None,
            resolution="milliseconds",
        ),
        strategy,
        aggregate_of(combine, columns, returns),
        key=keys,
        value=columns,
        render="changelog" if retracting else "retractions",
        options=options,
    )
    is_drop = F.col("dropped").isNotNull()
    kind = F.when(is_drop, "dropped")
    if retracting:
        kind = kind.when(F.col("change") == "delete", "tombstone")
    kind = kind.otherwise("value")
    window = F.when(is_drop, F.col("dropped.window")).otherwise(F.col("window"))
    last = millis_later(window["end"], -gap - 1)
    return shown(
        everything,
        keys,
        kind=kind,
        value=F.when(kind == "value", F.col("value")),
        start=window["start"],
        end=last,
        timestamp=F.when(is_drop, F.col("dropped.timestamp")).otherwise(last),
    )


def saved_sessions(
    spark: "SparkSession",
    checkpoint: "str | PathLike[str]",
    name: str,
    combine: CombineFn,
    gap: int,
    batch: int | None,
    *,
    unpickle: bool,
) -> Iterator[Session]:
    """The open sessions of a table in a checkpoint, see ``kafka.open_store``."""
    import cloudpickle
    import pyarrow as pa

    stage = open_state(spark, checkpoint, batch=batch).stage(name)
    keys = [f"key_{key}" for key in stage.key_columns]
    pickled = any(name.endswith("_pickled") for name in stage.accumulator_columns)
    if pickled and not unpickle:
        raise StateError(
            f"the sessions of {name!r} are saved as pickles, and opening one runs the code "
            "in it; if you trust the author of the checkpoint, add unpickle=True"
        )
    for row in stage.windows.to_pylist() if stage.accumulator_columns else ():
        parts = tuple(row[key] for key in keys)
        (held,) = (row[column] for column in stage.accumulator_columns)
        accumulator = cloudpickle.loads(held) if pickled else held
        start, end = (
            pa.scalar(row[at], pa.timestamp("ms", "UTC")).value for at in ("start", "end")
        )
        key = parts[0] if len(parts) == 1 else parts
        yield Session(key, (start, end - gap - 1), combine.extract(accumulator))
