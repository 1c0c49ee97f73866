"""A sketch: a stream and how it is windowed, as the page has it and addresses carry it.

It is read like a transcript, so that each mistake is named with its place.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import attrs

from beamlike.errors import BeamlikeError, WatermarkError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import CombineFn, Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, show_duration
from beamlike.runtime.script import Arrive, Machine, Run, Script, ScriptStep
from beamlike.testing.scenarios.files import AGGREGATIONS
from beamlike.testing.scenarios.places import read_json
from beamlike.testing.scenarios.schema import read_windowing
from beamlike.testing.scenarios.writing import write_scenario
from beamlike.testing.streams.watermark_rules import (
    BoundedDelay,
    IdleAfter,
    PercentileOfDelays,
    PerfectWatermark,
    TimedElement,
    WatermarkRule,
    script_by_clock,
    with_clock,
)

InWords = tuple[WindowingStrategy, str]
"""A strategy, and the code that makes it in that system's API."""

_Choices = Mapping[str, Any]


def strategy_in_words(choices: _Choices) -> InWords:
    """The strategy that these choices make."""
    make: Callable[[_Choices], InWords] = _one_of(_SYSTEMS, choices["system"])
    return make(choices)


def _kafka(choices: _Choices) -> InWords:
    from beamlike.dialects.kafka import SessionWindows, group_by_key

    gap, grace, emit = (choices[name] for name in ("gap_ms", "grace_ms", "emit"))
    windows = SessionWindows.of_inactivity_gap_and_grace(gap, grace)
    table = group_by_key().windowed_by(windows).emit_strategy(emit).count()
    code = (
        "kafka.group_by_key().windowed_by(\n"
        f"    kafka.SessionWindows.of_inactivity_gap_and_grace({_length(gap)}, {_length(grace)})\n"
        f").emit_strategy({emit!r})"
    )
    return table.strategy, code


def _flink(choices: _Choices) -> InWords:
    from beamlike.dialects import flink

    lateness = choices["lateness_ms"]
    call = _one_of(_FLINK_WINDOWS, choices["windows"])
    assigner, assigned = _method(getattr(flink, choices["windows"]), call, choices)
    call = _one_of(_FLINK_TRIGGERS, choices["trigger"])
    trigger, triggered = _method(getattr(flink, choices["trigger"]), call, choices)
    if choices["purging"] == "yes":
        trigger = flink.PurgingTrigger.of(trigger)
        triggered = f"PurgingTrigger.of(flink.{triggered})"
    windowed = flink.key_by().window(assigner).trigger(trigger).allowed_lateness(lateness)
    code = (
        f"flink.key_by().window(\n    flink.{assigned}\n).trigger(flink.{triggered}"
        f").allowed_lateness({_length(lateness)})"
    )
    return windowed.reduce(lambda value, other: value + other).strategy, code


_FLINK_WINDOWS: Final[Mapping[str, tuple[str, ...]]] = {
    "TumblingEventTimeWindows": ("of", "size_ms"),
    "SlidingEventTimeWindows": ("of", "size_ms", "slide_ms"),
    "EventTimeSessionWindows": ("with_gap", "gap_ms"),
    "GlobalWindows": ("create",),
}
_FLINK_TRIGGERS: Final[Mapping[str, tuple[str, ...]]] = {
    "EventTimeTrigger": ("create",),
    "ContinuousEventTimeTrigger": ("of", "interval_ms"),
    "ContinuousProcessingTimeTrigger": ("of", "interval_ms"),
    "CountTrigger": ("of", "count"),
    "NeverTrigger": ("create",),
}


def _apex(choices: _Choices) -> InWords:
    from beamlike.dialects import apex

    call = _one_of(_APEX_WINDOWS, choices["windows"])
    window, windowed = _method(apex.WindowOption, call, choices)
    option, said = apex.TriggerOption(), "apex.TriggerOption()"
    if choices["at_watermark"] == "yes":
        option, said = apex.TriggerOption.at_watermark(), "apex.TriggerOption.at_watermark()"
    for phase in ("early", "late"):
        for name in (f"{phase}_count", f"{phase}_ms"):
            if choices[name]:
                every = choices[name] if name.endswith("count") else show_duration(choices[name])
                option = getattr(option, f"with_{phase}_firings_at_every")(every)
                said += f"\n    .with_{phase}_firings_at_every({_argument(name, choices)})"
    mode = _one_of(_APEX_MODES, choices["mode"])
    option, said = getattr(option, mode)(), f"{said}\n    .{mode}()"
    lateness = choices["lateness_ms"]
    rules: dict[str, Any] = {"allowed_lateness": lateness, "keyed": True}
    operator = apex.WindowedOperator(window, Sum(), option, **rules)
    code = (
        f"apex.WindowedOperator(\n    apex.{windowed},\n    apex.Sum(),\n    {said},\n"
        f"    allowed_lateness={_length(lateness)},\n    keyed=True,\n)"
    )
    return operator.strategy, code


_APEX_WINDOWS: Final[Mapping[str, tuple[str, ...]]] = {
    "time_windows": ("time_windows", "size_ms"),
    "sliding_time_windows": ("sliding_time_windows", "size_ms", "slide_ms"),
    "session_windows": ("session_windows", "gap_ms"),
    "global_window": ("global_window",),
}
_APEX_MODES: Final[Mapping[str, str]] = {
    name: f"{name.replace(' ', '_')}_fired_panes"
    for name in ("discarding", "accumulating", "accumulating and retracting")
}


def _akka(choices: _Choices) -> InWords:
    from beamlike.dialects.akka import SessionWindow

    inactivity = choices["gap_ms"]
    return SessionWindow(inactivity).strategy, f"akka.SessionWindow({_length(inactivity)})"


def _one_of(known: Mapping[str, Any], chosen: str) -> Any:
    if chosen not in known:
        raise BeamlikeError(f"{chosen!r} must be one of {', '.join(known)}")
    return known[chosen]


def _method(owner: Any, call: Sequence[str], choices: _Choices) -> tuple[Any, str]:
    """What a method of a class, which has such arguments, makes of some choices, and the code."""
    name, *arguments = call
    written = ", ".join(_argument(argument, choices) for argument in arguments)
    value = getattr(owner, name)(*map(choices.__getitem__, arguments))
    return value, f"{owner.__name__}.{name}({written})"


def _argument(name: str, choices: _Choices) -> str:
    return _length(choices[name]) if name.endswith("_ms") else str(choices[name])


def _length(milliseconds: int) -> str:
    return f'"{show_duration(milliseconds)}"'


_SYSTEMS: Final[Mapping[str, Callable[[_Choices], InWords]]] = {
    "kafka": _kafka,
    "flink": _flink,
    "apex": _apex,
    "akka": _akka,
}


Plain = dict[str, Any]

_RULES: Final[Mapping[str, Any]] = {
    "perfect": lambda rule: PerfectWatermark(),
    "bound": lambda rule: BoundedDelay(rule["bound"]),
    "percentile": lambda rule: PercentileOfDelays(rule["percent"]),
    "idle": lambda rule: IdleAfter(rule["bound"], rule["silence"]),
}


@attrs.frozen
class SketchedGrouping:
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


def grouped(plain: Plain) -> SketchedGrouping:
    """Read one strategy of a sketch."""
    if plain["aggregation"] not in AGGREGATIONS:
        known = ", ".join(AGGREGATIONS)
        raise BeamlikeError(f"aggregation {plain['aggregation']!r} must be one of {known}")
    if "words" in plain:
        strategy, code = strategy_in_words(plain["words"])
        return SketchedGrouping(strategy, plain["aggregation"], code)
    place = read_json(json.dumps(plain["windowing"]), "windowing")
    return SketchedGrouping(read_windowing(place), plain["aggregation"])


def script_of(sketch: Plain) -> Script:
    """What happens in a sketch, step by step."""
    rule = _rule(sketch["rule"])
    if rule is None:
        script = with_clock((step["clock"], _step(step)) for step in sketch["steps"])
        moves = [step.to for step in script if isinstance(step, AdvanceWatermark)]
        if moves != sorted(moves):
            raise WatermarkError("the watermark goes back; move it forward in time")
        return tuple(step for step in script if step != Arrive(()))
    arrivals = [
        TimedElement(step["clock"], plain["key"], _element(plain))
        for step in sketch["steps"]
        for plain in step.get("elements", ())
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
                plain = [{"key": key, "value": e.value, "at": e.timestamp} for key, e in elements]
                steps.append({"clock": clock, "elements": plain})
    windowing = {"windowing": windowing_of(strategy, aggregation), "aggregation": aggregation}
    # Where something happens at that instant, it has the reading of the clock with it.
    kept = [
        step
        for step, after in pairwise([*steps, {"clock": None}])
        if step.get("elements") != [] or after["clock"] != step["clock"]
    ]
    return {"title": title, "steps": kept, "rule": {"rule": "drawn"}, "strategies": [windowing]}


def windowing_of(strategy: WindowingStrategy, aggregation: str) -> Plain:
    """A strategy as plain values, as `grouped` reads it."""
    document = write_scenario("playground", strategy, aggregation, Run((), ()))
    windowing: Plain = document["windowing"]
    return windowing


def _rule(plain: Plain) -> WatermarkRule | None:
    """The rule that moves the watermark; None if it moves as it is drawn."""
    if plain["rule"] == "drawn":
        return None
    if plain["rule"] not in _RULES:
        known = ", ".join(["drawn", *_RULES])
        raise WatermarkError(f"the rule {plain['rule']!r} must be one of {known}")
    rule: WatermarkRule = _RULES[plain["rule"]](plain)
    return rule


def _step(step: Plain) -> ScriptStep:
    if "elements" in step:
        return Arrive(tuple((plain["key"], _element(plain)) for plain in step["elements"]))
    to = step["watermark"]
    return AdvanceWatermark(MAX_TIMESTAMP if to is None else to)


def _element(plain: Plain) -> Element:
    return Element(plain["value"], plain["at"])
