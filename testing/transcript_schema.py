"""The grammar of transcripts: strict reading of JSON, and the windowing it describes.

A misspelt field must not silently change a scenario, so every object is read against the
fields it may have, and every complaint says where in the document it stands.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Never, TypeVar

import attrs

from beamlike.errors import BeamlikeError, TranscriptError
from beamlike.hosts.script import Arrive, Script, ScriptStep
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model import calendar
from beamlike.model import triggers as t
from beamlike.model import windowfns as w
from beamlike.model.options import LateCheck, Option, Unchanged
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

__all__ = ["Place", "read_script", "read_windowing"]

Built = TypeVar("Built")

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
OWN_SESSION_FIELDS: Final = ("x_max_duration_ms", "x_max_elements")
"""What is beamlike's and not Beam's is said under names that other readers skip."""
VERBS: Final = (
    "elements",
    "advance_watermark_to_ms",
    "advance_processing_time_by_ms",
    "advance_watermark_to_infinity",
)
KIND_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


@attrs.frozen
class Place:
    """A value in a document, and the way to it: ``windowing.trigger.early``.

    ``document`` opens every complaint: the file, and the scenario once it is known.
    """

    value: Any
    path: str
    document: str

    def fail(self, problem: str) -> Never:
        """Complain about this place.

        Raises:
            TranscriptError: Always.
        """
        where = f"{self.path}: " if self.path else ""
        raise TranscriptError(f"{self.document}: {where}{problem}")

    def under(self, name: str) -> "Place":
        path = f"{self.path}.{name}" if self.path else name
        return Place(self.value[name], path, self.document)

    def items(self) -> list["Place"]:
        """The places of a list."""
        return [
            Place(item, f"{self.path}[{at}]", self.document)
            for at, item in enumerate(self._is(list))
        ]

    def fields(
        self, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> Mapping[str, "Place"]:
        """The places of an object that has all required fields and no unknown ones.

        Fields whose names begin with ``x_`` belong to whoever wrote them and are skipped,
        unless they are among the optional ones or look much like one of these.
        """
        given = self._is(dict)
        required = tuple(required)
        known = (*required, *optional)
        absent = [name for name in required if name not in given]
        for name in given:
            if name in known:
                continue
            if name.startswith("x_"):
                self._check_note(name, known)
                continue
            near = difflib.get_close_matches(name, [k for k in known if k not in given], n=1)
            near = near or difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            self.fail(f"unknown field {name!r}; {hint}")
        if absent:
            names = " and ".join(map(repr, absent))
            self.fail(f"lacks {names}; needed here: {', '.join(required)}")
        return {name: self.under(name) for name in known if name in given}

    def _check_note(self, name: str, known: Iterable[str]) -> None:
        own = [field for field in known if field.startswith("x_")]
        near = difflib.get_close_matches(name, own, n=1, cutoff=0.8)
        if near:
            self.fail(
                f"unknown field {name!r}; did you mean {near[0]!r}? If not, call it something else"
            )

    def variant(self, tag: str, shapes: Mapping[str, Any]) -> str:
        """The value of the field that says what kind of object this is."""
        given = self._is(dict)
        if tag not in given:
            self.fail(f"lacks {tag!r}; it is one of {', '.join(shapes)}")
        return self.under(tag).one_of(shapes)

    def one_of(self, names: Iterable[str]) -> str:
        names = tuple(names)
        value = self.text()
        if value not in names:
            near = difflib.get_close_matches(value, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
            self.fail(f"unknown value {value!r}; {hint}")
        return value

    def text(self) -> str:
        return self._is(str)  # type: ignore[no-any-return]

    def flag(self) -> bool:
        return self._is(bool)  # type: ignore[no-any-return]

    def integer(self, least: int | None = None, below: int | None = None) -> int:
        value: int = self._is(int)
        if least is not None and value < least:
            self.fail(f"must be {least} or more, got {value}")
        if below is not None and value >= below:
            self.fail(f"must be less than {below}, got {value}")
        return value

    def build(self, make: Callable[[], Built]) -> Built:
        """What ``make`` makes of this place; what the model refuses is refused here."""
        try:
            return make()
        except TranscriptError:
            raise
        except BeamlikeError as error:
            self.fail(str(error))

    def _is(self, kind: type) -> Any:
        value = self.value
        # In Python True is an int; in a transcript it is no number.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(f"must be {KIND_NAMES[kind]}, got {value!r}")
        return value


# -- windowing -----------------------------------------------------------------------------


def read_windowing(place: Place) -> WindowingStrategy:
    """The strategy of a scenario's ``windowing``, whose seven fields are all there."""
    fields = place.fields(WINDOWING_FIELDS, OWN_WINDOWING_FIELDS)
    return place.build(
        lambda: WindowingStrategy(
            _window_fn(fields["window"]),
            _trigger(fields["trigger"]),
            fields["accumulation"].one_of(("discarding", "accumulating", "retracting")),
            fields["allowed_lateness_ms"].integer(least=0),
            fields["timestamp_combiner"].one_of(("end_of_window", "earliest", "latest")),
            fields["closing_behavior"].one_of(("fire_if_non_empty", "fire_always")),
            fields["on_time_behavior"].one_of(("fire_always", "fire_if_non_empty")),
            _own(fields, "x_late_check", LateCheck),
            _own(fields, "x_unchanged", Unchanged),
        )
    )


def _own(fields: Mapping[str, Place], name: str, kind: type[Option]) -> Option:
    """An option that is beamlike's own; the first of its kind is as in Beam."""
    values = {member.value: member for member in kind}
    return values[fields[name].one_of(values)] if name in fields else next(iter(kind))


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
        fields[name].integer() if name in fields else None for name in OWN_SESSION_FIELDS
    )
    return Sessions(fields["gap_ms"].integer(), max_duration=longest, max_elements=most)


def _global(place: Place) -> w.WindowFn:
    place.fields(("fn",))
    return w.GlobalWindows()


def _calendar(kind: Callable[..., w.WindowFn], *anchors: str) -> Callable[[Place], w.WindowFn]:
    def read(place: Place) -> w.WindowFn:
        fields = place.fields(("fn", "number", "time_zone"), ("start", *anchors))
        given = {name: fields[name].integer() for name in anchors if name in fields}
        start = (
            tuple(part.integer() for part in fields["start"].items()) if "start" in fields else None
        )
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
        return kind(*map(_trigger, subs.items()))

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
    return t.AfterProcessingTime(*map(_transform, fields["transforms"].items()))


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
}


# -- steps ---------------------------------------------------------------------------------


def read_script(place: Place) -> Script:
    """The script of a scenario's ``steps``. The watermark begins at MIN, the clock at 0."""
    watermark, clock = MIN_TIMESTAMP, 0
    script: list[ScriptStep] = []
    for step in place.items():
        verbs = step.fields((), VERBS)
        if len(verbs) != 1:
            given = " and ".join(map(repr, verbs)) or "none"
            step.fail(f"a step does exactly one thing of {', '.join(VERBS)}; got {given}")
        ((verb, what),) = verbs.items()
        if verb == "elements":
            script.append(Arrive(tuple(map(_arrival, what.items()))))
        elif verb == "advance_processing_time_by_ms":
            clock += what.integer(least=0)
            script.append(AdvanceClock(clock))
        else:
            to = _watermark(verb, what)
            if to < watermark:
                what.fail(f"the watermark cannot go back: it stands at {watermark}, got {to}")
            watermark = to
            script.append(AdvanceWatermark(to))
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
