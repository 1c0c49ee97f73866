"""From the panes and drops of the machine to the rows of an Apex operator."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beamlike.dialects.apex_words import TriggerOption
from beamlike.dialects.rows import Bounds, Kind, Row
from beamlike.errors import WindowingError
from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop
from beamlike.model.options import AccumulationMode
from beamlike.model.panes import Timing
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow, Window
from beamlike.runtime.script import Output

GivenWindow = Bounds | str
"""A window as rows show it: its bounds (ms), or ``"global"``."""


def rows_of(
    outputs: Iterable[Output], trigger: TriggerOption, *, holds_all_keys: bool
) -> list[Row]:
    """The rows that panes and drops are, in their order.

    Apex drops windows silently, and fires at their end only if the trigger says so; the
    other panes of the machine are left out.

    Args:
        outputs: Of one window a pane comes after all panes that it withdraws.
        trigger: What the operator was asked for.
        holds_all_keys: Whether groups hold all keys, see `WindowedOperator.holds_all_keys`.
    """
    rows, withdrawn = list[Row](), list[tuple[Window, Mapping[Any, Any]]]()
    for output in outputs:
        effect = output.effect
        if isinstance(effect, Drop):
            rows.append(_dropped(output.key, effect, holds_all_keys=holds_all_keys))
            continue
        values = effect.value if holds_all_keys else {output.key: effect.value}
        if effect.retraction:
            withdrawn.append((effect.window, values))
            continue
        at_end = effect.info.timing is Timing.ON_TIME
        if trigger.on_time if at_end else not effect.info.is_last:
            rows += _fired(effect.window, values, withdrawn, trigger)
        withdrawn.clear()
    return rows


def _fired(
    window: Window,
    values: Mapping[Any, Any],
    withdrawn: Sequence[tuple[Window, Mapping[Any, Any]]],
    trigger: TriggerOption,
) -> Iterator[Row]:
    """The rows of one firing: what it withdraws first, of all keys, and then its results."""
    before = next((results for of, results in withdrawn if of == window), {})
    stands = {
        key
        for key, now in values.items()
        if trigger.only_updated and key in before and is_same(before[key], now)
    }
    if trigger.mode is AccumulationMode.RETRACTING:
        for of, results in withdrawn:
            for key, value in results.items():
                if of != window or key not in stands:
                    yield row("retract", key, of, value)
    for key, value in values.items():
        if key not in stands:
            yield row("value", key, window, value)


def row(kind: Kind, key: Any, window: Window, value: Any) -> Row:
    """A row of a window: its timestamp is the window's begin."""
    if isinstance(window, GlobalWindow):
        return Row(kind, key, value, "global", 0)
    return Row(kind, key, value, (window.start, window.end), window.start)


def _dropped(key: Any, drop: Drop, *, holds_all_keys: bool) -> Row:
    of, value = drop.value if holds_all_keys else (key, drop.value)
    bounds = None if drop.window is None else (drop.window.start, drop.window.end)
    return Row("dropped", of, value, bounds, drop.timestamp, "expired_window")


def given_windows(windows: Sequence[GivenWindow] | None) -> tuple[Window, ...]:
    """The windows that an element comes in, in the model.

    Raises:
        WindowingError: There are none, or one of them is none.
        WindowError: One of them ends before it begins.
    """
    if not windows:
        raise WindowingError(
            "the operator has no window option, so it takes elements in the windows that they come "
            "in; say windows=[row.window] of the operator before, or give it a WindowOption"
        )
    return tuple(map(_given_window, windows))


def _given_window(given: GivenWindow) -> Window:
    match given:
        case "global":
            return GLOBAL_WINDOW
        case (int(start), int(end)):
            return IntervalWindow(start, end)
    raise WindowingError(
        f'a window that an element comes in must be its start and end (ms) or "global", got '
        f"{given!r}"
    )
