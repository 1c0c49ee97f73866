"""A random function with states and timers over a random stream, and what comes of it.

A program has a name: ``"0:17"`` is number 17 of seed 0.
"""

from collections import defaultdict
from functools import cached_property
from random import Random
from typing import Any, Final

import attrs

import beamlike as bl
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker
from beamlike.api.pipelines.elements import Map
from beamlike.api.pipelines.groups import CombinePerKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.stateful_dofn_invoker import StatefulDoFnInvoker
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.hosts.in_process import run_pipeline
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.combine import Count
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import Window
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script, with_elements
from tests.support.generated.pipelines import From
from tests.support.generated.scenarios import any_script
from tests.support.generated.stateful import AnyExpiringFn, AnyFn, AnySortedFn
from tests.support.generated.strategies import any_window_fn

KEYS: Final = ("a", "b", "c")

NOWHERE: Final = MAX_TIMESTAMP + 1
"""The output timestamp of a timer that has none."""


@attrs.frozen
class Out:
    """An element that came out, and the step in which it did."""

    step: int
    value: Any
    timestamp: int
    window: Window


@attrs.frozen
class Dropped:
    """An element that was dropped, or a callback that failed: that has no timestamp."""

    step: int
    reason: str
    timestamp: int | None
    window: Window | None


@attrs.frozen
class Outcome:
    """What comes of a program.

    Args:
        outputs: Of each key, in order.
        dropped: Of each key, in order.
        reached: The output watermarks, one after the other (ms).
        due_in_bundles: Whether something was due at once when elements came, as far as is known.
    """

    outputs: dict[str, tuple[Out, ...]]
    dropped: dict[str, tuple[Dropped, ...]]
    reached: tuple[int, ...]
    due_in_bundles: bool = attrs.field(default=False, eq=False)


@attrs.frozen(slots=False, eq=False)
class Program:
    """A function with states and timers, its windows, and what happens.

    Args:
        name: Decides everything, also where a law cuts or restarts.
        window_fn: The windows.
        lateness: The allowed lateness (ms).
        kind: The class of the function.
        script: What happens. The keys of elements stand beside them.
        fails: Whether the function raises now and then, and what it raises for is dropped.
    """

    name: str
    window_fn: bl.WindowFn
    lateness: int
    kind: type[AnyFn]
    script: Script
    fails: bool = False

    keys = KEYS

    @property
    def fn(self) -> AnyFn:
        """The function: each host has its own."""
        return self.kind(self.name, self.lateness, fails=self.fails)

    def dice(self, law: str) -> Random:
        return Random(f"{self.name} {law}")

    @cached_property
    def run(self) -> PipelineRun:
        """What the memory host says: the measure of all others."""
        return run_pipeline(self.pipeline.nodes)

    @cached_property
    def built(self) -> tuple[Pipeline, PCollection[Any]]:
        """As a pipeline, and what comes out of the function.

        There is a grouping behind it, which shows by what is late where the output watermark was
        held.
        """
        pipeline = Pipeline()
        pairs = pipeline | "Source" >> From(_in_pairs(self.script), False)
        windowed = pairs | WindowInto(
            self.window_fn,
            trigger=bl.AfterWatermark(late=bl.AfterCount(1)),
            allowed_lateness=self.lateness,
            accumulation_mode="discarding",
        )
        states = ParDo(self.fn).with_on_error("drop" if self.fails else "fail")
        out = windowed | "States" >> states
        _ = out | "Keys" >> Map(lambda it: (it[0], it)) | "Count" >> CombinePerKey(Count())
        return pipeline, out

    @property
    def ends(self) -> bool:
        """Whether the watermark comes to its end."""
        return self.script[-1] == AdvanceWatermark(MAX_TIMESTAMP)

    @property
    def pipeline(self) -> Pipeline:
        return self.built[0]

    @cached_property
    def alone(self) -> Run:
        """What comes of the function without a pipeline, in memory."""
        return run_in_memory(self.machine, self.for_machine)

    @property
    def machine(self) -> StatefulParDo:
        """The reference machine of the function alone."""
        invoker = DoFnInvoker(self.fn, (), {}, frozenset(), "States", stateful=True)
        on_error = "drop" if self.fails else "fail"
        return StatefulParDo(self.window_fn, StatefulDoFnInvoker(invoker), self.lateness, on_error)

    @property
    def for_machine(self) -> Script:
        """What happens, with the values that the machine takes."""
        return with_elements(
            self.script,
            lambda key, it: (key, Element(((key, it.value), NO_FIRING), it.timestamp)),
        )


def program_of(seed: int, number: int) -> Program:
    """One program of a seed. The same numbers give the same one, everywhere."""
    name = f"{seed}:{number}"
    dice = Random(name)
    window_fn: bl.WindowFn = bl.Sessions(1)
    while window_fn.is_merging:
        window_fn = any_window_fn(dice)
    return Program(
        name,
        window_fn,
        dice.choice((0, 0, 3, 20)),
        dice.choice((AnyFn, AnyExpiringFn, AnySortedFn)),
        any_script(dice, keys=KEYS, steps=dice.randint(4, 18), to_infinity=dice.randrange(5) != 0),
        fails=dice.randrange(4) == 0,
    )


def outcome_of(program: Program, run: PipelineRun) -> Outcome:
    """What came of a program on a host."""
    _, out = program.built
    outputs = defaultdict[str, list[Out]](list)
    for came in run.out_of(out.edge):
        it = came.element
        (window,) = it.windows
        outputs[it.value[0]].append(Out(came.step, it.value, it.timestamp, window))
    dropped = defaultdict[str, list[Dropped]](list)
    for lost in run.lost:
        if lost.label == "States":
            drop = lost.drop
            when = None if drop.element is None else drop.element.timestamp
            dropped[lost.key].append(Dropped(lost.step, drop.reason.value, when, drop.window))
    (grouping,) = run.groupings
    inside = run.inside(grouping)
    assert inside is not None, "these hosts keep a record of it"
    reached = [step.to for step in inside.script if isinstance(step, AdvanceWatermark)]
    return Outcome(
        {key: tuple(outputs[key]) for key in KEYS},
        {key: tuple(dropped[key]) for key in KEYS},
        tuple(reached),
    )


def one_by_one(script: Script) -> Script:
    """The same with elements that arrive alone."""
    return tuple(
        part
        for step in script
        for part in (
            [Arrive((element,)) for element in step.elements]
            if isinstance(step, Arrive)
            else [step]
        )
    )


def _in_pairs(script: Script) -> Script:
    """The keys of elements as a part of their values, as pipelines have them."""
    return with_elements(script, lambda key, it: (None, Element((key, it.value), it.timestamp)))
