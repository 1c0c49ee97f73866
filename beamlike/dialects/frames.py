"""A dialect's windows over a DataFrame, streaming or bounded: what all dialects share.

Nothing here decides about windows. A dialect's strategy and combine function go to `Stream.group`
as they are, and what comes out gets the columns in which its system would show it:

=============  =========================================================================
column         holds
=============  =========================================================================
the key        as its columns are called
``kind``       ``value``, ``tombstone``, ``retract``, ``late`` or ``dropped``, see `rows`
``value``      the result; null in the other kinds but ``retract``
``start``,     the window, with its end as the system counts it; null: the global window,
``end``        or none that the system shows
``timestamp``  of the row, as the system stamps it; of the element if it was dropped
``reason``     why an element was dropped
``element``    that element, as JSON
=============  =========================================================================

What differs on Spark, for all of them: the elements of a key in one micro-batch are one bundle, so
a trigger is asked once for them; and the watermark moves at the end of a micro-batch, over all
partitions, so no element is too late because of another one in its own micro-batch.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypedDict

import attrs

from beamlike.api.arguments import column_names
from beamlike.api.dataframe.stream import Stream, put_into, stream
from beamlike.errors import CombineError, UnwiseStrategyWarning
from beamlike.extras import needs
from beamlike.model import aggregates
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import Collect, CombineFn, Count, Max, Mean, Min, Sum
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike
from beamlike.model.triggers import Never
from beamlike.model.windowfns import GlobalWindows, SlidingWindows
from beamlike.runtime.options import MachineName, OnError, Render

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class GroupOptions(TypedDict, total=False):
    """The other options of a grouping; see `Stream.group`."""

    name: str
    carry: str | Sequence[str]
    on_error: OnError
    wake_every: DurationLike
    hot_key_fanout: int
    shards: int
    buckets: int
    machine: MachineName


GROUP_OPTIONS: Final = tuple(GroupOptions.__annotations__)
"""Their names."""

A_VALUE: Final = 'the column that is aggregated, such as value="price"'
"""What to write where the value is missing."""

_OF_KNOWN_TYPE: Final[Mapping[type[CombineFn], Callable[[str], Aggregate]]] = {
    Sum: aggregates.sum,
    Mean: aggregates.mean,
    Min: aggregates.min,
    Max: aggregates.max,
    Collect: aggregates.collect,
}


def aggregate_of(combine: CombineFn, columns: Sequence[str], returns: str | None) -> Aggregate:
    """A combine function over these columns; an element is a tuple if they are several."""
    if combine == Count():
        return aggregates.count()
    # A subclass may do something else.
    known = _OF_KNOWN_TYPE.get(type(combine))
    if returns is None and len(columns) == 1 and known is not None:
        # With what this one says of nulls, so that rows are as in memory.
        return attrs.evolve(known(columns[0]), fn=combine)
    if returns is None:
        raise CombineError(
            "returns is missing: the column value needs a type, and a function of your own has "
            'none; add one such as returns="bigint" or returns="array<string>"'
        )
    return aggregates.combine(combine, columns, returns)


def by_event_time(df: "DataFrame", timestamp: str, watermark: DurationLike | None) -> Stream:
    """Rows with their event times (ms); the watermark is of streams only."""
    needs("on_dataframe", "spark")
    watermark = watermark if df.isStreaming else None
    return stream(df, timestamp=timestamp, watermark=watermark, resolution="milliseconds")


def arriving(df: "DataFrame", arrival: str | None, tick: DurationLike) -> Stream:
    """Elements stamped with their arrival, and the clock as watermark.

    Args:
        arrival: The column that has the time of arrival. None: the time of the micro-batch.
        tick: How long nothing may come before the watermark follows the clock alone.
    """
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    column = "__beamlike_arrival" if arrival is None else arrival
    stamped = df.withColumn(column, F.current_timestamp()) if arrival is None else df
    if not df.isStreaming:
        return stream(stamped, timestamp=column, resolution="milliseconds")
    return stream(
        stamped,
        timestamp=column,
        watermark=0,
        idle_after=tick,
        idle="advance",
        resolution="milliseconds",
    )


def grouped(
    rows: Stream,
    strategy: WindowingStrategy,
    aggregate: Aggregate,
    *,
    key: str | Sequence[str],
    value: Sequence[str],
    render: Render = "retractions",
    options: GroupOptions,
) -> "DataFrame":
    """Panes and drops, as `Stream.everything` has them, but an element that none of its windows
    took is in one row. The result is called ``value``."""
    windowed = put_into(rows, strategy)
    window_fn = strategy.window_fn
    by_element = isinstance(window_fn, Sessions) and callable(window_fn.gap)
    by_element = by_element or strategy.trigger.needs_elements
    with warnings.catch_warnings():
        if isinstance(strategy.trigger, Never) and not isinstance(window_fn, GlobalWindows):
            # One result as a window expires is what the dialect means.
            warnings.simplefilter("ignore", UnwiseStrategyWarning)
        result = windowed.group(
            column_names(key, "key"),
            {"value": aggregate},
            window_input=value if by_element else (),
            render=render,
            **options,
        )
    return _dropped_once(result.everything, strategy)


def _dropped_once(everything: "DataFrame", strategy: WindowingStrategy) -> "DataFrame":
    """One row for each element that none of its windows took.

    Its windows are over in their order, so that is an element whose last window was.
    """
    from pyspark.sql import functions as F

    window_fn = strategy.window_fn
    if not isinstance(window_fn, SlidingWindows):
        return everything
    since = F.unix_millis("dropped.timestamp") - F.unix_millis("dropped.window.start")
    is_last = F.col("dropped.window").isNull() | (since < window_fn.period)
    return everything.filter(F.col("dropped").isNull() | is_last)


def shown(
    everything: "DataFrame",
    key: str | Sequence[str],
    *,
    kind: "Column",
    timestamp: "Column",
    value: "Column | None" = None,
    start: "Column | None" = None,
    end: "Column | None" = None,
    reason: "Column | None" = None,
    element: "Column | None" = None,
) -> "DataFrame":
    """The columns of a dialect's rows. By default a pane has its value and the bounds of its
    window, and a drop the reason and the element that it has."""
    from pyspark.sql import functions as F

    is_drop = F.col("dropped").isNotNull()
    start = F.when(~is_drop, F.col("window.start")) if start is None else start
    end = F.when(~is_drop, F.col("window.end")) if end is None else end
    return everything.select(
        *column_names(key, "key"),
        kind.alias("kind"),
        (F.col("value") if value is None else value).alias("value"),
        start.alias("start"),
        end.alias("end"),
        timestamp.alias("timestamp"),
        (reason_of() if reason is None else reason).alias("reason"),
        (F.col("dropped.element") if element is None else element).alias("element"),
    )


def reason_of() -> "Column":
    """Why an element was dropped, in the words that dialects have for it in memory."""
    from pyspark.sql import functions as F

    reason = F.col("dropped.reason")
    of_window = reason.isin("expired", "closed")
    return F.when(of_window, F.concat(reason, F.lit("_window"))).otherwise(reason)


def millis_later(instant: "Column", by: int) -> "Column":
    """An instant so many milliseconds later; null if there is none."""
    from pyspark.sql import functions as F

    return F.timestamp_millis(F.unix_millis(instant) + F.lit(by))
