"""A sketch: a stream and how it is windowed, as the page has it and addresses carry it.

It is read like a transcript, so that each mistake is named with its place.
"""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import attrs

from beamlike.errors import BeamlikeError, WatermarkError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.passthrough import PassThrough
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.playground.words import strategy_in_words
from beamlike.runtime.by_clock import (
    Arrival,
    BoundedDelay,
    IdleAfter,
    PercentileOfDelays,
    PerfectWatermark,
    WatermarkRule,
    script_by_clock,
    with_clock,
)
from beamlike.runtime.script import Arrive, Machine, Run, Script, ScriptStep
from beamlike.testing.scenarios.files import AGGREGATIONS
from beamlike.testing.scenarios.places import read_json
from beamlike.testing.scenarios.schema import read_windowing
from beamlike.testing.scenarios.writing import write_scenario

Plain = dict[str, Any]

_RULES: Final[Mapping[str, Any]] = {
    "perfect": lambda rule: PerfectWatermark(),
    "bound": lambda rule: BoundedDelay(rule["bound"]),
    "percentile": lambda rule: PercentileOfDelays(rule["percent"]),
    "idle": lambda rule: IdleAfter(rule["bound"], rule["silence"]),
}


@attrs.frozen
class GroupNode:
    """How a stream is grouped: one of the strategies of a sketch.

    Args:
        strategy: The windowing.
        aggregation: The name of its combine function in transcripts.
        code: The same in the words of another system; "" if it is not written in such words.
    """

    strategy: WindowingStrategy
    aggregation: str
    code: str = ""

    @property
    def combine(self) -> CombineFn | None:
        """How a pane gets its value; None if elements pass by ungrouped."""
        return AGGREGATIONS[self.aggregation]

    def machine(self) -> Machine:
        """The reference machine that runs it."""
        if self.combine is None:
            return PassThrough(self.strategy.window_fn)
        return Grouping(self.strategy, self.combine)


def grouped(given: Plain) -> GroupNode:
    """Read one strategy of a sketch."""
    if given["aggregation"] not in AGGREGATIONS:
        known = ", ".join(AGGREGATIONS)
        raise BeamlikeError(f"aggregation {given['aggregation']!r} must be one of {known}")
    if "words" in given:
        strategy, code = strategy_in_words(given["words"])
        return GroupNode(strategy, given["aggregation"], code)
    place = read_json(json.dumps(given["windowing"]), "windowing")
    return GroupNode(read_windowing(place), given["aggregation"])


def script_of(sketch: Plain) -> Script:
    """What happens in a sketch, step by step."""
    rule = _rule(sketch["rule"])
    if rule is None:
        script = with_clock((step["clock"], _step(step)) for step in sketch["steps"])
        _check_forward(script)
        return tuple(step for step in script if step != Arrive(()))
    steps = [step for step in sketch["steps"] if "elements" in step]
    arrivals = [
        Arrival(step["clock"], it["key"], _element(it)) for step in steps for it in step["elements"]
    ]
    return script_by_clock(arrivals, rule, end=sketch.get("end"))


def sketch_of(script: Script, strategy: WindowingStrategy, aggregation: str, title: str) -> Plain:
    """A stream and how it is grouped as a sketch, to be played with."""
    steps, clock = list[Plain](), 0
    for step in script:
        match step:
            case AdvanceClock(to):
                clock = to
                # A clock that moves on may bring panes out, although nothing arrives.
                steps.append({"clock": clock, "elements": []})
            case AdvanceWatermark(to):
                steps.append({"clock": clock, "watermark": None if to >= MAX_TIMESTAMP else to})
            case Arrive(elements):
                fields = [
                    {"key": key, "value": it.value, "at": it.timestamp} for key, it in elements
                ]
                steps.append({"clock": clock, "elements": fields})
    one = {"windowing": windowing_of(strategy, aggregation), "aggregation": aggregation}
    # Where something happens at that instant, it has the reading of the clock with it.
    kept = [
        step
        for step, after in pairwise([*steps, {"clock": None}])
        if step.get("elements") != [] or after["clock"] != step["clock"]
    ]
    return {
        "title": title,
        "steps": kept,
        "rule": {"rule": "drawn"},
        "strategies": [one],
    }


def windowing_of(strategy: WindowingStrategy, aggregation: str) -> Plain:
    """A strategy as plain values, as `grouped` reads it."""
    document = write_scenario("playground", strategy, aggregation, Run((), ()))
    windowing: Plain = document["windowing"]
    return windowing


def _rule(given: Plain) -> WatermarkRule | None:
    """The rule that moves the watermark; None if it moves as it is drawn."""
    if given["rule"] == "drawn":
        return None
    if given["rule"] not in _RULES:
        raise WatermarkError(
            f"the rule {given['rule']!r} must be one of drawn, {', '.join(_RULES)}"
        )
    rule: WatermarkRule = _RULES[given["rule"]](given)
    return rule


def _step(step: Plain) -> ScriptStep:
    if "elements" in step:
        return Arrive(tuple((it["key"], _element(it)) for it in step["elements"]))
    to = step["watermark"]
    return AdvanceWatermark(MAX_TIMESTAMP if to is None else to)


def _element(given: Plain) -> Element:
    return Element(given["value"], given["at"])


def _check_forward(script: Script) -> None:
    before: int | None = None
    for step in script:
        if isinstance(step, AdvanceWatermark):
            if before is not None and step.to < before:
                raise WatermarkError("the watermark goes back; move it forward in time")
            before = step.to
