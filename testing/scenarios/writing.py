"""Scenarios written as transcripts: the inverse of `beamlike.testing.scenarios.files`.

What is beamlike's own is written under names that begin with ``x_``, which other readers skip.
What the format has no field for at all is named under ``x_beyond_the_format``: the document still
says it, and a replay leaves it out.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.model import calendar
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.described import argument_defaults
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.testing.scenarios.files import FORMAT
from beamlike.testing.scenarios.results import to_document
from beamlike.testing.scenarios.schema import WINDOWING, write_trigger

_WRITTEN: Final = frozenset(field.attribute for field in WINDOWING.fields)


def write_scenario(
    id: str, strategy: WindowingStrategy, aggregation: str, run: Run, **texts: str
) -> dict[str, Any]:
    """A run as the document of a scenario that expects all of it.

    Args:
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
    if isinstance(window_fn := strategy.window_fn, Sessions):
        named = {"gap": window_fn.gap, "ends_with": window_fn.ends_with}
        parts += [(name, part, None) for name, part in named.items() if callable(part)]
    parts += [
        (name, getattr(node, name), argument_defaults(type(node))[name])
        for node in strategy.trigger.walk()
        if isinstance(node, CustomTrigger)
        for name, argument in node.arguments.items()
        if argument == "function"
    ]
    return [f"{name}={_plain(value)}" for name, value, unsaid in parts if value != unsaid]


def _plain(value: Any) -> Any:
    return getattr(value, "value", getattr(value, "__name__", value))


def _windowing(strategy: WindowingStrategy) -> dict[str, Any]:
    document = WINDOWING.write(strategy)
    if beyond := beyond_the_format(strategy):
        document["x_beyond_the_format"] = beyond
    return document


def _extends(strategy: WindowingStrategy) -> bool:
    """Whether it has fields that are beamlike's own."""
    written = _windowing(strategy)
    types = (write_trigger(node)["type"] for node in strategy.trigger.walk())
    return any(name.startswith("x_") for name in (*written, *written["window"], *types))


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
