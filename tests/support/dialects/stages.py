"""The stage of a dialect, for which another host answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from beamlike.dialects.stages import ElementwiseGrouping
from beamlike.errors import RecordingError
from beamlike.runtime.script import Output, Run, ScriptStep


@contextmanager
def answered_by(run: Run) -> Iterator[None]:
    """Within, a stage emits what another host made of its script.

    A dialect's mapping of panes to rows can so be held against that host. What is open is still
    asked of memory.

    Raises:
        RecordingError: The script continues otherwise than it did there.
    """
    play = ElementwiseGrouping.play

    def played(stage: ElementwiseGrouping, step: ScriptStep) -> tuple[Output, ...]:
        play(stage, step)
        number = len(stage.run.script) - 1
        asked = run.script[number : number + 1]
        if asked != (step,):
            raise RecordingError(
                f"step {number} is {step}, and the other host was given {asked}; what a dialect "
                "gives the machine must follow from its input alone"
            )
        return tuple(output for output in run.outputs if output.step == number)

    with patch.object(ElementwiseGrouping, "play", played):
        yield
