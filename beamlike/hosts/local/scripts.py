"""Scripts on the local host.

A stage is stepped as a shard is in a streaming query: its elements come as Arrow tables, its state
is saved as bytes between any two steps, and the columnar machine steps it wherever it can.
"""

from beamlike.errors import UnsupportedError, UserFunctionError, WatermarkError
from beamlike.machine.clocks import HostWatermark
from beamlike.machine.events import AdvanceWatermark, going_back
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import CombineFn
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Output, Run, Script, ScriptStep
from beamlike.runtime.scripted import ScriptedStage, Staged
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.stores import DictStore


def run_in_local(
    does: Staged,
    combine: CombineFn | None,
    script: Script,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> Run:
    """Run a script from the beginning of time, each step as a micro-batch of its own.

    Args:
        does: A strategy, a window function that only assigns, or another machine.
        combine: The combine function of a strategy.
        script: What happens.
        on_error: What a strategy does when a function of the user's raises.

    Raises:
        UnsupportedError: A strategy without a combine function, or one whose state has no layout;
            or the script moves the watermark of a side input.
        WatermarkError: The script moves a clock back.
        UserFunctionError: A function of the user's raised, and that is to be reported.
    """
    stage = LocalStage(ScriptedStage.of(does, combine, script, on_error))
    outputs = [
        Output(number, output.key, output.effect)
        for number, step in enumerate(script)
        for output in stage.play(step)
    ]
    return Run(script, tuple(outputs))


class LocalStage:
    """One stage of a script, played step by step.

    Args:
        stage: What it does.

    Raises:
        UnsupportedError: Its state has no layout.
    """

    def __init__(self, stage: ScriptedStage) -> None:
        self._stage, self._stepper, self._store = stage, stepper_of(stage.plan), DictStore()
        self._watermark, self._clock, self._steps = MIN_TIMESTAMP, 0, 0

    def play(self, step: ScriptStep) -> tuple[Output, ...]:
        """Let one step happen; what came out of it.

        Raises:
            WatermarkError: The watermark or the clock would go back.
            UserFunctionError: A function of the user's raised, and that is to be reported.
        """
        tables = []
        if isinstance(step, Arrive):
            tables = [self._stage.rows(step)]
        else:
            self._move(step)
        try:
            updates = [HostWatermark(self._watermark)]
            effects = self._stepper.effects(self._store, tables, updates, self._clock)
        except UserFunctionError as error:
            raise self._stage.named(error) from error.__cause__
        number = self._steps
        self._steps += 1
        return tuple(Output(number, key, effect) for key, effect in self._stage.shown(effects))

    def _move(self, step: ScriptStep) -> None:
        assert not isinstance(step, Arrive), "only clocks move"
        moves_watermark = isinstance(step, AdvanceWatermark)
        if isinstance(step, AdvanceWatermark) and step.side is not None:
            raise UnsupportedError(
                f"{step} moves the watermark of a side input, and a stage that runs by itself has "
                'one watermark for all inputs; leave side out, or use host="memory"'
            )
        refusal = going_back(step, self._watermark if moves_watermark else self._clock)
        if refusal is not None:
            raise WatermarkError(refusal)
        if moves_watermark:
            self._watermark = step.to
        else:
            self._clock = step.to
