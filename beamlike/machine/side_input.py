"""A main input that looks into a side input: each element waits until there is something to see.

The side input is a grouping of its own. What arrives here are its panes, each in its window.
Nothing of the main input is grouped: an element comes out in its own window, at its own
timestamp, joined with what its key has in the side window that `side_input_window` names.

Source: Beam Java ``SimplePushbackSideInputDoFnRunner``, ``SideInputHandler`` and the direct
runner's ``SideInputContainer``; Scio ``hashJoin`` and ``hashLeftOuterJoin``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, get_args

import attrs

from beamlike.errors import WindowingError
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import AdvanceWatermark, Bundle, Drop, Effect, Element, Event, Pane
from beamlike.machine.failures import FunctionFailure, OnFailure, OnFailureLike, left_out
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.machine.ungrouped import UngroupedMachine, elements_of, expired
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.side_inputs import side_input_window
from beamlike.model.time import MAX_TIMESTAMP, DurationLike
from beamlike.model.triggers import DefaultTrigger, Trigger
from beamlike.model.windowfns import GlobalWindows, MappingWindowFn, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW, Window, bounds, expiry
from beamlike.safe_text import USER_RAISED

Join = Literal["left", "inner", "view"]
"""How a main value is joined with the content of its side window, see `SideInputs`."""


@attrs.frozen
class Main:
    """The value of an element of the main input."""

    value: Any


def _items(content: Any) -> tuple[Any, ...]:
    if isinstance(content, str | bytes) or not isinstance(content, Iterable):
        raise WindowingError(
            f"the content of a side input's pane must be a list of its items, got {content!r}; "
            "write Side([value])"
        )
    return tuple(content)


@attrs.frozen
class Side:
    """The content of a pane of the side input: its items, in their order.

    The element around it carries the pane's window. Retractions are not shown: the pane that
    follows one replaces the content anyway.

    Raises:
        WindowingError: The content is no collection of items.
    """

    content: tuple[Any, ...] = attrs.field(converter=_items)


@attrs.frozen
class SideWindow:
    """The state of one side window: the accumulator of its `WindowState`.

    ===========  ==========================================  ==================================
    field        stored                                      cleared
    ===========  ==========================================  ==================================
    ``content``  the items of its latest pane; None before   when no element that is accepted
                 the first                                   can look here any more
    ``waiting``  elements of the main input in their main    when the first pane comes, or the
                 window, in order of arrival                 side input's watermark is past the
                                                             latest time for it
    ===========  ==========================================  ==================================

    There is content or there are elements that wait, never both.
    """

    content: tuple[Any, ...] | None
    waiting: tuple[Element, ...]


class SideInputs(UngroupedMachine):
    """Joins each element of a main input with its window of a side input.

    The elements of a bundle are `Main` and `Side` values, taken in order of arrival. A main
    element is taken for each of its windows apart. It comes out at once if its side window is
    ready: a pane came for its key, or the side input's own watermark is past where its trigger
    must have fired, so that it is empty. Else it waits, holding the output watermark at its
    timestamp, and comes out when the side window gets ready; those that wait keep their order. So
    an element sees the latest pane that came before it, or if none did the first that comes after
    it, and how arrivals are cut into bundles does not matter.

    A newer pane of a side window replaces the older one, for the elements that come later. With
    accumulating panes it holds all items so far; with discarding ones only the latest.

    A side window is forgotten when the watermarks of both inputs are past its end plus the
    allowed lateness of the main input, unless elements wait there. No main window that looks
    there ends later, so all of them have expired. An element that comes after that is dropped, in
    its main window, and so is a side pane that no element waits for, in its side window. An element
    whose own window has expired but whose side window has not is taken: what is not grouped is
    not late.

    The host feeds the watermarks of both inputs. The output watermark is that of the main input,
    held back by elements that wait: a side input that is behind delays nothing else.
    Panes of the side input come before the watermark that let them out, and are then seen by all
    that waited.

    One thing is as in Beam for one key, and differs where several keys share a view. Here each
    key has its own: in Beam the first pane of any key makes the window ready for all, empty for
    those without items. Here those wait until the trigger must have fired for their key, too. By
    a count that is the end of time, so a host gives the ``side_allowed_lateness``: with it they
    wait no longer than the side window lives, as the grouping of the side input has let out all
    that it had by then.

    Args:
        main_window_fn: Windows of main elements that arrive in none. A session is then that of the
            element alone, not merged.
        side_window_fn: The windows of the side input. They must not merge.
        main_allowed_lateness: How long after the end of a side window elements may look there.
        join: ``"left"``: ``(value, item)`` for each item, ``(value, None)`` if there is none.
            ``"inner"``: ``(value, item)`` for each item, so nothing if there is none.
            ``"view"``: ``(value, [item, ...])``, once.
        on_error: What to do when a window function raises: ``"fail"`` or ``"drop"``, which
            drops the main element that it was called for.
        side_trigger: The trigger of the side input's grouping.
        side_allowed_lateness: How long after its end a side window may have its first pane; None:
            until its trigger must have fired.
        resolution: What the window functions and the trigger count.

    Raises:
        WindowingError: Side windows merge, the main input's window is the global one and the
            side input's are not, or ``join`` or ``on_error`` are not known.
        TimeError: An allowed lateness cannot be read.
        UnsupportedError: The trigger is none of beamlike's.
    """

    def __init__(
        self,
        main_window_fn: WindowFn,
        side_window_fn: WindowFn,
        main_allowed_lateness: DurationLike = 0,
        join: Join = "left",
        on_error: OnFailureLike = OnFailure.FAIL,
        side_trigger: Trigger = DefaultTrigger(),  # noqa: B008 (a value)
        side_allowed_lateness: DurationLike | None = None,
        resolution: Resolution = MILLISECONDS,
    ) -> None:
        side_trigger.latest_first_firing(GLOBAL_WINDOW)  # raises if it is not known
        maps = isinstance(side_window_fn, MappingWindowFn)
        if not maps and (side_window_fn.is_merging or isinstance(main_window_fn, GlobalWindows)):
            side_input_window(GLOBAL_WINDOW, side_window_fn)  # raises if they do not go together
        if join not in get_args(Join):
            choices = " or ".join(f'"{choice}"' for choice in get_args(Join))
            raise WindowingError(f"SideInputs join must be {choices}, got {join!r}")
        self.main_window_fn = main_window_fn
        self.side_window_fn = side_window_fn
        self.resolution = resolution
        self.allowed_lateness = resolution.duration(main_allowed_lateness, "main_allowed_lateness")
        self.join: Final = join
        self.on_error = option(OnFailure, on_error, "on_error")
        self.side_trigger = side_trigger
        self.side_allowed_lateness: int | None = None
        if side_allowed_lateness is not None:
            lateness = resolution.duration(side_allowed_lateness, "side_allowed_lateness")
            self.side_allowed_lateness = lateness

    def _stepped(
        self, state: KeyState, event: Event, watermark: int, clock: int
    ) -> tuple[KeyState, Sequence[Effect]]:
        moved = state.side_after(event) if isinstance(event, AdvanceWatermark) else None
        work = _SideInputStep(self, state, watermark, state.caught_up(watermark, clock, moved).side)
        if isinstance(event, Bundle):
            for element in elements_of(event, "a join with a side input"):
                work.take(element)
        elif isinstance(event, AdvanceWatermark):
            work.pass_deadlines()
        return state.after(watermark, clock, work.result(), moved), work.effects

    def next_timers(self, state: KeyState) -> NextTimers:
        """The timers of side windows: when one with waiting elements counts as empty, and when no
        element may look there any more."""
        event, side = list[int](), list[int]()
        for window, remembered in state.windows.items():
            deadline = (
                self.empty_after(window) if remembered.end_timer_set else self.last_look(window)
            )
            # The last look is over when both are past it: by convention the main input first.
            if remembered.end_timer_set or state.watermark > deadline:
                side.append(deadline)
            else:
                event.append(deadline)
        return NextTimers(min(event, default=None), None, min(side, default=None))

    def empty_after(self, side_window: Window) -> int:
        """The watermark of the side input past which a window without a pane counts as empty."""
        sure = self.side_trigger.latest_first_firing(side_window)
        # "Infinity" is past everything, and a watermark is past nothing that is infinite.
        last = self.resolution.end_of_time - 1
        # Triggers that no watermark makes ready say so in milliseconds, whatever is counted.
        sure = last if sure == MAX_TIMESTAMP else min(sure, last)
        if self.side_allowed_lateness is None:
            return sure
        return min(sure, expiry(side_window, self.side_allowed_lateness, self.resolution))

    def last_look(self, side_window: Window) -> int:
        """The last watermark of both at which an element may look into a side window."""
        fn = self.side_window_fn
        if isinstance(fn, MappingWindowFn) and fn.looks_back:
            return self.resolution.end_of_time - 1
        return expiry(side_window, self.allowed_lateness, self.resolution)


@attrs.define
class _Open:
    """The working copy of a side window during a step."""

    content: tuple[Any, ...] | None
    waiting: list[Element]


class _SideInputStep:
    """The working copy of the windows during a step, and the effects so far."""

    def __init__(self, inputs: SideInputs, state: KeyState, watermark: int, side: int) -> None:
        self.inputs, self.windows = inputs, dict(state.windows)
        self.watermark, self.side_watermark = min(watermark, side), side
        self.opened: dict[Window, _Open] = {}
        self.effects: list[Effect] = []

    def result(self) -> dict[Window, WindowState]:
        for window, side in self.opened.items():
            if side.content is None and not side.waiting:
                continue
            self.windows[window] = WindowState(
                TriggerState(),
                SideWindow(side.content, tuple(side.waiting)),
                element_hold=min((e.timestamp for e in side.waiting), default=None),
                end_timer_set=bool(side.waiting),
            )
        return self.windows

    def take(self, element: Element) -> None:
        match element.value:
            case Main(value):
                self._look(element, value)
            case Side(content):
                self._show(element, content)
            case other:
                raise WindowingError(
                    "the elements of a join with a side input are Main(value) or Side(content), "
                    f"got {other!r}"
                )

    def _look(self, element: Element, value: Any) -> None:
        inputs = self.inputs
        plain = Element(value, element.timestamp, element.window)
        windows = windows_of(plain, inputs.main_window_fn, inputs.on_error, self.watermark)
        if isinstance(windows, Drop):
            self.effects.append(attrs.evolve(windows, element=element))
            return
        for window in windows:
            try:
                side = side_input_window(window, inputs.side_window_fn)
            except WindowingError:
                raise  # the two do not go together, whatever the element
            except USER_RAISED as cause:
                failure = FunctionFailure.of(
                    inputs.side_window_fn, "assign", cause, (plain,), window
                )
                rules = inputs.on_error, self.watermark, inputs.resolution
                self.effects.append(left_out(element, failure, *rules))
                continue
            looking = Element(value, element.timestamp, window)
            if drop := expired(element, window, inputs.last_look(side), self.watermark):
                self.effects.append(drop)
                continue
            seen = self._open(side)
            if seen.content is not None:
                self._answer(looking, seen.content)
            elif self.side_watermark > inputs.empty_after(side):
                self._answer(looking, ())
            else:
                seen.waiting.append(looking)

    def _show(self, element: Element, content: tuple[Any, ...]) -> None:
        window = element.window
        if window is None:
            raise WindowingError(
                f"the side element {element.value!r} comes in no window; group the side input "
                "and hand on the window of each pane"
            )
        drop = expired(element, window, self.inputs.last_look(window), self.watermark)
        seen = self._open(window)
        if drop and not seen.waiting:
            self.effects.append(drop)
            return
        # After the last look only those see it who came before that and still wait.
        seen.content = None if drop else content
        self._release(seen.waiting, content)
        seen.waiting = []

    def pass_deadlines(self) -> None:
        """Forget windows past their last look, and release elements whose side window is empty."""
        for window in sorted(self.windows, key=bounds):
            remembered = self.windows[window]
            if remembered.end_timer_set:
                is_over = self.side_watermark > self.inputs.empty_after(window)
            else:
                is_over = self.watermark > self.inputs.last_look(window)
            if is_over:
                del self.windows[window]
                self._release(remembered.accumulator.waiting, ())

    def _release(self, waiting: Iterable[Element], content: tuple[Any, ...]) -> None:
        for element in waiting:
            self._answer(element, content)

    def _open(self, window: Window) -> _Open:
        if window not in self.opened:
            known = self.windows.pop(window, None)
            self.opened[window] = (
                _Open(None, [])
                if known is None
                else _Open(known.accumulator.content, list(known.accumulator.waiting))
            )
        return self.opened[window]

    def _answer(self, element: Element, content: tuple[Any, ...]) -> None:
        assert element.window is not None, "an element that looks has its main window"
        nothing = (None,) if self.inputs.join == "left" else ()
        seen: Iterable[Any] = [[*content]] if self.inputs.join == "view" else content or nothing
        self.effects += (
            Pane(element.window, (element.value, item), element.timestamp, NO_FIRING)
            for item in seen
        )
