"""Elements that reach their window: what the window remembers of them."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from beamlike.machine.events import Element, Item, Lifted
from beamlike.machine.failures import FunctionFailure
from beamlike.machine.reference.context import Arrival, Failed, StepContext, count_of
from beamlike.machine.reference.running import Blamed, TriggerFailed
from beamlike.machine.reference.state import TriggerState, WindowState
from beamlike.model.combine import CombineFn
from beamlike.model.windows import Window
from beamlike.safe_text import USER_RAISED, UserRaised

_NEW: Final = WindowState(TriggerState(), None)
"""A window without elements."""


def add(
    work: StepContext, window: Window, current: WindowState | None, arrived: Sequence[Arrival]
) -> WindowState:
    """The state of a window with the elements of a bundle added, unless a function `Failed`."""
    items = [item for _, item in arrived]
    accumulator = _accumulate(work, window, current, arrived, items)
    try:
        return _remembered(work, window, current, arrived, accumulator)
    except Blamed as blamed:
        alone = FunctionFailure(blamed.function, blamed.cause, (blamed.element,), window)
        failures = [(arrival, alone) for arrival in arrived if arrival[1] is blamed.element]
        raise Failed(failures) from blamed
    except TriggerFailed as failed:
        together = FunctionFailure(failed.function, failed.cause, items, window)
        raise Failed([(arrival, together) for arrival in arrived]) from failed


def _remembered(
    work: StepContext,
    window: Window,
    current: WindowState | None,
    arrived: Sequence[Arrival],
    accumulator: Any,
) -> WindowState:
    items = [item for _, item in arrived]
    trigger = work.trigger.start() if current is None else current.trigger
    now, count = work.trigger_context(window, items), count_of(items) if work.lifted else len(items)
    needs_end_of_window_timer = not now.end_reached and work.trigger.needs_end_of_window_timer(
        trigger
    )
    trigger = work.trigger.on_elements(trigger, count, now)
    if work.rules.needs_event_time_timers:
        # A failure here is blamed on these elements: later no element could be named.
        _ = [*work.trigger.event_time_timers(trigger)]
    before = _NEW if current is None else current
    return WindowState(
        trigger,
        accumulator,
        before.new_elements + count,
        work.hold(window, before.element_hold, items),
        before.end_timer_set or needs_end_of_window_timer,
        work.processing_timers(before.processing_timers, trigger),
        before.last_pane,
        before.unretracted_panes,
        before.size + work.size_of(arrived),
    )


def _accumulate(
    work: StepContext,
    window: Window,
    current: WindowState | None,
    arrived: Sequence[Arrival],
    items: Sequence[Item],
) -> Any:
    combine = work.combine
    try:
        accumulator = combine.create() if current is None else current.accumulator
        if work.lifted:
            accumulator = _grown(combine, accumulator, items)
        else:
            accumulator = _added(combine, accumulator, cast(list[Element], items))
        return combine.compact(accumulator)
    except USER_RAISED as cause:
        together = FunctionFailure.of(combine, "add", cause, items, window)
        return _one_by_one(work, current, arrived, together)


def _grown(combine: CombineFn, accumulator: Any, items: Iterable[Item]) -> Any:
    """The accumulator with these elements added in order of arrival, several at once if
    possible."""
    plain: list[Element] = []
    for item in items:
        if isinstance(item, Lifted):
            accumulator = combine.merge(_added(combine, accumulator, plain), item.accumulator)
            plain = []
        else:
            plain.append(item)
    return _added(combine, accumulator, plain)


def _added(combine: CombineFn, accumulator: Any, elements: Sequence[Element]) -> Any:
    if not elements:
        return accumulator
    return combine.add(accumulator, [e.value for e in elements], [e.timestamp for e in elements])


def _one_by_one(
    work: StepContext,
    current: WindowState | None,
    arrived: Sequence[Arrival],
    together: FunctionFailure,
) -> Any:
    """Find the arrivals that make an addition fail. If none fails alone, the elements are added one
    after the other, unless failures are to be reported."""
    combine, window = work.combine, together.window
    failed: list[tuple[Arrival, FunctionFailure]] = []

    def note(method: str, cause: UserRaised, *blamed: Arrival) -> None:
        for arrival in blamed:
            failure = FunctionFailure.of(combine, method, cause, (arrival[1],), window)
            failed.append((arrival, failure))

    method, accumulator = "create", None
    try:
        accumulator = combine.create() if current is None else current.accumulator
    except USER_RAISED as cause:
        note(method, cause, *arrived)
        raise Failed(failed) from cause
    for arrival in arrived:
        method = "merge" if isinstance(arrival[1], Lifted) else "add"
        try:
            grown = _grown(combine, accumulator, (arrival[1],))
            method = "compact"
            accumulator = combine.compact(grown)
        except USER_RAISED as cause:
            note(method, cause, arrival)
    if not failed and not work.rules.drops_failures:
        failed = [(arrival, together) for arrival in arrived]
    if failed:
        raise Failed(failed) from failed[0][1].cause
    return accumulator
