"""One grouping of a query: its node with its plan, and the frame of everything that it emits."""

from collections.abc import Collection, Container, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import attrs

from beamlike.api.arguments import check_choice, check_name, checked_share, counted
from beamlike.api.dataframe.inputs import Inputs, Rows
from beamlike.api.dataframe.regrouping import check_regroupable, check_takes_back
from beamlike.errors import UnsupportedError, UnwiseStrategyWarning, WindowingError
from beamlike.hosts.frames import StageInput
from beamlike.machine.liftable import check_liftable
from beamlike.machine.reference.step import Grouping
from beamlike.model.aggregates import Aggregate
from beamlike.model.calendar import CalendarWindows
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.custom_trigger import reading as reading_trigger
from beamlike.model.graph import GroupNode, StatefulNode
from beamlike.model.options import AccumulationMode
from beamlike.model.report import report
from beamlike.model.rescaled import reading, window_fn_in
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.texts import WINDOW_FNS
from beamlike.model.triggers import Trigger
from beamlike.model.warn import warn_user
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import PLAN_METADATA, STAGE, MachineName, OnError, Render

if TYPE_CHECKING:
    from beamlike.runtime.frame_columns import Input
    from beamlike.runtime.plan import PlanOptions


# -- names -----------------------------------------------------------------------------------


def stage_name(wanted: str | None, taken: Collection[str], usual: str = STAGE) -> str:
    """The name of a stage; ``usual`` and a number if none is wanted."""
    if wanted is None:
        numbered = (f"{usual} {number}" for number in range(2, len(taken) + 3))
        return next(name for name in (usual, *numbered) if name not in taken)
    check_name(wanted)
    if wanted in taken:
        raise WindowingError(
            f"name={wanted!r} is taken by a grouping before this one; give each its own"
        )
    return wanted


# -- options of a grouping -------------------------------------------------------------------


def warn_of(strategy: WindowingStrategy) -> None:
    """Warn of what a stream will not do, before it runs; see `beamlike.report`.

    Sessions without a pause grow for ever, but most data pauses: only the report mentions it.
    """
    strategy_report = report(strategy)
    if strategy_report.never_fires:
        warn_user(strategy_report.never_fires.because, UnwiseStrategyWarning)
    elif not strategy_report.bounded_state_per_key and not strategy.is_merging:
        warn_user(strategy_report.bounded_state_per_key.because, UnwiseStrategyWarning)


def stage_options(
    strategy: WindowingStrategy,
    name: str,
    *,
    on_error: OnError,
    max_failures: float | None,
    render: Render,
    lift: bool,
    hot_key_fanout: int | None,
    shards: int,
    buckets: int,
    machine: MachineName,
    record: int,
) -> "PlanOptions":
    """The options of a grouping besides its windows, checked."""
    combines_early = lift or hot_key_fanout is not None
    options = step_options(name, on_error, max_failures, shards, buckets, combines_early)
    check_choice("render", render, get_args(Render))
    check_choice("machine", machine, get_args(MachineName))
    if render != "retractions" and strategy.accumulation is not AccumulationMode.RETRACTING:
        raise WindowingError(
            f"render={render!r} shows which results replace which, and only "
            f'accumulation="retracting" knows that; this is {strategy.accumulation.value!r}'
        )
    return {
        **options,
        "render": render,
        "machine_name": machine,
        "record": _recorded(record, combines_early),
        **_early_combining(strategy, lift, hot_key_fanout),
    }


def step_options(
    name: str,
    on_error: OnError,
    max_failures: float | None,
    shards: int,
    buckets: int,
    combines_early: bool = False,
) -> "PlanOptions":
    """The options that each step with a state has, checked."""
    check_choice("on_error", on_error, get_args(OnError))
    return {
        "shards": counted("shards", shards),
        "buckets": counted("buckets", buckets),
        "on_error": on_error,
        "max_failures": checked_share(max_failures, on_error, combines_early),
        "name": name,
    }


def _recorded(record: int, combines_early: bool) -> int:
    """How many bytes of each shard's input are recorded."""
    if type(record) is not int or record < 0:
        raise WindowingError(
            f"record must be the most bytes that a shard's record may have, got {record!r}; "
            "give a whole number such as 10_000_000, or 0 for no record"
        )
    if record and combines_early:
        raise WindowingError(
            "record keeps the rows that reach a shard, and lift and hot_key_fanout combine them "
            "before; leave out one or the other"
        )
    return record


def _early_combining(
    strategy: WindowingStrategy, lift: bool, hot_key_fanout: int | None
) -> "PlanOptions":
    """How elements are combined before they reach their shard."""
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
    inputs: Inputs,
    strategy: WindowingStrategy,
    *,
    key: Sequence[str],
    aggregate: Mapping[str, Aggregate],
    carry: Sequence[str],
    window_input: Sequence[str],
    wake_every_ms: int,
    options: "PlanOptions",
) -> Rows:
    """Group the rows of all inputs as one; everything that comes out, with the hidden column."""
    from beamlike.runtime.binding import bind

    corrects = check_regroupable(inputs, options["name"], strategy)
    if corrects:
        check_takes_back(strategy, aggregate, options["name"])
    plan, values = bind(
        *(inputs.frame_columns, strategy, key, aggregate, window_input, carry, options),
        read_type=inputs.frames.read_type,
        corrects=corrects,
    )
    places = tuple(list(values).index(name) for name in window_input)
    check_read(window_input, strategy, inputs, strategy.trigger)
    if not strategy.already_merged:  # else every row has its window
        asked = given_columns(strategy.window_fn, places)
        plan = attrs.evolve(plan, strategy=strategy.configured(asked))
    if strategy.trigger.needs_elements:
        triggered = given_to_trigger(strategy.trigger, places)
        plan = attrs.evolve(plan, strategy=plan.strategy.configured(trigger=triggered))
    assert isinstance(plan.machine, Grouping), "rows are grouped"
    node = GroupNode(plan.name, inputs.edges, strategy, plan.machine.combine, plan=plan)
    return run_stage(inputs, node, strategy, places, values, wake_every_ms)


def run_stage(
    inputs: Inputs,
    node: StatefulNode,
    strategy: WindowingStrategy,
    places: tuple[int, ...],
    values: "Mapping[str, Input]",
    wake_every_ms: int,
    hidden_columns: Container[str] = (),
) -> Rows:
    """Everything that comes out of a stage, with the hidden column.

    Args:
        places: The positions of the columns that window functions read.
        values: The columns that the values of the plan come from.
        wake_every_ms: See `beamlike.windowed`.
        hidden_columns: Columns that are not shown with rows that cannot be grouped.
    """
    from beamlike.runtime.stepping import node_text

    resolution, wall_clock = inputs.times
    plan = attrs.evolve(node.plan.in_resolution(resolution), wall_clock=wall_clock)
    fn = plan.strategy.window_fn
    if wall_clock and isinstance(fn, CalendarWindows) and fn.time_zone != "UTC":
        raise WindowingError(
            f"{fn}: the event times are wall-clock times (timestamp_ntz), which are in no "
            "zone, and their midnights are those of the clock; leave time_zone out, or make the "
            "column a timestamp first"
        )
    node, frames, stage_inputs = attrs.evolve(node, plan=plan), inputs.frames, list[StageInput]()
    for rows in inputs.rows:
        window_fn = rows.window_fn
        assigned = (
            None if window_fn in (None, strategy.window_fn) else given_columns(window_fn, places)
        )
        assigned = assigned and window_fn_in(assigned, resolution)
        timestamp = None if rows.source is None else rows.source.timestamp
        how = values, timestamp, assigned, hidden_columns, rows.by_part
        stage_inputs.append(StageInput(rows.frame, plan, *how))
    frame = frames.run(stage_inputs, plan, wake_every_ms)
    if "pane" in frame.columns:  # the explanation goes wherever that column goes
        text = node_text(node, plan, plan.identity)
        frame = frame.withMetadata("pane", {PLAN_METADATA: text})
    return Rows(frame, node)


def check_read(
    window_input: Sequence[str],
    strategy: WindowingStrategy,
    inputs: Inputs,
    trigger: Trigger | None = None,
) -> None:
    """Refuse columns for windows and triggers that look at no value.

    Args:
        inputs: Its inputs, which may have window functions of their own.
        trigger: What is asked with the values besides; None: only window functions are.
    """
    window_fns = [rows.window_fn for rows in inputs.rows if rows.window_fn is not None]
    if strategy.already_merged:  # then every row has its window, if no input has another function
        window_fns = [window_fn for window_fn in window_fns if window_fn != strategy.window_fn]
    else:
        window_fns.append(strategy.window_fn)
    if (
        not window_input
        or not all(map(_is_by_time, window_fns))
        or (trigger is not None and any(_reads_values(node) for node in trigger.walk()))
    ):
        return
    description = " and ".join(map(str, filter(None, (strategy.windows_in_words, trigger))))
    raise WindowingError(
        f"window_input={list(window_input)!r} has no effect, because no value is asked for by "
        f"{description}; leave it out, or use what asks, such as Sessions(gap_of) or AfterDelta"
    )


def _reads_values(node: Trigger) -> bool:
    return isinstance(node, CustomTrigger) and node.looks_at == "values"


def _is_by_time(window_fn: WindowFn) -> bool:
    """Whether windows follow from times alone. A subclass may look at values."""
    if type(window_fn) not in WINDOW_FNS.values():
        return False
    return not isinstance(window_fn, Sessions) or (
        not callable(window_fn.gap) and window_fn.ends_with is None
    )


def given_to_trigger(trigger: Trigger, places: tuple[int, ...]) -> Trigger:
    """The trigger as workers ask it, with the values of the columns at these places."""
    from beamlike.runtime.columnar_arrivals import Picked

    looking = [node for node in trigger.walk() if _reads_values(node)]
    if looking and not places:
        raise UnsupportedError(
            f"{looking[0]} looks at the value of each element, and a row is no single value that "
            'could be measured; name the column to look at: window_input="price"'
        )
    return reading_trigger(trigger, Picked(places))


def given_columns(window_fn: WindowFn, places: tuple[int, ...]) -> WindowFn:
    """The window function as workers call it, with the values of the columns at these places."""
    from beamlike.runtime.columnar_arrivals import Picked, no_value

    asks_for_gap = isinstance(window_fn, Sessions) and callable(window_fn.gap)
    asks_for_end = isinstance(window_fn, Sessions) and window_fn.ends_with is not None
    if places:
        # The columns may be for the trigger alone.
        return window_fn if _is_by_time(window_fn) else reading(window_fn, Picked(places))
    if asks_for_end:
        raise UnsupportedError(
            f"{window_fn} asks each element whether it ends its session, and a row is no single "
            'value that could be asked; name the column that says so: window_input="event"'
        )
    if asks_for_gap:
        raise UnsupportedError(
            f"{window_fn} asks each element for its gap, and a row is no single value that could "
            'be asked; name the column that the gap depends on: window_input="page"'
        )
    if isinstance(window_fn, (*WINDOW_FNS.values(), CalendarWindows)):
        return window_fn  # these look at the time only: no need for a step in between
    return reading(window_fn, no_value)
