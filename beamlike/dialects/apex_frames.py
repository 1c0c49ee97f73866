"""A windowed operator of Apex over a DataFrame; made by ``WindowedOperator.on_dataframe``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beamlike.api.arguments import column_names
from beamlike.api.dataframe.stream import stream
from beamlike.dialects.apex_run import Operator
from beamlike.dialects.apex_words import FixedDiffEventTimeWatermarkGen
from beamlike.dialects.frames import (
    GroupOptions,
    aggregate_of,
    dropped_once,
    grouped,
    reason_of,
    shown,
)
from beamlike.errors import UnsupportedError
from beamlike.extras import needs
from beamlike.model.options import AccumulationMode, LateCheck
from beamlike.model.time import DurationLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def on_dataframe(
    operator: Operator,
    df: "DataFrame",
    *,
    key: str | Sequence[str],
    value: str | Sequence[str],
    timestamp: str,
    returns: str | None,
    watermark: DurationLike | None,
    options: GroupOptions,
) -> "DataFrame":
    """The rows of an operator, see ``WindowedOperator.on_dataframe``."""
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    trigger = operator.trigger
    retracts = trigger.mode is AccumulationMode.RETRACTING
    _check(operator, retracts)
    strategy = operator.strategy.configured(late_check=LateCheck.ELEMENT)
    generator = operator.watermark_generator
    if isinstance(generator, FixedDiffEventTimeWatermarkGen) and watermark is None:
        # Its watermark says what is over; ours, a millisecond less, what nothing comes before.
        watermark = f"{generator.fixed_diff + 1} ms"
    rows = stream(
        df,
        timestamp=timestamp,
        watermark=watermark if df.isStreaming else None,
        resolution="milliseconds",
    )
    columns, keys = column_names(value, "value"), column_names(key, "key")
    aggregate = aggregate_of(operator.combine, columns, returns)
    everything = grouped(rows, strategy, aggregate, key=keys, value=columns, options=options)
    everything = dropped_once(everything, strategy)
    is_drop, timing = F.col("dropped").isNotNull(), F.col("pane.timing")
    # Apex drops windows silently, and fires at their end only if the trigger says so.
    at_end = F.lit(trigger.on_time)
    asked_for = F.when(timing == "ON_TIME", at_end).otherwise(~F.col("pane.is_last"))
    kind = F.when(is_drop, "dropped")
    if "retraction" in everything.columns:
        withdrawn = F.col("retraction")
        asked_for = F.when(withdrawn, F.lit(retracts)).otherwise(asked_for)
        kind = kind.when(withdrawn, "retract")
    reason = F.when(F.col("dropped.reason") == "expired", "element_behind_horizon")
    return shown(
        everything.filter(is_drop | asked_for),
        keys,
        kind=kind.otherwise("value"),
        value=F.col("value"),
        start=F.when(~is_drop, F.col("window.start")),
        end=F.when(~is_drop, F.col("window.end")),
        timestamp=F.when(is_drop, F.col("dropped.timestamp")).otherwise(F.col("window.start")),
        reason=reason.otherwise(reason_of()),
    )


def _check(operator: Operator, retracts: bool) -> None:
    trigger = operator.trigger
    if operator.window is None or operator.holds_all_keys or trigger.times:
        raise UnsupportedError(
            "on Spark an operator has windows of its own, counts the elements of each key and "
            "fires by no batch clock; use run() for windows that are inherited, for counts of all "
            "keys and for times, or Repeatedly(AfterProcessingTime(...)) of this package"
        )
    silent_end = not trigger.on_time and trigger.early_count != 1
    silent_last = operator.allowed_lateness != 0 and trigger.late_count is None
    if retracts and (silent_end or silent_last):
        raise UnsupportedError(
            "on Spark, panes that are withdrawn need a firing at the watermark and one for what is "
            "late, or the last pane would be withdrawn with no row; add at_watermark() and "
            "with_late_firings_at_every(1), or say allowed_lateness=0"
        )
