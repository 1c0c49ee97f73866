"""Scenarios written as transcripts: the inverse of `beamlike.testing.scenarios.files`.

What is beamlike's own is written under names that begin with ``x_``, which other readers skip.
What the format has no field for at all is named under ``x_beyond_the_format``: the document still
says it, and a replay leaves it out.
"""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import attrs

from beamlike.errors import TranscriptError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.model import calendar
from beamlike.model import triggers as t
from beamlike.model import windowfns as w
from beamlike.model.custom_trigger import CustomTrigger, argument_defaults, custom_triggers_in
from beamlike.model.options import LateCheck, Unchanged
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.testing.scenarios.files import FORMAT
from beamlike.testing.scenarios.results import to_document
from beamlike.testing.scenarios.schema import field_name, type_name

_WRITTEN: Final = {
    "window_fn",
    "trigger",
    "accumulation",
    "allowed_lateness",
    "timestamp_combiner",
    "closing_behavior",
    "on_time_behavior",
    "late_check",
    "unchanged",
}

CALENDARS: Final[Mapping[type[w.WindowFn], str]] = {
    calendar.CalendarDays: "calendar_days",
    calendar.CalendarWeeks: "calendar_weeks",
    calendar.CalendarMonths: "calendar_months",
    calendar.CalendarYears: "calendar_years",
}


def write_scenario(
    id: str, strategy: WindowingStrategy, aggregation: str, run: Run, **texts: str
) -> dict[str, Any]:
    """A run as the document of a scenario that expects all of it.

    Args:
        id: The scenario's id.
        aggregation: The name of the run's combine function in transcripts.
        texts: ``title``, ``source``, ``notes`` and the like.

    Raises:
        TypeError: The window function is not in the format.
        TranscriptError: A trigger is one of the user's own.
    """
    is_calendar = isinstance(strategy.window_fn, calendar.CalendarWindows)
    is_retracting = strategy.accumulation.value == "retracting"
    levels = [
        *(["calendar"] if is_calendar else []),
        *(["retracting"] if is_retracting else []),
        *(["extended"] if aggregation in ("mean", "latest") or _extends(strategy) else []),
        "core",
    ]
    return {
        "format": FORMAT,
        "id": id,
        **texts,
        "level": levels[0],
        "unsafe_trigger": strategy.may_lose_data is not None,
        "windowing": _windowing(strategy),
        "aggregation": aggregation,
        "steps": _steps(run.script),
        "complete": True,
        **to_document(run),
    }


def scenario_text(document: Mapping[str, Any]) -> str:
    """The document as JSON that reads well: each step, pane and drop on a line of its own."""
    fields = []
    for name, value in document.items():
        text = _text(value)
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(map(_text, value)) + "\n ]"
        fields.append(f"{_text(name)}: {text}")
    return "{\n " + ",\n ".join(fields) + "\n}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def beyond_the_format(strategy: WindowingStrategy) -> list[str]:
    """The parts of a strategy that a transcript cannot express, as ``name=value``."""
    plain = WindowingStrategy(strategy.window_fn)
    parts = [
        (part.name, getattr(strategy, part.name), getattr(plain, part.name))
        for part in attrs.fields(WindowingStrategy)
        if part.eq and part.name not in (*_WRITTEN, "resolution")
    ]
    if isinstance(strategy.window_fn, Sessions) and callable(strategy.window_fn.gap):
        parts.append(("gap", strategy.window_fn.gap, None))
    if isinstance(strategy.window_fn, Sessions) and callable(strategy.window_fn.ends_with):
        parts.append(("ends_with", strategy.window_fn.ends_with, None))
    parts += [
        (name, getattr(node, name), argument_defaults(type(node))[name])
        for node in strategy.trigger.walk()
        if isinstance(node, CustomTrigger)
        for name, kind in node.arguments.items()
        if kind == "function"
    ]
    return [f"{name}={_plain(value)}" for name, value, unsaid in parts if value != unsaid]


def _plain(value: Any) -> Any:
    return getattr(value, "value", getattr(value, "__name__", value))


def _windowing(strategy: WindowingStrategy) -> dict[str, Any]:
    document: dict[str, Any] = {
        "window": _window(strategy.window_fn),
        "trigger": _trigger(strategy.trigger),
        "accumulation": strategy.accumulation.value,
        "allowed_lateness_ms": strategy.allowed_lateness,
        "timestamp_combiner": strategy.timestamp_combiner.value,
        "closing_behavior": strategy.closing_behavior.value,
        "on_time_behavior": strategy.on_time_behavior.value,
    }
    document |= _own(
        x_late_check=_unless(LateCheck.ASSIGNED, strategy.late_check),
        x_unchanged=_unless(Unchanged.RE_EMIT, strategy.unchanged),
    )
    if beyond := beyond_the_format(strategy):
        document["x_beyond_the_format"] = beyond
    return document


def _extends(strategy: WindowingStrategy) -> bool:
    """Whether it has fields that are beamlike's own."""
    written = _windowing(strategy)
    nodes = strategy.trigger.walk()
    names = (*written, *written["window"], *(_trigger(node)["type"] for node in nodes))
    return any(name.startswith("x_") for name in names)


def _own(**fields: Any) -> dict[str, Any]:
    """The fields that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def _unless(default: Enum, value: Enum) -> str | None:
    return None if value is default else value.value


def _window(window_fn: w.WindowFn) -> dict[str, Any]:
    match window_fn:
        case w.FixedWindows():
            return {"fn": "fixed", "size_ms": window_fn.size, "offset_ms": window_fn.offset}
        case w.SlidingWindows():
            sizes = {"size_ms": window_fn.size, "period_ms": window_fn.period}
            return {"fn": "sliding", **sizes, "offset_ms": window_fn.offset}
        case w.GlobalWindows():
            return {"fn": "global"}
        case Sessions():
            gap = 1 if callable(window_fn.gap) else window_fn.gap
            longest, most = window_fn.max_duration, window_fn.max_elements
            touching = True if window_fn.merge_touching else None
            end = None if callable(window_fn.ends_with) else window_fn.ends_with
            bounds = _own(x_max_duration_ms=longest, x_max_elements=most, x_merge_touching=touching)
            return {"fn": "sessions", "gap_ms": gap} | bounds | _own(x_ends_with=end)
        case calendar.CalendarWindows():
            start = window_fn.start
            return {
                "fn": CALENDARS[type(window_fn)],
                "number": window_fn.number,
                "time_zone": window_fn.time_zone,
                "start": [start.year, start.month, start.day],
            }
    raise TypeError(f"transcripts know no {type(window_fn).__name__}")


_PLAIN: Final[Mapping[type[t.Trigger], str]] = {
    t.DefaultTrigger: "default",
    t.AfterSynchronizedProcessingTime: "after_synchronized_processing_time",
    t.Never: "never",
    t.Always: "always",
}
_SEVERAL: Final[Mapping[type[t.Trigger], str]] = {
    t.AfterEach: "after_each",
    t.AfterFirst: "after_first",
    t.AfterAll: "after_all",
}


def _trigger(trigger: t.Trigger) -> dict[str, Any]:
    match trigger:
        case t.AfterWatermark(early=early, late=late):
            subs = {"early": early and _trigger(early), "late": late and _trigger(late)}
            return {"type": "after_watermark", **subs}
        case t.AfterProcessingTime():
            transforms = [_transform(transform) for transform in trigger.transforms]
            return {"type": "after_processing_time", "transforms": transforms}
        case t.AfterCount():
            return {"type": "after_count", "count": trigger.count}
        case t.Repeatedly():
            return {"type": "repeatedly", "trigger": _trigger(trigger.trigger)}
        case t.OrFinally():
            main, until = _trigger(trigger.main), _trigger(trigger.until)
            return {"type": "or_finally", "main": main, "until": until}
        case CustomTrigger():
            return _extra(trigger)
    if type(trigger) in _SEVERAL:
        return {"type": _SEVERAL[type(trigger)], "triggers": list(map(_trigger, trigger.children))}
    return {"type": _PLAIN[type(trigger)]}


def _extra(trigger: CustomTrigger[Any]) -> dict[str, Any]:
    if custom_triggers_in(trigger):
        raise TranscriptError(
            f"{trigger} is a trigger of your own, and a scenario file holds none: a reader "
            "of the file would not have its class; write the run as Python with as_test_stream"
        )
    defaults = argument_defaults(type(trigger))
    return {"type": type_name(type(trigger))} | {
        field_name(name, kind): getattr(trigger, name)
        for name, kind in trigger.arguments.items()
        if kind != "function" and getattr(trigger, name) != defaults[name]
    }


def _transform(transform: t.Delay | t.AlignTo) -> dict[str, Any]:
    if isinstance(transform, t.Delay):
        return {"delay_ms": transform.by}
    return {"align_to": {"period_ms": transform.period, "offset_ms": transform.offset}}


def _steps(script: Script) -> list[dict[str, Any]]:
    clock, steps = 0, list[dict[str, Any]]()
    for happens in script:
        match happens:
            case Arrive():
                elements = [
                    {"key": key, "value": element.value, "ts_ms": element.timestamp}
                    for key, element in happens.elements
                ]
                steps.append({"elements": elements})
            case AdvanceWatermark(to):
                infinity: dict[str, Any] = {"advance_watermark_to_infinity": True}
                steps.append(infinity if to == MAX_TIMESTAMP else {"advance_watermark_to_ms": to})
            case AdvanceClock(to):
                steps.append({"advance_processing_time_by_ms": to - clock})
                clock = to
    return steps
