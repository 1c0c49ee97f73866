"""The parts of a windowing strategy that are one choice among a few.

Source: Beam Java, the enums of ``WindowingStrategy``, ``Window`` and ``TimestampCombiner``; the
late checks, retracting panes and what is unchanged are not in Beam.

Below them are arguments by name: the errors for one that does not exist, and for one that is
missing. Systems that share a word give it other names: what is ``accumulation`` here is
``accumulation_mode`` in Beam. The error for the other name gives the one used here.
"""

import difflib
import inspect
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, Literal, ParamSpec, TypeVar

from beamlike.errors import BeamlikeError, WindowingError

__all__ = [
    "USUAL",
    "AccumulationMode",
    "AccumulationModeLike",
    "ClosingBehavior",
    "ClosingBehaviorLike",
    "LateCheck",
    "LateCheckLike",
    "OnTimeBehavior",
    "OnTimeBehaviorLike",
    "TimestampCombiner",
    "TimestampCombinerLike",
    "Unchanged",
    "UnchangedLike",
    "option",
    "whole_number",
]


class AccumulationMode(Enum):
    """What happens to a pane's elements once it has fired."""

    DISCARDING = "discarding"
    """They are forgotten: each pane holds what came since the pane before."""
    ACCUMULATING = "accumulating"
    """They are kept: each pane holds everything the window received."""
    RETRACTING = "retracting"
    """As accumulating, and each new pane first withdraws the panes that still stand."""


AccumulationModeLike = AccumulationMode | Literal["discarding", "accumulating", "retracting"]


class TimestampCombiner(Enum):
    """The event time that a pane is stamped with."""

    END_OF_WINDOW = "end_of_window"
    EARLIEST = "earliest"
    LATEST = "latest"


TimestampCombinerLike = TimestampCombiner | Literal["end_of_window", "earliest", "latest"]


class ClosingBehavior(Enum):
    """Whether a window's last pane is emitted when nothing came since the pane before."""

    FIRE_IF_NON_EMPTY = "fire_if_non_empty"
    FIRE_ALWAYS = "fire_always"


ClosingBehaviorLike = ClosingBehavior | Literal["fire_if_non_empty", "fire_always"]


class OnTimeBehavior(Enum):
    """Whether the on-time pane is emitted when nothing came since the pane before."""

    FIRE_ALWAYS = "fire_always"
    FIRE_IF_NON_EMPTY = "fire_if_non_empty"


OnTimeBehaviorLike = OnTimeBehavior | Literal["fire_always", "fire_if_non_empty"]


class LateCheck(Enum):
    """What decides that an element comes too late. Beam has no choice here; others differ."""

    ASSIGNED = "assigned"
    """Its own window, before any merging, as in Beam. An element whose own window has expired
    is dropped although a live session overlaps it."""
    MERGED = "merged"
    """Its window after merging, as in Flink and Kafka Streams. A live session takes the
    element in. Differs from ``assigned`` for windows that merge only."""
    ELEMENT = "element"
    """Its timestamp, as in Apex: dropped once the watermark is past the timestamp plus the
    allowed lateness, although its window may be open."""
    RETAIN = "retain"
    """Its own window, as ``assigned``; but an expired session is kept for as long as an element
    that is not expired can overlap it, so that no two sessions of a key ever come closer than
    the gap.

    What Beam does at expiry happens then: what is left comes out, as the last pane of that
    window. The session stays, silent: it holds back no watermark and sets no timer. An
    element that overlaps it makes a longer session, which is a window of its own, not expired,
    with all the elements and with panes counted from 0. So no pane ever follows a last one, and
    without such an element everything is as under ``assigned``. With ``accumulating`` panes the
    elements are then in the last panes of both; ``retracting`` withdraws the shorter one's.

    Differs from ``assigned`` for windows that merge only. State is kept longer by the longest
    window that one element can open (`WindowFn.longest_own_window`), which has to be known. Two
    sessions do come closer where a bound of the sessions cuts them apart, where a trigger
    closes a window before it expires, and where windows come from a grouping before.

    Source: the fix that apache/beam issue 18677 requests."""


LateCheckLike = LateCheck | Literal["assigned", "merged", "element", "retain"]


class Unchanged(Enum):
    """Whether a pane comes out again although its value is what it was. Retracting mode only."""

    RE_EMIT = "re_emit"
    """The pane that stands is withdrawn, and the new one takes its place."""
    OMIT = "omit"
    """Where the pane would replace one of the same window with an equal value, and no other,
    neither comes out. The pane that stands stays, with its timing and its timestamp, and no
    index is used: a window whose result does not change after an early pane has no on-time
    pane and no last one."""


UnchangedLike = Unchanged | Literal["re_emit", "omit"]


USUAL: Final[Mapping[str, Enum]] = MappingProxyType(
    {
        "timestamp combiner": TimestampCombiner.END_OF_WINDOW,
        "closing behavior": ClosingBehavior.FIRE_IF_NON_EMPTY,
        "on-time behavior": OnTimeBehavior.FIRE_ALWAYS,
        "late check": LateCheck.ASSIGNED,
        "unchanged panes": Unchanged.RE_EMIT,
    }
)
"""The options that need no mention unless another value was chosen, in words."""

Option = TypeVar("Option", bound=Enum)


def whole_number(value: object, least: int, argument: str, error: type[BeamlikeError]) -> int:
    """A parameter that counts something, ``least`` or more of it; anything else is an error."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise error(f"{argument} must be a whole number of {least} or more, got {value!r}")
    return value


def option(
    cls: type[Option], value: Option | str | None, argument: str, *, usual: str | None = None
) -> Option:
    """The member of ``cls`` that is meant, given itself or as its value.

    Args:
        usual: The value that None stands for.

    Raises:
        WindowingError: It is none, with those that there are.
    """
    if isinstance(value, cls):
        return value
    if value is None and usual is not None:
        return cls(usual)
    try:
        return cls(str(value).lower())
    except ValueError:
        known = ", ".join(repr(member.value) for member in cls)
        raise WindowingError(f"{argument} must be one of {known}, got {value!r}") from None


MAX_FAILURES: Final = 0.9
"""The share of calls of a user's function that may fail before a query stops, where what fails is
dropped."""


Params = ParamSpec("Params")
Answer = TypeVar("Answer")

_SAME: Final = (
    ("window", "window_fn", "windowfn", "windows", "windowing"),
    ("accumulation", "accumulation_mode", "mode"),
    ("allowed_lateness", "lateness", "grace"),
    ("timestamp_combiner", "output_time_fn"),
    ("closing_behavior", "closing_behaviour"),
    ("on_time_behavior", "on_time_behaviour"),
    ("aggregate", "aggregates", "combine", "combine_fn", "agg"),
    ("key", "keys", "by", "group_by"),
    ("timestamp", "event_time", "time"),
)
"""Names of one thing, here and elsewhere."""

_BY_NAME: Final = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def argument_meant(name: str, owner: str, known: Iterable[str]) -> str:
    """That there is no such argument, and which one was meant.

    >>> argument_meant("window", "WindowingStrategy", ["window_fn", "trigger"])
    "WindowingStrategy has no argument 'window'; write window_fn="
    """
    names = list(known)
    alike = [other for same in _SAME if name in same for other in same]
    close = difflib.get_close_matches(name, names)
    near = [other for other in (*alike, *close) if other in names]
    meant = f"write {near[0]}=" if near else f"it takes {', '.join(names)}"
    return f"{owner} has no argument {name!r}; {meant}"


def by_name(
    owner: str,
    error: type[BeamlikeError],
    keywords: Collection[str] | Mapping[str, Any] = (),
    keywords_first: bool = False,
    **examples: str,
) -> Callable[[Callable[Params, Answer]], Callable[Params, Answer]]:
    """A function whose error names the argument that does not exist, has no name, or is missing.

    Python says the former in a TypeError that does not know what was meant.

    Args:
        owner: What the function is called where people call it.
        error: What is raised, in place of a TypeError.
        keywords: What there is besides, of a function that takes a mapping of arguments; with their
            types ``help`` names each. Empty: the function hands them on, unchecked.
        keywords_first: Whether a value without a name is more likely meant for one of those.
        examples: What to give for arguments without which nothing goes, as it is written.
    """

    def decorate(function: Callable[Params, Answer]) -> Callable[Params, Answer]:
        every = inspect.signature(function).parameters.values()
        owners = ("self", "cls")
        known = [p.name for p in every if p.kind in _BY_NAME and p.name not in owners]
        known += [*keywords]
        open_end = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in every) and not keywords
        places = [p.name for p in every if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        named = [p.name for p in every if p.kind is inspect.Parameter.KEYWORD_ONLY]
        named = [*keywords, *named] if keywords_first else [*named, *keywords]

        @wraps(function)
        def checked(*args: Params.args, **kwargs: Params.kwargs) -> Answer:
            __tracebackhide__ = True  # pytest then shows the line that gave the argument
            for name in kwargs:
                if name not in known and not open_end:
                    raise error(argument_meant(name, owner, known))
            for value, name in zip(args[len(places) :], named, strict=False):
                raise error(f"{owner}: {reprlib.repr(value)} has no name; write {name}=...")
            for name, example in examples.items():
                if name not in kwargs and name not in places[: len(args)]:
                    raise error(f"{owner} needs {name}; give {example}")
            return function(*args, **kwargs)

        if isinstance(keywords, Mapping):
            vars(checked)["__signature__"] = _spelled_out(function, keywords)
        return checked

    return decorate


def _spelled_out(function: Callable[..., object], hints: Mapping[str, Any]) -> inspect.Signature:
    """The signature of a function with each of its other arguments, which may be left out."""
    signature = inspect.signature(function)
    named = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in hints.items()
    ]
    return signature.replace(parameters=[*named, *keywords])
