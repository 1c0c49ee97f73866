"""Instants, windows and timestamped values as a test writes them, in both directions."""

import reprlib
from collections.abc import Callable
from typing import Any

from beamlike.api.pipelines.python.windows import BoundedWindow, model_of
from beamlike.errors import TestStreamError, TimeError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.time import (
    DurationLike,
    InstantLike,
    duration_ms,
    instant_ms,
    show_duration,
    show_instant,
)
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow, Window
from beamlike.runtime.script import Script, ScriptStep

WindowLike = IntervalWindow | GlobalWindow | BoundedWindow | tuple[InstantLike, InstantLike] | str
"""A window, its two bounds as ``("00:00:00", "00:11:00")``, or ``"global"``."""


def read_window(parts: tuple[Any, ...], owner: str) -> Window:
    """A window from one thing (a window, a pair of bounds, ``"global"``) or from two bounds."""
    match parts:
        case (IntervalWindow() | GlobalWindow() as window,):
            return window
        case (BoundedWindow() as window,):
            return model_of(window, owner)
        case ("global",):
            return GLOBAL_WINDOW
        case ((start, end),) if isinstance(parts[0], tuple):
            pass
        case (start, end):
            pass
        case _:
            raise TestStreamError(
                f'{owner} needs a window: two instants such as "00:00:00", "00:11:00", an '
                f'IntervalWindow, or "global"; got {", ".join(map(repr, parts)) or "nothing"}'
            )
    return IntervalWindow(
        instant_ms(start, f"{owner} window start"), instant_ms(end, f"{owner} window end")
    )


def instant_code(milliseconds: int) -> str:
    """An instant as code that `instant_ms` reads back.

    >>> instant_code(90_000), instant_code(-1_000), instant_code(9_223_372_036_854_774)
    ('"00:01:30"', '"1969-12-31 23:59:59"', '9223372036854774')
    """
    return _code(show_instant(milliseconds), milliseconds, instant_ms)


def duration_code(milliseconds: int) -> str:
    """A duration as code that `duration_ms` reads back.

    >>> duration_code(90_000)
    '"1m 30s"'
    """
    return _code(show_duration(milliseconds), milliseconds, duration_ms)


def _code(text: str, milliseconds: int, read: Callable[[str, str], int]) -> str:
    """The text if it means these milliseconds, else their number."""
    try:
        reads_back = read(text, "time") == milliseconds
    except TimeError:
        reads_back = False
    return f'"{text}"' if reads_back else repr(milliseconds)


def window_code(window: Window) -> str:
    """The bounds of a window as arguments: ``"00:00:00", "00:11:00"`` or ``"global"``."""
    if isinstance(window, GlobalWindow):
        return '"global"'
    return f"{instant_code(window.start)}, {instant_code(window.end)}"


def instant_refused(value: InstantLike, argument: str) -> str:
    """Why a pipeline in Beam Python's words does not take an instant; "" if it does.

    What cannot be written in another way than as a number is taken: no seconds reach so far.
    """
    if not isinstance(value, int) or value == 0 or instant_code(value) == repr(value):
        return ""
    return _refusal(value, argument, f"Timestamp({value!r})", instant_code(value))


def duration_refused(value: DurationLike, argument: str) -> str:
    """Why a pipeline in Beam Python's words does not take a duration; "" if it does."""
    if not isinstance(value, int):
        return ""
    return _refusal(value, argument, f"Duration({value!r})", duration_code(value))


def _refusal(value: int, argument: str, in_seconds: str, in_millis: str) -> str:
    return (
        f"{argument}: {value!r} is {value!r} milliseconds in beamlike.testing and {value!r} "
        f"seconds in Beam Python; write {in_seconds} of beamlike.beam for seconds, or {in_millis} "
        "for milliseconds, or take Beam's test stream: "
        "from beamlike.beam.testing.test_stream import TestStream"
    )


def script_code(steps: Script) -> str:
    """The steps of a test stream as the calls that make them."""
    calls, clock = [], 0
    for step in steps:
        verb, arguments = step_call(step, clock, lambda _, element: repr(element.value))
        calls.append(f".{verb}({', '.join(arguments)})")
        clock = step.to if isinstance(step, AdvanceClock) else clock
    return "".join(calls)


def step_call(
    step: ScriptStep, clock: int, show: Callable[[Any, Element], str]
) -> tuple[str, list[str]]:
    """The verb of a step and its arguments as code, where the clock stood before (ms)."""
    match step:
        case AdvanceWatermark(to):
            return "advance_watermark_to", [instant_code(to)]
        case AdvanceClock(to):
            return "advance_processing_time", [duration_code(to - clock)]
    timed = [(show(*element), element[1].timestamp) for element in step.elements]
    times = {time for _, time in timed}
    if len(times) == 1:
        return "add_elements_at_time", [*map(instant_code, times), *(code for code, _ in timed)]
    return "add_elements", [
        f"TimestampedValue({code}, {instant_code(time)})" for code, time in timed
    ]


def said_otherwise(name: str, argument: object, elements: tuple[Any, ...]) -> str:
    """What to write for an argument that Beam Python's method has."""
    beams = "Beam's is beamlike.beam.testing.test_stream.TestStream"
    if name == "tag":
        return (
            f"add_elements has no tag= here; each collection has a TestStream of its own. {beams}"
        )
    if name != "event_timestamp":
        return f"add_elements has no {name}= here; write add_elements(*elements)"
    listed = elements[0] if len(elements) == 1 and isinstance(elements[0], list) else elements
    shown = ", ".join(map(reprlib.repr, listed)) or "*elements"
    time = f"Timestamp({argument!r})" if isinstance(argument, int | float) else repr(argument)
    return (
        f"add_elements has no event_timestamp= here; write add_elements_at_time({time}, {shown}), "
        "with the elements one by one, and Timestamp of beamlike.beam for seconds. " + beams
    )
