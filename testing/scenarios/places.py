"""Values of a JSON document, each with the way to it: what is wrong is said with its place."""

import difflib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Never, TypeVar

import attrs

from beamlike.errors import BeamlikeError, TranscriptError
from beamlike.viz.table import shorten

Read = TypeVar("Read")

_TYPE_NAMES: Final = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a whole number",
    bool: "true or false",
}


MOST_DEEP: Final = 64
"""Objects and lists inside one another."""
MOST_DIGITS: Final = 100
"""Of a number. Sums and means of such numbers can be computed, and shown."""
_LONGEST_PROBLEM: Final = 600
_LONGEST_NAME: Final = 100
"""Longer names are not compared with those that are known, which takes the square of the time."""


def read_json(text: str, name: str, most_values: int | None = None) -> "Place":
    """The top of a document in a file of this name, which may have so many values.

    Raises:
        TranscriptError: The text is not JSON, has a member twice, is too deep or too large, or has
            a number that is too long.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            times = Counter(member for member, _ in pairs)
            twin = next(member for member, _ in pairs if times[member] > 1)
            raise TranscriptError(f"{name}: an object has the field {shorten(twin, 60)} twice")
        return fields

    def constant(word: str) -> Never:
        raise TranscriptError(f"{name}: {word} is not a JSON value")

    def checked(digits: str) -> str:
        if len(digits) > MOST_DIGITS:
            raise TranscriptError(
                f"{name}: the number {digits[:10]}... has {len(digits):,} digits, and at most "
                f"{MOST_DIGITS} are read; write it as a string"
            )
        return digits

    def decimal(digits: str) -> float:
        number = float(checked(digits))
        if math.isinf(number):
            raise TranscriptError(f"{name}: {digits} is larger than any number of 64 bits")
        return number

    if not text.strip():
        raise TranscriptError(f"{name}: is empty; a transcript is a JSON document")
    if most_values is not None and sum(map(text.count, ",[{")) > most_values:
        raise TranscriptError(f"{name}: has more than {most_values:,} values; split it")
    try:
        value = json.loads(
            text,
            object_pairs_hook=members,
            parse_constant=constant,
            parse_int=lambda digits: int(checked(digits)),
            parse_float=decimal,
        )
        if not _is_flat(value):
            raise RecursionError
    except json.JSONDecodeError as error:
        where = f"{name}:{error.lineno}:{error.colno}"
        raise TranscriptError(f"{where}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise TranscriptError(
            f"{name}: is nested too deeply; at most {MOST_DEEP} objects and lists in one another"
        ) from None
    return Place(value, name)


def _is_flat(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_DEEP + 1):
        inside = (
            node.values() if isinstance(node, dict) else node
            for node in level
            if isinstance(node, dict | list)
        )
        level = [part for parts in inside for part in parts]
        if not level:
            return True
    return False


@attrs.frozen
class Place:
    """A value in a document, and the way to it: ``windowing.trigger.early``, counted from the file,
    or from the scenario once that is known.
    """

    value: Any
    document: str
    path: str = ""

    def inside(self, scenario: str) -> "Place":
        """The same value, counted from a scenario of the file."""
        return attrs.evolve(self, document=f"{self.document}: {scenario}", path="")

    def fail(self, problem: str) -> Never:
        """Complain about this place, by a `TranscriptError`."""
        where = f"{self.document}: {self.path}" if self.path else self.document
        if len(problem) > _LONGEST_PROBLEM:
            problem = f"{problem[:_LONGEST_PROBLEM]} ... (cut)"
        raise TranscriptError(f"{where}: {problem}")

    def under(self, name: str) -> "Place":
        path = f"{self.path}.{name}" if self.path else name
        return attrs.evolve(self, value=self.value[name], path=path)

    def items(self) -> list["Place"]:
        """The places of a list."""
        return [
            attrs.evolve(self, value=item, path=f"{self.path}[{index}]")
            for index, item in enumerate(self._of_type(list))
        ]

    def fields(
        self, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> Mapping[str, "Place"]:
        """The places of an object that has all required fields and no unknown ones.

        Fields whose names begin with ``x_`` belong to their author and are skipped,
        unless they are among the optional ones or look much like one of these.
        """
        members = self._of_type(dict)
        required = tuple(required)
        known = (*required, *optional)
        for name in members:
            if name in known:
                continue
            if name.startswith("x_"):
                near = _near(name, [field for field in known if field.startswith("x_")], 0.8)
                hint = f"did you mean {near!r}? If not, call it something else" if near else ""
            else:
                near = _near(name, [k for k in known if k not in members]) or _near(name, known)
                hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
            if hint:
                self.fail(f"unknown field {shorten(name, 60)}; {hint}")
        absent = [name for name in required if name not in members]
        if absent:
            names = " and ".join(map(repr, absent))
            self.fail(f"lacks {names}; needed here: {', '.join(required)}")
        return {name: self.under(name) for name in known if name in members}

    def variant(self, tag: str, shapes: Mapping[str, Any]) -> str:
        """The value of the field that says which of some shapes this object has."""
        if tag not in self._of_type(dict):
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
        return self._of_type(str)  # type: ignore[no-any-return]

    def flag(self) -> bool:
        return self._of_type(bool)  # type: ignore[no-any-return]

    def integer(self, least: int | None = None, below: int | None = None) -> int:
        value: int = self._of_type(int)
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

    def _of_type(self, cls: type) -> Any:
        value = self.value
        # In Python True is an int; in a transcript it is not a number.
        if not isinstance(value, cls) or (cls is int and isinstance(value, bool)):
            self.fail(f"must be {_TYPE_NAMES[cls]}, got {_shown(value)}")
        return value


def _shown(value: Any) -> str:
    """A value as in the document, if it is one of the words that Python spells otherwise."""
    return json.dumps(value) if value is None or isinstance(value, bool) else shorten(value, 60)


def _near(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The nearest of these names, or the only one that begins with it; "" if none is near."""
    if len(name) > _LONGEST_NAME:
        return ""
    known = list(names)
    longer = [candidate for candidate in known if candidate.startswith(f"{name}_")]
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return "".join(near or (longer if len(longer) == 1 else []))
