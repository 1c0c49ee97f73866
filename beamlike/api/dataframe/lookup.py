"""Rows that look into a side input: each finds what its key has in the side window.

Source: Beam's side inputs; Scio ``hashJoin`` and ``hashLeftOuterJoin``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import attrs

from beamlike.api.arguments import (
    check_choice,
    column_names,
    positive_duration,
    warn_of_numbers,
)
from beamlike.api.dataframe.flatten import check_streams
from beamlike.api.dataframe.inputs import (
    Inputs,
    Reject,
    RowStep,
    carried_columns,
    check_no_retraction,
    stages_of,
    without_rejected,
)
from beamlike.api.dataframe.joins import KeyLike, check_both, keys_of, row_type
from beamlike.api.dataframe.stage import (
    check_read,
    given_columns,
    run_stage,
    stage_name,
    step_options,
)
from beamlike.api.dataframe.stream import Stream
from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from beamlike.hosts.frames import RowType
from beamlike.model.aggregates import collect
from beamlike.model.graph import Edge, FlattenNode, SideInputNode
from beamlike.model.options import AccumulationMode, by_name
from beamlike.model.time import DurationLike
from beamlike.runtime.options import BUCKETS, SHARDS, WAKE_EVERY, OnError

if TYPE_CHECKING:
    from beamlike.runtime.frame_columns import FrameColumns

How = Literal["left", "inner"]

_A_KEY = 'the columns of both that have to be equal, such as on=["user"]'


@by_name("look_up", WindowingError, on=_A_KEY)
def look_up(
    main: Stream,
    side: Stream,
    on: KeyLike,
    how: How = "left",
    *,
    window_input: str | Sequence[str] = (),
    on_error: OnError = "drop",
    max_failures: float | None = None,
    reject: Reject | None = None,
    wake_every: DurationLike = WAKE_EVERY,
    shards: int = SHARDS,
    buckets: int = BUCKETS,
    name: str | None = None,
) -> Stream:
    """Each row of a main stream with the rows that its key has in the window of a side stream.

    The side stream is grouped by the key with its own strategy. Nothing of the main stream is:
    a row keeps its event time and its window, and looks into the side window that contains the
    last instant of its own. It waits there for the first pane; rows that come later see the
    latest pane, in place of those before. So with accumulating panes a row sees all that there is
    so far, with discarding ones the last part. In bounded data rows see the last pane.

    Where no pane comes, a row waits until the side stream's own watermark is past where its
    trigger must have fired, however far ``main`` is: for the default trigger and `AfterWatermark`
    the end of the side window. With a trigger that counts or delays it is where the side window
    expires. An idle side stream keeps rows waiting, unless ``stream(...,
    idle_after=..., idle="advance")`` advances its watermark. A row is late by the least watermark
    of both streams. The output watermark is that of ``main``, held back by rows that wait.

    Args:
        main: Any stream, grouped or not.
        side: Its windows must not merge. If it retracts, its latest results are seen.
        on: The key, as in `co_group`, with ``"main"`` and ``"side"`` as names of the streams.
        how: ``"left"`` keeps rows that find nothing, with nulls; ``"inner"`` leaves them out.
        window_input: As `Stream.group`, for the windows of the main stream.
        on_error: As `Stream.group`, and the rest likewise.
        reject: As `Stream.group`, for rows of ``main``; for those of ``side`` see `Stream.reject`.
        name: The name in drops and in the query's progress. Default: ``look up``, then
            ``look up 2`` and so on. The grouping of the side stream is called so with ``side``
            after it.

    Returns:
        A stream with the key columns as ``main`` calls them, the other columns of ``main``, those
        of ``side``, and ``window``, ``timestamp`` and ``pane`` of the main row. Columns of these
        names that were in ``main`` or ``side`` are left out. The pane of a row
        that was never grouped never fired: its timing is ``UNKNOWN``. The strategy is that of
        ``main``. A main row that comes after its side window has expired, at its end plus the
        allowed lateness of ``main``, is dropped.

    Raises:
        WindowingError: The side windows merge, or those of ``main`` are global and they are not;
            the side stream cannot be grouped; a name is taken.
        ColumnError: As `join`.
        UnsupportedError: Rows of ``main`` or ``side`` withdraw others; ``side`` has accumulating
            panes of a grouping that emits several for a window.

    Source: Scio ``hashJoin`` and ``hashLeftOuterJoin``; Beam ``View.asMultimap``.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def priced(orders, prices):
    ...     hours, days = bl.FixedWindows("1 hour"), bl.FixedWindows("1 day")
    ...     main = bl.stream(orders, timestamp="at", watermark="0 s").window(hours)
    ...     side = bl.stream(prices, timestamp="since", watermark="0 s").window(days)
    ...     return bl.look_up(main, side, on="item")
    >>> prices = "item string, since timestamp, eur int"
    >>> columns = {"orders": "item string, at timestamp", "prices": prices}
    >>> query = QueryTest(priced, columns)
    >>> rows = query.send({"item": "tea", "since": "00:00:00", "eur": 3}, to="prices")
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, to="orders")
    >>> [(row["item"], row["eur"]) for row in query.advance_watermark_to_infinity()]
    [('tea', 3)]
    """
    from beamlike.runtime.binding import bind_look_up, clocks_beside
    from beamlike.runtime.look_up import PANE_BEFORE, SIDE

    sides = {"main": main, "side": side}
    check_streams(sides)
    check_choice("how", how, get_args(How))
    check_choice("on_error", on_error, get_args(OnError))
    _check_corrections(main, side)
    main = attrs.evolve(main, inputs=without_rejected(main.inputs, reject))
    keys = keys_of(sides, on, "on")
    check_no_retraction("side", side.inputs, keys["side"])
    shown, rows = carried_columns(main.inputs, keys["main"]), row_type("side", side, keys["side"])
    check_both(main, [*keys["main"], *shown], rows.names)
    _check_free(main.inputs.frame_columns, [*keys["main"], *shown, *rows.names])
    taken = stages_of([main.inputs, side.inputs])
    label = stage_name(name, taken, "look up")
    warn_of_numbers("look_up", wake_every=wake_every)
    wake = positive_duration("wake_every", wake_every)
    panes = _side_rows(side, keys, rows).group(
        keys["main"],
        {SIDE: collect(SIDE)},
        on_error=on_error,
        max_failures=max_failures,
        wake_every=wake,
        shards=shards,
        buckets=buckets,
        name=stage_name(f"{label} side", taken),
    )
    if side.strategy.accumulation is AccumulationMode.RETRACTING:
        # What withdraws a pane is followed by the pane that takes its place.
        panes = panes.where("not retraction")
    read = column_names(window_input, "window_input")
    check_read(read, main.strategy, main.inputs)
    had_pane = main.inputs.are_panes
    shown += [PANE_BEFORE] if had_pane else []
    hidden = [column for column in read if column not in shown]
    looking = main.inputs.changed_by(
        main.inputs.frames.with_side_column, SIDE, rows, PANE_BEFORE if had_pane else None
    )
    # The side input comes first: of what arrives together, a row sees the newest pane.
    as_side = panes.inputs.changed_by(
        looking.frames.as_side, looking.frame, keys["main"], [*shown, *hidden], SIDE
    )
    places = tuple([*shown, *hidden].index(column) for column in read)
    strategy = main.strategy
    if not strategy.already_merged:  # else every row has its window
        strategy = strategy.configured(given_columns(strategy.window_fn, places))
    plan, values = bind_look_up(
        looking.frame_columns,
        strategy,
        side.strategy,
        keys["main"],
        shown,
        hidden,
        how,
        {
            **step_options(label, on_error, max_failures, shards, buckets),
            "reports": main.inputs.is_streaming,
            "clocks": clocks_beside(as_side.clocks, looking.clocks),
        },
    )
    edges = main.inputs.edges
    main_edge = edges[0] if len(edges) == 1 else Edge(FlattenNode("main", edges))
    node = SideInputNode(
        *(plan.name, (main_edge, *panes.inputs.edges), main.strategy),
        *((side.strategy,), RowStep()),
        plan=plan,
    )
    all_inputs = Inputs((*as_side.rows, *looking.rows))
    looked_up = run_stage(
        all_inputs, node, main.strategy, places, values, wake, (SIDE, PANE_BEFORE)
    )
    if had_pane:  # a row that is looked up is the pane that it was
        frame = looking.frames.with_its_pane(looked_up.frame, PANE_BEFORE)
        looked_up = attrs.evolve(looked_up, frame=frame)
    return Stream(main.strategy, Inputs((looked_up,)))


def _check_free(columns: "FrameColumns", names: Sequence[str]) -> None:
    """Refuse columns of names that the look-up gives to columns of its own."""
    from beamlike.runtime.look_up import PANE_BEFORE, SIDE

    for name in names:
        if any(columns.duplicate(needed, [needed, name]) for needed in (SIDE, PANE_BEFORE)):
            raise ColumnError(
                f"main, side: the name {name!r} is needed here; give that column another one"
            )


def _check_corrections(main: Stream, side: Stream) -> None:
    if main.inputs.retracting:
        raise UnsupportedError(
            "main: rows that withdraw others cannot look anything up, because what they found "
            'then may have changed; use accumulation="discarding" or "accumulating" in the '
            "grouping before"
        )
    if side.inputs.retracting:
        raise UnsupportedError(
            "side: rows that withdraw others cannot be looked into, because what was found in them "
            "stays with the rows that found it; use co_group or join, whose panes are corrected, "
            'or accumulation="discarding" in the grouping before'
        )


def _side_rows(side: Stream, keys: Mapping[str, list[str]], rows: RowType) -> Stream:
    """The side stream: its key as the main stream calls it, and its rows as structs."""
    from beamlike.runtime.look_up import SIDE

    renamed, frames = dict(zip(keys["main"], keys["side"], strict=True)), side.inputs.frames
    structs = side.inputs.changed_by(frames.tagged, renamed, SIDE, {SIDE: rows})
    return attrs.evolve(side, inputs=structs)
