"""A window operator of Flink over a DataFrame; made by ``WindowedOperator.on_dataframe``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beamlike.api.arguments import column_names
from beamlike.api.dataframe.stream import stream
from beamlike.dialects.frames import (
    GroupOptions,
    aggregate_of,
    arriving,
    dropped_once,
    grouped,
    millis_later,
    reason_of,
    shown,
)
from beamlike.errors import WindowingError
from beamlike.extras import needs
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def on_dataframe(
    df: "DataFrame",
    strategy: WindowingStrategy,
    combine: CombineFn,
    *,
    processing_time: bool,
    fires_at_end: bool,
    late_output: bool,
    key: str | Sequence[str],
    value: str | Sequence[str],
    timestamp: str | None,
    returns: str | None,
    watermark: DurationLike | None,
    tick: DurationLike,
    options: GroupOptions,
) -> "DataFrame":
    """The rows of an operator, see ``WindowedOperator.on_dataframe``."""
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    columns = column_names(value, "value")
    if processing_time:
        rows = arriving(df, timestamp, tick)
    elif timestamp is None:
        raise WindowingError(
            "timestamp is missing, because these windows are in event time; name the column that "
            "has it, or use windows in processing time"
        )
    else:
        rows = stream(
            df,
            timestamp=timestamp,
            watermark=watermark if df.isStreaming else None,
            resolution="milliseconds",
        )
    aggregate = aggregate_of(combine, columns, returns)
    everything = grouped(rows, strategy, aggregate, key=key, value=columns, options=options)
    everything = dropped_once(everything, strategy)
    is_drop = F.col("dropped").isNotNull()
    if not fires_at_end:
        # The last pane of a window is what is left of it: triggers of Flink never finish.
        everything = everything.filter(is_drop | ~F.col("pane.is_last"))
    is_late = is_drop & F.col("dropped.reason").isin("expired", "closed")
    late = "late" if late_output else "dropped"
    last = millis_later(F.col("window.end"), -1)
    return shown(
        everything,
        key,
        kind=F.when(is_late, late).when(is_drop, "dropped").otherwise("value"),
        value=F.col("value"),
        start=F.when(~is_drop, F.col("window.start")),
        end=F.when(~is_drop, F.col("window.end")),
        timestamp=F.when(is_drop, F.col("dropped.timestamp")).otherwise(last),
        reason=F.when(is_late & F.lit(late_output), None).otherwise(reason_of()),
    )
