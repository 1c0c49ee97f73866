"""Rows that look into a side input: each finds what its key has in the side window.

Source: Beam's side inputs; Scio ``hashJoin`` and ``hashLeftOuterJoin``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from beamlike.api.arguments import check_choice, column_names, counted, positive_duration
from beamlike.api.joins import KeyLike, keys_of, own_columns, row_type
from beamlike.api.stage import Branch, OnError, given_columns, own_windows, run_stage
from beamlike.api.stream import Stream, check_streams, stage_name, stages_of
from beamlike.errors import ColumnError, UnsupportedError
from beamlike.machine.clocks import StageClock
from beamlike.model.aggregates import collect
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import DurationLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from beamlike.hosts.spark.plan import PlanOptions

__all__ = ["look_up"]

How = Literal["left", "inner"]


def look_up(
    main: Stream,
    side: Stream,
    on: KeyLike,
    how: How = "left",
    *,
    window_input: str | Sequence[str] = (),
    on_error: OnError = "drop",
    wake_every: DurationLike = "5 seconds",
    shards: int = 8,
    buckets: int = 64,
    name: str | None = None,
) -> Stream:
    """Each row of a main stream with the rows that its key has in the window of a side stream.

    The side stream is grouped by the key with its own strategy. Nothing of the main stream is:
    a row keeps its event time and its window, and looks into the side window that contains the
    last instant of its own. It waits there for the first pane, at most until the watermark is
    past the end of the side window; rows that come later see the latest pane, in place of those
    before. So with accumulating panes a row sees all that there is so far, with discarding ones
    the last part. In bounded data rows see the last pane.

    The watermark is the least of both streams. A side stream that falls silent keeps rows
    waiting, unless ``stream(..., idle_after=..., idle="advance")`` says that it goes on.

    Args:
        main: Any stream, grouped or not.
        side: Its windows must not merge. If it retracts, its latest results are seen.
        on: The key, as in `co_group`, with ``"main"`` and ``"side"`` as names of the streams.
        how: ``"left"`` keeps rows that find nothing, with nulls; ``"inner"`` leaves them out.
        window_input: As `Stream.group`, for the windows of the main stream.
        on_error: As `Stream.group`, and the rest likewise.
        name: The name in drops and in the query's progress. Default: ``look up``, then
            ``look up 2`` and so on. The grouping of the side stream is called so with ``side``
            after it.

    Returns:
        A stream with the key columns as ``main`` calls them, the other columns of ``main``, those
        of ``side``, and ``window``, ``timestamp`` and ``pane`` of the main row. The pane of a row
        that was never grouped never fired: its timing is ``UNKNOWN``. The strategy is that of
        ``main``. A main row that comes when its side window is forgotten, at its end plus the
        allowed lateness of ``main``, is dropped.

    Raises:
        WindowingError: The side windows merge, or those of ``main`` are global and they are not;
            the side stream cannot be grouped; a name is taken.
        ColumnError: As `join`.
        UnsupportedError: Rows of ``main`` or ``side`` withdraw others.

    Source: Scio ``hashJoin`` and ``hashLeftOuterJoin``; Beam ``View.asMultimap``.
    """
    from beamlike.hosts.spark import bind, query
    from beamlike.hosts.spark.look_up import PANE_BEFORE, SIDE

    sides = {"main": main, "side": side}
    check_streams(sides)
    check_choice("how", how, get_args(How))
    check_choice("on_error", on_error, get_args(OnError))
    _check_main(main)
    keys = keys_of(sides, on)
    _check_key_types(sides, keys)
    shown, rows = own_columns(main, keys["main"]), row_type("side", side, keys["side"])
    for both in (it for it in shown if it in rows.names):
        raise ColumnError(
            f"on: both sides have a column {both!r}; give one of them another name with "
            "select() or with_columns() before"
        )
    taken = stages_of((*main._branches, *side._branches))
    own = stage_name(name, taken, "look up")
    panes = _grouped(side, keys, rows).group(
        keys["main"],
        {SIDE: collect(SIDE)},
        on_error=on_error,
        wake_every=wake_every,
        shards=shards,
        buckets=buckets,
        name=stage_name(f"{own} side", taken),
    )
    if side.strategy.accumulation is AccumulationMode.RETRACTING:
        # What withdraws a pane is followed by the pane that takes its place.
        panes = panes.where("not retraction")
    if pane_before := _is_grouped(main):
        main, shown = _with_pane_before(main), [*shown, PANE_BEFORE]
    read = column_names(window_input, "window_input")
    hidden = [it for it in read if it not in shown]
    looking = _beside(main, rows)
    strategy, at = _windows(main.strategy, [*shown, *hidden], read)
    # The side input comes first: of what arrives together, a row sees the newest pane.
    branches = [
        *_as_side(panes, looking, keys["main"], [*shown, *hidden])._branches,
        *looking._branches,
    ]
    options: PlanOptions = {
        "shards": counted("shards", shards),
        "buckets": counted("buckets", buckets),
        "on_error": on_error,
        "name": own,
        "clocks": bind.clocks_of(branch.clock for branch in branches),
        "reports": main._branches[0].rows.isStreaming,
    }
    plan, inputs = bind.bind_look_up(
        looking._branches[0].rows,
        strategy,
        side.strategy.window_fn,
        keys["main"],
        shown,
        hidden,
        how,
        options,
    )
    packed = [
        query.Packed(
            bind.packer_columns(
                branch.rows, plan, inputs, branch.timestamp, untold=(SIDE, PANE_BEFORE)
            ),
            own_windows(branch, main.strategy, at),
        )
        for branch in branches
    ]
    found = run_stage(packed, plan, positive_duration("wake_every", wake_every))
    if pane_before:
        found = _with_its_pane(found)
    stages = {**taken, own: object(), f"{own} side": object()}
    return Stream(main.strategy, (Branch(found, StageClock(shards), stages=stages),))


# -- checks ----------------------------------------------------------------------------------


def _check_main(main: Stream) -> None:
    if any(branch.retracting for branch in main._branches):
        raise UnsupportedError(
            "main: rows that withdraw others cannot look anything up, because what they found "
            'then may have changed; use accumulation="discarding" or "accumulating" in the '
            "grouping before"
        )


def _check_key_types(sides: dict[str, Stream], keys: dict[str, list[str]]) -> None:
    from beamlike.hosts.spark.inputs import type_of

    for own, other in zip(keys["main"], keys["side"], strict=True):
        kinds = [
            type_of(sides[name]._branches[0].rows, column, f"key of {name!r}").simpleString()
            for name, column in (("main", own), ("side", other))
        ]
        if kinds[0] != kinds[1]:
            raise ColumnError(
                f"on: {own!r} of the main stream is {kinds[0]} and {other!r} of the side stream "
                f"is {kinds[1]}; cast one of them before"
            )


# -- the side input --------------------------------------------------------------------------


def _grouped(side: Stream, keys: dict[str, list[str]], rows: "T.StructType") -> Stream:
    """The side stream with the key as the main stream calls it, and its rows as structs."""
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.inputs import column
    from beamlike.hosts.spark.look_up import SIDE

    named = zip(keys["main"], keys["side"], strict=True)
    renamed = [column(own).alias(shown) for shown, own in named]
    return side.select(*renamed, F.struct(*(column(it) for it in rows.names)).alias(SIDE))


def _as_side(panes: Stream, main: Stream, key: Sequence[str], columns: Sequence[str]) -> Stream:
    """The panes of the side stream with the columns of the main stream, all null."""
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.inputs import column, type_of
    from beamlike.hosts.spark.look_up import SIDE

    frame = main._branches[0].rows
    nothing = [
        F.lit(None).cast(type_of(frame, it, "window_input")).alias(it)
        for it in columns
        if it not in key
    ]
    return panes.select(*(column(it) for it in key), *nothing, column(SIDE))


# -- the main input --------------------------------------------------------------------------


def _beside(main: Stream, rows: "T.StructType") -> Stream:
    """The main stream with a column for side rows, which is null."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from beamlike.hosts.spark.look_up import SIDE

    return main.with_columns({SIDE: F.lit(None).cast(T.ArrayType(rows))})


def _windows(
    strategy: WindowingStrategy, columns: Sequence[str], read: Sequence[str]
) -> tuple[WindowingStrategy, tuple[int, ...]]:
    """The main strategy as workers follow it, and where the columns are that its windows read."""
    at = tuple(list(columns).index(it) for it in read)
    if strategy.already_merged:
        return strategy, at  # every row has its window
    return strategy.configured(given_columns(strategy.window_fn, at)), at


def _is_grouped(main: Stream) -> bool:
    """Whether the rows are panes of a grouping before, and still say of which firing."""
    return "pane" in main.columns and all(it.timestamp is None for it in main._branches)


def _with_pane_before(main: Stream) -> Stream:
    from beamlike.hosts.spark.inputs import column
    from beamlike.hosts.spark.look_up import PANE_BEFORE

    return main.with_columns({PANE_BEFORE: column("pane")})


def _with_its_pane(found: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    from beamlike.hosts.spark.look_up import PANE_BEFORE

    return found.withColumn("pane", F.col(PANE_BEFORE)).drop(PANE_BEFORE)
