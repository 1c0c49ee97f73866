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

from beamlike.api.dataframe.stream import Stream, put_into, stream
from beamlike.errors import CombineError, UnwiseStrategyWarning, WindowingError
from beamlike.extras import needs
from beamlike.model import aggregates
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import Collect, CombineFn, Count, Max, Mean, Min, Sum
from beamlike.model.options import Params, by_name
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike
from beamlike.model.triggers import Never
from beamlike.model.windowfns import GlobalWindows, SlidingWindows
from beamlike.runtime.options import MachineName, OnError, Render

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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


def called_by_name(
    owner: str, **examples: str
) -> Callable[[Callable[Params, "DataFrame"]], Callable[Params, "DataFrame"]]:
    """As `by_name` of ``on_dataframe`` of a class, whose other options are those of a grouping."""
    return by_name(f"{owner}.on_dataframe", WindowingError, GROUP_OPTIONS, False, **examples)


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
    """Elements stamped with their arrival, by default the time of the micro-batch, and the clock as
    watermark, which it follows alone once nothing has come for a ``tick``.
    """
    needs("on_dataframe", "spark")
    from pyspark.sql import functions as F

    column = "__beamlike_arrival" if arrival is None else arrival
    stamped = df.withColumn(column, F.current_timestamp()) if arrival is None else df
    if not df.isStreaming:
        return by_event_time(stamped, column, None)
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
    combine: CombineFn,
    key: Sequence[str],
    value: Sequence[str],
    returns: str | None,
    options: GroupOptions,
    render: Render = "retractions",
) -> "DataFrame":
    """Panes and drops, as `Stream.everything` has them, but an element that none of its windows
    took is in one row. The result is called ``value``; `aggregate_of` says of which type it is."""
    windowed = put_into(rows, strategy)
    window_fn = strategy.window_fn
    by_element = isinstance(window_fn, Sessions) and callable(window_fn.gap)
    by_element = by_element or strategy.trigger.needs_elements
    with warnings.catch_warnings():
        if isinstance(strategy.trigger, Never) and not isinstance(window_fn, GlobalWindows):
            # One result as a window expires is what the dialect means.
            warnings.simplefilter("ignore", UnwiseStrategyWarning)
        result = windowed.group(
            key,
            {"value": aggregate_of(combine, value, returns)},
            window_input=value if by_element else (),
            render=render,
            **options,
        )
    return _dropped_once(result.everything, strategy)


def _dropped_once(everything: "DataFrame", strategy: WindowingStrategy) -> "DataFrame":
    """One row for each element that none of its windows took.

    Its windows are over in their order, so that is an element whose last window was.
    """
    window_fn = strategy.window_fn
    if not isinstance(window_fn, SlidingWindows):
        return everything
    since = "unix_millis(dropped.timestamp) - unix_millis(dropped.window.start)"
    is_last = f"dropped.window IS NULL OR {since} < {window_fn.period}"
    return everything.filter(f"dropped IS NULL OR {is_last}")


REASON: Final = (
    "if(dropped.reason IN ('expired', 'closed'), concat(dropped.reason, '_window'), dropped.reason)"
)
"""Why an element was dropped, in the words that dialects have for it in memory."""


def before(instant: str, millis: int) -> str:
    """An instant so many milliseconds earlier; null if there is none."""
    return f"timestamp_millis(unix_millis({instant}) - {millis})"


def shown(
    everything: "DataFrame",
    key: Sequence[str],
    *,
    kinds: Mapping[str, str],
    timestamp: str,
    **columns: str,
) -> "DataFrame":
    """The columns of a dialect's rows, written in SQL: what rows of other kinds than ``value`` and
    ``dropped`` are known by, the timestamp of a pane, and what differs in other columns. By default
    a pane has its value and the bounds of its window, and a drop its reason and its element.
    """
    from pyspark.sql import functions as F

    cases = [f"WHEN {condition} THEN '{row_kind}'" for row_kind, condition in kinds.items()]
    columns = {
        "kind": f"CASE {' '.join(cases)} WHEN dropped IS NOT NULL THEN 'dropped' ELSE 'value' END",
        "value": "value",
        "start": "if(dropped IS NULL, window.start, NULL)",
        "end": "if(dropped IS NULL, window.`end`, NULL)",
        "timestamp": f"if(dropped IS NULL, {timestamp}, dropped.timestamp)",
        "reason": REASON,
        "element": "dropped.element",
        **columns,
    }
    return everything.select(*key, *(F.expr(text).alias(name) for name, text in columns.items()))
