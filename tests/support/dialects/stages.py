"""The stages of dialects: what each was given, and another host that answers for them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import attrs

from beamlike.dialects.stages import ElementwiseGrouping
from beamlike.errors import RecordingError
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Output, Run, ScriptStep


@attrs.frozen(eq=False)
class Journal:
    """What a stage is, and its script so far, which another host can run.

    A copy of a stage continues the script, and so the journal.
    """

    strategy: WindowingStrategy
    combine: CombineFn
    script: list[ScriptStep] = attrs.field(factory=list)

    def __deepcopy__(self, memo: object) -> "Journal":
        return self


@contextmanager
def journals_kept() -> Iterator[list[Journal]]:
    """The journals of the stages that are made meanwhile, in their order."""
    journals: list[Journal] = []
    with _stages_told(journals, None):
        yield journals


@contextmanager
def answered_by(runs: Sequence[Run]) -> Iterator[None]:
    """Stages that are made meanwhile emit what another host made of their scripts.

    A dialect's mapping of panes to rows can so be held against that host. What is open is still
    asked of memory.

    Args:
        runs: One for each stage, in the order in which they are made.

    Raises:
        RecordingError: A script continues otherwise than it did there.
    """
    with _stages_told([], iter(runs)):
        yield


@contextmanager
def _stages_told(journals: list[Journal], answers: Iterator[Run] | None) -> Iterator[None]:
    make, play = ElementwiseGrouping.__init__, ElementwiseGrouping.play

    def made(stage: Any, strategy: WindowingStrategy, combine: CombineFn) -> None:
        make(stage, strategy, combine)
        stage.journal = Journal(strategy, combine)
        stage.answer = None if answers is None else next(answers)
        journals.append(stage.journal)

    def played(stage: Any, step: ScriptStep) -> tuple[Output, ...]:
        outputs, number = play(stage, step), len(stage.journal.script)
        stage.journal.script.append(step)
        if stage.answer is None:
            return outputs
        asked = stage.answer.script[number : number + 1]
        if asked != (step,):
            raise RecordingError(
                f"step {number} is {step}, and the other host was given {asked}; what a dialect "
                "gives the machine must follow from its input alone"
            )
        return tuple(output for output in stage.answer.outputs if output.step == number)

    with (
        patch.object(ElementwiseGrouping, "__init__", made),
        patch.object(ElementwiseGrouping, "play", played),
    ):
        yield
