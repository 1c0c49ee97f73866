"""The grammar of transcripts: strict reading of JSON, and the windowing it describes.

A misspelt field must not silently change a scenario, so every object is read against the
fields it may have.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any, Final

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model import calendar
from beamlike.model import triggers as t
from beamlike.model import windowfns as w
from beamlike.model.custom_trigger import ArgumentKind, CustomTrigger, argument_defaults
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.options import LateCheck, Option, Unchanged
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.script import Arrive, Script, ScriptStep
from beamlike.testing.scenarios.places import Place, each

WINDOWING_FIELDS: Final = (
    "window",
    "trigger",
    "accumulation",
    "allowed_lateness_ms",
    "timestamp_combiner",
    "closing_behavior",
    "on_time_behavior",
)
OWN_WINDOWING_FIELDS: Final = ("x_late_check", "x_unchanged")
OWN_SESSION_FIELDS: Final = (
    *("x_max_duration_ms", "x_max_elements", "x_merge_touching"),
    "x_ends_with",
)
"""What is beamlike's and not Beam's has names that other readers skip."""
VERBS: Final = (
    "elements",
    "advance_watermark_to_ms",
    "advance_processing_time_by_ms",
    "advance_watermark_to_infinity",
)


# -- windowing -----------------------------------------------------------------------------


def read_windowing(place: Place) -> WindowingStrategy:
    """The strategy of a scenario's ``windowing``, whose seven fields are all there."""
    parts = place.parts(WINDOWING_FIELDS, OWN_WINDOWING_FIELDS)
    read = parts.read
    window_fn = read("window", _window_fn, w.GlobalWindows())
    options: dict[str, Any] = {
        "trigger": read("trigger", _trigger, t.DefaultTrigger()),
        "accumulation": read("accumulation", _of("discarding", "accumulating", "retracting"), ""),
        "allowed_lateness": read("allowed_lateness_ms", lambda ms: ms.integer(least=0), 0),
        "timestamp_combiner": read(
            "timestamp_combiner", _of("end_of_window", "earliest", "latest"), ""
        ),
        "closing_behavior": read("closing_behavior", _of("fire_if_non_empty", "fire_always"), ""),
        "on_time_behavior": read("on_time_behavior", _of("fire_always", "fire_if_non_empty"), ""),
        # What is beamlike's own is as in Beam by default.
        "late_check": read("x_late_check", _own(LateCheck), LateCheck.ASSIGNED),
        "unchanged": read("x_unchanged", _own(Unchanged), Unchanged.RE_EMIT),
    }
    parts.done()
    return place.build(lambda: WindowingStrategy(window_fn, **options))


def _own(kind: type[Option]) -> Callable[[Place], Option]:
    values = {member.value: member for member in kind}
    return lambda place: values[place.one_of(values)]


def _of(*words: str) -> Callable[[Place], str]:
    return lambda place: place.one_of(words)


def _window_fn(place: Place) -> w.WindowFn:
    read = WINDOW_FNS[place.variant("fn", WINDOW_FNS)]
    return place.build(lambda: read(place))


def _fixed(place: Place) -> w.WindowFn:
    fields = place.fields(("fn", "size_ms"), ("offset_ms",))
    return w.FixedWindows(fields["size_ms"].integer(), _offset(fields))


def _sliding(place: Place) -> w.WindowFn:
    fields = place.fields(("fn", "size_ms", "period_ms"), ("offset_ms",))
    size, period = fields["size_ms"].integer(), fields["period_ms"].integer()
    return w.SlidingWindows(size, period, _offset(fields))


def _sessions(place: Place) -> w.WindowFn:
    fields = place.fields(("fn", "gap_ms"), OWN_SESSION_FIELDS)
    longest, most = (
        fields[name].integer() if name in fields else None for name in OWN_SESSION_FIELDS[:2]
    )
    touching = "x_merge_touching" in fields and fields["x_merge_touching"].flag()
    return Sessions(
        fields["gap_ms"].integer(),
        max_duration=longest,
        max_elements=most,
        merge_touching=touching,
        ends_with=fields["x_ends_with"].value if "x_ends_with" in fields else None,
    )


def _global(place: Place) -> w.WindowFn:
    place.fields(("fn",))
    return w.GlobalWindows()


def _calendar(kind: Callable[..., w.WindowFn], *anchors: str) -> Callable[[Place], w.WindowFn]:
    def read(place: Place) -> w.WindowFn:
        fields = place.fields(("fn", "number", "time_zone"), ("start", *anchors))
        given = {name: fields[name].integer() for name in anchors if name in fields}
        start = tuple(each(fields["start"].items(), Place.integer)) if "start" in fields else None
        number, zone = fields["number"].integer(), fields["time_zone"].text()
        return kind(number, zone, start, **given)

    return read


def _offset(fields: Mapping[str, Place]) -> int:
    return fields["offset_ms"].integer() if "offset_ms" in fields else 0


WINDOW_FNS: Final[Mapping[str, Callable[[Place], w.WindowFn]]] = {
    "fixed": _fixed,
    "sliding": _sliding,
    "sessions": _sessions,
    "global": _global,
    "calendar_days": _calendar(calendar.CalendarDays),
    "calendar_weeks": _calendar(calendar.CalendarWeeks, "start_day_of_week"),
    "calendar_months": _calendar(calendar.CalendarMonths, "day_of_month"),
    "calendar_years": _calendar(calendar.CalendarYears, "month_of_year", "day_of_month"),
}


def _trigger(place: Place) -> t.Trigger:
    read = TRIGGERS[place.variant("type", TRIGGERS)]
    return place.build(lambda: read(place))


def _plain(kind: Callable[[], t.Trigger]) -> Callable[[Place], t.Trigger]:
    def read(place: Place) -> t.Trigger:
        place.fields(("type",))
        return kind()

    return read


def _of_several(kind: Callable[..., t.Trigger]) -> Callable[[Place], t.Trigger]:
    def read(place: Place) -> t.Trigger:
        subs = place.fields(("type", "triggers"))["triggers"]
        return kind(*each(subs.items(), _trigger))

    return read


def _after_watermark(place: Place) -> t.Trigger:
    fields = place.fields(("type",), ("early", "late"))
    subs = {
        name: _trigger(sub)
        for name, sub in fields.items()
        if name != "type" and sub.value is not None
    }
    return t.AfterWatermark(**subs)


def _after_processing_time(place: Place) -> t.Trigger:
    fields = place.fields(("type",), ("delay_ms", "transforms"))
    if len(fields) != 2:
        place.fail("needs either 'delay_ms' or 'transforms'")
    if "delay_ms" in fields:
        return t.AfterProcessingTime(fields["delay_ms"].integer())
    return t.AfterProcessingTime(*each(fields["transforms"].items(), _transform))


def _transform(place: Place) -> t.Delay | t.AlignTo:
    fields = place.fields((), ("delay_ms", "align_to"))
    if len(fields) != 1:
        place.fail("needs either 'delay_ms' or 'align_to'")
    if "delay_ms" in fields:
        delay = fields["delay_ms"]
        return delay.build(lambda: t.Delay(delay.integer()))
    align = fields["align_to"]
    parts = align.fields(("period_ms",), ("offset_ms",))
    return align.build(lambda: t.AlignTo(parts["period_ms"].integer(), _offset(parts)))


def _after_count(place: Place) -> t.Trigger:
    return t.AfterCount(place.fields(("type", "count"))["count"].integer())


def _repeatedly(place: Place) -> t.Trigger:
    return t.Repeatedly(_trigger(place.fields(("type", "trigger"))["trigger"]))


def _or_finally(place: Place) -> t.Trigger:
    fields = place.fields(("type", "main", "until"))
    return t.OrFinally(_trigger(fields["main"]), _trigger(fields["until"]))


def _extra(kind: type[CustomTrigger[Any]]) -> Callable[[Place], t.Trigger]:
    # A file cannot hold a function: it is the default.
    readers = {name: READERS[what] for name, what in kind.arguments.items() if what in READERS}
    defaults = argument_defaults(kind)
    names = {name: field_name(name, kind.arguments[name]) for name in readers}
    required = [names[name] for name in readers if defaults[name] is Parameter.empty]
    possible = [names[name] for name in readers if names[name] not in required]

    def read(place: Place) -> t.Trigger:
        fields = place.fields(("type", *required), possible)
        given = {
            name: reader(fields[names[name]])
            for name, reader in readers.items()
            if names[name] in fields
        }
        make: Callable[..., t.Trigger] = kind
        return make(**given)

    return read


def field_name(argument: str, kind: ArgumentKind) -> str:
    """What an argument of a trigger that Beam does not have is called in files."""
    return f"{argument}_ms" if kind == "duration" else argument


def type_name(kind: type[CustomTrigger[Any]]) -> str:
    """What such a trigger is called in files: ``x_every_count``."""
    return "x" + "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__)


READERS: Final[Mapping[ArgumentKind, Callable[[Place], Any]]] = {
    "count": Place.integer,
    "number": lambda place: place.value,
    "duration": Place.integer,
    "flag": Place.flag,
}


TRIGGERS: Final[Mapping[str, Callable[[Place], t.Trigger]]] = {
    "default": _plain(t.DefaultTrigger),
    "after_watermark": _after_watermark,
    "after_processing_time": _after_processing_time,
    "after_synchronized_processing_time": _plain(t.AfterSynchronizedProcessingTime),
    "after_count": _after_count,
    "repeatedly": _repeatedly,
    "after_each": _of_several(t.AfterEach),
    "after_first": _of_several(t.AfterFirst),
    "after_all": _of_several(t.AfterAll),
    "or_finally": _or_finally,
    "never": _plain(t.Never),
    "always": _plain(t.Always),
    # Beam has none of these.
    **{type_name(kind): _extra(kind) for kind in EXTRA_TRIGGERS.values()},
}


# -- steps ---------------------------------------------------------------------------------


def read_script(place: Place) -> Script:
    """The script of a scenario's ``steps``. The watermark begins at MIN, the clock at 0."""
    watermark, clock = MIN_TIMESTAMP, 0
    script: list[ScriptStep] = []

    def read(step: Place) -> None:
        nonlocal watermark, clock
        verbs = step.fields((), VERBS)
        if len(verbs) != 1:
            given = " and ".join(map(repr, verbs)) or "none"
            step.fail(f"a step does exactly one thing of {', '.join(VERBS)}; got {given}")
        ((verb, what),) = verbs.items()
        if verb == "elements":
            script.append(Arrive(tuple(each(what.items(), _arrival))))
        elif verb == "advance_processing_time_by_ms":
            clock += what.integer(least=0)
            script.append(AdvanceClock(clock))
        else:
            to = _watermark(verb, what)
            if to < watermark:
                what.fail(f"the watermark cannot go back: it stands at {watermark}, got {to}")
            watermark = to
            script.append(AdvanceWatermark(to))

    each(place.items(), read)
    return tuple(script)


def _watermark(verb: str, what: Place) -> int:
    if verb == "advance_watermark_to_ms":
        return what.integer(least=MIN_TIMESTAMP, below=MAX_TIMESTAMP + 1)
    if what.flag() is not True:
        what.fail("must be true; leave the step out if the watermark stays")
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
