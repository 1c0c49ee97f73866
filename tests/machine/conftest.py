"""`play`: a script of one stage, and everything that came out as one line each."""

from collections.abc import Callable

import pytest

from beamlike.hosts.memory import run_in_memory
from beamlike.hosts.script import Arrive, Output, ScriptStep
from beamlike.machine.events import Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CollectByTimestamp, CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow

Play = Callable[..., list[str]]
Step = list[int] | dict[str, list[int]] | ScriptStep


def line(output: Output) -> str:
    effect = output.effect
    key = "" if output.key == "k" else f"{output.key}: "
    window = str(effect.window)
    if isinstance(effect.window, IntervalWindow):
        window = f"[{effect.window.start},{effect.window.end})"
    if not isinstance(effect, Pane):
        missed = "" if effect.missed_by is None else f" by {effect.missed_by}"
        element = effect.element
        what = element.value if isinstance(element, Element) else f"{effect.count} elements"
        return f"{output.step} {key}{window} dropped {what}, {effect.reason.value}{missed}"
    info = effect.info
    words = [
        f"{output.step} {key}{window}",
        f"{info.timing.value} #{info.index}/{info.nonspeculative_index}",
        *["first"] * info.is_first,
        *["last"] * info.is_last,
        *["withdrawn"] * effect.retraction,
        f"{effect.value} @{effect.timestamp}",
    ]
    return " ".join(words)


@pytest.fixture
def play() -> Play:
    """Play steps and return the whole output, in order.

    A step is a list of timestamps (a bundle for key ``k``; each value is its timestamp), a
    dict of such lists by key, an advance of a clock, or an arrival written out.
    """

    def play(
        strategy: WindowingStrategy,
        *steps: Step,
        combine: CombineFn | None = None,
        on_error: str = "fail",
    ) -> list[str]:
        script: list[ScriptStep] = []
        for step in steps:
            if isinstance(step, list | dict):
                bundles = {"k": step} if isinstance(step, list) else step
                arrivals = [(key, t) for key, times in bundles.items() for t in times]
                script.append(Arrive(tuple((key, Element(t, t)) for key, t in arrivals)))
            else:
                script.append(step)
        machine = Grouping(strategy, combine or CollectByTimestamp(), on_error)
        return [line(output) for output in run_in_memory(machine, tuple(script)).outputs]

    return play
