"""Splittable functions, as steps that run an element to its end, and as nodes that save the rest.

A node keeps of each element the restriction and the state of the watermark estimator that a call
has left, and calls the function again when it asked for that. Until then the output watermark
waits where the estimator stands.

Source: Beam Java ``SplittableParDoViaKeyedWorkItems`` and
``OutputAndTimeBoundedSplittableProcessElementInvoker``.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final
from zlib import crc32

import attrs

from beamlike.api.pickle_coder import PickleCoder
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import MAIN
from beamlike.model.state_specs import ReadModifyWriteStateSpec, TimeDomain, TimerSpec
from beamlike.model.stateful import DueTimer, UserStates
from beamlike.runners.beam.elements import BundleDo, ElementForm
from beamlike.runners.beam.metrics import Sampler
from beamlike.runners.beam.restrictions import Rest, delay_ms
from beamlike.runners.beam.sdk import pickler
from beamlike.runners.beam.stateful import BeamFn
from beamlike.runners.beam.steps import OutputStep, Step, opened
from beamlike.runners.beam.windows import UNIT, ticks_of

MOST_OUTPUTS: Final = 10_000
LONGEST_CALL: Final = 1.0
"""A call of a function ends after so many outputs, or so many seconds: what is left comes later."""
_KEYS: Final = 1 << 30


class Splitting(BundleDo):
    """Elements as the parts of them that a splittable function is called for."""

    def __init__(self, step: Step, takes: ElementForm) -> None:
        self._step, self._takes = step, takes

    def setup(self) -> None:
        self._restrictions = self._step.restrictions()

    def __getstate__(self) -> dict[str, Any]:
        return {"_step": self._step, "_takes": self._takes}

    def run(self, bundle: Bundle) -> Iterator[tuple[str, Bundle]]:
        out = Bundle()
        contents: Iterable[Any] = repeat(())
        if self._step.sides:  # see `beamlike.runners.beam.stateful.Attaching`
            bundle, _ = bundle.one_window_each()
            contents = [sides for _, sides in bundle.values]
            bundle = bundle.with_values([value for value, _ in bundle.values])
        for windowed, sides in zip(self._takes.values(bundle), contents, strict=False):
            for rest in self._restrictions.parts(windowed, sides):
                out.append(Windowed(rest, rest.micros))
        if out:
            yield MAIN, out


class _Pickles(PickleCoder):
    def __str__(self) -> str:
        return "pickles"  # checkpoints know it by this


class _Limited(OutputStep):
    """Keeps what comes out of a call, and asks the function to leave the rest after a while."""

    def __init__(self, fn: "SplittableFn", sampler: Any, label: str) -> None:
        super().__init__(sampler, label)
        self._fn = fn
        self.process = self._add

    def _add(self, element: Any) -> None:
        self.elements.append(element)
        self._fn.came_out()


class SplittableFn(BeamFn):
    """A splittable function, called for one part of an element after the other."""

    outlasts_input = True

    def _declare(self) -> None:
        self._rests = ReadModifyWriteStateSpec("rests", _Pickles())
        self._resume = TimerSpec("resume", TimeDomain.REAL_TIME)
        self.states, self.timers = {"rests": self._rests}, {"resume": self._resume}

    def __getstate__(self) -> dict[str, Any]:
        return {"_step": self._step, "_forms": self._forms}

    def key_of(self, value: Any) -> Any:
        # Parts that have a key in common are kept beside each other.
        return crc32(pickler.dumps((value.value, value.restriction))) % _KEYS

    def shown(self, value: Any) -> Any:
        return value.value

    # -- calls -----------------------------------------------------------------------------------

    def setup(self) -> None:
        if self._opened is not None:
            return
        self._sampler = Sampler()
        self._restrictions = self._step.restrictions()
        outs = {name: _Limited(self, self._sampler, name) for name in self._step.outputs.values()}
        step = attrs.evolve(self._step, saves_the_rest=True)
        with self._sampler:
            self._opened = opened([step], step.source, outs, self._sampler, outputs=outs)

    def process(self, user_states: UserStates, element: Windowed) -> list[tuple[str, Windowed]]:
        value: Rest = element.value
        return self._go_on(user_states, value, None, element.timestamp)

    def fire(self, user_states: UserStates, timer: DueTimer) -> list[tuple[str, Windowed]]:
        rests: dict[str, Rest] = user_states.state(self._rests).read() or {}
        return self._go_on(user_states, rests[timer.tag], timer.tag, timer.output_timestamp)

    def _go_on(
        self, user_states: UserStates, rest: Rest, tag: str | None, hold: int
    ) -> list[tuple[str, Windowed]]:
        """Call the function for what is left, and save what is left then."""
        cell = user_states.state(self._rests)
        rests: dict[str, Rest] = cell.read() or {}
        if tag is not None:
            del rests[tag]
        control = user_states.timer(self._resume)
        residuals = self._called(rest)
        for residual in residuals:
            name = str(max(map(int, rests), default=-1) + 1)
            rests[name] = rest.left_by(residual)
            watermark = residual.current_watermark
            if watermark is not None:
                hold = max(hold, ticks_of(watermark))
            control.set(
                control.now + UNIT.from_ms(delay_ms(residual)),
                name,
                min(hold, user_states.window.max_timestamp),  # where it can wait at the latest
            )
        if rests:
            cell.write(rests)
        else:
            cell.clear()
        return self._taken()

    def _called(self, rest: Rest) -> Sequence[Any]:
        """Call the function once; what it leaves."""
        now = self._restrictions.left(rest)
        if now is None:
            return []
        self._count, self._until = 0, time.monotonic() + LONGEST_CALL
        self._split: list[Any] = []
        deferred = self._open.deferred
        for side, items in zip(self._open.sides, rest.sides, strict=True):
            side.items = items
        with self._sampler:
            self._open.first.process(now.sized)
        residuals = [residual for _, residual in (*self._split, *deferred.delayed_applications)]
        deferred.delayed_applications.clear()
        return residuals

    def came_out(self) -> None:
        """Count an output of the call; end it if it takes too long."""
        self._count += 1
        if not self._split and (self._count >= MOST_OUTPUTS or time.monotonic() > self._until):
            split = self._open.first.try_split(0.0)
            if split:
                _, residuals = split
                self._split = [*residuals]
