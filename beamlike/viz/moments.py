"""A run cut into moments: what came, happened and came out in each step, of all keys or of one."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import (
    Drop,
    Effect,
    Element,
    Fired,
    Merged,
    Pane,
    Suppressed,
    TraceEvent,
)
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.running import Now, TriggerView
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.panes import PaneInfo
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.script import Arrive, Output, Run, ScriptStep, TracedEvent
from beamlike.viz.run_index import identity, own_windows, take_drops
from beamlike.viz.table import shorten

Item = TypeVar("Item", Output, TracedEvent)
Happening = TypeVar("Happening", Merged, Fired, Suppressed, Drop)

_LABEL: Final = 36
"""Characters of a value inside the figure."""
_SHOWN_KEY: Final = 40
_MOST_KEYS: Final = 5


@attrs.frozen
class WindowView:
    """What is remembered of one window of one key.

    Args:
        window: The window.
        closed: Its trigger has finished: it accepts nothing, and only waits to be forgotten.
        trigger: Its trigger tree.
        waiting: Elements that came since its last pane.
        last_pane: Its last pane; None if it has had none. A closed one no longer knows.
        expires: The last watermark (ms) at which it accepts data. One that is kept although the
            watermark is past it is retained, see `LateCheck.RETAIN`.
        next_timers: When it changes although no element comes: once the watermark, or the clock, is
            strictly past these (ms).
        resting: It has expired, and is kept for what may still reach it.
        running: The value of a pane that fired now, in words; "" if it would have nothing new.
    """

    window: Window
    closed: bool
    trigger: TriggerView
    waiting: int
    last_pane: PaneInfo | None
    expires: int
    next_timers: NextTimers
    resting: bool = False
    running: str = attrs.field(default="", eq=False)

    @classmethod
    def of(
        cls, machine: Grouping, window: Window, remembered: WindowState, watermark: int, clock: int
    ) -> "WindowView":
        """Describe a window as a machine remembers it when the clocks stand so (ms)."""
        alone = KeyState(watermark, clock, watermark, {window: remembered})
        return cls(
            window,
            remembered.closed,
            machine.trigger.view(remembered.trigger, Now(window, watermark, clock)),
            remembered.new_elements,
            remembered.last_pane,
            machine.strategy.expiry(window),
            machine.next_timers(alone),
            not remembered.closed and watermark > machine.strategy.expiry(window),
            _running_value(machine, remembered),
        )


def _running_value(machine: Grouping, remembered: WindowState) -> str:
    """The value of a pane that fired now, in words; "" if nothing came since the last one."""
    if remembered.closed or not remembered.new_elements:
        return ""
    try:
        return shorten(machine.combine.extract(remembered.accumulator), _LABEL)
    except Exception:  # a function of the user's own, which says so once the pane fires
        return ""


@attrs.frozen
class Arrival:
    """An element that came, the windows that it was for, and its drops in these."""

    element: Element
    windows: tuple[Window, ...]
    drops: tuple[Drop, ...]

    @property
    def lost(self) -> str:
        """How much of it was dropped: "", ``some`` of its windows, or ``all``."""
        if not self.drops:
            return ""
        homeless = any(drop.window is None for drop in self.drops)
        return "all" if homeless or len(self.drops) >= len(set(self.windows)) else "some"

    @property
    def taken(self) -> list[Window]:
        """The windows that took it."""
        refused = {drop.window for drop in self.drops}
        return [window for window in self.windows if not {window} & refused and self.lost != "all"]

    @property
    def refused(self) -> str:
        """From how many of its windows it was dropped, if not from all."""
        many = f"{len(self.drops)} of {len(set(self.windows))}"
        return f"dropped from {many} windows" if self.lost == "some" else ""


@attrs.frozen
class Moment:
    """A step of the script, and the state after it.

    Args:
        step: The number of the step, from 0.
        event: The step.
        watermark: The input watermark (ms).
        clock: Processing time (ms).
        output_watermark: The output watermark (ms).
        windows: The windows that are remembered of each key, in order of start and end. A key
            is here from its first element on. Without a recording there are none.
        trace: What happened in the step.
        outputs: What came out in the step.
    """

    step: int
    event: ScriptStep
    watermark: int
    clock: int
    output_watermark: int
    windows: Mapping[Any, tuple[WindowView, ...]]
    trace: tuple[TracedEvent, ...]
    outputs: tuple[Output, ...]

    @property
    def elements(self) -> list[Element]:
        """What arrived, of any key."""
        return [element for _, element in _arrived(self.event)]

    @property
    def effects(self) -> list[Effect]:
        """The panes and drops that came out, of any key."""
        return [output.effect for output in self.outputs]

    @property
    def panes(self) -> list[Pane]:
        """The panes that came out, withdrawals too."""
        return [effect for effect in self.effects if isinstance(effect, Pane)]

    @property
    def drops(self) -> list[Drop]:
        """What was dropped."""
        return [effect for effect in self.effects if isinstance(effect, Drop)]

    @property
    def happenings(self) -> list[TraceEvent]:
        """What the trace says, of any key."""
        return [traced.happening for traced in self.trace]

    def traced(self, event_class: type[Happening]) -> list[Happening]:
        """The events of one class in the trace."""
        return [happening for happening in self.happenings if isinstance(happening, event_class)]

    @property
    def merges(self) -> list[Merged]:
        """The merges in the trace."""
        return self.traced(Merged)

    @property
    def reasons(self) -> dict[tuple[Window, PaneInfo], str]:
        """Which part of the trigger each pane came by. A host may emit in another order."""
        return {(fired.window, fired.pane.info): fired.by for fired in self.traced(Fired)}

    def arrivals(self, window_fn: WindowFn | None) -> tuple[list[Arrival], list[Drop]]:
        """The elements with their drops, and the drops of other elements: of those that were
        accepted, or combined before."""
        drops, arrivals = self.drops, list[Arrival]()
        for element in self.elements:
            windows = own_windows(window_fn, element)
            dropped = take_drops(element, drops, max(len(set(windows)), 1))
            arrivals.append(Arrival(element, windows, tuple(dropped)))
        return arrivals, drops

    def running(self, key: Any) -> Mapping[int, tuple[str, Window]]:
        """The values of windows so far, in words, each by the last element of the moment that lies
        in it; of a moment as this key saw it.

        It is known of windows that have something new, and of elements that lie in no other window.
        """
        windows = {view.window: view.running for view in self.windows.get(key, ())}
        last: dict[Window, int] = {}
        for number, element in enumerate(self.elements):
            around = [w for w in windows if w.start <= element.timestamp <= w.max_timestamp]
            if len(around) == 1:
                last[around[0]] = number
        return {number: (windows[w], w) for w, number in last.items() if windows[w]}


def moments_of(run: Run) -> tuple[Moment, ...]:
    """The moments of a run of any host, without the windows that are remembered."""
    outputs, trace = by_step(run.outputs), by_step(run.trace)
    steps = enumerate(zip(run.script, run.clocks(), strict=True))
    return tuple(
        Moment(n, step, *clocks, MIN_TIMESTAMP, {}, tuple(trace[n]), tuple(outputs[n]))
        for n, (step, clocks) in steps
    )


def by_step(items: Iterable[Item]) -> defaultdict[int, list[Item]]:
    """Outputs, or events of a trace, by the step that they belong to."""
    steps: defaultdict[int, list[Item]] = defaultdict(list)
    for item in items:
        steps[item.step].append(item)
    return steps


@attrs.define
class _KeyStep:
    """What came, came out and happened for one key in one step."""

    came: list[tuple[Hashable, Element]] = attrs.field(factory=list)
    outputs: list[Output] = attrs.field(factory=list)
    trace: list[TracedEvent] = attrs.field(factory=list)


class KeyedMoments:
    """Moments as each key saw them: all of them, with what came, came out and happened for it."""

    def __init__(self, moments: Iterable[Moment]) -> None:
        self._moments = tuple(moments)
        self._keys: dict[Hashable, Any] = {}
        self._parts = defaultdict[tuple[Hashable, int], _KeyStep](_KeyStep)
        self._sizes: Counter[Hashable] = Counter()
        """Elements, panes and drops of each key."""
        for moment in self._moments:
            for pair in _arrived(moment.event):
                self._part(pair[0], moment, 1).came.append(pair)
            for output in moment.outputs:
                self._part(output.key, moment, 1).outputs.append(output)
            for traced in moment.trace:
                self._part(traced.key, moment, 0).trace.append(traced)

    def _part(self, key: Any, moment: Moment, size: int) -> _KeyStep:
        name = identity(key)
        self._keys.setdefault(name, key)
        self._sizes[name] += size
        return self._parts[name, moment.step]

    @property
    def keys(self) -> list[Any]:
        """The keys, in the order in which they came."""
        return list(self._keys.values())

    def known(self, key: Any) -> Any:
        """The key that is equal to this one.

        Raises:
            RecordingError: There is none; names those that are most alike.
        """
        with suppress(KeyError, TypeError):  # what cannot be hashed is no key
            return self._keys[identity(key)]
        keys = self.keys
        if not keys:
            raise RecordingError(f"there is no key {key!r}: no element came, of any key")
        # A key typed on a command line is text, whatever it is in the run.
        shown = {str(known): known for known in reversed(keys)}
        near = [shown[text] for text in difflib.get_close_matches(str(key), shown, n=_MOST_KEYS)]
        named = ", ".join(shorten(known, _SHOWN_KEY) for known in near or keys[:_MOST_KEYS])
        if len(keys) == 1:
            intro = "the only key is"
        elif near:
            intro = "the nearest is" if len(near) == 1 else "the nearest are"
        else:
            intro = "there are"
            named += f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        raise RecordingError(f"there is no key {key!r}; {intro} {named}")

    def busiest(self, most: int) -> list[Any]:
        """So many keys with the most elements, panes and drops, in their order."""
        chosen = {name for name, _ in self._sizes.most_common(most)}
        return [key for name, key in self._keys.items() if name in chosen]

    def of(self, key: Any) -> tuple[Moment, ...]:
        """Moments as this key saw them. Clocks and the output watermark are those of all keys."""
        name, nothing = identity(key), _KeyStep()
        key = self._keys.get(name, key)

        def seen(moment: Moment) -> Moment:
            part = self._parts.get((name, moment.step), nothing)
            is_arrival = isinstance(moment.event, Arrive)
            return attrs.evolve(
                moment,
                event=Arrive(tuple(part.came)) if is_arrival else moment.event,
                windows={key: moment.windows[key]} if key in moment.windows else {},
                trace=tuple(part.trace),
                outputs=tuple(part.outputs),
            )

        return tuple(map(seen, self._moments))


def _arrived(event: ScriptStep) -> tuple[tuple[Hashable, Element], ...]:
    return event.elements if isinstance(event, Arrive) else ()
