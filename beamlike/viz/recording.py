"""A run with everything in between: what each window remembered and waited for, step by step.

Any host's run can be recorded. It is replayed in memory by the reference machine, which gives the
trace that the host may lack, and what came out is compared.
"""

import difflib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop, Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.passthrough import PassThrough
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.running import Now, TriggerView
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.panes import PaneInfo
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import Window, bounds
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Machine, Output, Run, ScriptStep, TracedEvent
from beamlike.viz.run_index import identity, is_same_pane, is_same_value
from beamlike.viz.table import shorten

Item = TypeVar("Item", Output, TracedEvent)

_SHOWN_KEY = 40
_MOST_KEYS = 5


_LABEL: Final = 36
"""Characters of a value inside the figure."""


def running_value(machine: Grouping, remembered: WindowState) -> str:
    """The value of a pane that fired now, in words; "" if nothing came since the last one."""
    if remembered.closed or not remembered.new_elements:
        return ""
    try:
        return shorten(machine.combine.extract(remembered.accumulator), _LABEL)
    except Exception:  # a function of the user's own, which says so once the pane fires
        return ""


def running_values(
    windows: Mapping[Window, str], elements: Sequence[Element]
) -> Mapping[int, tuple[str, Window]]:
    """The values of windows after a step, each by the last element of the step that lies in it.

    It is known of windows that have something new, and of elements that lie in no other window.

    Args:
        windows: What `running_value` says of the windows of a key.
        elements: What came in the step.
    """
    found: dict[Window, int] = {}
    for number, element in enumerate(elements):
        own = [
            window
            for window in windows
            if window.start <= element.timestamp <= window.max_timestamp
        ]
        if len(own) == 1:
            found[own[0]] = number
    return {number: (windows[it], it) for it, number in found.items() if windows[it]}


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
            running_value(machine, remembered),
        )


@attrs.frozen
class Moment:
    """The state after a step of the script.

    Args:
        step: The number of the step, from 0.
        event: The step.
        watermark: The input watermark (ms).
        clock: Processing time (ms).
        output_watermark: The output watermark (ms).
        windows: The windows that are remembered of each key, in order of start and end. A key
            is here from its first element on.
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
        return [it for _, it in self.event.elements] if isinstance(self.event, Arrive) else []

    def running(self, key: Any) -> Mapping[int, tuple[str, Window]]:
        """The values of windows so far; of a moment as this key saw it, see `running_values`."""
        views = self.windows.get(key, ())
        return running_values({view.window: view.running for view in views}, self.elements)


@attrs.frozen
class Recording:
    """A run, with its trace, and with the state after each of its steps.

    Args:
        run: What came out, and its trace.
        strategy: How it was windowed.
        moments: One for each step of the script.
        is_grouped: False if the elements passed by.
    """

    run: Run
    strategy: WindowingStrategy
    moments: tuple[Moment, ...]
    is_grouped: bool = True

    @classmethod
    def of(cls, run: Run, strategy: WindowingStrategy, combine: CombineFn | None) -> "Recording":
        """Replay a run in memory, and keep what there is to see on the way.

        Args:
            run: From any host.
            strategy: The one that it was run with.
            combine: Likewise; None if the elements passed by ungrouped.

        Raises:
            RecordingError: Something else came out of the replay: the strategy or the combine
                function is not the one of the run, or a function does not give the same answer
                twice.
        """
        machine: Machine
        # What was left out in the run raises again, and what was not does not.
        if combine is None:
            machine = PassThrough(strategy.window_fn, OnFailure.DROP)
        else:
            machine = Grouping(strategy, combine, OnFailure.DROP)
        stage, views = MemoryStage(machine), _Views(machine)
        given = _by_step(run.outputs)
        moments: list[Moment] = []
        known: dict[Hashable, Any] = {}
        for number, step in enumerate(run.script):
            again = stage.play(step)
            # What came out of the run is kept, and not what came out now: its reader saw it.
            came = _in_order(number, given.get(number, ()), again)
            seen: dict[Any, tuple[WindowView, ...]] = {}
            for key, state in stage.states.items():
                one = known.setdefault(identity(key), key)
                seen[one] = (*seen.get(one, ()), *views.of(key, state))
            clocks = stage.watermark, stage.clock, stage.output_watermark
            moments.append(Moment(number, step, *clocks, seen, (), came))
        trace = stage.run.trace
        traced = _by_step(trace)
        outputs = tuple(output for moment in moments for output in moment.outputs)
        return cls(
            attrs.evolve(run, outputs=outputs, trace=trace),
            strategy,
            tuple(
                attrs.evolve(moment, trace=tuple(traced.get(moment.step, ()))) for moment in moments
            ),
            is_grouped=combine is not None,
        )

    @property
    def keys(self) -> tuple[Any, ...]:
        """Every key that an element came for, in order of arrival."""
        return tuple(mine.key for mine in self._by_key.values())

    @cached_property
    def _by_key(self) -> dict[Hashable, "_OfKey"]:
        """What belongs to each key that an element came for, in order of arrival."""
        found: dict[Hashable, _OfKey] = {}
        for moment in self.moments:
            if isinstance(moment.event, Arrive):
                for pair in moment.event.elements:
                    mine = found.setdefault(identity(pair[0]), _OfKey(pair[0]))
                    mine.elements.setdefault(moment.step, []).append(pair)
            for output in moment.outputs:
                found[identity(output.key)].outputs.setdefault(moment.step, []).append(output)
            for traced in moment.trace:
                found[identity(traced.key)].trace.setdefault(moment.step, []).append(traced)
        return found

    def of_key(self, key: Hashable) -> "Recording":
        """The same, as one key saw it: all steps with their numbers, and nothing of other keys.

        Raises:
            RecordingError: No element came for the key; names those that are most alike.
        """
        mine = self._by_key[identity(self.known_key(key))]
        moments = tuple(mine.moment(moment) for moment in self.moments)
        run = Run(
            tuple(moment.event for moment in moments),
            tuple(output for moment in moments for output in moment.outputs),
            tuple(traced for moment in moments for traced in moment.trace),
        )
        return attrs.evolve(self, run=run, moments=moments)

    def known_key(self, key: Any) -> Any:
        """The key of the run that is equal to this one.

        Raises:
            RecordingError: There is none; names those that are most alike.
        """
        try:
            mine = self._by_key.get(identity(key))
        except TypeError:  # what cannot be hashed is no key
            mine = None
        if mine is not None:
            return mine.key
        keys = self.keys
        if not keys:
            raise RecordingError(f"there is no key {key!r}: no element came, of any key")
        # A key typed on a command line is text, whatever it is in the run.
        shown = {str(known): known for known in reversed(keys)}
        near = [shown[text] for text in difflib.get_close_matches(str(key), shown, n=_MOST_KEYS)]
        which = "the nearest are" if near else "there are"
        some = near or list(keys[:_MOST_KEYS])
        more = f" and {len(keys) - len(some)} more" if not near and len(keys) > len(some) else ""
        named = ", ".join(shorten(known, _SHOWN_KEY) for known in some)
        if len(keys) == 1 or len(near) == 1:
            which = "the only key is" if len(keys) == 1 else "the nearest is"
        raise RecordingError(f"there is no key {key!r}; {which} {named}{more}")


@attrs.frozen
class _OfKey:
    """What belongs to one key, by the step that it belongs to."""

    key: Any
    elements: dict[int, list[tuple[Hashable, Element]]] = attrs.field(factory=dict)
    outputs: dict[int, list[Output]] = attrs.field(factory=dict)
    trace: dict[int, list[TracedEvent]] = attrs.field(factory=dict)

    def moment(self, moment: Moment) -> Moment:
        """A moment as this key saw it. Clocks and the output watermark are those of all keys."""
        event = moment.event
        if isinstance(event, Arrive):
            event = Arrive(tuple(self.elements.get(moment.step, ())))
        return attrs.evolve(
            moment,
            event=event,
            windows={self.key: moment.windows[self.key]} if self.key in moment.windows else {},
            trace=tuple(self.trace.get(moment.step, ())),
            outputs=tuple(self.outputs.get(moment.step, ())),
        )


class _Views:
    """Descriptions of the windows of each key; made again only when something changed."""

    def __init__(self, machine: Machine) -> None:
        self._trigger_of = machine if isinstance(machine, Grouping) else None
        self._seen: dict[Any, tuple[KeyState, tuple[WindowView, ...]]] = {}

    def of(self, key: Any, state: KeyState) -> tuple[WindowView, ...]:
        if self._trigger_of is None:
            return ()
        before = self._seen.get(key)
        if before is not None and before[0] is state:
            return before[1]
        views = tuple(
            WindowView.of(
                self._trigger_of, window, state.windows[window], state.watermark, state.clock
            )
            for window in sorted(state.windows, key=bounds)
        )
        self._seen[key] = state, views
        return views


def _by_step(items: Iterable[Item]) -> dict[int, list[Item]]:
    by_step: dict[int, list[Item]] = {}
    for item in items:
        by_step.setdefault(item.step, []).append(item)
    return by_step


def _in_order(step: int, outputs: Sequence[Output], again: Sequence[Output]) -> tuple[Output, ...]:
    """What came out in a step, in the order of the replay: hosts guarantee none between keys."""
    rest, ordered = list(outputs), []
    for output in again:
        at = next((index for index, one in enumerate(rest) if _is_same_output(one, output)), None)
        if at is None:
            raise _differs(step, f"{_text(output)} came out of the replay, and not of the run")
        ordered.append(rest.pop(at))
    if rest:
        raise _differs(step, f"{_text(rest[0])} came out of the run, and not of the replay")
    return tuple(ordered)


def _is_same_output(one: Output, other: Output) -> bool:
    if not is_same(one.key, other.key) or type(one.effect) is not type(other.effect):
        return False
    mine, its = one.effect, other.effect
    if isinstance(mine, Pane) and isinstance(its, Pane):
        return is_same_pane(mine, its)
    if isinstance(mine, Drop) and isinstance(its, Drop):
        # What a function raised is worded differently where it ran elsewhere.
        facts = (mine.window, mine.timestamp, mine.reason, mine.missed_by, mine.count)
        same_facts = facts == (its.window, its.timestamp, its.reason, its.missed_by, its.count)
        return same_facts and is_same_value(mine.value, its.value)
    return False


def _text(output: Output) -> str:
    effect = output.effect
    value = shorten(effect.value, _SHOWN_KEY)
    key = f"key {shorten(output.key, _SHOWN_KEY)}"
    if isinstance(effect, Drop):
        return f"the drop of {value} ({effect.reason.value}) of {key}"
    verb = "withdrawal of the " if effect.retraction else ""
    pane = f"{effect.info.timing.value} pane {effect.info.index}"
    return f"the {verb}{pane} {value} of {key}, window {effect.window},"


def _differs(step: int, difference: str) -> RecordingError:
    return RecordingError(
        f"the run cannot be shown step by step, because it does not happen again in memory: in "
        f"step {step} {difference}; give the strategy and the aggregation that the run had, and "
        "functions that always give the same answer"
    )
