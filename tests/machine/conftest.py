"""`play`: a script of one stage, and everything that came out as one line each.

`play_in_both` is the same, through the columnar machine too.
"""

from collections.abc import Callable

import pytest

from beamlike.machine.events import Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CollectByTimestamp, CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Script, ScriptStep
from tests.support.machines.either import run_in_both

Play = Callable[..., list[str]]
Times = list[int] | list[tuple[object, int]]
Step = Times | dict[str, Times] | ScriptStep


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


def script_of(*steps: Step) -> Script:
    script: list[ScriptStep] = []
    for step in steps:
        if isinstance(step, list | dict):
            bundles = {"k": step} if isinstance(step, list) else step
            arrivals = [(key, element(one)) for key, bundle in bundles.items() for one in bundle]
            script.append(Arrive(tuple(arrivals)))
        else:
            script.append(step)
    return tuple(script)


def element(one: int | tuple[object, int]) -> Element:
    return Element(*one) if isinstance(one, tuple) else Element(one, one)


@pytest.fixture
def play() -> Play:
    """Play steps and return the whole output, in order.

    A step is a list of timestamps (a bundle for key ``k``; each value is its timestamp, or comes
    with it in a pair), a dict of such lists by key, an advance of a clock, or an arrival written
    out.
    """

    def play(
        strategy: WindowingStrategy,
        *steps: Step,
        combine: CombineFn | None = None,
        on_error: str = "fail",
    ) -> list[str]:
        machine = Grouping(strategy, combine or CollectByTimestamp(), on_error)
        return [line(output) for output in run_in_memory(machine, script_of(*steps)).outputs]

    return play


@pytest.fixture
def play_in_both() -> Play:
    """The same, once the columnar machine has said and remembered all that the reference did."""

    def play_in_both(
        strategy: WindowingStrategy, *steps: Step, combine: CombineFn | None = None
    ) -> list[str]:
        run = run_in_both(strategy, script_of(*steps), combine or CollectByTimestamp())
        return list(map(line, run.outputs))

    return play_in_both
