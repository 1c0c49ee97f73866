"""A strategy in the words of another system: Kafka Streams, Flink, Apex, Akka.

The page sends what was chosen, as ``{"system": "kafka", "gap_ms": 60000, ...}``; the dialect of
that system makes the strategy of it. What a dialect adds at its edge, such as its own convention of
the watermark, is not on the page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from beamlike.errors import BeamlikeError
from beamlike.model.combine import Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import show_duration

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
    method, *arguments = _one_of(_FLINK_WINDOWS, choices["windows"])
    assigner, assigned = _method(getattr(flink, choices["windows"]), method, arguments, choices)
    method, *arguments = _one_of(_FLINK_TRIGGERS, choices["trigger"])
    trigger, triggered = _method(getattr(flink, choices["trigger"]), method, arguments, choices)
    if choices["purging"] == "yes":
        trigger = flink.PurgingTrigger.of(trigger)
        triggered = f"PurgingTrigger.of(flink.{triggered})"
    windowed = flink.key_by().window(assigner).trigger(trigger).allowed_lateness(lateness)
    code = (
        f"flink.key_by().window(\n    flink.{assigned}\n).trigger(flink.{triggered}"
        f").allowed_lateness({_length(lateness)})"
    )
    return windowed.reduce(lambda one, other: one + other).strategy, code


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

    method, *arguments = _one_of(_APEX_WINDOWS, choices["windows"])
    window, windowed = _method(apex.WindowOption, method, arguments, choices)
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


def _method(owner: Any, name: str, arguments: Sequence[str], choices: _Choices) -> tuple[Any, str]:
    """What a method of a class makes of some choices, and the code that says so."""
    made = getattr(owner, name)(*(choices[argument] for argument in arguments))
    written = ", ".join(_argument(argument, choices) for argument in arguments)
    return made, f"{owner.__name__}.{name}({written})"


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
