"""A run with everything in between: what each window remembered and waited for, step by step.

Any host's run can be recorded. It is replayed in memory by the reference machine, which gives the
trace that the host may lack, and what came out is compared.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.equality import is_same
from beamlike.machine.events import Drop, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import bounds
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Machine, Output, Run
from beamlike.viz.moments import KeyedMoments, Moment, WindowView, by_step, moments_of
from beamlike.viz.run_index import identity, is_same_pane, is_same_value
from beamlike.viz.table import shorten

_SHOWN_KEY = 40


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
        """Replay a run of any host in memory, with the strategy and the combine function that it
        had (None: ungrouped), and keep what there is to see on the way.

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
        stage = MemoryStage(machine)
        views: dict[Hashable, tuple[KeyState, tuple[WindowView, ...]]] = {}
        emitted = by_step(run.outputs)
        known: dict[Hashable, Any] = {}
        after: list[dict[str, Any]] = []
        for number, step in enumerate(run.script):
            again = stage.play(step)
            # What came out of the run is kept, and not what came out now: its reader saw it.
            came = _in_order(number, emitted[number], again)
            seen: dict[Any, tuple[WindowView, ...]] = {}
            for key, state in stage.states.items():
                known_key = known.setdefault(identity(key), key)
                if key not in views or views[key][0] is not state:
                    views[key] = state, _views(machine, state)
                seen[known_key] = (*seen.get(known_key, ()), *views[key][1])
            now = {"outputs": came, "output_watermark": stage.output_watermark, "windows": seen}
            after.append(now)
        moments = tuple(
            attrs.evolve(moment, **now)
            for moment, now in zip(moments_of(stage.run), after, strict=True)
        )
        replayed = attrs.evolve(_run_of(moments), steps=run.steps)
        return cls(replayed, strategy, moments, is_grouped=combine is not None)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Every key that an element came for, in order of arrival."""
        return tuple(self.by_key.keys)

    @cached_property
    def by_key(self) -> KeyedMoments:
        """Its moments as each key saw them."""
        return KeyedMoments(self.moments)

    def of_key(self, key: Hashable) -> "Recording":
        """The same, as one key saw it: all steps with their numbers, and nothing of other keys.

        Raises:
            RecordingError: No element came for the key; names those that are most alike.
        """
        moments = self.by_key.of(self.by_key.known(key))
        return attrs.evolve(self, run=_run_of(moments), moments=moments)


def _run_of(moments: Iterable[Moment]) -> Run:
    """The run that these moments are cut from."""
    shown = list(moments)
    return Run(
        tuple(moment.event for moment in shown),
        tuple(output for moment in shown for output in moment.outputs),
        tuple(traced for moment in shown for traced in moment.trace),
    )


def _views(machine: Machine, state: KeyState) -> tuple[WindowView, ...]:
    """What is remembered of each window of a key."""
    if not isinstance(machine, Grouping):
        return ()
    return tuple(
        WindowView.of(machine, window, state.windows[window], state.watermark, state.clock)
        for window in sorted(state.windows, key=bounds)
    )


def _in_order(step: int, outputs: Sequence[Output], again: Sequence[Output]) -> tuple[Output, ...]:
    """What came out in a step, in the order of the replay: hosts guarantee none between keys."""
    rest, ordered = list(outputs), []
    for output in again:
        same = (index for index, emitted in enumerate(rest) if _is_same_output(emitted, output))
        index = next(same, None)
        if index is None:
            raise _differs(step, f"{_text(output)} came out of the replay, and not of the run")
        ordered.append(rest.pop(index))
    if rest:
        raise _differs(step, f"{_text(rest[0])} came out of the run, and not of the replay")
    return tuple(ordered)


def _is_same_output(output: Output, other: Output) -> bool:
    if not is_same(output.key, other.key) or type(output.effect) is not type(other.effect):
        return False
    first, second = output.effect, other.effect
    if isinstance(first, Pane) and isinstance(second, Pane):
        return is_same_pane(first, second)
    # What a function raised is worded differently where it ran elsewhere.
    facts = attrgetter("window", "timestamp", "reason", "missed_by", "count")
    same_facts: bool = facts(first) == facts(second)
    return same_facts and is_same_value(first.value, second.value)


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
