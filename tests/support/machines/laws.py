"""Laws of every machine, as functions: another way to host it, and what must hold of its panes.

`run_lazily` hosts a machine as a host of many keys does; its outputs must equal those of
`beamlike.runtime.memory.run_in_memory`. The functions ``broken_...`` return the sentences that
are broken, none if the law holds.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import attrs

from beamlike.machine import events
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.model.fingerprint import how_many
from beamlike.model.panes import Timing
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import Window
from beamlike.runtime.script import Arrive, Machine, Output, Run, Script, ScriptStep


@attrs.frozen
class Restarting:
    """A machine whose host saves and loads the state before every step."""

    machine: Machine
    restart: Callable[[KeyState], KeyState]

    @property
    def needs_clock(self) -> bool:
        return self.machine.needs_clock

    def step(
        self, state: KeyState, event: events.Event, tell: events.OnEvent | None = None
    ) -> tuple[KeyState, tuple[events.Effect, ...]]:
        return self.machine.step(self.restart(state), event, tell)

    def next_timers(self, state: KeyState) -> NextTimers:
        return self.machine.next_timers(self.restart(state))


@attrs.frozen
class LazyRun:
    """What came out of `run_lazily`.

    ``states`` holds the keys that still have windows. ``past_wakes`` names each wake that lay
    in the past when it was called for; there must be none.
    """

    outputs: tuple[Output, ...]
    states: dict[Hashable, KeyState]
    past_wakes: tuple[str, ...]


def run_lazily(machine: Machine, script: Script) -> LazyRun:
    """Step a key only when it has elements, or when a clock is strictly past one of its wakes.

    A key that was left alone catches up with `KeyState.caught_up` to where the clocks stood before
    the event; one without windows is forgotten.
    """
    states: dict[Hashable, KeyState] = {}
    outputs: list[Output] = []
    past: list[str] = []
    watermark, clock = MIN_TIMESTAMP, 0
    side: int | None = None

    def step(number: int, key: Hashable, event: events.Event) -> None:
        known = states.pop(key, None)
        if known:
            before = known.caught_up(watermark, clock, side)
        else:
            before = KeyState.unseen(watermark, clock, side)
        after, effects = machine.step(before, event)
        outputs.extend(Output(number, key, effect) for effect in effects)
        if after.windows:
            states[key] = after
        next_timers = machine.next_timers(after)
        for name, wake, now in (
            ("event", next_timers.event, after.watermark),
            ("clock", next_timers.clock, after.clock),
            ("side", next_timers.side, after.side),
        ):
            if wake is not None and wake < now:
                past.append(f"step {number}, key {key!r}: {name} wake {wake} lies before {now}")

    def due(key: Hashable, event: events.AdvanceWatermark | events.AdvanceClock) -> bool:
        next_timers = machine.next_timers(states[key])
        if isinstance(event, events.AdvanceClock):
            return next_timers.clock_due(event.to)
        after = KeyState.unseen(watermark, clock, side).side_after(event)
        of_side = event.to if after is None else after
        return next_timers.event_due(event.to) or next_timers.side_due(of_side)

    for number, happens in enumerate(script):
        if isinstance(happens, Arrive):
            for key, elements in happens.by_key().items():
                step(number, key, events.Bundle(tuple(elements)))
            continue
        for key in [key for key in states if due(key, happens)]:
            step(number, key, happens)
        if isinstance(happens, events.AdvanceWatermark):
            side = KeyState.unseen(watermark, clock, side).side_after(happens)
            watermark = happens.to
        else:
            clock = happens.to
    return LazyRun(tuple(outputs), states, tuple(past))


def in_any_order(outputs: Iterable[Output]) -> Counter[str]:
    """Outputs as a multiset: within a step keys and windows come in no promised order."""
    return Counter(map(repr, outputs))


def cut_bundles(script: Script, size: Callable[[], int]) -> tuple[Script, list[int]]:
    """The script with each bundle cut into consecutive ones of ``size()`` elements.

    Returns:
        The new script, and for each of its steps the step of the old one that it belongs to.
    """
    cut: list[ScriptStep] = []
    origin: list[int] = []
    for number, happens in enumerate(script):
        rest = happens.elements if isinstance(happens, Arrive) else ()
        pieces: list[ScriptStep] = []
        while rest:
            taken = max(1, size())
            pieces.append(Arrive(rest[:taken]))
            rest = rest[taken:]
        cut += pieces or [happens]
        origin += [number] * len(pieces or [happens])
    return tuple(cut), origin


def panes_of(outputs: Iterable[Output]) -> list[tuple[Hashable, events.Pane]]:
    """The panes among the outputs, each with its key."""
    return [(o.key, o.effect) for o in outputs if isinstance(o.effect, events.Pane)]


def broken_pane_laws(run: Run, *, merging: bool) -> list[str]:
    """What is wrong with the panes of each key and window, read in order.

    A window's history begins with the pane that says ``is_first``. Windows that merge may have
    several under the same bounds, others have one.
    """
    broken: list[str] = []
    histories: dict[tuple[Hashable, Window], list[list[events.Pane]]] = defaultdict(list)
    for key, pane in panes_of(run.outputs):
        if pane.retraction:
            continue
        history = histories[key, pane.window]
        if pane.info.is_first or not history:
            history.append([])
        history[-1].append(pane)
    for (key, window), several in histories.items():
        where = f"key {key!r}, window {window}"
        if len(several) > 1 and not merging:
            broken.append(f"{where}: {len(several)} panes say that they are the first")
        for one in several:
            broken += [f"{where}: {sentence}" for sentence in _broken_history(one)]
    return broken


def _broken_history(history: list[events.Pane]) -> list[str]:
    broken = []
    infos = [pane.info for pane in history]
    if [info.index for info in infos] != list(range(len(infos))):
        broken.append(f"indices {[info.index for info in infos]} are not 0, 1, 2, ...")
    if [info.is_first for info in infos] != [True, *[False] * (len(infos) - 1)]:
        broken.append("not exactly the pane with index 0 is the first")
    if any(info.is_last for info in infos[:-1]):
        broken.append("a pane follows the last one")
    timings = [info.timing for info in infos]
    order = [Timing.EARLY, Timing.ON_TIME, Timing.LATE]
    if timings != sorted(timings, key=order.index) or timings.count(Timing.ON_TIME) > 1:
        names = [timing.value for timing in timings]
        broken.append(f"timings {names} are not EARLY* ON_TIME? LATE*")
    counted = [info.nonspeculative_index for info in infos if info.timing is not Timing.EARLY]
    if counted != list(range(len(counted))):
        broken.append(f"nonspeculative indices {counted} are not 0, 1, 2, ...")
    if any(i.nonspeculative_index != -1 for i in infos if i.timing is Timing.EARLY):
        broken.append("an EARLY pane has a nonspeculative index other than -1")
    broken += [
        f"timestamp {pane.timestamp} lies beyond the window"
        for pane in history
        if pane.timestamp > pane.window.max_timestamp
    ]
    return broken


def broken_conservation(
    strategy: WindowingStrategy, run: Run, states: dict[Hashable, KeyState]
) -> list[str]:
    """Which elements are not accounted for. Values must be distinct, and collected in a list.

    Every (element, window) is dropped, or in a pane, or still in a window's buffer. With
    discarding panes it is in exactly one of these places, once.

    Args:
        states: The keys as they are after the run.
    """
    assigned = Counter[tuple[Hashable, Any]]()
    for happens in run.script:
        for key, element in happens.elements if isinstance(happens, Arrive) else ():
            windows = strategy.window_fn.assign(element.timestamp, element.value)
            assigned[key, element.value] += len(windows)
    dropped = Counter(
        (o.key, o.effect.element.value)
        for o in run.outputs
        if isinstance(o.effect, events.Drop) and isinstance(o.effect.element, events.Element)
    )
    waiting = Counter(
        (key, window, value)
        for key, state in states.items()
        for window, remembered in state.windows.items()
        for value in remembered.accumulator
    )
    emitted = Counter(
        (key, pane.window, value) for key, pane in panes_of(run.outputs) for value in pane.value
    )
    if strategy.accumulates:
        # Where an element is several times, it counts once for each of its windows. Sessions
        # grow, but hold it in one place.
        places = Counter(
            (key, None if strategy.is_merging else window, value)
            for key, window, value in {*emitted, *waiting}
        )
        found = Counter((key, value) for key, _, value in places)
    else:
        found = Counter[tuple[Hashable, Any]]()
        for (key, _, value), count in (emitted + waiting).items():
            found[key, value] += count
    return [
        f"{pair}: in {how_many(assigned[pair], 'window')}, accounted for "
        f"{how_many(found[pair] + dropped[pair], 'time')}"
        for pair in {*assigned, *found}
        if assigned[pair] != found[pair] + dropped[pair]
    ]


def broken_retractions(retracting: Run, accumulating: Run, *, merging: bool) -> list[str]:
    """What is wrong with retractions, given the same script in both modes.

    Without its retractions the output is the accumulating one. A retraction withdraws a pane
    that stands, and what stands in the end holds each emitted (element, window) once.
    """
    broken: list[str] = []
    kept = tuple(
        o
        for o in retracting.outputs
        if not (isinstance(o.effect, events.Pane) and o.effect.retraction)
    )
    if kept != accumulating.outputs:
        broken.append("without its retractions the output differs from the accumulating one")
    standing: list[tuple[Hashable, events.Pane]] = []
    for key, pane in panes_of(retracting.outputs):
        withdrawn = (key, attrs.evolve(pane, retraction=False))
        if not pane.retraction:
            standing.append((key, pane))
        elif withdrawn in standing:
            standing.remove(withdrawn)
        else:
            broken.append(f"key {key!r}: withdraws a pane that does not stand: {pane}")

    def contents(
        panes: list[tuple[Hashable, events.Pane]],
    ) -> Counter[tuple[Hashable, Window | None, Any]]:
        return Counter(
            (key, None if merging else pane.window, value)
            for key, pane in panes
            for value in pane.value
        )

    stands = contents(standing)
    for item in contents(panes_of(accumulating.outputs)):
        if stands[item] != 1:
            broken.append(f"{item} stands {stands[item]} times")
    return broken
