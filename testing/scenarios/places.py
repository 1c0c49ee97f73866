"""Places in a JSON document, each of which can complain: with line, key and the nearest spelling.

Problems of places that do not depend on each other are reported together.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Never, Self, TypeVar

import attrs

from beamlike.errors import BeamlikeError, TimeError, TranscriptError
from beamlike.model.time import duration_ms
from beamlike.testing.scenarios.json_places import (
    JsonError,
    Span,
    excerpt,
    find,
    find_key,
    line_and_column,
    parse,
)
from beamlike.viz.table import shorten

Item = TypeVar("Item")
Other = TypeVar("Other")
Read = TypeVar("Read")

_MOST: Final = 10
_KIND_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


class Complaints(TranscriptError):
    """What is wrong with a file, one or several things. ``every`` has their texts."""

    def __init__(self, file: str, every: tuple[str, ...]) -> None:
        self.file, self.every = file, every
        more = len(every) - _MOST
        heading = [f"{file}: {len(every)} mistakes"] if len(every) > 1 else []
        ending = [f"... and {more} more"] if more > 0 else []
        super().__init__("\n\n".join((*heading, *every[:_MOST], *ending)))

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.file, self.every)


class Gathered:
    """Complaints that are collected and raised together: ``with gathered: ...``."""

    def __init__(self) -> None:
        self._file, self._every = "", list[str]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, Complaints):
            return False
        self._file = error.file
        self._every += error.every
        return True

    @property
    def problem(self) -> Complaints | None:
        """All complaints as one; None if there are none."""
        return Complaints(self._file, tuple(self._every)) if self._every else None

    def raise_all(self) -> None:
        """Raise all complaints as one.

        Raises:
            Complaints: There are some.
        """
        if self.problem is not None:
            raise self.problem


def read_json(text: str, name: str) -> "Place":
    """The top of a document.

    Args:
        text: The document.
        name: The file that it is in, for complaints.

    Raises:
        Complaints: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    try:
        return Place(parse(text), name, text)
    except JsonError as error:
        raise Complaints(name, (_complaint(name, text, error.span, str(error)),)) from None


@attrs.frozen
class Place:
    """A value in a document, and the way to it: ``windowing.trigger.early``.

    Args:
        value: The value.
        document: The name of the file.
        source: The text of the file.
        whereabouts: What is written before the path of the place: the scenario, once it is known.
        path: The way from there.
        way: The way from the top of the file.
    """

    value: Any
    document: str
    source: str = attrs.field(repr=False)
    whereabouts: str = ""
    path: str = ""
    way: tuple[str | int, ...] = ()

    def inside(self, whereabouts: str) -> "Place":
        """The same place under another name, which is clearer than its path."""
        return attrs.evolve(self, whereabouts=f"{whereabouts}: ", path="")

    def fail(self, problem: str) -> Never:
        """Complain about this place.

        Raises:
            Complaints: Always.
        """
        raise self._complaints([(find(self.source, self.way), problem)])

    def under(self, name: str) -> "Place":
        path = f"{self.path}.{name}" if self.path else name
        return attrs.evolve(self, value=self.value[name], path=path, way=(*self.way, name))

    def items(self) -> list["Place"]:
        """The places of a list."""
        return [
            attrs.evolve(self, value=item, path=f"{self.path}[{at}]", way=(*self.way, at))
            for at, item in enumerate(self._is(list))
        ]

    def fields(
        self, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> Mapping[str, "Place"]:
        """The places of an object that has all required fields and no unknown ones.

        Fields whose names begin with ``x_`` belong to their author and are skipped,
        unless they are among the optional ones or look much like one of these.

        Raises:
            Complaints: There are others, or some are missing.
        """
        parts = self.parts(required, optional)
        parts.done()
        return parts.fields

    def parts(self, required: Iterable[str] = (), optional: Iterable[str] = ()) -> "Parts":
        """The same, to be read one by one, and to be complained of together."""
        given = self._is(dict)
        required = tuple(required)
        known = (*required, *optional)
        absent = [name for name in required if name not in given]
        wrong = list[tuple[Span, str]]()
        for name in given:
            if name in known:
                continue
            if name.startswith("x_"):
                near = _near(name, [field for field in known if field.startswith("x_")], 0.8)
                hint = f"did you mean {near!r}? If not, call it something else" if near else ""
            else:
                near = _near(name, [k for k in known if k not in given]) or _near(name, known)
                hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
            if hint:
                span = find_key(self.source, self.way, name)
                wrong.append((span, f"unknown field {name!r}; {hint}"))
            if near in absent:  # this is where it went
                absent.remove(near)
        if absent:
            names = " and ".join(map(repr, absent))
            span = find(self.source, self.way)
            wrong.append((span, f"lacks {names}; needed here: {', '.join(required)}"))
        gathered = Gathered()
        with gathered:
            if wrong:
                raise self._complaints(wrong)
        return Parts({name: self.under(name) for name in known if name in given}, gathered)

    def variant(self, tag: str, shapes: Mapping[str, Any]) -> str:
        """The value of the field with the kind of this object."""
        given = self._is(dict)
        if tag not in given:
            self.fail(f"lacks {tag!r}; it is one of {', '.join(shapes)}")
        return self.under(tag).one_of(shapes)

    def one_of(self, names: Iterable[str]) -> str:
        names = tuple(names)
        value = self.text()
        if value not in names:
            near = _near(value, names)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(names)}"
            self.fail(f"unknown value {_shown(value)}; {hint}")
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

    def build(self, make: Callable[[], Read]) -> Read:
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
            hint = _as_integer(value, self.path) if kind is int else ""
            self.fail(f"must be {_KIND_NAMES[kind]}, got {_shown(value)}{hint}")
        return value

    def _complaints(self, wrong: Iterable[tuple[Span, str]]) -> Complaints:
        where = self.whereabouts + (f"{self.path}: " if self.path else "")
        return Complaints(
            self.document,
            tuple(
                _complaint(self.document, self.source, span, where + problem)
                for span, problem in wrong
            ),
        )


@attrs.frozen
class Parts:
    """The fields of an object, read one after the other. See `Place.parts`."""

    fields: Mapping[str, Place]
    _gathered: Gathered

    def read(self, name: str, how: Callable[[Place], Read], otherwise: Other) -> Read | Other:
        """The value of a field.

        Args:
            name: The field.
            how: What reads it. A complaint of it is kept.
            otherwise: What stands for it if it is not there, or cannot be read.
        """
        if name in self.fields:
            with self._gathered:
                return how(self.fields[name])
        return otherwise

    def done(self) -> None:
        """All has been read.

        Raises:
            Complaints: Something was wrong.
        """
        self._gathered.raise_all()


def each(places: Iterable[Item], how: Callable[[Item], Read]) -> list[Read]:
    """The value of each place. Complaints about several of them are raised together."""
    found, gathered = readable(places, how)
    gathered.raise_all()
    return found


def readable(places: Iterable[Item], how: Callable[[Item], Read]) -> tuple[list[Read], Gathered]:
    """The values of the places that can be read, and the complaints about the others."""
    gathered, found = Gathered(), list[Read]()
    for place in places:
        with gathered:
            found.append(how(place))
    return found, gathered


def _complaint(file: str, text: str, span: Span | None, problem: str) -> str:
    if span is None:
        return f"{file}: {problem}"
    line, column = line_and_column(text, span.at)
    return f"{file}:{line}:{column}: {problem}\n{excerpt(text, span)}"


def _shown(value: Any) -> str:
    """A value as in the document, if it is one of the words that Python spells otherwise."""
    words = {True: "true", False: "false", None: "null"}
    return words[value] if value is None or value is True or value is False else shorten(value, 60)


def _near(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The nearest of these names, or the only one that begins with it; "" if none is near."""
    known = list(names)
    begun = [it for it in known if it.startswith(f"{name}_")]
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return "".join(near or (begun if len(begun) == 1 else []))


def _as_integer(value: Any, path: str) -> str:
    """What was probably meant by a value that is no whole number."""
    if isinstance(value, float) and value.is_integer():
        return f"; write {value:.0f}"
    if isinstance(value, str) and value.removeprefix("-").isdecimal():
        return f"; write {int(value)}"
    if isinstance(value, str) and path.endswith("_ms"):
        try:
            return f"; it is in ms, write {duration_ms(value, path)}"
        except TimeError:
            return "; it is in ms"
    return ""
