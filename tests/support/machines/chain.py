"""Groupings one after the other, in memory: the panes of each are the elements of the next.

Within a batch a stage's panes reach the next stage as one bundle, at the watermark that stage
has had so far; then its watermark becomes the output watermark of the stage before. So a pane
that a watermark lets out is on time for whoever groups it next, as in Beam.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.model.windows import Window
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Machine, Output, Run, Script

Pass = Callable[[Any, Pane], Iterable[tuple[Hashable, Any]]]
"""From a key and its pane to the keys and values that the next stage is given."""


@attrs.frozen
class ChainStage:
    """A grouping that follows another one.

    Args:
        machine: What it does.
        given: Which elements a pane of the stage before becomes.
        rewindowed: The elements are put into windows anew, by the time of their pane; else
            they stay in the window of their pane.
    """

    machine: Machine
    given: Pass
    rewindowed: bool = False


def run_chain(first: Machine, then: Sequence[ChainStage], batches: Sequence[Script]) -> list[Run]:
    """Run micro-batches through all stages: what happened to each stage, and what came out.

    Args:
        batches: Steps of the first stage that happen together: what they bring out reaches the
            next stage as one bundle. A single step is a batch of one.
    """
    stages = [MemoryStage(first), *(MemoryStage(stage.machine) for stage in then)]
    for batch in batches:
        outputs = tuple(output for step in batch for output in stages[0].play(step))
        for before, stage, link in zip(stages, stages[1:], then, strict=False):
            came = tuple(
                output for clock in _clock_of(before, stage) for output in stage.play(clock)
            )
            came += _hand_over(stage, link, outputs)
            if before.output_watermark > stage.watermark:
                came += stage.play(AdvanceWatermark(before.output_watermark))
            outputs = came
    return [stage.run for stage in stages]


def _clock_of(before: MemoryStage, stage: MemoryStage) -> tuple[AdvanceClock, ...]:
    return (AdvanceClock(before.clock),) if before.clock > stage.clock else ()


def _hand_over(
    stage: MemoryStage, link: ChainStage, outputs: Iterable[Output]
) -> tuple[Output, ...]:
    arriving = tuple(
        (key, _element(value, pane, link))
        for output in outputs
        if isinstance(pane := output.effect, Pane)
        for key, value in link.given(output.key, pane)
    )
    return stage.play(Arrive(arriving)) if arriving else ()


def _element(value: Any, pane: Pane, link: ChainStage) -> Element:
    window: Window | None = None if link.rewindowed else pane.window
    return Element(value, pane.timestamp, window)
