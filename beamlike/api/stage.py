"""One grouping of a query: its inputs, its plan, and the frame of everything that it emits."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import attrs

from beamlike.api.arguments import counted
from beamlike.errors import UnsupportedError, UnwiseStrategyWarning, WindowingError
from beamlike.machine.lifting import check_liftable
from beamlike.model.aggregates import Aggregate
from beamlike.model.calendar import CalendarWindows
from beamlike.model.report import report
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.hosts.spark.plan import Plan, PlanOptions
    from beamlike.hosts.spark.query import Packed
    from beamlike.machine.clocks import InputClock

__all__ = [
    "Branch",
    "Grouped",
    "OnError",
    "Render",
    "check_render",
    "early_combining",
    "given_columns",
    "group_rows",
    "own_windows",
    "run_stage",
    "warn_of",
]

OnError = Literal["drop", "fail"]
Render = Literal["retractions", "changelog", "upserts"]

_BUILT_IN = (FixedWindows, SlidingWindows, GlobalWindows, CalendarWindows)


@attrs.frozen(eq=False)
class Branch:
    """One input of what comes next: rows with the hidden column, and what is known of them.

    Args:
        rows: See `beamlike.hosts.spark.marks`.
        clock: Where the watermark of these rows comes from; None: Spark's is used.
        timestamp: The event-time column of a source; None after a grouping.
        window_fn: Gives these rows their windows, if that is not for the next grouping to do:
            a Flatten keeps the windows of its inputs.
        retracting: Some rows withdraw others.
        stages: Names of the groupings that these rows went through, each with a value that no
            other grouping has: two streams may share a grouping, but two groupings no name.
    """

    rows: "DataFrame"
    clock: "InputClock | None"
    timestamp: str | None = None
    window_fn: WindowFn | None = None
    retracting: bool = False
    stages: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class Grouped:
    """What a grouping emits: rows with the hidden column."""

    rows: "DataFrame"

    @property
    def everything(self) -> "DataFrame":
        """The panes, and beside them all rows that were dropped until here, as users see them."""
        return self.everything_of(self.rows)

    @staticmethod
    def everything_of(rows: "DataFrame") -> "DataFrame":
        """The same of any rows with the hidden column."""
        from beamlike.hosts.spark.marks import DROPPED_ROW, MARKS, is_data, mark

        seen = rows.filter(is_data() | (mark("kind") == DROPPED_ROW))
        return seen.withColumn("dropped", mark("dropped")).drop(MARKS)


def check_render(render: str, strategy: WindowingStrategy) -> None:
    """Refuse a rendering of retractions where there are none.

    Raises:
        WindowingError: With the change to make.
    """
    if render != "retractions" and strategy.accumulation is not AccumulationMode.RETRACTING:
        raise WindowingError(
            f"render={render!r} shows which results replace which, and only "
            f'accumulation="retracting" knows that; this is {strategy.accumulation.value!r}'
        )


def warn_of(strategy: WindowingStrategy) -> None:
    """Warn of what a stream will not do, before it runs; see `beamlike.report`."""
    for sentence in report(strategy).warnings:
        # Level 3: where `windowed` or `Stream.group` is called.
        warnings.warn(sentence, UnwiseStrategyWarning, stacklevel=3)


def early_combining(
    strategy: WindowingStrategy, lift: bool, hot_key_fanout: int | None
) -> "PlanOptions":
    """How elements are combined before they reach their shard.

    Raises:
        WindowingError: The strategy needs each element; two ways at once; the fanout is no whole
            number of 1 or more.
    """
    if hot_key_fanout is None and not lift:
        return {}
    if hot_key_fanout is not None and lift:
        raise WindowingError(
            "lift and hot_key_fanout both combine rows before they are grouped; leave one out"
        )
    check_liftable(strategy, unjudged=lift)
    fanout = 0 if hot_key_fanout is None else counted("hot_key_fanout", hot_key_fanout)
    return {"lift": lift, "fanout": fanout}


def group_rows(
    branches: Sequence[Branch],
    strategy: WindowingStrategy,
    *,
    key: Sequence[str],
    aggregate: Mapping[str, Aggregate],
    carry: Sequence[str],
    window_input: Sequence[str],
    wake_every_ms: int,
    options: "PlanOptions",
) -> Grouped:
    """Group the rows of all branches, which have the same columns, as one.

    Raises:
        ColumnError: A column is missing or has a type that cannot be used.
        UnsupportedError: A gap that depends on the element, without the column that it needs;
            retractions to be grouped once more.
    """
    from beamlike.hosts.spark import bind, query

    if any(branch.retracting for branch in branches):
        raise UnsupportedError(
            "rows that withdraw others cannot be grouped again: most aggregates cannot take a "
            'value back; use accumulation="discarding" or "accumulating" in the grouping before'
        )
    first = branches[0].rows
    plan, inputs = bind.bind(first, strategy, key, aggregate, window_input, carry, options)
    at = tuple(list(inputs).index(name) for name in window_input)
    plan = attrs.evolve(plan, strategy=strategy.configured(given_columns(strategy.window_fn, at)))
    packed = [
        query.Packed(
            bind.packer_columns(branch.rows, plan, inputs, branch.timestamp),
            own_windows(branch, strategy, at),
        )
        for branch in branches
    ]
    return Grouped(run_stage(packed, plan, wake_every_ms))


def run_stage(packed: Sequence["Packed"], plan: "Plan", wake_every_ms: int) -> "DataFrame":
    """Everything that comes out of a stage, with the hidden column."""
    from beamlike.hosts.spark import query

    if not packed[0].rows.isStreaming:
        return query.bounded(packed, plan)
    rows = query.streaming(packed, plan, wake_every_ms)
    return rows.observe(plan.name, *query.counters(plan))


def own_windows(
    branch: Branch, strategy: WindowingStrategy, at: tuple[int, ...]
) -> WindowFn | None:
    """What gives the rows of an input their windows, if it is not the stage's machine."""
    if branch.window_fn in (None, strategy.window_fn):
        return None
    return given_columns(branch.window_fn, at)


def given_columns(window_fn: WindowFn, at: tuple[int, ...]) -> WindowFn:
    """The window function as workers call it, with the values of the columns at these places.

    Raises:
        UnsupportedError: A gap that depends on the element, and no columns.
    """
    from beamlike.hosts.spark.values import Picked, no_value, reading

    if at:
        return reading(window_fn, Picked(at))
    if isinstance(window_fn, Sessions) and callable(window_fn.gap):
        raise UnsupportedError(
            f"{window_fn} asks each element for its gap, and a row is no single value that could "
            'be asked; name the column that the gap depends on: window_input="page"'
        )
    if isinstance(window_fn, (*_BUILT_IN, Sessions)):
        return window_fn  # these look at the time only: no need for a step in between
    return reading(window_fn, no_value)
