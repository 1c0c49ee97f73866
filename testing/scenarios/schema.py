"""The grammar of transcripts, read and written from one table: windows, triggers, windowing, steps.

A misspelt field must not silently change a scenario, so every object is read against the
fields it may have. What is beamlike's and not Beam's has names that begin with ``x_``, which other
readers skip.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from inspect import Parameter
from typing import Any, Final, cast

import attrs

from beamlike.errors import TranscriptError, TriggerError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model import calendar
from beamlike.model import triggers as t
from beamlike.model import windowfns as w
from beamlike.model.custom_trigger import CustomTrigger, custom_triggers_in
from beamlike.model.described import argument_defaults
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.options import LateCheck, Unchanged
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Script, ScriptStep
from beamlike.testing.scenarios.places import Place

VERBS: Final = (
    "elements",
    "advance_watermark_to_ms",
    "advance_processing_time_by_ms",
    "advance_watermark_to_infinity",
)

_NEEDED: Final = Parameter.empty


def _as_is(value: Any) -> Any:
    return value


@attrs.frozen
class Field:
    """A field of an object in a file, and the attribute of the class that it stands for.

    Args:
        name: What the field is called in a file.
        attribute: The attribute, and the argument of the class.
        read: From its place to a value.
        write: From a value to JSON; None: the field is read, and never written.
        default: What an object without it means; `Parameter.empty`: it is needed.
        always: Whether it is also written where it has its default.
    """

    name: str
    attribute: str
    read: Callable[[Place], Any] = Place.integer
    write: Callable[[Any], Any] | None = _as_is
    default: Any = _NEEDED
    always: bool = True


@attrs.frozen
class Form:
    """How values of a class are written: as an object with these fields.

    Args:
        cls: The class.
        fields: What it has besides the field with its name.
        make: What makes a value of the arguments, if that is not the class itself.
    """

    cls: type
    fields: tuple[Field, ...] = ()
    make: Callable[..., Any] | None = None

    def read(self, place: Place, tag: str = "") -> Any:
        """The value of an object; what the class refuses is refused at its place."""
        needed = [field.name for field in self.fields if field.default is _NEEDED]
        possible = [field.name for field in self.fields if field.default is not _NEEDED]
        places = place.fields([tag, *needed] if tag else needed, possible)
        arguments = {
            field.attribute: field.read(places[field.name])
            for field in self.fields
            if field.name in places
        }
        return place.build(lambda: (self.make or self.cls)(**arguments))

    def write(self, value: Any) -> dict[str, Any]:
        """The object of a value."""
        document = {
            field.name: (field.write(getattr(value, field.attribute)), field)
            for field in self.fields
            if field.write is not None
        }
        return {
            name: written
            for name, (written, field) in document.items()
            if field.always or written != field.default
        }


_added: Final = partial(Field, default=None, always=False)
"""A field that is written where it differs from its default alone."""


def _value(place: Place) -> Any:
    return place.value


def _numbers(place: Place) -> tuple[int, ...]:
    return tuple(item.integer() for item in place.items())


def _date(start: Any) -> list[int]:
    return [start.year, start.month, start.day]


def _calendar(cls: type, *anchors: str) -> Form:
    return Form(
        cls,
        (
            Field("number", "number"),
            Field("time_zone", "time_zone", Place.text),
            Field("start", "start", _numbers, _date, default=None),
            *(_added(name, name, write=None) for name in anchors),
        ),
    )


_OFFSET: Final = Field("offset_ms", "offset", default=0)

WINDOW_FNS: Final[Mapping[str, Form]] = {
    "fixed": Form(w.FixedWindows, (Field("size_ms", "size"), _OFFSET)),
    "sliding": Form(
        w.SlidingWindows, (Field("size_ms", "size"), Field("period_ms", "period"), _OFFSET)
    ),
    "sessions": Form(
        Sessions,
        (
            Field("gap_ms", "gap", write=lambda gap: 1 if callable(gap) else gap),
            _added("x_max_duration_ms", "max_duration"),
            _added("x_max_elements", "max_elements"),
            _added("x_merge_touching", "merge_touching", Place.flag, default=False),
            _added("x_ends_with", "ends_with", _value, lambda end: None if callable(end) else end),
        ),
    ),
    "global": Form(w.GlobalWindows),
    "calendar_days": _calendar(calendar.CalendarDays),
    "calendar_weeks": _calendar(calendar.CalendarWeeks, "start_day_of_week"),
    "calendar_months": _calendar(calendar.CalendarMonths, "day_of_month"),
    "calendar_years": _calendar(calendar.CalendarYears, "month_of_year", "day_of_month"),
}


def _window_fn(place: Place) -> w.WindowFn:
    return cast(w.WindowFn, WINDOW_FNS[place.variant("fn", WINDOW_FNS)].read(place, "fn"))


def write_window_fn(window_fn: w.WindowFn) -> dict[str, Any]:
    """A window function as an object; a `TypeError` if the format has none for it."""
    for name, form in WINDOW_FNS.items():
        if form.cls is type(window_fn):
            return {"fn": name} | form.write(window_fn)
    raise TypeError(f"transcripts know no {type(window_fn).__name__}")


def _trigger(place: Place) -> t.Trigger:
    return cast(t.Trigger, TRIGGERS[place.variant("type", TRIGGERS)].read(place, "type"))


def write_trigger(trigger: t.Trigger) -> dict[str, Any]:
    """A trigger as an object.

    Raises:
        TranscriptError: It is one of the user's own.
    """
    for name, form in TRIGGERS.items():
        if form.cls is type(trigger):
            return {"type": name} | form.write(trigger)
    assert custom_triggers_in(trigger), "Beam's triggers are all in the table"
    raise TranscriptError(
        f"{trigger} is a trigger of your own, and a scenario file holds none: a reader "
        "of the file would not have its class; write the run as Python with as_test_stream"
    )


def _of_one(name: str, *, default: Any = _NEEDED) -> Field:
    """A field with a trigger; null is none."""
    return Field(
        name,
        name,
        lambda place: None if place.value is None and default is None else _trigger(place),
        lambda trigger: trigger and write_trigger(trigger),
        default,
    )


def _of_several(cls: type) -> Form:
    def read(place: Place) -> list[t.Trigger]:
        return [_trigger(item) for item in place.items()]

    def write(triggers: Iterable[t.Trigger]) -> list[dict[str, Any]]:
        return list(map(write_trigger, triggers))

    fields = (Field("triggers", "children", read, write),)
    return Form(cls, fields, lambda children: cls(*children))


DELAY: Final = Form(t.Delay, (Field("delay_ms", "by"),))
ALIGN: Final = Form(t.AlignTo, (Field("period_ms", "period"), _OFFSET))


def _transforms(place: Place) -> list[t.Delay | t.AlignTo]:
    return list(map(_transform, place.items()))


def _transform(place: Place) -> t.Delay | t.AlignTo:
    fields = place.fields((), ("delay_ms", "align_to"))
    if len(fields) != 1:
        place.fail("needs either 'delay_ms' or 'align_to'")
    align = fields.get("align_to")
    return cast(t.Delay | t.AlignTo, DELAY.read(place) if align is None else ALIGN.read(align))


def _write_transforms(transforms: Sequence[t.Delay | t.AlignTo]) -> list[dict[str, Any]]:
    return [
        DELAY.write(transform)
        if isinstance(transform, t.Delay)
        else {"align_to": ALIGN.write(transform)}
        for transform in transforms
    ]


def _after_processing_time(
    delay: int | None = None, transforms: Sequence[t.Delay | t.AlignTo] | None = None
) -> t.Trigger:
    if (delay is None) == (transforms is None):
        raise TriggerError("needs either 'delay_ms' or 'transforms'")
    return t.AfterProcessingTime(*(transforms or ()) if delay is None else (delay,))


_READERS: Final[Mapping[str, Callable[[Place], Any]]] = {
    "count": Place.integer,
    "number": _value,
    "duration": Place.integer,
    "flag": Place.flag,
}
"""By what an argument of a trigger is. A file cannot hold a function: it is the default."""


def _extra(cls: type[CustomTrigger[Any]]) -> tuple[str, Form]:
    """The name in files of a trigger that Beam does not have, ``x_every_count``, and its form."""
    name = "x" + "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__)
    defaults = argument_defaults(cls)
    fields = tuple(
        _added(
            f"{argument}_ms" if reader_name == "duration" else argument,
            argument,
            _READERS[reader_name],
            default=defaults[argument],
        )
        for argument, reader_name in cls.arguments.items()
        if reader_name in _READERS
    )
    return name, Form(cls, fields)


TRIGGERS: Final[Mapping[str, Form]] = {
    "default": Form(t.DefaultTrigger),
    "after_watermark": Form(
        t.AfterWatermark, (_of_one("early", default=None), _of_one("late", default=None))
    ),
    "after_processing_time": Form(
        t.AfterProcessingTime,
        (
            _added("delay_ms", "delay", write=None),
            Field("transforms", "transforms", _transforms, _write_transforms, default=None),
        ),
        _after_processing_time,
    ),
    "after_synchronized_processing_time": Form(t.AfterSynchronizedProcessingTime),
    "after_count": Form(t.AfterCount, (Field("count", "count"),)),
    "repeatedly": Form(t.Repeatedly, (_of_one("trigger"),)),
    "after_each": _of_several(t.AfterEach),
    "after_first": _of_several(t.AfterFirst),
    "after_all": _of_several(t.AfterAll),
    "or_finally": Form(t.OrFinally, (_of_one("main"), _of_one("until"))),
    "never": Form(t.Never),
    "always": Form(t.Always),
    **dict(map(_extra, EXTRA_TRIGGERS.values())),
}


def _word(name: str, *values: str) -> Field:
    return Field(name, name, lambda place: place.one_of(values), lambda option: option.value)


def _option(attribute: str, options: type[Enum], default: Enum) -> Field:
    """One of beamlike's own options, as in Beam by default."""
    values = [option.value for option in options]
    return _added(
        f"x_{attribute}",
        attribute,
        lambda place: place.one_of(values),
        lambda option: option.value,
        default=default.value,
    )


WINDOWING: Final = Form(
    WindowingStrategy,
    (
        Field("window", "window_fn", _window_fn, write_window_fn),
        Field("trigger", "trigger", _trigger, write_trigger),
        _word("accumulation", "discarding", "accumulating", "retracting"),
        Field("allowed_lateness_ms", "allowed_lateness", lambda place: place.integer(least=0)),
        _word("timestamp_combiner", "end_of_window", "earliest", "latest"),
        _word("closing_behavior", "fire_if_non_empty", "fire_always"),
        _word("on_time_behavior", "fire_always", "fire_if_non_empty"),
        _option("late_check", LateCheck, LateCheck.ASSIGNED),
        _option("unchanged", Unchanged, Unchanged.RE_EMIT),
    ),
)
"""The seven fields of Beam are all there, so that no default is a matter of opinion."""


def read_windowing(place: Place) -> WindowingStrategy:
    """The strategy of a scenario's ``windowing``."""
    return cast(WindowingStrategy, WINDOWING.read(place))


# -- steps ---------------------------------------------------------------------------------


def read_script(place: Place) -> Script:
    """The script of a scenario's ``steps``. The watermark begins at MIN, the clock at 0."""
    watermark, clock = MIN_TIMESTAMP, 0
    script: list[ScriptStep] = []
    for step in place.items():
        verbs = step.fields((), VERBS)
        if len(verbs) != 1:
            asked = " and ".join(map(repr, verbs)) or "none"
            step.fail(f"a step does exactly one thing of {', '.join(VERBS)}; got {asked}")
        ((verb, argument),) = verbs.items()
        if verb == "elements":
            script.append(Arrive(tuple(map(_arrival, argument.items()))))
        elif verb == "advance_processing_time_by_ms":
            clock += argument.integer(least=0)
            script.append(AdvanceClock(clock))
        else:
            to = _watermark(verb, argument)
            if to < watermark:
                argument.fail(f"the watermark cannot go back: it stands at {watermark}, got {to}")
            watermark = to
            script.append(AdvanceWatermark(to))
    return tuple(script)


def _watermark(verb: str, argument: Place) -> int:
    if verb == "advance_watermark_to_ms":
        return argument.integer(least=MIN_TIMESTAMP, below=MAX_TIMESTAMP + 1)
    if argument.flag() is not True:
        argument.fail("must be true; leave the step out if the watermark stays")
    return MAX_TIMESTAMP


def _arrival(place: Place) -> tuple[str | int | None, Element]:
    fields = place.fields(("key", "value", "ts_ms"))
    # Time ends at MAX: an element there would lie after the end of every window.
    timestamp = fields["ts_ms"].integer(least=MIN_TIMESTAMP, below=MAX_TIMESTAMP)
    return read_key(fields["key"]), Element(fields["value"].value, timestamp)


def read_key(place: Place) -> str | int | None:
    """A key: a string, a whole number, or null."""
    key = place.value
    if key is None or isinstance(key, str):
        return key
    if isinstance(key, bool) or not isinstance(key, int):
        place.fail(f"a key is a string, a whole number or null, got {key!r}")
    return key
